/* What both ways of describing arrays in CPUID share: leaves, notes, arrays. */

#include "sim/machine/cpuid_reader.h"

/* Bits that do not matter are cleared, so that two dumps which differ in nothing else
   give the same machine. */
tlb_cpuid tlb_cpuid_raw(const tlb_cpuid_reader *r, uint32_t leaf, uint32_t subleaf)
{
   const tlb_cpuid bits = tlb_cpuid_matters(leaf, subleaf);
   tlb_cpuid a = { 0, 0, 0, 0 };
   if ((bits.eax | bits.ebx | bits.ecx | bits.edx) == 0)
      return a;
   a = r->ask(r->opaque, leaf, subleaf);
   return (tlb_cpuid){ a.eax & bits.eax, a.ebx & bits.ebx, a.ecx & bits.ecx,
                       a.edx & bits.edx };
}

tlb_cpuid tlb_cpuid_leaf(const tlb_cpuid_reader *r, uint32_t leaf,
                         uint32_t subleaf)
{
   const uint32_t highest = leaf < 0x80000000u ? r->highest
                                               : r->highest_extended;
   if (leaf > highest)
      return (tlb_cpuid){ 0, 0, 0, 0 };
   return tlb_cpuid_raw(r, leaf, subleaf);
}

/* --- notes --- */

tlb_text tlb_cpuid_begin_note(tlb_cpuid_reader *r)
{
   tlb_machine *const m = r->m;
   if (m->n_notes == TLB_CPUID_MAX_NOTES)
      m->n_notes--;
   char *const text = m->note[m->n_notes++].text;
   return tlb_text_in(text, sizeof m->note[0].text);
}

void tlb_cpuid_note(tlb_cpuid_reader *r, const char *words)
{
   for (unsigned i = 0; i < r->m->n_notes; i++) {
      if (tlb_text_same(r->m->note[i].text, words))
         return;
   }
   tlb_text t = tlb_cpuid_begin_note(r);
   tlb_text_add(&t, words);
}

void tlb_cpuid_add_culprit(const tlb_cpuid_reader *r, tlb_text *t)
{
   if (r->hypervisor[0] == '\0') {
      tlb_text_add(t, "the processor");
      return;
   }
   tlb_text_add(t, "the hypervisor (");
   tlb_text_add(t, r->hypervisor);
   tlb_text_add(t, ")");
}

void tlb_cpuid_add_byte(tlb_text *t, unsigned byte)
{
   static const char digits[] = "0123456789abcdef";
   tlb_text_add_n(t, &digits[byte >> 4 & 15], 1);
   tlb_text_add_n(t, &digits[byte & 15], 1);
}

/* --- arrays --- */

/* Whether there are fewer than TLB_MAX_SIDE_BY_SIDE arrays of that level for
   each kind of reference and page size of this one. */
static int has_room(const tlb_machine *m, const tlb_machine_array *a)
{
   for (unsigned kind = 0; kind < 3; kind++) {
      for (unsigned shift = 0; shift < 64; shift++) {
         unsigned n = 0;
         if ((a->users >> kind & a->g.page_sizes >> shift & 1) == 0)
            continue;
         for (unsigned i = 0; i < m->n_arrays; i++) {
            const tlb_machine_array *const b = &m->array[i];
            n += b->level == a->level
                 && (b->users >> kind & b->g.page_sizes >> shift & 1) != 0;
         }
         if (n >= TLB_MAX_SIDE_BY_SIDE)
            return 0;
      }
   }
   return 1;
}

tlb_machine_array *tlb_cpuid_take(tlb_cpuid_reader *r, unsigned level,
                                  unsigned users, uint32_t page_sizes,
                                  uint64_t entries, uint32_t ways,
                                  const char *source)
{
   tlb_machine *const m = r->m;
   tlb_reason why;
   if (entries == 0)
      return NULL;
   tlb_machine_array a = {
      .level = level, .users = users,
      .g = { .entries = entries > UINT32_MAX ? UINT32_MAX : (uint32_t)entries,
             .ways = ways, .page_sizes = page_sizes, .policy = TLB_DEFAULT_POLICY },
      .policy_unknown = 1, .hit_cycles = level == 1 ? 0 : TLB_UNKNOWN,
   };
   if (level == 0 || level > TLB_MAX_LEVELS) {
      tlb_text t = tlb_cpuid_begin_note(r);
      tlb_text_add(&t, "CPUID describes an array of level ");
      tlb_text_add_number(&t, level);
      tlb_text_add(&t, ", which is left out; levels are 1 to ");
      tlb_text_add_number(&t, TLB_MAX_LEVELS);
      return NULL;
   }
   if (!tlb_geometry_check(&a.g, &why)) {
      tlb_text t = tlb_cpuid_begin_note(r);
      tlb_text_add(&t, "CPUID describes an array that cannot be: ");
      tlb_text_add(&t, why.text);
      return NULL;
   }
   if (m->n_arrays == TLB_MAX_ARRAYS) {
      tlb_cpuid_note(r, "CPUID describes more arrays than are simulated; "
                        "those that come last are left out");
      return NULL;
   }
   if (has_room(m, &a) == 0) {
      tlb_cpuid_note(r, "CPUID describes more than two arrays of one level for "
                        "the same pages; those that come last are left out");
      return NULL;
   }
   tlb_text t = tlb_text_in(a.source, sizeof a.source);
   tlb_text_add(&t, "CPUID ");
   tlb_text_add(&t, source);
   m->array[m->n_arrays] = a;
   return &m->array[m->n_arrays++];
}
