/* What CPUID says of the translation arrays for 4K pages. */

#include "cpuid_design.h"

#include "text.h"

enum { SHIFT_4K = 12 };

static tlb_text begin_note(tlb_cpuid_design *m)
{
   if (m->n_notes == TLB_MAX_CPUID_NOTES)
      m->n_notes--;
   char *const text = m->note[m->n_notes++].text;
   return tlb_text_in(text, sizeof m->note[0].text);
}

static void note(tlb_cpuid_design *m, const char *words)
{
   tlb_text t = begin_note(m);
   tlb_text_add(&t, words);
}

static int has(const tlb_cpuid_design *m, unsigned level, tlb_side side)
{
   return m->design.at[level][side].present;
}

/* Takes an array into the design unless there is one already or it is empty. */
static void take(tlb_cpuid_design *m, unsigned level, tlb_side side,
                 int unified, uint32_t entries, uint32_t ways)
{
   tlb_reason why;
   const tlb_geometry g = { .entries = entries, .ways = ways,
                            .page_sizes = UINT64_C(1) << SHIFT_4K,
                            .policy = TLB_LRU };
   if (level >= TLB_MAX_LEVELS || has(m, level, side) || entries == 0)
      return;
   if (!tlb_geometry_check(&g, &why)) {
      tlb_text t = begin_note(m);
      tlb_text_add(&t, "CPUID describes an array that cannot be: ");
      tlb_text_add(&t, why.text);
      return;
   }
   m->design.at[level][side].present = 1;
   m->design.at[level][side].g = g;
   m->design.unified[level] |= unified;
   if (m->design.levels <= level)
      m->design.levels = level + 1;
}

static uint32_t bits(uint32_t value, unsigned high, unsigned low)
{
   return value >> low & ((2u << (high - low)) - 1);
}

/* --- AMD and Hygon --- */

/* The second level's associativity is a code that stands for a range of ways.
   The fewest ways of the range that leave a power of two of sets are taken. */
static uint32_t ways_of_code(uint32_t code, uint32_t entries)
{
   static const struct {
      uint8_t fewest, most;
   } range[16] = {
      [1] = { 1, 1 },   [2] = { 2, 2 },    [3] = { 3, 3 },   [4] = { 4, 5 },
      [5] = { 6, 7 },   [6] = { 8, 15 },   [8] = { 16, 31 }, [10] = { 32, 47 },
      [11] = { 48, 63 }, [12] = { 64, 95 }, [13] = { 96, 127 },
   };
   if (code == 15)
      return entries;
   if (code == 14)
      return 128;
   for (uint32_t ways = range[code].fewest; ways <= range[code].most; ways++) {
      if (ways != 0 && entries % ways == 0
          && (entries / ways & (entries / ways - 1)) == 0)
         return ways;
   }
   return range[code].fewest;
}

static void take_amd_second_level(tlb_cpuid_design *m, tlb_side side,
                                  int unified, uint32_t half, uint32_t scale)
{
   const uint32_t entries = bits(half, 11, 0) * scale;
   const uint32_t code = bits(half, 15, 12);
   if (code == 0 || entries == 0)
      return;
   const uint32_t ways = ways_of_code(code, entries);
   take(m, 1, side, unified, entries, ways);
   if (code >= 4 && code != 15) {
      tlb_text t = begin_note(m);
      tlb_text_add(&t, "CPUID gives the ways of the second-level ");
      tlb_text_add(&t, unified ? "" : side == TLB_DATA ? "data "
                                                       : "instruction ");
      tlb_text_add(&t, "array as a range; ");
      tlb_text_add_number(&t, ways);
      tlb_text_add(&t, " are assumed");
   }
}

static uint32_t family(const tlb_cpuid version)
{
   const uint32_t base = bits(version.eax, 11, 8);
   return base == 15 ? base + bits(version.eax, 27, 20) : base;
}

/* Zen 5 counts its second level in units of 32 entries and says so in leaf
   80000021H, which hypervisors hide. */
static uint32_t second_level_unit(tlb_cpuid_ask *ask, void *opaque,
                                  tlb_cpuid_design *m)
{
   const tlb_cpuid version = ask(opaque, 1, 0);
   if (ask(opaque, 0x80000000u, 0).eax >= 0x80000021u
       && bits(ask(opaque, 0x80000021u, 0).eax, 14, 14))
      return 32;
   if (family(version) == 0x1a && bits(version.ecx, 31, 31)) {
      note(m, "the hypervisor hides that family 1AH counts its second level "
              "in units of 32 entries; they are assumed");
      return 32;
   }
   return 1;
}

static void decode_amd(tlb_cpuid_ask *ask, void *opaque, tlb_cpuid_design *m)
{
   const uint32_t highest = ask(opaque, 0x80000000u, 0).eax;
   if (highest < 0x80000005u)
      return;
   const uint32_t l1 = ask(opaque, 0x80000005u, 0).ebx;
   for (unsigned side = 0; side < TLB_N_SIDES; side++) {
      const uint32_t half = side == TLB_DATA ? l1 >> 16 : l1 & 0xffff;
      const uint32_t entries = bits(half, 7, 0);
      const uint32_t ways = bits(half, 15, 8);
      take(m, 0, (tlb_side)side, 0, entries, ways == 0xff ? entries : ways);
   }
   if (highest < 0x80000006u)
      return;
   const uint32_t l2 = ask(opaque, 0x80000006u, 0).ebx;
   const uint32_t unit = second_level_unit(ask, opaque, m);
   /* A data half of 0 beside an instruction half means one array for both. */
   if (l2 >> 16 == 0) {
      take_amd_second_level(m, TLB_DATA, 1, l2 & 0xffff, unit);
   } else {
      take_amd_second_level(m, TLB_INSTRUCTION, 0, l2 & 0xffff, unit);
      take_amd_second_level(m, TLB_DATA, 0, l2 >> 16, unit);
   }
}

/* --- Intel --- */

enum { FULL = 0 };

/* The descriptors of leaf 2 that hold 4K pages. `level` 0 stands for "the
   first level, unless another data array is there, then the second". */
static const struct {
   uint8_t descriptor, level, side, unified;
   uint16_t entries, ways;
} descriptors[] = {
   { 0x01, 1, TLB_INSTRUCTION, 0, 32, 4 },
   { 0x03, 1, TLB_DATA, 0, 64, 4 },
   { 0x4f, 1, TLB_INSTRUCTION, 0, 32, FULL },
   { 0x50, 1, TLB_INSTRUCTION, 0, 64, FULL },
   { 0x51, 1, TLB_INSTRUCTION, 0, 128, FULL },
   { 0x52, 1, TLB_INSTRUCTION, 0, 256, FULL },
   { 0x57, 1, TLB_DATA, 0, 16, 4 },
   { 0x59, 1, TLB_DATA, 0, 16, FULL },
   { 0x5b, 1, TLB_DATA, 0, 64, FULL },
   { 0x5c, 1, TLB_DATA, 0, 128, FULL },
   { 0x5d, 1, TLB_DATA, 0, 256, FULL },
   { 0x61, 1, TLB_INSTRUCTION, 0, 48, FULL },
   { 0x64, 2, TLB_DATA, 0, 512, 4 },
   { 0x6a, 1, TLB_DATA, 0, 64, 8 },
   { 0x6b, 2, TLB_DATA, 0, 256, 8 },
   { 0xa0, 1, TLB_DATA, 0, 32, FULL },
   { 0xb0, 1, TLB_INSTRUCTION, 0, 128, 4 },
   { 0xb2, 1, TLB_INSTRUCTION, 0, 64, 4 },
   { 0xb3, 0, TLB_DATA, 0, 128, 4 },
   { 0xb4, 0, TLB_DATA, 0, 256, 4 },
   { 0xb5, 1, TLB_INSTRUCTION, 0, 64, 8 },
   { 0xb6, 1, TLB_INSTRUCTION, 0, 128, 8 },
   { 0xba, 0, TLB_DATA, 0, 64, 4 },
   { 0xc0, 0, TLB_DATA, 0, 8, 4 },
   { 0xc1, 2, TLB_DATA, 1, 1024, 8 },
   { 0xc2, 1, TLB_DATA, 0, 16, 4 },
   { 0xc3, 2, TLB_DATA, 1, 1536, 6 },
   { 0xca, 2, TLB_DATA, 1, 512, 4 },
};

enum { N_DESCRIPTORS = sizeof descriptors / sizeof descriptors[0] };

/* Takes the arrays of the given bytes whose level is known (or those whose
   level follows from the others). Returns whether byte FE is among them. */
static int take_descriptors(tlb_cpuid_design *m, const uint8_t *byte,
                            int level_known)
{
   int leaf_18 = 0;
   for (unsigned i = 0; i < 15; i++) {
      leaf_18 |= byte[i] == 0xfe;
      for (unsigned j = 0; j < N_DESCRIPTORS; j++) {
         if (descriptors[j].descriptor != byte[i]
             || (descriptors[j].level != 0) != level_known)
            continue;
         const tlb_side side = (tlb_side)descriptors[j].side;
         const unsigned level = level_known ? descriptors[j].level - 1u
                                            : (unsigned)has(m, 0, side);
         const uint32_t entries = descriptors[j].entries;
         take(m, level, side, descriptors[j].unified, entries,
              descriptors[j].ways == FULL ? entries : descriptors[j].ways);
         if (byte[i] == 0x4f)
            note(m, "CPUID descriptor 4F does not give the ways of the "
                    "instruction array; full associativity is assumed");
      }
   }
   return leaf_18;
}

static void decode_leaf_18(tlb_cpuid_ask *ask, void *opaque,
                           tlb_cpuid_design *m)
{
   enum { DATA = 1, INSTRUCTION, UNIFIED, LOADS, STORES };
   const uint32_t highest = ask(opaque, 0x18, 0).eax;
   uint32_t stores_ways = 0, stores_sets = 0;
   for (uint32_t i = 0; i <= highest && i < 64; i++) {
      const tlb_cpuid r = ask(opaque, 0x18, i);
      const uint32_t type = bits(r.edx, 4, 0);
      const uint32_t ways = bits(r.ebx, 31, 16);
      const uint32_t level = bits(r.edx, 7, 5);
      if (type == 0 || type > STORES || level == 0 || !bits(r.ebx, 0, 0)
          || ways > 4096 || r.ecx > 4096)
         continue;
      /* The loads' array may come later. */
      if (type == STORES) {
         stores_ways = ways;
         stores_sets = r.ecx;
         continue;
      }
      const tlb_side side = type == INSTRUCTION ? TLB_INSTRUCTION : TLB_DATA;
      if (level <= TLB_MAX_LEVELS && has(m, level - 1, side))
         note(m, "a second array of one level that takes 4K pages is left "
                 "out");
      take(m, level - 1, side, type == UNIFIED, ways * r.ecx, ways);
   }
   if (stores_ways == 0)
      return;
   if (has(m, 0, TLB_DATA))
      note(m, "stores have a first-level array of their own; they are "
              "simulated in the loads' array");
   else
      take(m, 0, TLB_DATA, 0, stores_ways * stores_sets, stores_ways);
}

static void decode_intel(tlb_cpuid_ask *ask, void *opaque,
                         tlb_cpuid_design *m)
{
   const uint32_t highest = ask(opaque, 0, 0).eax;
   if (highest < 2)
      return;
   const tlb_cpuid r = ask(opaque, 2, 0);
   const uint32_t reg[4] = { r.eax, r.ebx, r.ecx, r.edx };
   uint8_t byte[15] = { 0 };
   unsigned n = 0;
   for (unsigned i = 0; i < 4; i++) {
      for (unsigned shift = i == 0 ? 8 : 0; shift < 32; shift += 8, n++) {
         if (reg[i] >> 31 == 0)
            byte[n] = (uint8_t)(reg[i] >> shift);
      }
   }
   if (take_descriptors(m, byte, 1)) {
      if (highest >= 0x18)
         decode_leaf_18(ask, opaque, m);
      else
         note(m, "CPUID leaf 2 refers to leaf 18H, which is hidden");
   }
   take_descriptors(m, byte, 0);
}

int tlb_cpuid_decode(tlb_cpuid_ask *ask, void *opaque, tlb_cpuid_design *out)
{
   const tlb_cpuid vendor = ask(opaque, 0, 0);
   *out = (tlb_cpuid_design){ .n_notes = 0 };
   /* "AuthenticAMD", "HygonGenuine", by their first four letters. */
   if (vendor.ebx == 0x68747541u || vendor.ebx == 0x6f677948u)
      decode_amd(ask, opaque, out);
   else
      decode_intel(ask, opaque, out);
   if (has(out, 0, TLB_INSTRUCTION) && has(out, 0, TLB_DATA))
      return 1;
   note(out, "CPUID does not describe the first level of both sides");
   return 0;
}
