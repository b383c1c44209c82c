/* What CPUID says, read for processors of many kinds.
   Part of tlbgrind.  GPL-2.0-or-later; see COPYING. */

#include "unit.h"

#include "sim/machine/builtin.h"
#include "sim/machine/cpuid.h"

typedef struct {
   uint32_t leaf, subleaf;
   tlb_cpuid r;
} answer;

#define ANSWER(leaf, subleaf, a, b, c, d) { leaf, subleaf, { a, b, c, d } },
#define PROCESSOR(name, answers) static const answer name[] = { answers };
#include "processors.h"

/* A processor's answers, and some that stand in front of them. */
typedef struct {
   const answer *a;
   size_t n;
   answer other[4];
   unsigned n_others;
} processor;

#define OF(name) { .a = name, .n = sizeof name / sizeof name[0] }

static tlb_cpuid ask(void *opaque, uint32_t leaf, uint32_t subleaf)
{
   const processor *const p = opaque;
   for (unsigned i = 0; i < p->n_others; i++) {
      if (p->other[i].leaf == leaf && p->other[i].subleaf == subleaf)
         return p->other[i].r;
   }
   for (size_t i = 0; i < p->n; i++) {
      if (p->a[i].leaf == leaf && p->a[i].subleaf == subleaf)
         return p->a[i].r;
   }
   return (tlb_cpuid){ 0, 0, 0, 0 };
}

static void set(processor *p, uint32_t leaf, uint32_t subleaf, uint32_t eax,
                uint32_t ebx, uint32_t ecx, uint32_t edx)
{
   assert_in_range(p->n_others, 0, 3);
   p->other[p->n_others++] = (answer){ leaf, subleaf,
                                       { eax, ebx, ecx, edx } };
}

/* What every machine has, and no note is cut. */
static void check_common(const tlb_machine *m, int known)
{
   tlb_reason why;
   assert_string_equal(m->name, "cpuid");
   assert_int_equal(m->base_page_shift, 12);
   assert_int_equal(m->year, 0);
   assert_int_equal(m->confidence, 'A');
   assert_true(m->walk_cycles == TLB_UNKNOWN);
   assert_false(m->software_walk);
   assert_true(m->n_notes <= TLB_MAX_NOTES);
   for (unsigned i = 0; i < m->n_notes; i++)
      assert_in_range(strlen(m->note[i].text), 10,
                      sizeof m->note[0].text - 2);
   if (!known) {
      assert_int_equal(m->n_arrays, 0);
      return;
   }
   if (!tlb_machine_check(m, &why))
      fail_msg("%s", why.text);
   for (unsigned i = 0; i < m->n_arrays; i++) {
      const tlb_machine_array *const a = &m->array[i];
      assert_int_equal(a->g.policy, TLB_LRU);
      assert_true(a->policy_unknown);
      assert_int_equal(a->coalesce_shift, 0);
      assert_true(a->hit_cycles == (a->level == 1 ? 0 : TLB_UNKNOWN));
      assert_int_equal(strncmp(a->source, "CPUID leaf ", 11), 0);
   }
}

/* Takes away the notes that follow from what is marked in the machine. */
static void keep_own_notes(tlb_machine *m)
{
   unsigned kept = 0;
   for (unsigned i = 0; i < m->n_notes; i++) {
      if (!tlb_machine_note_follows(m, m->note[i].text))
         m->note[kept++] = m->note[i];
   }
   /* That of the policies at least. */
   assert_true(kept < m->n_notes);
   m->n_notes = kept;
}

static tlb_machine machine_of(const processor *p, int known)
{
   processor copy = *p;
   tlb_machine m;
   memset(&m, 0xA5, sizeof m);
   assert_int_equal(tlb_cpuid_machine(ask, &copy, &m), known);
   check_common(&m, known);
   if (known)
      keep_own_notes(&m);
   return m;
}

/* The arrays of a machine, a line each: name, which tells level, users and page
   sizes, entries/ways (~ where they are a choice, = if full), and what else
   differs. */
static void is(const tlb_machine *m, const char *expected)
{
   char text[2048] = "";
   size_t n = 0;
   for (unsigned i = 0; i < m->n_arrays; i++) {
      const tlb_machine_array *const a = &m->array[i];
      n += (size_t)snprintf(text + n, sizeof text - n, "%s %u%s", a->name,
                            a->g.entries, a->ways_unknown ? "~" : "/");
      if (a->g.ways == a->g.entries)
         n += (size_t)snprintf(text + n, sizeof text - n, "=");
      else
         n += (size_t)snprintf(text + n, sizeof text - n, "%u", a->g.ways);
      if (a->threads != 0)
         n += (size_t)snprintf(text + n, sizeof text - n, " threads %u",
                               a->threads);
      if (a->splits_unknown)
         n += (size_t)snprintf(text + n, sizeof text - n, " splits?");
      n += (size_t)snprintf(text + n, sizeof text - n, "\n");
      assert_true(n < sizeof text);
   }
   assert_string_equal(text, expected);
}

static void notes(const tlb_machine *m, unsigned n, const char *const *text)
{
   for (unsigned i = 0; i < m->n_notes && i < n; i++)
      assert_string_equal(m->note[i].text, text[i]);
   assert_int_equal(m->n_notes, n);
}

#define NOTES(...)                       \
   sizeof((const char *[]){ __VA_ARGS__ }) / sizeof(char *), \
      (const char *[]){ __VA_ARGS__ }

#define FILE_NOTE(name) \
   "the machine file " name " describes this processor from documents, too"
#define HALF_NOTE \
   "of the instruction array for 4K pages CPUID gives the half that one of " \
   "two threads has; one that runs alone may have all of it"
#define LARGE_NOTE \
   "arrays that CPUID gives for 4M pages are taken to hold those of 2M, "  \
   "which are in their place in 64-bit programs"
#define TWO_NOTE \
   "in the instruction array for 2M pages a page of 4M takes two entries " \
   "(CPUID descriptor B1)"
#define COVE_NOTE \
   "CPUID of this processor gives 64 entries, 4-way, to loads from 4K pages; " \
   "Intel's documents give 96, 6-way"

/* --- Intel, leaf 2 --- */

static void pentium_iii(void **state)
{
   const processor p = OF(PENTIUM_III);
   const tlb_machine m = machine_of(&p, 1);
   (void)state;
   is(&m, "ITLB-4K 32/4\n"
          "ITLB-4M 2/=\n"
          "DTLB-4K 64/4\n"
          "DTLB-4M 8/4\n");
   assert_int_equal(m.n_notes, 0);
   assert_string_equal(m.title, "GenuineIntel family 6 model 8 stepping 6");
   assert_string_equal(m.isa, "x86-32");
   assert_int_equal(m.n_walk_steps, 0);
}

static void pentium_4(void **state)
{
   const processor p = OF(PENTIUM_4);
   const tlb_machine m = machine_of(&p, 1);
   (void)state;
   is(&m, "ITLB-4K-2M-4M 64/=\n"
          "DTLB-4K-4M 64/=\n");
   assert_int_equal(m.n_notes, 0);
   assert_string_equal(m.title, "Intel(R) Pentium(R) 4 CPU 2.00GHz, "
                                "GenuineIntel family 15 model 2 stepping 4");
}

static void core_duo(void **state)
{
   const processor p = OF(CORE_DUO);
   const tlb_machine m = machine_of(&p, 1);
   (void)state;
   is(&m, "ITLB-4K 128/4\n"
          "ITLB-4M 2/=\n"
          "DTLB-4K 128/4\n"
          "DTLB-4M 8/4\n");
   notes(&m, NOTES(FILE_NOTE("core-duo-t2600")));
   assert_string_equal(m.isa, "x86-32");
}

static void core_2(void **state)
{
   processor p = OF(CORE_2);
   tlb_machine m = machine_of(&p, 1);
   (void)state;
   is(&m, "ITLB-4K 128/4\n"
          "ITLB-2M 8/4\n"
          "DTLB-loads-4K 16/4\n"
          "DTLB-loads-2M-4M 16/4\n"
          "L2-DTLB-4K 256/4\n"
          "L2-DTLB-2M-4M 32/4 splits?\n");
   notes(&m, NOTES(TWO_NOTE, LARGE_NOTE, FILE_NOTE("core2")));
   assert_string_equal(m.isa, "x86-64");
   assert_string_equal(m.array[4].source, "CPUID leaf 2, descriptor b4");

   /* Without 56 and 57, B4 and 05 are the first level. */
   set(&p, 2, 0, 0x05b0b101, 0xf0, 0, 0x2cb43049);
   m = machine_of(&p, 1);
   is(&m, "ITLB-4K 128/4\n"
          "ITLB-2M 8/4\n"
          "DTLB-4K 256/4\n"
          "DTLB-2M-4M 32/4\n");
}

static void bonnell(void **state)
{
   const processor p = OF(BONNELL);
   const tlb_machine m = machine_of(&p, 1);
   (void)state;
   is(&m, "ITLB-4K 32~=\n"
          "DTLB-4K 16/=\n"
          "DTLB-4K-4M 8/4\n"
          "L2-DTLB-4K 64/4 splits?\n");
   notes(&m, NOTES(FILE_NOTE("bonnell")));
}

static void silvermont(void **state)
{
   const processor p = OF(SILVERMONT);
   const tlb_machine m = machine_of(&p, 1);
   (void)state;
   is(&m, "ITLB-4K 48/=\n"
          "DTLB-4K 32/=\n"
          "DTLB-4K-2M 16/4\n"
          "L2-DTLB-4K 128/4 splits?\n");
   assert_int_equal(m.n_notes, 0);
}

static void goldmont(void **state)
{
   const processor p = OF(GOLDMONT);
   const tlb_machine m = machine_of(&p, 1);
   (void)state;
   is(&m, "ITLB-4K 48/=\n"
          "DTLB-4K 32/=\n"
          "L2-DTLB-4K 512/4\n"
          "L2-DTLB-2M-4M 32/4 splits?\n");
}

static void knights_landing(void **state)
{
   const processor p = OF(KNIGHTS_LANDING);
   const tlb_machine m = machine_of(&p, 1);
   (void)state;
   is(&m, "ITLB-4K 48/=\n"
          "DTLB-4K 64/8\n"
          "L2-DTLB-4K 256/8\n"
          "L2-DTLB-2M-4M 128/8\n"
          "L2-DTLB-1G 16/=\n");
   notes(&m, NOTES(FILE_NOTE("knl")));
}

static void westmere(void **state)
{
   const processor p = OF(WESTMERE);
   const tlb_machine m = machine_of(&p, 1);
   (void)state;
   is(&m, "ITLB-4K 64/4 threads 1\n"
          "ITLB-2M-4M 7/=\n"
          "DTLB-4K 64/4\n"
          "DTLB-2M-4M 32/4\n"
          "L2-TLB-4K 512/4 splits?\n");
   notes(&m, NOTES(HALF_NOTE, FILE_NOTE("nehalem")));
}

static void ivy_bridge(void **state)
{
   const processor p = OF(IVY_BRIDGE);
   const tlb_machine m = machine_of(&p, 1);
   (void)state;
   is(&m, "ITLB-4K 64/4 threads 1\n"
          "ITLB-2M-4M 8/=\n"
          "DTLB-4K 64/4\n"
          "DTLB-2M-4M 32/4\n"
          "DTLB-1G 4/=\n"
          "L2-TLB-4K 512/4 splits?\n");
   notes(&m, NOTES(HALF_NOTE, FILE_NOTE("ivybridge")));
}

static void haswell(void **state)
{
   const processor p = OF(HASWELL);
   const tlb_machine m = machine_of(&p, 1);
   (void)state;
   is(&m, "ITLB-4K 128/8\n"
          "ITLB-2M-4M 8/=\n"
          "DTLB-4K 64/4\n"
          "DTLB-2M-4M 32/4\n"
          "DTLB-1G 4/=\n"
          "L2-TLB-4K-2M 1024/8 splits?\n");
   notes(&m, NOTES(FILE_NOTE("haswell")));
}

static void skylake(void **state)
{
   const processor p = OF(SKYLAKE);
   const tlb_machine m = machine_of(&p, 1);
   (void)state;
   is(&m, "ITLB-4K 64/8 threads 1\n"
          "ITLB-2M-4M 8/=\n"
          "DTLB-4K 64/4\n"
          "DTLB-2M-4M 32/4\n"
          "DTLB-1G 4/=\n"
          "L2-TLB-4K-2M 1536/6\n"
          "L2-TLB-1G 16/4\n");
   notes(&m, NOTES(HALF_NOTE, FILE_NOTE("skylake")));
   assert_string_equal(m.title,
                       "Intel(R) Xeon(R) Gold 6140 CPU @ 2.30GHz, "
                       "GenuineIntel family 6 model 85 stepping 4");
   assert_int_equal(m.n_walk_steps, 4);
   assert_int_equal(m.walk[0].shift, 39);
   assert_int_equal(m.walk[3].shift, 12);
   for (int i = 0; i < 4; i++) {
      assert_int_equal(m.walk[i].cache_unknown, i < 3);
      assert_false(m.walk[i].cached);
   }
}

static void other_descriptors(void **state)
{
   const processor p = OF(OTHER_DESCRIPTORS);
   const tlb_machine m = machine_of(&p, 1);
   (void)state;
   is(&m, "ITLB-4K-2M-4M 128/=\n"
          "ITLB-4M 4/=\n"
          "DTLB-4K-4M 128/=\n"
          "DTLB-4K-4M-b 256/=\n");
   assert_int_equal(m.n_notes, 0);
}

static void three_abreast(void **state)
{
   processor p = OF(OTHER_DESCRIPTORS);
   (void)state;
   set(&p, 2, 0, 0x0051ba01, 0x00005d5c, 0, 0);
   const tlb_machine m = machine_of(&p, 1);
   is(&m, "ITLB-4K-2M-4M 128/=\n"
          "DTLB-4K-4M 128/=\n"
          "DTLB-4K-4M-b 256/=\n");
   notes(&m, NOTES("CPUID describes more than two arrays of one level for the "
                   "same pages; those that come last are left out"));
}

/* Each descriptor alone, beside an array for each side so that there is a
   first level: what it adds. */
static void descriptor(unsigned d, const char *expected)
{
   processor p = { .a = NULL, .n = 0 };
   set(&p, 0, 0, 2, 0x756e6547, 0x6c65746e, 0x49656e69);
   set(&p, 2, 0, 0x03010001 | d << 8, 0, 0, 0);
   char text[256];
   const tlb_machine m = machine_of(&p, 1);
   snprintf(text, sizeof text, "ITLB-4K 32/4\n%s", expected);
   is(&m, text);
}

static void all_descriptors(void **state)
{
   (void)state;
   unsigned arrays = 0;
   for (unsigned d = 0; d < 256; d++) {
      processor p = { .a = NULL, .n = 0 };
      tlb_machine m;
      set(&p, 0, 0, 2, 0x756e6547, 0x6c65746e, 0x49656e69);
      set(&p, 2, 0, 0x03010001 | d << 8, 0, 0, 0);
      /* With 56 alone in front of it, 03 is the second level. */
      assert_int_equal(tlb_cpuid_machine(ask, &p, &m), d != 0x56);
      arrays += d != 0x56 ? m.n_arrays - 2 : 1;
   }
   /* 41 descriptors tell of arrays, 63 and C3 of two; 01 and 03 stand there
      already. */
   assert_int_equal(arrays, 41 + 2 - 2);
   descriptor(0x00, "DTLB-4K 64/4\n");
   descriptor(0x04, "DTLB-4K 64/4\nDTLB-4M 8/4\n");
   descriptor(0x64, "DTLB-4K 64/4\nDTLB-4K-b 512/4\n");
   descriptor(0xb3, "DTLB-4K 64/4\nDTLB-4K-b 128/4\n");
   descriptor(0xc2, "DTLB-4K 64/4\nDTLB-4K-2M 16/4\n");
   descriptor(0xc4, "DTLB-4K 64/4\nDTLB-2M-4M 32/4\n");
   descriptor(0x6a, "DTLB-4K 64/8\nL2-DTLB-4K 64/4 splits?\n");
   /* Caches and prefetching. */
   descriptor(0xff, "DTLB-4K 64/4\n");
   descriptor(0x40, "DTLB-4K 64/4\n");
   descriptor(0xf0, "DTLB-4K 64/4\n");
}

static void invalid_registers(void **state)
{
   processor p = OF(HASWELL);
   (void)state;
   /* AL is a count even where it looks like a descriptor (B0), and registers
      with bit 31 hold none; the same byte twice is one array. */
   set(&p, 2, 0, 0x760363b0, 0x80c1b0b2, 0x03b60000, 0xffffffff);
   tlb_machine m = machine_of(&p, 1);
   is(&m, "ITLB-4K 128/8\n"
          "ITLB-2M-4M 8/=\n"
          "DTLB-4K 64/4\n"
          "DTLB-2M-4M 32/4\n"
          "DTLB-1G 4/=\n");
   /* EAX itself may be invalid. */
   p.n_others = 0;
   set(&p, 2, 0, 0x80036301, 0x0000b603, 0, 0);
   m = machine_of(&p, 1);
   is(&m, "ITLB-4K 128/8\nDTLB-4K 64/4\n");
}

static void asked_twice(void **state)
{
   processor p = OF(PENTIUM_III);
   (void)state;
   set(&p, 2, 0, 0x00000102, 0, 0, 0);
   set(&p, 2, 1, 0x00000302, 0, 0, 0);
   set(&p, 2, 2, 0x00000402, 0, 0, 0);
   const tlb_machine m = machine_of(&p, 1);
   is(&m, "ITLB-4K 32/4\nDTLB-4K 64/4\n");
}

/* --- Intel, leaf 18H --- */

#define COVE                                 \
   "ITLB-4K 256/8 threads 2\n"    \
   "ITLB-2M-4M 32/8 threads 2\n"  \
   "DTLB-loads-4K 64/4 threads 2\n"            \
   "DTLB-loads-2M-4M 32/4 threads 2\n"         \
   "DTLB-loads-1G 8/= threads 2\n"             \
   "DTLB-stores-4K-2M-4M-1G 16/= threads 2\n"  \
   "L2-TLB-4K-2M-4M 1024/8 threads 2\n"          \
   "L2-TLB-4K-1G 1024/8 threads 2\n"

static void sapphire_rapids(void **state)
{
   const processor p = OF(SAPPHIRE_RAPIDS);
   const tlb_machine m = machine_of(&p, 1);
   (void)state;
   is(&m, COVE);
   notes(&m, NOTES(COVE_NOTE, FILE_NOTE("goldencove")));
   assert_string_equal(m.array[5].source, "CPUID leaf 18H, sub-leaf 3");
}

static void ice_lake(void **state)
{
   const processor p = OF(ICE_LAKE);
   const tlb_machine m = machine_of(&p, 1);
   (void)state;
   is(&m, "ITLB-4K-2M-4M 8/= threads 2\n"
          "DTLB-loads-4K 64/4 threads 2\n"
          "DTLB-loads-2M-4M 32/4 threads 2\n"
          "DTLB-loads-1G 8/= threads 2\n"
          "DTLB-stores-4K-2M-4M-1G 16/= threads 2\n"
          "L2-TLB-4K-2M-4M 1024/8 threads 2\n"
          "L2-TLB-4K-1G 1024/8 threads 2\n");
   notes(&m, NOTES("CPUID of this processor gives 8 entries to instructions; "
                   "its sister Tiger Lake says 128 and 16 for large pages",
                   FILE_NOTE("icelake")));
}

static void hybrid(void **state)
{
   const processor big = OF(GOLDEN_COVE);
   const processor small = OF(GRACEMONT);
   tlb_machine m = machine_of(&big, 1);
   (void)state;
   is(&m, COVE);
   notes(&m, NOTES(COVE_NOTE, FILE_NOTE("goldencove")));
   assert_string_equal(m.title, "GenuineIntel family 6 model 151 stepping 2 "
                                "(Core)");
   m = machine_of(&small, 1);
   is(&m, "ITLB-4K 64/= threads 1\n"
          "DTLB-4K 48/= threads 1\n"
          "L2-TLB-4K-2M 2048/4 threads 1\n"
          "L2-TLB-1G 8/= threads 1\n");
   notes(&m, NOTES(FILE_NOTE("gracemont")));
   assert_string_equal(m.title, "GenuineIntel family 6 model 151 stepping 2 "
                                "(Atom)");
}

static void hidden_leaf(void **state)
{
   processor p = OF(SAPPHIRE_RAPIDS);
   (void)state;
   /* A hypervisor that has only the leaves up to 16H. */
   set(&p, 0, 0, 0x16, 0x756e6547, 0x6c65746e, 0x49656e69);
   tlb_machine m = machine_of(&p, 0);
   notes(&m, NOTES("leaf 2 refers to leaf 18H, which the processor hides",
                   "unknown: CPUID does not describe the first level for "
                   "instructions and data"));
   assert_string_equal(m.title, "GenuineIntel family 6 model 143 stepping 8");
   /* One that shows itself and gives zeros. */
   p.n_others = 0;
   set(&p, 1, 0, 0x000806f8, 0, 0xfffefbff, 0);
   set(&p, 0x40000000, 0, 0x40000001, 0x4b4d564b, 0x564b4d56, 0x4d);
   set(&p, 0x18, 0, 0, 0, 0, 0);
   m = machine_of(&p, 0);
   notes(&m, NOTES("leaf 2 refers to leaf 18H, which the hypervisor "
                   "(KVMKVMKVM) hides",
                   "unknown: CPUID does not describe the first level for "
                   "instructions and data"));
   assert_string_equal(tlb_cpuid_machine_file(ask, &p), "goldencove");
}

/* Leaf 18H is asked where leaf 2 sends there, or says nothing. */
static void not_sent(void **state)
{
   processor p = OF(SAPPHIRE_RAPIDS);
   (void)state;
   set(&p, 2, 0, 0x00030101, 0xf0, 0, 0);
   tlb_machine m = machine_of(&p, 1);
   is(&m, "ITLB-4K 32/4\nDTLB-4K 64/4\n");
   p.n_others = 0;
   set(&p, 2, 0, 0x00ff0001, 0xf0, 0, 0);
   m = machine_of(&p, 1);
   is(&m, COVE);
}

static void odd_sub_leaves(void **state)
{
   processor p = OF(GRACEMONT);
   (void)state;
   /* A level that there is not, no page size, an unknown type, zero ways. */
   set(&p, 0x18, 3, 0, 0x00040001, 0x10, 0x81);
   set(&p, 0x18, 4, 0, 0x00040000, 0x10, 0x41);
   set(&p, 0x18, 0, 6, 0x00040001, 0x10, 0x46);
   set(&p, 0x18, 5, 0, 0x00000001, 0x10, 0x41);
   const tlb_machine m = machine_of(&p, 1);
   is(&m, "ITLB-4K 64/= threads 1\n"
          "DTLB-4K 48/= threads 1\n");
   notes(&m, NOTES("sub-leaf 0 of leaf 18H tells of an array of an unknown "
                   "type, which is left out",
                   "CPUID describes an array of level 4, which is left out; "
                   "levels are 1 to 3",
                   "sub-leaf 4 of leaf 18H tells of an array without a page "
                   "size, which is left out",
                   FILE_NOTE("gracemont")));
}

static void impossible_sizes(void **state)
{
   processor p = OF(GRACEMONT);
   (void)state;
   /* 4096 threads that share an array. */
   set(&p, 0x18, 1, 0, 0x00300001, 1, 0x121 | 0xfffu << 14);
   assert_int_equal(machine_of(&p, 1).array[1].threads, 0);
   p.n_others = 0;
   /* More entries than there can be: not cut to 32 bits. */
   set(&p, 0x18, 3, 0, 0x80000003, 0x00020001, 0x43);
   set(&p, 0x18, 4, 0, 0xffff0003, 0xffffffff, 0x143);
   const tlb_machine m = machine_of(&p, 1);
   assert_int_equal(m.n_arrays, 2);
   assert_int_equal(m.n_notes, 3);
   assert_string_equal(m.note[0].text,
                       "CPUID describes an array that cannot be: 4294967295 "
                       "entries; allowed are 1 to 1048576");
}

static tlb_cpuid ask_endless(void *opaque, uint32_t leaf, uint32_t subleaf)
{
   unsigned *const asked = opaque;
   ++*asked;
   if (leaf == 0)
      return (tlb_cpuid){ 0x20, 0x756e6547, 0x6c65746e, 0x49656e69 };
   if (leaf == 2)
      return (tlb_cpuid){ 0x0000feff, 0, 0, 0 };
   if (leaf == 0x18)
      return (tlb_cpuid){ 0xffffffff, 0x00040001, 4 + subleaf, 0x21 };
   return (tlb_cpuid){ 0, 0, 0, 0 };
}

static void endless(void **state)
{
   unsigned asked = 0;
   tlb_machine m;
   (void)state;
   assert_false(tlb_cpuid_machine(ask_endless, &asked, &m));
   check_common(&m, 0);
   assert_in_range(asked, 64, 80);
}

/* 36 arrays: each level, each kind of reference, each page size by itself. */
static tlb_cpuid ask_many(void *opaque, uint32_t leaf, uint32_t subleaf)
{
   static const uint32_t types[3] = { 2, 4, 5 };
   (void)opaque;
   if (leaf == 0)
      return (tlb_cpuid){ 0x20, 0x756e6547, 0x6c65746e, 0x49656e69 };
   if (leaf == 2)
      return (tlb_cpuid){ 0x0000fe01, 0, 0, 0 };
   if (leaf != 0x18 || subleaf == 0)
      return (tlb_cpuid){ 36, 0, 0, 0 };
   const uint32_t i = subleaf - 1;
   return (tlb_cpuid){ 0, 0x00040000 | 1u << (i / 3 % 4), 4,
                       types[i % 3] | (1 + i / 12) << 5 };
}

static void too_many(void **state)
{
   tlb_machine m;
   (void)state;
   assert_true(tlb_cpuid_machine(ask_many, NULL, &m));
   check_common(&m, 1);
   keep_own_notes(&m);
   assert_int_equal(m.n_arrays, TLB_MAX_ARRAYS);
   assert_int_equal(m.n_notes, 1);
   assert_string_equal(m.note[0].text,
                       "CPUID describes more arrays than are simulated; those "
                       "that come last are left out");
}

/* --- AMD, Hygon --- */

static void geode(void **state)
{
   const processor p = OF(GEODE_LX);
   const tlb_machine m = machine_of(&p, 1);
   (void)state;
   is(&m, "ITLB-4K 16/=\n"
          "DTLB-4K 16/=\n"
          "L2-TLB-4K 64/2 splits?\n");
   notes(&m, NOTES(FILE_NOTE("geode-lx")));
   assert_string_equal(m.title, "Geode(TM) Integrated Processor by AMD PCS, "
                                "AuthenticAMD family 5 model 10 stepping 2");
}

static void k8(void **state)
{
   const processor p = OF(K8);
   const tlb_machine m = machine_of(&p, 1);
   (void)state;
   is(&m, "ITLB-4K 32/=\n"
          "ITLB-2M 8/=\n"
          "DTLB-4K 32/=\n"
          "DTLB-2M 8/=\n"
          "L2-ITLB-4K 512~4 splits?\n"
          "L2-DTLB-4K 512~4 splits?\n");
   notes(&m, NOTES(FILE_NOTE("k8")));
   assert_string_equal(m.array[4].source,
                       "CPUID leaf 80000006H, which gives the ways as a "
                       "range, 4 to 5");
}

static void k10(void **state)
{
   const processor p = OF(K10);
   const tlb_machine m = machine_of(&p, 1);
   (void)state;
   is(&m, "ITLB-4K 32/=\n"
          "ITLB-2M 16/=\n"
          "DTLB-4K-2M-1G 48/=\n"
          "L2-ITLB-4K 512~4 splits?\n"
          "L2-DTLB-4K 512~4\n"
          "L2-DTLB-2M 128/2\n"
          "L2-DTLB-1G 16~8\n");
   notes(&m, NOTES(FILE_NOTE("k10")));
}

static void bulldozer(void **state)
{
   processor p = OF(BULLDOZER);
   tlb_machine m = machine_of(&p, 1);
   (void)state;
   is(&m, "ITLB-4K 48/=\n"
          "ITLB-2M-1G 24/=\n"
          "DTLB-4K-2M-1G 32/=\n"
          "L2-ITLB-4K 512~4\n"
          "L2-ITLB-2M 1024~8 splits?\n"
          "L2-DTLB-4K-2M-1G 1024~8\n");
   notes(&m, NOTES("CPUID of family 15H up to model 1FH denies the "
                   "second-level instruction array for 2M pages; 1024 "
                   "entries, with the ways of the data side, are assumed",
                   FILE_NOTE("bulldozer")));
   /* From model 20H on a zero is one. */
   set(&p, 1, 0, 0x00620f12, 0, 0, 0);
   m = machine_of(&p, 1);
   is(&m, "ITLB-4K 48/=\n"
          "ITLB-2M-1G 24/=\n"
          "DTLB-4K-2M-1G 32/=\n"
          "L2-ITLB-4K 512~4 splits?\n"
          "L2-DTLB-4K-2M-1G 1024~8\n");
   notes(&m, NOTES(FILE_NOTE("piledriver")));
}

static void piledriver(void **state)
{
   const processor p = OF(PILEDRIVER);
   const tlb_machine m = machine_of(&p, 1);
   (void)state;
   is(&m, "ITLB-4K 48/=\n"
          "ITLB-2M-1G 24/=\n"
          "DTLB-4K-2M-1G 64/=\n"
          "L2-ITLB-4K 512~4\n"
          "L2-ITLB-2M-1G 1024~8\n"
          "L2-DTLB-4K-2M-1G 1024~8\n");
}

static void jaguar(void **state)
{
   const processor p = OF(JAGUAR);
   const tlb_machine m = machine_of(&p, 1);
   (void)state;
   is(&m, "ITLB-4K 32/=\n"
          "ITLB-2M 8/=\n"
          "DTLB-4K 40/=\n"
          "DTLB-2M 8/=\n"
          "L2-ITLB-4K 512~4 splits?\n"
          "L2-DTLB-4K 512~4\n"
          "L2-DTLB-2M 256/2 splits?\n");
}

#define ZEN_L1                              \
   "ITLB-4K-2M-1G 64/=\n"        \
   "DTLB-4K-2M-1G 64/=\n"

#define OTHER_WAYS(size, entries, side, other, ways)                         \
   "for " size " pages in the " entries " " side " entries of level 2 CPUID " \
   "gives " other " ways; one array with " ways " is assumed"

static void zen_1(void **state)
{
   const processor zen = OF(ZEN_1);
   const processor dhyana = OF(DHYANA);
   tlb_machine m = machine_of(&zen, 1);
   (void)state;
   /* 1536 entries, 8 to 15 ways: 12 leave 128 sets. */
   is(&m, ZEN_L1 "L2-ITLB-4K-2M 1024~8 splits?\n"
                 "L2-DTLB-4K-2M 1536~12 splits?\n");
   notes(&m, NOTES(OTHER_WAYS("2M", "1536", "data", "2", "12"),
                   FILE_NOTE("zen1")));
   m = machine_of(&dhyana, 1);
   is(&m, ZEN_L1 "L2-ITLB-4K-2M 1024~8 splits?\n"
                 "L2-DTLB-4K-2M 1536~6 splits?\n");
   notes(&m, NOTES(OTHER_WAYS("2M", "1536", "data", "3", "6"),
                   FILE_NOTE("zen1")));
   assert_string_equal(m.title, "HygonGenuine family 24 model 0 stepping 2");
}

static void zen_3(void **state)
{
   const processor p = OF(ZEN_3);
   const tlb_machine m = machine_of(&p, 1);
   (void)state;
   is(&m, ZEN_L1 "L2-ITLB-4K-2M 512~4 splits?\n"
                 "L2-DTLB-4K-2M 2048~8\n"
                 "L2-DTLB-1G 64/=\n");
   notes(&m, NOTES(OTHER_WAYS("2M", "512", "instruction", "2", "4"),
                   OTHER_WAYS("2M", "2048", "data", "4", "8"),
                   FILE_NOTE("zen3")));
}

static void zen_4(void **state)
{
   const processor p = OF(ZEN_4);
   const tlb_machine m = machine_of(&p, 1);
   (void)state;
   is(&m, "ITLB-4K-2M-1G 64/=\n"
          "DTLB-4K-2M-1G 72/=\n"
          "L2-ITLB-4K-2M 512~4 splits?\n"
          "L2-DTLB-4K-2M 3072~12\n"
          "L2-DTLB-1G 64/=\n");
   assert_string_equal(m.note[m.n_notes - 1].text, FILE_NOTE("zen4"));
}

static void zen_5(void **state)
{
   processor p = OF(ZEN_5);
   tlb_machine m = machine_of(&p, 1);
   (void)state;
   is(&m, "ITLB-4K-2M-1G 64/=\n"
          "DTLB-4K-2M-1G 96/=\n"
          "L2-ITLB-4K-2M 2048~4 splits?\n"
          "L2-DTLB-4K-2M 4096~8\n"
          "L2-DTLB-1G 1024~4\n");
   /* A hypervisor that hides leaves 80000019H and 80000021H. */
   set(&p, 1, 0, 0x00b20f40, 0, 0xfed8320b, 0);
   set(&p, 0x40000000, 0, 0, 0x4b4d564b, 0x564b4d56, 0x4d);
   set(&p, 0x80000000, 0, 0x80000008, 0x68747541, 0x444d4163, 0x69746e65);
   m = machine_of(&p, 1);
   is(&m, "ITLB-4K-2M 64/=\n"
          "DTLB-4K-2M 96/=\n"
          "L2-ITLB-4K-2M 2048~4 splits?\n"
          "L2-DTLB-4K-2M 4096~8 splits?\n");
   notes(&m,
         NOTES("the hypervisor (KVMKVMKVM) hides that family 1AH counts its "
               "second level in units of 32 entries; they are assumed",
               OTHER_WAYS("2M", "2048", "instruction", "2", "4"),
               OTHER_WAYS("2M", "4096", "data", "4", "8"),
               "the hypervisor (KVMKVMKVM) hides leaf 80000019H; nothing is "
               "known of arrays for 1G pages, none are assumed",
               FILE_NOTE("zen5")));
   /* Without one, the bit of leaf 80000021H is what counts, not the family. */
   p.n_others = 0;
   set(&p, 0x80000021, 0, 0, 0, 0, 0);
   m = machine_of(&p, 1);
   is(&m, "ITLB-4K-2M-1G 64/=\n"
          "DTLB-4K-2M-1G 96/=\n"
          "L2-ITLB-4K-2M 64~4 splits?\n"
          "L2-DTLB-4K-2M 128~8\n"
          "L2-DTLB-1G 32~4\n");
}

/* The second level of the data side, with that code and that many entries. */
static void amd_code(uint32_t code, uint32_t entries, const char *expected)
{
   processor p = OF(JAGUAR);
   set(&p, 0x80000006, 0, 0, code << 28 | entries << 16 | 0x1100, 0, 0);
   const tlb_machine m = machine_of(&p, 1);
   char text[256];
   assert_string_equal(m.array[4].name, "L2-ITLB-4K");
   if (*expected == '\0') {
      assert_int_equal(m.n_arrays, 5);
      return;
   }
   assert_int_equal(m.n_arrays, 6);
   const tlb_geometry *const g = &m.array[5].g;
   snprintf(text, sizeof text, "%u%s%u", g->entries,
            m.array[5].ways_unknown ? "~" : "/", g->ways);
   assert_string_equal(text, expected);
}

static void amd_codes(void **state)
{
   (void)state;
   amd_code(1, 512, "512/1");
   amd_code(2, 512, "512/2");
   amd_code(3, 1536, "1536/3");
   amd_code(4, 512, "512~4");
   amd_code(4, 1280, "1280~5");
   amd_code(5, 768, "768~6");
   amd_code(5, 896, "896~7");
   amd_code(6, 3072, "3072~12");
   amd_code(6, 2048, "2048~8");
   amd_code(8, 1024, "1024~16");
   amd_code(8, 1536, "1536~24");
   amd_code(10, 1024, "1024~32");
   amd_code(11, 1536, "1536~48");
   amd_code(12, 1024, "1024~64");
   amd_code(13, 1536, "1536~96");
   amd_code(14, 1024, "1024~128");
   amd_code(15, 1000, "1000/1000");
   amd_code(0, 512, "");
   /* Codes without a meaning give no array. */
   amd_code(7, 512, "");
   amd_code(9, 512, "");
   /* Nor do ways that are all wrong for the entries. */
   amd_code(4, 509, "");
}

/* --- others --- */

static void zhaoxin(void **state)
{
   const processor p = OF(ZHAOXIN);
   const tlb_machine m = machine_of(&p, 1);
   (void)state;
   is(&m, "ITLB-4K 128/8\n"
          "ITLB-2M-4M 8/=\n"
          "DTLB-4K 64/4\n"
          "DTLB-2M-4M 32/4\n"
          "DTLB-1G 4/=\n"
          "L2-TLB-4K-2M 1024/8 splits?\n");
   assert_int_equal(m.n_notes, 0);
   assert_string_equal(m.title,
                       "Shanghai family 7 model 11 stepping 0");
}

static void via(void **state)
{
   const processor p = OF(VIA_C3);
   const tlb_machine m = machine_of(&p, 1);
   (void)state;
   is(&m, "ITLB-4K 128/8\nDTLB-4K 128/8\n");
   assert_string_equal(m.title, "VIA Ezra, CentaurHauls family 6 model 7 "
                                "stepping 8");
}

static void qemu(void **state)
{
   (void)state;
   /* QEMU's own Intel: leaf 2 speaks of caches only, and the leaves of AMD are
      no concern of Intel's. */
   processor intel = { .a = NULL, .n = 0 };
   set(&intel, 0, 0, 0x0d, 0x756e6547, 0x6c65746e, 0x49656e69);
   set(&intel, 1, 0, 0x663, 0, 0x80202001, 0);
   set(&intel, 2, 0, 1, 0, 0x4d, 0x2c307d);
   set(&intel, 0x80000005, 0, 0x01ff01ff, 0x01ff01ff, 0, 0);
   tlb_machine m = machine_of(&intel, 0);
   notes(&m, NOTES("leaf 2 of the hypervisor (unnamed) says nothing of "
                   "translation arrays",
                   "unknown: CPUID does not describe the first level for "
                   "instructions and data"));
   assert_null(tlb_cpuid_machine_file(ask, &intel));

   processor amd = OF(ZEN_3);
   set(&amd, 0x80000005, 0, 0x01ff01ff, 0x01ff01ff, 0, 0);
   set(&amd, 0x80000006, 0, 0, 0x42004200, 0, 0);
   m = machine_of(&amd, 0);
   notes(&m, NOTES("leaves 80000005H and 80000006H hold what QEMU makes up "
                   "for every processor; they are not used",
                   "unknown: CPUID does not describe the first level for "
                   "instructions and data"));
   assert_string_equal(tlb_cpuid_machine_file(ask, &amd), "zen3");

   processor half = OF(ZEN_3);
   set(&half, 1, 0, 0x00a00f11, 0, 0xfeda320b, 0);
   set(&half, 0x80000006, 0, 0, 0, 0x02006140, 0x08009140);
   m = machine_of(&half, 0);
   assert_string_equal(m.note[0].text,
                       "the hypervisor (unnamed) hides the second level in "
                       "leaf 80000006H");

   processor hidden = OF(ZEN_3);
   set(&hidden, 0x80000000, 0, 0x80000004, 0, 0, 0);
   m = machine_of(&hidden, 0);
   assert_string_equal(m.note[0].text, "the processor hides leaf 80000005H, "
                                       "or has none");
}

static void nothing(void **state)
{
   const processor none = { .a = NULL, .n = 0 };
   tlb_machine m = machine_of(&none, 0);
   (void)state;
   assert_string_equal(m.title, "unknown vendor family 0 model 0 stepping 0");
   /* Only one side. */
   processor half = OF(PENTIUM_III);
   set(&half, 2, 0, 0x00000301, 0, 0, 0);
   m = machine_of(&half, 0);
   notes(&m, NOTES("unknown: CPUID does not describe the first level for "
                   "instructions"));
   half.n_others = 0;
   set(&half, 2, 0, 0x0000b001, 0, 0, 0x00c30000);
   m = machine_of(&half, 0);
   notes(&m, NOTES("unknown: CPUID does not describe the first level for "
                   "data"));
}

static void binary_brand(void **state)
{
   processor p = OF(SKYLAKE);
   (void)state;
   set(&p, 0x80000002, 0, 0x0a410009, 0xff7f1b20, 0x20202020, 0x42202020);
   set(&p, 0x80000003, 0, 0, 0, 0, 0);
   set(&p, 0x80000004, 0, 0, 0, 0, 0);
   const tlb_machine m = machine_of(&p, 1);
   assert_string_equal(m.title, "?A? ??? B, GenuineIntel family 6 model 85 "
                                "stepping 4");
}

/* Whatever the family and model, the file is there. */
static void files_are_there(void **state)
{
   static const uint32_t vendors[3][3] = {
      { 0x756e6547, 0x6c65746e, 0x49656e69 },
      { 0x68747541, 0x444d4163, 0x69746e65 },
      { 0x6f677948, 0x656e6975, 0x6e65476e },
   };
   const char *seen[128];
   unsigned n = 0;
   (void)state;
   for (unsigned i = 0; i < 3 * 2 * 27 * 256; i++) {
      const uint32_t *const v = vendors[i % 3];
      const uint32_t family = i / 6 % 27, model = i / 6 / 27;
      const uint32_t base = family < 15 ? family : 15;
      processor p = { .a = NULL, .n = 0 };
      set(&p, 0, 0, 0x20, v[0], v[1], v[2]);
      set(&p, 1, 0,
          (family - base) << 20 | (model >> 4) << 16 | base << 8
             | (model & 15) << 4,
          0, 0, 0);
      set(&p, 7, 0, 0, 0, 0, 1u << 15);
      set(&p, 0x1a, 0, (i / 3 % 2 ? 0x20u : 0x40u) << 24, 0, 0, 0);
      const char *const name = tlb_cpuid_machine_file(ask, &p);
      if (name == NULL)
         continue;
      if (tlb_builtin_machine(name) == NULL)
         fail_msg("family %u model %u is said to be %s", family, model, name);
      unsigned j = 0;
      while (j < n && strcmp(seen[j], name) != 0)
         j++;
      if (j == n)
         seen[n++] = name;
   }
   assert_int_equal(n, 32);
}

/* What does not matter is neither asked for nor looked at. */
static void what_matters(void **state)
{
   unsigned n = 0;
   (void)state;
   for (uint32_t i = 0; i < 0x100; i++) {
      for (uint32_t sub = 0; sub < 0x100; sub++) {
         const tlb_cpuid basic = tlb_cpuid_matters(i, sub);
         const tlb_cpuid more = tlb_cpuid_matters(0x80000000u + i, sub);
         n += (basic.eax | basic.ebx | basic.ecx | basic.edx) != 0;
         n += (more.eax | more.ebx | more.ecx | more.edx) != 0;
      }
   }
   assert_in_range(n + 1, 50, TLB_CPUID_MAX_ANSWERS);
   const tlb_cpuid version = tlb_cpuid_matters(1, 0);
   assert_true(version.eax == 0xffffffff && version.ebx == 0);
}

/* Random answers, the same for the same question, that are near enough to real
   ones to get far. */
typedef struct {
   uint64_t seed;
   unsigned kind;
   unsigned asked;
} dice;

static tlb_cpuid ask_dice(void *opaque, uint32_t leaf, uint32_t subleaf)
{
   static const uint32_t vendor[4][3] = {
      { 0x756e6547, 0x6c65746e, 0x49656e69 },
      { 0x68747541, 0x444d4163, 0x69746e65 },
      { 0x6f677948, 0x656e6975, 0x6e65476e },
      { 0x746e6543, 0x736c7561, 0x48727561 },
   };
   static const uint8_t descriptors[] = {
      0x01, 0x03, 0x4f, 0x50, 0x57, 0x63, 0x64, 0x6a, 0xb2,
      0xb3, 0xb4, 0xb5, 0xc1, 0xc3, 0xca, 0xfe, 0xff, 0x00
   };
   static const uint32_t halves[] = { 0xff40, 0xff60, 0x0440, 0x0120,
                                      0xff01, 0x0240, 0x0540, 0x0040 };
   dice *const d = opaque;
   const tlb_cpuid bits = tlb_cpuid_matters(leaf, subleaf);
   assert_true((bits.eax | bits.ebx | bits.ecx | bits.edx) != 0);
   uint64_t s = d->seed ^ leaf * UINT64_C(0x9E3779B97F4A7C15)
                ^ (uint64_t)subleaf << 40;
   unit_random(&s);
   const uint64_t a = unit_random(&s), b = unit_random(&s);
   tlb_cpuid r = { (uint32_t)a, (uint32_t)(a >> 32), (uint32_t)b,
                   (uint32_t)(b >> 32) };
   d->asked++;
   if (leaf == 0 && d->kind % 8 < 7) {
      const uint32_t *const v = vendor[d->kind % 4];
      r = (tlb_cpuid){ d->kind & 16 ? r.eax % 40 : r.eax, v[0], v[1], v[2] };
   } else if (leaf == 0x80000000u && d->kind & 16) {
      r.eax = 0x80000000u + r.eax % 0x30;
   } else if (leaf == 0x80000005u && d->kind & 32) {
      r.ebx = halves[r.eax % 8] << 16 | halves[r.ecx % 8];
   } else if (leaf == 2 && d->kind & 32) {
      uint8_t byte[16];
      for (int i = 0; i < 16; i++)
         byte[i] = descriptors[unit_random(&s) % sizeof descriptors];
      memcpy(&r, byte, sizeof r);
   } else if (leaf == 0x18 && d->kind & 64) {
      r.eax = subleaf == 0 ? r.eax % 12 : r.eax;
      r.ebx = (r.ebx & 0x001f000f) | 1;
      r.ecx = 1u << r.ecx % 13;
      r.edx = (r.edx & 0xff) % 6 | (r.edx & 0x60);
   }
   return r;
}

static void rubbish(void **state)
{
   unsigned taken = 0, by_vendor[4] = { 0 };
   (void)state;
   for (unsigned i = 0; i < 100000; i++) {
      dice d = { .seed = i + 1, .kind = i % 128 };
      tlb_machine m;
      memset(&m, 0xA5, sizeof m);
      const int known = tlb_cpuid_machine(ask_dice, &d, &m);
      assert_true(d.asked < 120);
      check_common(&m, known);
      if (!known) {
         assert_true(m.n_notes > 0);
         assert_int_equal(strncmp(m.note[m.n_notes - 1].text, "unknown: ", 9),
                          0);
         continue;
      }
      taken++;
      by_vendor[d.kind % 4]++;
   }
   assert_true(taken > 5000);
   for (int v = 0; v < 4; v++)
      assert_true(by_vendor[v] > 100);
}

int main(void)
{
   const struct CMUnitTest tests[] = {
      CLAIM("Pentium III: descriptors 01, 02, 03, 04", pentium_iii),
      CLAIM("Pentium 4: descriptors 50 and 5B", pentium_4),
      CLAIM("Core Duo: descriptor B3 alone is the first level", core_duo),
      CLAIM("Core 2: B4 and 05 are the second level behind 57 and 56", core_2),
      CLAIM("Bonnell: 59 and C0 before BA; 4F does not tell its ways", bonnell),
      CLAIM("Silvermont: A0 and C2 before B3", silvermont),
      CLAIM("Goldmont: A0 before 64 and C4", goldmont),
      CLAIM("Knights Landing: 6A before 6B, 6C and 6D", knights_landing),
      CLAIM("Westmere: 55, 5A; CA holds 4K only; B2 is half of B0", westmere),
      CLAIM("Ivy Bridge: 63 is two arrays", ivy_bridge),
      CLAIM("Haswell: B6, C1 is one array for two sizes", haswell),
      CLAIM("Skylake: B5, C3 is two arrays; title and walk", skylake),
      CLAIM("descriptors 0B, 51, 5C, 5D", other_descriptors),
      CLAIM("a third array for the same pages is left out, and that is said",
            three_abreast),
      CLAIM("every descriptor is known or no array", all_descriptors),
      CLAIM("registers with bit 31 and the count in AL are no descriptors",
            invalid_registers),
      CLAIM("leaf 2 is asked as often as it says", asked_twice),
      CLAIM("Sapphire Rapids: leaf 18H, two arrays of one level for 4K",
            sapphire_rapids),
      CLAIM("Ice Lake: what CPUID says is taken, and doubted aloud", ice_lake),
      CLAIM("Alder Lake: its two kinds of core are told apart", hybrid),
      CLAIM("a hidden leaf 18H is unknown, and that is said", hidden_leaf),
      CLAIM("leaf 18H is not asked where leaf 2 says all", not_sent),
      CLAIM("odd sub-leaves of leaf 18H are left out, and that is said",
            odd_sub_leaves),
      CLAIM("arrays that cannot be are left out, and that is said",
            impossible_sizes),
      CLAIM("more arrays than there is room for are left out", too_many),
      CLAIM("endless sub-leaves come to an end", endless),
      CLAIM("Geode LX: no data half means one array for both sides", geode),
      CLAIM("K8: arrays of their own for 4K and 2M", k8),
      CLAIM("K10: one data array for all sizes in the first level", k10),
      CLAIM("Bulldozer: the missing second-level array is added", bulldozer),
      CLAIM("Piledriver: no data but in one array", piledriver),
      CLAIM("Jaguar: three arrays in the second level", jaguar),
      CLAIM("Zen 1 and Hygon: ways out of a range", zen_1),
      CLAIM("Zen 3: the second level holds 4K and 2M, and 1G apart", zen_3),
      CLAIM("Zen 4: 3072 entries, 12 ways of 8 to 15", zen_4),
      CLAIM("Zen 5 counts its second level in units of 32, hidden or not",
            zen_5),
      CLAIM("each code of AMD's ways is a range, out of which one is taken",
            amd_codes),
      CLAIM("Zhaoxin: as Intel", zhaoxin),
      CLAIM("VIA: as AMD, where there is no leaf 2", via),
      CLAIM("what hypervisors make up or hide is not used", qemu),
      CLAIM("what does not say anything is not guessed", nothing),
      CLAIM("a brand string is cleaned", binary_brand),
      CLAIM("all machine files that CPUID names are there", files_are_there),
      CLAIM("what matters fits into a dump's memory", what_matters),
      CLAIM("100000 random processors are refused or can be", rubbish),
   };
   return cmocka_run_group_tests_name("cpuid", tests, NULL, NULL);
}
