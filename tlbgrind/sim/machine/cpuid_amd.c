/* What leaves 80000005H, 80000006H and 80000019H of CPUID say, on AMD's and
   Hygon's processors (AMD64 Architecture Programmer's Manual, volume 3,
   appendix E.4). Each register describes one level and page size: the
   instruction side in the lower half, the data side in the upper. */

#include "sim/machine/cpuid_reader.h"

/* One side of one level, for the page sizes 4K, 2M and 1G. */
enum { N_SIZES = 3 };
static const uint32_t page_size[N_SIZES] = { TLB_4K, TLB_2M, TLB_1G };

typedef struct {
   uint32_t entries[N_SIZES]; /* 0: none */
   uint32_t ways[N_SIZES];
   uint32_t range[N_SIZES];   /* the code behind ways, if it is a range */
   int ways_wrong[N_SIZES];   /* the ways could not be, others are assumed */
   const char *leaf[N_SIZES];
} side;

/* The associativity of the second level, and of all that leaf 80000019H says,
   is a code; most stand for a range of ways. */
static const struct {
   uint8_t fewest, most;
} range_of_code[16] = {
   [1] = { 1, 1 },    [2] = { 2, 2 },    [3] = { 3, 3 },   [4] = { 4, 5 },
   [5] = { 6, 7 },    [6] = { 8, 15 },   [8] = { 16, 31 }, [10] = { 32, 47 },
   [11] = { 48, 63 }, [12] = { 64, 95 }, [13] = { 96, 127 },
};

enum { CODE_AT_LEAST_128 = 14, CODE_FULL = 15 };

/* The fewest ways of the range that leave a power of two of sets; if none do,
   the fewest. 0 for a code without a meaning. */
static uint32_t ways_of_code(uint32_t code, uint32_t entries)
{
   if (code == CODE_FULL)
      return entries;
   if (code == CODE_AT_LEAST_128)
      return 128;
   for (uint32_t ways = range_of_code[code].fewest;
        ways <= range_of_code[code].most; ways++) {
      if (ways != 0 && entries % ways == 0
          && (entries / ways & (entries / ways - 1)) == 0)
         return ways;
   }
   return range_of_code[code].fewest;
}

static int is_range(uint32_t code)
{
   return code == CODE_AT_LEAST_128
          || range_of_code[code].fewest != range_of_code[code].most;
}

/* Half of a register of leaf 80000005H: ways in plain numbers, FF is full. */
static void put_plain(side *s, unsigned size, uint32_t half)
{
   s->leaf[size] = "leaf 80000005H";
   const uint32_t ways = tlb_bits(half, 15, 8);
   s->entries[size] = tlb_bits(half, 7, 0);
   s->ways[size] = ways == 0xff ? s->entries[size] : ways;
   if (ways == 0)
      s->entries[size] = 0;
}

/* Half of a register of the other leaves. `unit` entries are counted as one. */
static void put_coded(side *s, unsigned size, uint32_t half, uint32_t unit)
{
   s->leaf[size] = page_size[size] == TLB_1G ? "leaf 80000019H"
                                             : "leaf 80000006H";
   const uint32_t entries = tlb_bits(half, 11, 0) * unit;
   const uint32_t code = tlb_bits(half, 15, 12);
   s->ways[size] = ways_of_code(code, entries);
   s->entries[size] = s->ways[size] == 0 ? 0 : entries;
   s->range[size] = is_range(code) ? code : 0;
}

/* "leaf 80000006H", and behind it the range that the ways were chosen from. */
static void write_source(const side *s, unsigned size, char *out, size_t n)
{
   const uint32_t code = s->range[size];
   tlb_text t = tlb_text_in(out, n);
   tlb_text_add(&t, s->leaf[size]);
   if (code == 0)
      return;
   tlb_text_add(&t, ", which gives the ways as a range, ");
   if (code == CODE_AT_LEAST_128) {
      tlb_text_add(&t, "128 or more");
   } else {
      tlb_text_add_number(&t, range_of_code[code].fewest);
      tlb_text_add(&t, " to ");
      tlb_text_add_number(&t, range_of_code[code].most);
   }
}

static void note_other_ways(tlb_cpuid_reader *r, const tlb_machine_array *a,
                            const side *s, unsigned other)
{
   tlb_text t = tlb_cpuid_begin_note(r);
   tlb_text_add(&t, "for ");
   tlb_text_add_page_size(&t, (unsigned)__builtin_ctz(page_size[other]));
   tlb_text_add(&t, " pages in the ");
   tlb_text_add_number(&t, a->g.entries);
   tlb_text_add(&t, a->users == TLB_FETCHES           ? " instruction"
                    : a->users == TLB_DATA_REFERENCES ? " data"
                                                      : "");
   tlb_text_add(&t, " entries of level ");
   tlb_text_add_number(&t, a->level);
   tlb_text_add(&t, " CPUID gives ");
   tlb_text_add_number(&t, s->ways[other]);
   tlb_text_add(&t, " ways; one array with ");
   tlb_text_add_number(&t, a->g.ways);
   tlb_text_add(&t, " is assumed");
}

/* CPUID tells each page size by itself, not which of them share an array.
   Equal numbers of entries are taken for one array of all those sizes: so it
   is wherever AMD's optimization guides tell (fully associative first levels
   of families 10H, 15H and 17H on, second levels of 15H and 17H on), while
   arrays of their own have different numbers. In the second level the ways may
   differ by page size all the same; those of the smallest pages are taken. */
static void take_side(tlb_cpuid_reader *r, unsigned level, unsigned users,
                      const side *s)
{
   char source[TLB_SOURCE_SIZE];
   int done[N_SIZES] = { 0, 0, 0 };
   for (unsigned i = 0; i < N_SIZES; i++) {
      if (done[i] || s->entries[i] == 0)
         continue;
      uint32_t sizes = page_size[i];
      unsigned other = i;
      for (unsigned j = i + 1; j < N_SIZES; j++) {
         if (s->entries[j] != s->entries[i]
             || (level == 1 && s->ways[j] != s->ways[i]))
            continue;
         sizes |= page_size[j];
         done[j] = 1;
         if (s->ways[j] != s->ways[i])
            other = j;
      }
      write_source(s, i, source, sizeof source);
      tlb_machine_array *const a = tlb_cpuid_take(
         r, level, users, sizes, s->entries[i], s->ways[i], source);
      if (a == NULL)
         continue;
      a->ways_unknown = s->range[i] != 0 || s->ways_wrong[i];
      a->confidence = s->ways_wrong[i] ? 'C' : a->confidence;
      if (other != i)
         note_other_ways(r, a, s, other);
   }
}

/* Zen 5 counts its second level in units of 32 entries and says so in leaf
   80000021H, which hypervisors hide. */
static uint32_t second_level_unit(tlb_cpuid_reader *r)
{
   if (tlb_bits(tlb_cpuid_leaf(r, 0x80000021u, 0).eax, 14, 14))
      return 32;
   if (r->family == 0x1a && r->hypervisor[0] != '\0') {
      tlb_text t = tlb_cpuid_begin_note(r);
      tlb_cpuid_add_culprit(r, &t);
      tlb_text_add(&t, " hides that family 1AH counts its second level in "
                       "units of 32 entries; they are assumed");
      return 32;
   }
   return 1;
}

/* Puts a register of leaf 80000006H into both sides. An instruction half
   without a data half means one array for all references (Geode LX): it goes
   into the third place. */
static void put_second_level(side level2[3], unsigned size, uint32_t value,
                             uint32_t unit)
{
   side *const instructions = &level2[value >> 16 == 0 ? 2 : 0];
   put_coded(instructions, size, value & 0xffff, unit);
   put_coded(&level2[1], size, value >> 16, unit);
}

/* Models below 20H of family 15H say 0 where they hold 1024 instruction
   translations of 2M pages (AMD's erratum 658). The ways, which are not told,
   are taken from the data side. */
static void mend_family_15(tlb_cpuid_reader *r, side level2[3])
{
   enum { SIZE_2M = 1 };
   side *const s = &level2[0];
   if (r->family != 0x15 || r->model > 0x1f || s->entries[SIZE_2M] != 0
       || level2[1].entries[SIZE_2M] != 1024)
      return;
   s->entries[SIZE_2M] = 1024;
   s->ways[SIZE_2M] = level2[1].ways[SIZE_2M];
   s->range[SIZE_2M] = level2[1].range[SIZE_2M];
   s->leaf[SIZE_2M] = "leaf 80000006H, mended";
   tlb_cpuid_note(r, "CPUID of family 15H up to model 1FH denies the "
                     "second-level instruction array for 2M pages; 1024 "
                     "entries, with the ways of the data side, are assumed");
}

/* QEMU's own processors say that: no processor is so. */
static int made_up(uint32_t eax, uint32_t ebx)
{
   return eax == 0x01ff01ffu && ebx == 0x01ff01ffu;
}

/* Bobcat has no first level for code in 4K pages: fetches ask what is the second level of larger
   pages. */
static void mend_bobcat(tlb_cpuid_reader *r, side *first, side *second)
{
   enum { SIZE_4K = 0 };
   if (first->entries[SIZE_4K] != 0 || second->entries[SIZE_4K] == 0)
      return;
   first->entries[SIZE_4K] = second->entries[SIZE_4K];
   first->ways[SIZE_4K] = second->ways[SIZE_4K];
   first->range[SIZE_4K] = second->range[SIZE_4K];
   first->leaf[SIZE_4K] = second->leaf[SIZE_4K];
   second->entries[SIZE_4K] = 0;
   tlb_cpuid_note(r, "CPUID gives the first level no instruction array for 4K pages; that of the "
                     "second is the first that is asked");
}

static void take_first_level(tlb_cpuid_reader *r, side level1[2])
{
   take_side(r, 1, TLB_FETCHES, &level1[0]);
   take_side(r, 1, TLB_DATA_REFERENCES, &level1[1]);
}

/* KX-7000 gives 16 entries, 6-way, to code: no whole number of sets, so one of the two is wrong,
   and the array is as good as assumed. */
static void mend_ways(tlb_cpuid_reader *r, side *s)
{
   for (unsigned i = 0; i < N_SIZES; i++) {
      if (s->entries[i] == 0 || s->entries[i] % s->ways[i] == 0)
         continue;
      tlb_text t = tlb_cpuid_begin_note(r);
      tlb_text_add(&t, "CPUID gives ");
      tlb_text_add_number(&t, s->entries[i]);
      tlb_text_add(&t, " entries in ");
      tlb_text_add_number(&t, s->ways[i]);
      tlb_text_add(&t, " ways, which is no whole number of sets; full is assumed");
      s->ways[i] = s->entries[i];
      s->ways_wrong[i] = 1;
   }
}

void tlb_cpuid_read_first_of_amd(tlb_cpuid_reader *r)
{
   const tlb_cpuid l1 = tlb_cpuid_leaf(r, 0x80000005u, 0);
   side level1[2] = { { .entries = { 0 } }, { .entries = { 0 } } };
   for (unsigned i = 0; i < 2; i++) {
      put_plain(&level1[i], 0, i == 0 ? l1.ebx & 0xffff : l1.ebx >> 16);
      put_plain(&level1[i], 1, i == 0 ? l1.eax & 0xffff : l1.eax >> 16);
      mend_ways(r, &level1[i]);
   }
   take_first_level(r, level1);
}

void tlb_cpuid_read_amd(tlb_cpuid_reader *r)
{
   const tlb_cpuid l1 = tlb_cpuid_leaf(r, 0x80000005u, 0);
   const tlb_cpuid l2 = tlb_cpuid_leaf(r, 0x80000006u, 0);
   const tlb_cpuid giant = tlb_cpuid_leaf(r, 0x80000019u, 0);
   side level1[2] = { { .entries = { 0 } }, { .entries = { 0 } } };
   side level2[3] = { { .entries = { 0 } }, { .entries = { 0 } },
                      { .entries = { 0 } } };

   if (made_up(l1.eax, l1.ebx)) {
      tlb_cpuid_note(r, "leaves 80000005H and 80000006H hold what QEMU makes "
                        "up for every processor; they are not used");
      return;
   }
   if (l1.ebx == 0) {
      tlb_text t = tlb_cpuid_begin_note(r);
      tlb_cpuid_add_culprit(r, &t);
      tlb_text_add(&t, " hides leaf 80000005H, or has none");
      return;
   }
   /* All of AMD's since family 6 have a second level. */
   if (r->amd && r->family >= 6 && l2.eax == 0 && l2.ebx == 0) {
      tlb_text t = tlb_cpuid_begin_note(r);
      tlb_cpuid_add_culprit(r, &t);
      tlb_text_add(&t, " hides the second level in leaf 80000006H");
      return;
   }
   put_plain(&level1[0], 0, l1.ebx & 0xffff);
   put_plain(&level1[0], 1, l1.eax & 0xffff);
   put_coded(&level1[0], 2, giant.eax & 0xffff, 1);
   put_plain(&level1[1], 0, l1.ebx >> 16);
   put_plain(&level1[1], 1, l1.eax >> 16);
   put_coded(&level1[1], 2, giant.eax >> 16, 1);
   const uint32_t unit = second_level_unit(r);
   put_second_level(level2, 0, l2.ebx, unit);
   put_second_level(level2, 1, l2.eax, unit);
   put_coded(&level2[0], 2, giant.ebx & 0xffff, unit);
   put_coded(&level2[1], 2, giant.ebx >> 16, unit);
   mend_family_15(r, level2);
   mend_bobcat(r, &level1[0], &level2[0]);
   take_first_level(r, level1);
   take_side(r, 2, TLB_FETCHES, &level2[0]);
   take_side(r, 2, TLB_DATA_REFERENCES, &level2[1]);
   take_side(r, 2, TLB_ALL_REFERENCES, &level2[2]);

   const int has_giants
      = (int)tlb_bits(tlb_cpuid_leaf(r, 0x80000001u, 0).edx, 26, 26);
   if (has_giants && giant.eax == 0 && r->hypervisor[0] != '\0') {
      tlb_text t = tlb_cpuid_begin_note(r);
      tlb_cpuid_add_culprit(r, &t);
      tlb_text_add(&t, " hides leaf 80000019H; nothing is known of arrays for "
                       "1G pages, none are assumed");
   }
}
