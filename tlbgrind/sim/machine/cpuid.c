/* A machine from CPUID: the processor's identity, its arrays in order, its walk. */

#include "sim/machine/cpuid.h"

#include "sim/machine/cpuid_reader.h"

/* --- identity --- */

/* Adds the four characters of a register. They come from a processor, or
   from a dump that can hold anything: only printable ASCII stays as it is. */
static void add_register(tlb_text *t, uint32_t value)
{
   for (unsigned shift = 0; shift < 32; shift += 8) {
      const char c = (char)(value >> shift & 0x7f);
      const int plain = c >= ' ' && c <= '~' && (value >> shift & 0x80) == 0;
      if ((value >> shift & 0xff) != 0)
         tlb_text_add_n(t, plain ? &c : "?", 1);
   }
}

/* Removes spaces at both ends, and all but one of several in a row. */
static void tidy(char *s)
{
   char *to = s;
   for (const char *from = s; *from != '\0'; from++) {
      if (*from != ' ' || (to > s && to[-1] != ' '))
         *to++ = *from;
   }
   while (to > s && to[-1] == ' ')
      to--;
   *to = '\0';
}

static void read_identity(tlb_cpuid_reader *r)
{
   const tlb_cpuid vendor = tlb_cpuid_raw(r, 0, 0);
   r->highest = vendor.eax < 0x80000000u ? vendor.eax : 0;
   tlb_text t = tlb_text_in(r->vendor, sizeof r->vendor);
   add_register(&t, vendor.ebx);
   add_register(&t, vendor.edx);
   add_register(&t, vendor.ecx);
   tidy(r->vendor);
   r->intel = tlb_text_same(r->vendor, "GenuineIntel");
   r->amd = tlb_text_same(r->vendor, "AuthenticAMD")
            || tlb_text_same(r->vendor, "HygonGenuine");
   r->via = tlb_text_same(r->vendor, "CentaurHauls") || tlb_text_same(r->vendor, "Shanghai");

   /* Processors before these leaves answer with anything. */
   const uint32_t extended = tlb_cpuid_raw(r, 0x80000000u, 0).eax;
   if (extended >= 0x80000000u && extended <= 0x8000ffffu)
      r->highest_extended = extended;

   const tlb_cpuid version = tlb_cpuid_leaf(r, 1, 0);
   r->family = tlb_bits(version.eax, 11, 8);
   r->model = tlb_bits(version.eax, 7, 4);
   r->stepping = tlb_bits(version.eax, 3, 0);
   if (r->family >= 6)
      r->model |= tlb_bits(version.eax, 19, 16) << 4;
   if (r->family == 15)
      r->family += tlb_bits(version.eax, 27, 20);
   r->long_mode = (int)tlb_bits(tlb_cpuid_leaf(r, 0x80000001u, 0).edx, 29, 29);
   if (tlb_bits(tlb_cpuid_leaf(r, 7, 0).edx, 15, 15))
      r->atom_core = tlb_bits(tlb_cpuid_leaf(r, 0x1a, 0).eax, 31, 24) == 0x20;

   if (tlb_bits(version.ecx, 31, 31)) {
      const tlb_cpuid h = tlb_cpuid_raw(r, 0x40000000u, 0);
      t = tlb_text_in(r->hypervisor, sizeof r->hypervisor);
      add_register(&t, h.ebx);
      add_register(&t, h.ecx);
      add_register(&t, h.edx);
      tidy(r->hypervisor);
      if (r->hypervisor[0] == '\0')
         tlb_text_add(&t, "unnamed");
   }
}

static void write_title(const tlb_cpuid_reader *r)
{
   tlb_machine *const m = r->m;
   tlb_text t = tlb_text_in(m->title, sizeof m->title);
   for (uint32_t leaf = 0x80000002u; leaf <= 0x80000004u; leaf++) {
      const tlb_cpuid brand = tlb_cpuid_leaf(r, leaf, 0);
      add_register(&t, brand.eax);
      add_register(&t, brand.ebx);
      add_register(&t, brand.ecx);
      add_register(&t, brand.edx);
   }
   tidy(m->title);
   const size_t n = tlb_text_length(m->title);
   t = (tlb_text){ m->title + n, m->title + sizeof m->title - 1 };
   tlb_text_add(&t, n > 0 ? ", " : "");
   tlb_text_add(&t, r->vendor[0] != '\0' ? r->vendor : "unknown vendor");
   tlb_text_add(&t, " family ");
   tlb_text_add_number(&t, r->family);
   tlb_text_add(&t, " model ");
   tlb_text_add_number(&t, r->model);
   tlb_text_add(&t, " stepping ");
   tlb_text_add_number(&t, r->stepping);
   if (tlb_bits(tlb_cpuid_leaf(r, 7, 0).edx, 15, 15))
      tlb_text_add(&t, r->atom_core ? " (Atom)" : " (Core)");
}

/* --- arrays --- */

static unsigned first_level_users(const tlb_machine *m)
{
   unsigned users = 0;
   for (unsigned i = 0; i < m->n_arrays; i++) {
      if (m->array[i].level == 1)
         users |= m->array[i].users;
   }
   return users;
}

/* Order of arrays in a machine: by level; instruction, data, loads, stores,
   all; by the smallest page; then as CPUID has them. */
static unsigned rank(const tlb_machine_array *a)
{
   static const uint8_t of_users[8] = {
      [TLB_FETCHES] = 0, [TLB_DATA_REFERENCES] = 1, [TLB_LOADS] = 2,
      [TLB_STORES] = 3,  [TLB_ALL_REFERENCES] = 4,
   };
   return (a->level * 8 + of_users[a->users & 7]) * 64
          + (unsigned)__builtin_ctzll(a->g.page_sizes);
}

static void sort_arrays(tlb_machine *m)
{
   for (unsigned i = 1; i < m->n_arrays; i++) {
      const tlb_machine_array a = m->array[i];
      unsigned j = i;
      for (; j > 0 && rank(&m->array[j - 1]) > rank(&a); j--)
         m->array[j] = m->array[j - 1];
      m->array[j] = a;
   }
}

/* "DTLB-loads-4K", "L2-TLB-4K-2M"; a second of the same name has "-b" behind
   it. */
static void name_array(tlb_machine *m, unsigned i)
{
   static const char *const kinds[8] = {
      [TLB_FETCHES] = "ITLB", [TLB_DATA_REFERENCES] = "DTLB",
      [TLB_LOADS] = "DTLB-loads", [TLB_STORES] = "DTLB-stores",
      [TLB_ALL_REFERENCES] = "TLB",
   };
   tlb_machine_array *const a = &m->array[i];
   tlb_text t = tlb_text_in(a->name, sizeof a->name);
   if (a->level > 1) {
      tlb_text_add(&t, "L");
      tlb_text_add_number(&t, a->level);
      tlb_text_add(&t, "-");
   }
   tlb_text_add(&t, kinds[a->users & 7]);
   for (unsigned shift = 0; shift < 32; shift++) {
      if (a->g.page_sizes >> shift & 1) {
         tlb_text_add(&t, "-");
         tlb_text_add_page_size(&t, shift);
      }
   }
   char letter = 'a';
   for (unsigned j = 0; j < i; j++) {
      const tlb_machine_array *const b = &m->array[j];
      letter = (char)(letter + (rank(b) == rank(a)
                                && b->g.page_sizes == a->g.page_sizes));
   }
   if (letter != 'a') {
      tlb_text_add(&t, "-");
      tlb_text_add_n(&t, &letter, 1);
   }
}

/* The largest pages that any array of that level takes for these users. */
static uint64_t largest_pages(const tlb_machine *m, unsigned level,
                              unsigned users)
{
   uint64_t largest = 0;
   for (unsigned i = 0; i < m->n_arrays; i++) {
      const tlb_machine_array *const a = &m->array[i];
      if (a->level == level && (a->users & users) && a->g.page_sizes > largest)
         largest = a->g.page_sizes;
   }
   return largest;
}

/* What a level behind the first does with pages larger than all that it holds
   is not in CPUID. */
static void note_splitting(tlb_machine *m)
{
   for (unsigned i = 0; i < m->n_arrays; i++) {
      tlb_machine_array *const a = &m->array[i];
      a->splits_unknown = a->level > 1 && (a->g.page_sizes & TLB_1G) == 0
                          && largest_pages(m, a->level, a->users)
                                == a->g.page_sizes;
   }
}

/* --- the whole --- */

const char *tlb_cpuid_machine_file(tlb_cpuid_ask *ask, void *opaque)
{
   tlb_cpuid_reader r = { .ask = ask, .opaque = opaque };
   read_identity(&r);
   return tlb_cpuid_file_of(&r);
}

/* Long mode has four tables, each indexed by nine bits of the address (Intel
   SDM, volume 3A, 4.5). Processors with five use them only where the kernel
   wants them. */
static void describe_walk(tlb_cpuid_reader *r)
{
   static const uint8_t shift[4] = { 39, 30, 21, 12 };
   if (!r->long_mode)
      return;
   for (unsigned i = 0; i < 4; i++) {
      r->m->walk[i].shift = shift[i];
      r->m->walk[i].cache_unknown = i < 3;
   }
   r->m->n_walk_steps = 4;
}

/* Says what is missing. */
static int check_whole(tlb_cpuid_reader *r)
{
   tlb_reason why;
   const unsigned users = first_level_users(r->m);
   if ((users & TLB_FETCHES) && (users & TLB_DATA_REFERENCES)
       && tlb_machine_check(r->m, &why))
      return 1;
   tlb_text t = tlb_cpuid_begin_note(r);
   tlb_text_add(&t, "unknown: ");
   if ((users & TLB_FETCHES) && (users & TLB_DATA_REFERENCES)) {
      tlb_text_add(&t, why.text);
      return 0;
   }
   tlb_text_add(&t, "CPUID does not describe the first level for ");
   tlb_text_add(&t, (users & TLB_FETCHES)           ? "data"
                    : (users & TLB_DATA_REFERENCES) ? "instructions"
                                                    : "instructions and data");
   return 0;
}

/* The machine is as doubtful as the worst array of base pages; the others are what CPUID says. */
static void settle_confidence(tlb_machine *m)
{
   int doubtful = 0;
   for (unsigned i = 0; i < m->n_arrays; i++)
      doubtful |= m->array[i].confidence == 'C' && (m->array[i].g.page_sizes & TLB_4K) != 0;
   if (!doubtful)
      return;
   for (unsigned i = 0; i < m->n_arrays; i++) {
      char *const of_array = &m->array[i].confidence;
      *of_array = *of_array == 'C' ? '\0' : m->confidence;
   }
   m->confidence = 'C';
}

int tlb_cpuid_machine(tlb_cpuid_ask *ask, void *opaque, tlb_machine *out)
{
   tlb_cpuid_reader r = { .ask = ask, .opaque = opaque, .m = out };
   *out = (tlb_machine){ .confidence = 'A', .base_page_shift = 12,
                         .walk_cycles = TLB_UNKNOWN };
   read_identity(&r);
   tlb_text t = tlb_text_in(out->name, sizeof out->name);
   tlb_text_add(&t, "cpuid");
   t = tlb_text_in(out->isa, sizeof out->isa);
   tlb_text_add(&t, r.long_mode ? "x86-64" : "x86-32");
   write_title(&r);

   if (r.amd) {
      tlb_cpuid_read_amd(&r);
   /* Centaur's and Zhaoxin's newer processors have both first levels in AMD's leaf, and the rest in
      Intel's. */
   } else if (r.via && tlb_cpuid_leaf(&r, 0x80000005u, 0).ebx != 0 && r.highest >= 2) {
      tlb_cpuid_read_first_of_amd(&r);
      tlb_cpuid_read_rest_of_intel(&r);
   } else {
      tlb_cpuid_read_intel(&r);
      /* Others than Intel have used AMD's leaves (VIA, Transmeta); Intel's
         hold rubbish under some hypervisors. */
      if (out->n_arrays == 0 && !r.intel)
         tlb_cpuid_read_amd(&r);
   }
   sort_arrays(out);
   for (unsigned i = 0; i < out->n_arrays; i++)
      name_array(out, i);
   describe_walk(&r);
   if (!check_whole(&r)) {
      out->n_arrays = 0;
      out->n_walk_steps = 0;
      return 0;
   }
   settle_confidence(out);
   const char *const file = tlb_cpuid_file_of(&r);
   if (file != NULL && tlb_cpuid_take_arrays(file, &r)) {
      t = tlb_cpuid_begin_note(&r);
      tlb_text_add(&t, "the machine file ");
      tlb_text_add(&t, file);
      tlb_text_add(&t, " describes this processor from documents, too");
      tlb_cpuid_take_costs(file, out);
   }
   note_splitting(out);
   tlb_machine_note_unknowns(out);
   return 1;
}
