/* What leaves 2 and 18H of CPUID say, on Intel's and Zhaoxin's processors
   (Intel SDM, volume 2A, CPUID). */

#include "sim/machine/cpuid_reader.h"

/* --- leaf 2 --- */

/* Where an array stands. Leaf 2 names a second level as such only where both
   sides share it; of data arrays it says what there is, and the level follows
   from what else there is. */
typedef enum {
   FIRST,  /* the first level, always */
   MICRO,  /* the first level; with it, MAIN arrays are the second */
   MAIN,   /* the first level unless there is a MICRO array */
   SECOND  /* the second level, always */
} place;

enum { FULL = 0, LARGE = TLB_2M | TLB_4M };

/* Users, in the table's language. A stands for all. */
enum { I = TLB_FETCHES, D = TLB_DATA_REFERENCES, L = TLB_LOADS,
       A = TLB_ALL_REFERENCES };

/* All descriptors of translation arrays; two rows where one has two arrays.
   Descriptors that are not here tell of caches and prefetching. The arrays
   behind 56 and 57 (Core 2) are asked by loads only, stores go to those behind
   05 and B4 at once (Intel's optimization manual of those years, on the data
   cache unit of the Core microarchitecture). C0 and C2 are behind the first
   level: AIDA64 measures 16 pages of 4K at full speed on Bonnell (Diamondville) and 32 on
   Silvermont (J1900), which is what descriptors 59 and A0 hold. */
static const struct {
   uint8_t descriptor, place, users;
   uint32_t page_sizes;
   uint16_t entries, ways;
} descriptors[] = {
   { 0x01, FIRST, I, TLB_4K, 32, 4 },
   { 0x02, FIRST, I, TLB_4M, 2, FULL },
   { 0x03, MAIN, D, TLB_4K, 64, 4 },
   { 0x04, MAIN, D, TLB_4M, 8, 4 },
   { 0x05, MAIN, D, TLB_4M, 32, 4 },
   { 0x0b, FIRST, I, TLB_4M, 4, 4 },
   { 0x4f, FIRST, I, TLB_4K, 32, FULL }, /* ways not given, nor in the next three */
   { 0x50, FIRST, I, TLB_4K | LARGE, 64, FULL },
   { 0x51, FIRST, I, TLB_4K | LARGE, 128, FULL },
   { 0x52, FIRST, I, TLB_4K | LARGE, 256, FULL },
   { 0x55, FIRST, I, LARGE, 7, FULL },
   { 0x56, MICRO, L, TLB_4M, 16, 4 },
   { 0x57, MICRO, L, TLB_4K, 16, 4 },
   { 0x59, MICRO, D, TLB_4K, 16, FULL },
   { 0x5a, MAIN, D, LARGE, 32, 4 },
   { 0x5b, MAIN, D, TLB_4K | TLB_4M, 64, FULL }, /* nor in these */
   { 0x5c, MAIN, D, TLB_4K | TLB_4M, 128, FULL },
   { 0x5d, MAIN, D, TLB_4K | TLB_4M, 256, FULL },
   { 0x61, FIRST, I, TLB_4K, 48, FULL },
   { 0x63, MAIN, D, LARGE, 32, 4 },
   { 0x63, MAIN, D, TLB_1G, 4, 4 },
   { 0x64, MAIN, D, TLB_4K, 512, 4 },
   { 0x6a, MICRO, D, TLB_4K, 64, 8 },
   { 0x6b, MAIN, D, TLB_4K, 256, 8 },
   { 0x6c, MAIN, D, LARGE, 128, 8 },
   { 0x6d, MAIN, D, TLB_1G, 16, FULL },
   { 0x76, FIRST, I, LARGE, 8, FULL },
   { 0xa0, MICRO, D, TLB_4K, 32, FULL },
   { 0xb0, FIRST, I, TLB_4K, 128, 4 },
   { 0xb1, FIRST, I, TLB_2M, 8, 4 }, /* 4 pages of 4M */
   { 0xb2, FIRST, I, TLB_4K, 64, 4 },
   { 0xb3, MAIN, D, TLB_4K, 128, 4 },
   { 0xb4, MAIN, D, TLB_4K, 256, 4 },
   { 0xb5, FIRST, I, TLB_4K, 64, 8 },
   { 0xb6, FIRST, I, TLB_4K, 128, 8 },
   { 0xba, MAIN, D, TLB_4K, 64, 4 },
   { 0xc0, SECOND, D, TLB_4K | TLB_4M, 8, 4 },
   { 0xc1, SECOND, A, TLB_4K | TLB_2M, 1024, 8 },
   { 0xc2, SECOND, D, TLB_4K | TLB_2M, 16, 4 },
   { 0xc3, SECOND, A, TLB_4K | TLB_2M, 1536, 6 },
   { 0xc3, SECOND, A, TLB_1G, 16, 4 },
   { 0xc4, MAIN, D, LARGE, 32, 4 },
   { 0xca, SECOND, A, TLB_4K, 512, 4 },
};

enum {
   N_DESCRIPTORS = sizeof descriptors / sizeof descriptors[0],
   LEAF_18_INSTEAD = 0xfe
};

/* Which descriptors there are: bit n % 64 of word n / 64. */
typedef struct {
   uint64_t bit[4];
} descriptor_set;

static int is_in(const descriptor_set *s, unsigned descriptor)
{
   return (int)(s->bit[descriptor / 64] >> descriptor % 64 & 1);
}

/* The lowest byte of EAX is no descriptor but says how often the leaf is to be
   asked; a register whose bit 31 is set holds none. */
static descriptor_set read_descriptors(const tlb_cpuid_reader *r)
{
   descriptor_set s = { { 0, 0, 0, 0 } };
   unsigned calls = 1;
   for (unsigned call = 0; call < calls; call++) {
      const tlb_cpuid a = tlb_cpuid_leaf(r, 2, call);
      const uint32_t reg[4] = { a.eax & ~UINT32_C(0xff), a.ebx, a.ecx, a.edx };
      if (call == 0)
         calls = tlb_bits(a.eax, 7, 0) < TLB_CPUID_MAX_LEAF_2
                    ? tlb_bits(a.eax, 7, 0)
                    : TLB_CPUID_MAX_LEAF_2;
      for (unsigned i = 0; i < 4; i++) {
         for (unsigned shift = 0; shift < 32; shift += 8) {
            const unsigned d = reg[i] >> shift & 0xff;
            if (reg[i] >> 31 == 0)
               s.bit[d / 64] |= UINT64_C(1) << d % 64;
         }
      }
   }
   return s;
}

static void remark(tlb_cpuid_reader *r, tlb_machine_array *a,
                   unsigned descriptor)
{
   switch (descriptor) {
   case 0x4f:
   case 0x50:
   case 0x51:
   case 0x52:
   case 0x5b:
   case 0x5c:
   case 0x5d:
      a->ways_unknown = 1;
      break;
   case 0xb1:
      tlb_cpuid_note(r, "in the instruction array for 2M pages a page of 4M "
                        "takes two entries (CPUID descriptor B1)");
      break;
   case 0xb2:
   case 0xb5:
      a->threads = 1;
      tlb_cpuid_note(r, "of the instruction array for 4K pages CPUID gives the "
                        "half that one of two threads has; one that runs alone "
                        "may have all of it");
      break;
   default:
      break;
   }
}

/* In long mode there are no pages of 4M: there, arrays for them hold 2M. */
static uint32_t sizes_of(const tlb_cpuid_reader *r, uint32_t page_sizes)
{
   const int widened = r->long_mode && (page_sizes & LARGE) == TLB_4M;
   return widened ? page_sizes | TLB_2M : page_sizes;
}

/* Which arrays are taken. */
typedef enum {
   ALL_ARRAYS,
   NOT_IN_AMDS_LEAF /* but for first levels of 4K and 2M pages */
} selection;

static void take_descriptors(tlb_cpuid_reader *r, const descriptor_set *s, selection which)
{
   int micro = 0, widened = 0;
   for (unsigned i = 0; i < N_DESCRIPTORS; i++)
      micro |= descriptors[i].place == MICRO
               && is_in(s, descriptors[i].descriptor);
   for (unsigned i = 0; i < N_DESCRIPTORS; i++) {
      if (!is_in(s, descriptors[i].descriptor))
         continue;
      if (which == NOT_IN_AMDS_LEAF && descriptors[i].place != SECOND
          && descriptors[i].page_sizes != TLB_1G)
         continue;
      const unsigned behind = descriptors[i].place == SECOND
                              || (descriptors[i].place == MAIN && micro);
      const uint32_t sizes = sizes_of(r, descriptors[i].page_sizes);
      const uint32_t entries = descriptors[i].entries;
      const uint32_t ways = descriptors[i].ways == FULL ? entries
                                                        : descriptors[i].ways;
      char source[32];
      tlb_text t = tlb_text_in(source, sizeof source);
      tlb_text_add(&t, "leaf 2, descriptor ");
      tlb_cpuid_add_byte(&t, descriptors[i].descriptor);
      tlb_machine_array *const a = tlb_cpuid_take(
         r, 1 + behind, descriptors[i].users, sizes, entries, ways, source);
      if (a == NULL)
         continue;
      widened |= sizes != descriptors[i].page_sizes;
      remark(r, a, descriptors[i].descriptor);
   }
   if (widened)
      tlb_cpuid_note(r, "arrays that CPUID gives for 4M pages are taken to "
                        "hold those of 2M, which are in their place in 64-bit "
                        "programs");
}

/* --- Where CPUID is known to be wrong --- */

/* What leaf 18H says of one array, and what stands in its place. */
typedef struct {
   uint8_t users;
   uint32_t page_sizes, entries;
   struct {
      uint32_t page_sizes, entries, ways;
   } is[2];
   const char *note;
} correction;

/* Golden Cove and Raptor Cove have 96 entries, 6-way, for loads (Intel's optimization manual, which
   AIDA64 follows against CPUID). Sunny Cove's and Cypress Cove's CPUID has an array of 8 entries
   for all of code; Tiger Lake's, of the same family, has 128 and 16, as Intel's manual has for
   all. */
static const correction golden_cove = {
   TLB_LOADS, TLB_4K, 64, { { TLB_4K, 96, 6 }, { 0, 0, 0 } },
   "CPUID of this processor gives 64 entries, 4-way, to loads from 4K pages; simulated are 96, "
   "6-way, as in Intel's documents"
};
static const correction sunny_cove = {
   TLB_FETCHES, TLB_4K | LARGE, 8, { { TLB_4K, 128, 8 }, { LARGE, 16, 8 } },
   "CPUID of this processor gives 8 entries to instructions; simulated are 128, and 16 for large "
   "pages, as its sister Tiger Lake says"
};

/* Models of family 6; of hybrids, the big cores. */
static const struct {
   uint8_t model;
   const correction *of;
} corrected[] = {
   { 0x8f, &golden_cove }, { 0x97, &golden_cove }, { 0x9a, &golden_cove },
   { 0xb7, &golden_cove }, { 0xba, &golden_cove }, { 0xbf, &golden_cove },
   { 0xcf, &golden_cove }, { 0xd7, &golden_cove }, /* Bartlett Lake */
   { 0x6a, &sunny_cove },  { 0x6c, &sunny_cove },  { 0x7d, &sunny_cove },
   { 0x7e, &sunny_cove },  { 0x8a, &sunny_cove },  /* Lakefield */
   { 0xa7, &sunny_cove },  /* Rocket Lake */
};

/* What is wrong about an array of the first level; NULL: nothing that is known. */
static const correction *correction_of(const tlb_cpuid_reader *r, unsigned users,
                                       uint32_t page_sizes, uint64_t entries)
{
   for (unsigned i = 0; i < sizeof corrected / sizeof corrected[0]; i++) {
      const correction *const c = corrected[i].of;
      if (r->family == 6 && r->model == corrected[i].model && !r->atom_core && c->users == users
          && c->page_sizes == page_sizes && c->entries == entries)
         return c;
   }
   return NULL;
}

/* --- leaf 18H --- */

static const uint8_t users_of_type[] = {
   0, TLB_DATA_REFERENCES, TLB_FETCHES, TLB_ALL_REFERENCES, TLB_LOADS,
   TLB_STORES
};

enum { N_TYPES = sizeof users_of_type };

static void take_array(tlb_cpuid_reader *r, unsigned level, unsigned users, uint32_t page_sizes,
                       uint64_t entries, uint32_t ways, uint32_t threads, const char *source)
{
   tlb_machine_array *const array = tlb_cpuid_take(r, level, users, page_sizes, entries, ways,
                                                   source);
   if (array != NULL)
      array->threads = threads;
}

static void take_leaf_18(tlb_cpuid_reader *r)
{
   static const uint32_t page_size[4] = { TLB_4K, TLB_2M, TLB_4M, TLB_1G };
   uint32_t highest = tlb_cpuid_leaf(r, 0x18, 0).eax;
   if (highest > TLB_CPUID_MAX_LEAF_18) {
      tlb_cpuid_note(r, "leaf 18H claims more than 63 sub-leaves; only those "
                        "are read");
      highest = TLB_CPUID_MAX_LEAF_18;
   }
   for (uint32_t i = 0; i <= highest; i++) {
      const tlb_cpuid a = tlb_cpuid_leaf(r, 0x18, i);
      const uint32_t type = tlb_bits(a.edx, 4, 0);
      uint32_t page_sizes = 0;
      if (type == 0)
         continue;
      for (unsigned bit = 0; bit < 4; bit++) {
         if (a.ebx >> bit & 1)
            page_sizes |= page_size[bit];
      }
      if (type >= N_TYPES || page_sizes == 0) {
         tlb_text t = tlb_cpuid_begin_note(r);
         tlb_text_add(&t, "sub-leaf ");
         tlb_text_add_number(&t, i);
         tlb_text_add(&t, type >= N_TYPES ? " of leaf 18H tells of an array of "
                                            "an unknown type"
                                          : " of leaf 18H tells of an array "
                                            "without a page size");
         tlb_text_add(&t, ", which is left out");
         continue;
      }
      const uint32_t ways = tlb_bits(a.ebx, 31, 16);
      const uint64_t entries = (uint64_t)ways * a.ecx;
      const int full = (int)tlb_bits(a.edx, 8, 8);
      char source[48];
      tlb_text s = tlb_text_in(source, sizeof source);
      tlb_text_add(&s, "leaf 18H, sub-leaf ");
      tlb_text_add_number(&s, i);
      const unsigned level = tlb_bits(a.edx, 7, 5);
      /* A core has some threads; thousands are no answer. */
      const uint32_t told = tlb_bits(a.edx, 25, 14) + 1;
      const uint32_t threads = told <= TLB_CPUID_MAX_THREADS ? told : 0;
      const correction *const c
         = level == 1 ? correction_of(r, users_of_type[type], page_sizes, entries) : NULL;
      if (c == NULL) {
         take_array(r, level, users_of_type[type], page_sizes, entries,
                    full && entries <= UINT32_MAX ? (uint32_t)entries : ways, threads, source);
         continue;
      }
      tlb_text_add(&s, ", corrected");
      for (unsigned k = 0; k < 2 && c->is[k].entries != 0; k++)
         take_array(r, level, users_of_type[type], c->is[k].page_sizes, c->is[k].entries,
                    c->is[k].ways, threads, source);
      tlb_cpuid_note(r, c->note);
   }
}

/* --- both --- */

void tlb_cpuid_read_rest_of_intel(tlb_cpuid_reader *r)
{
   const descriptor_set s = read_descriptors(r);
   take_descriptors(r, &s, NOT_IN_AMDS_LEAF);
}

void tlb_cpuid_read_intel(tlb_cpuid_reader *r)
{
   const descriptor_set s = read_descriptors(r);
   const int sent_on = is_in(&s, LEAF_18_INSTEAD);
   if (!sent_on)
      take_descriptors(r, &s, ALL_ARRAYS);
   if (r->m->n_arrays != 0)
      return;
   take_leaf_18(r);
   if (r->m->n_arrays != 0)
      return;
   if (sent_on) {
      tlb_text t = tlb_cpuid_begin_note(r);
      tlb_text_add(&t, "leaf 2 refers to leaf 18H, which ");
      tlb_cpuid_add_culprit(r, &t);
      tlb_text_add(&t, " hides");
      take_descriptors(r, &s, ALL_ARRAYS);
   } else if (r->highest >= 2) {
      tlb_text t = tlb_cpuid_begin_note(r);
      tlb_text_add(&t, "leaf 2 of ");
      tlb_cpuid_add_culprit(r, &t);
      tlb_text_add(&t, " says nothing of translation arrays");
   }
}
