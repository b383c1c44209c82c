/* What CPUID says, read for processors of many kinds. The register values are
   facts about the processors named.
   Part of tlbgrind.  GPL-2.0-or-later; see COPYING. */

#include "unit.h"

#include "cpuid_design.h"

typedef struct {
   uint32_t leaf, subleaf;
   uint32_t r[4]; /* EAX, EBX, ECX, EDX */
} answer;

typedef struct {
   answer a[16];
} processor;

static tlb_cpuid ask(void *opaque, uint32_t leaf, uint32_t subleaf)
{
   const processor *const p = opaque;
   for (int i = 0; i < 16; i++) {
      const uint32_t *const r = p->a[i].r;
      if (p->a[i].leaf == leaf && p->a[i].subleaf == subleaf)
         return (tlb_cpuid){ r[0], r[1], r[2], r[3] };
   }
   return (tlb_cpuid){ 0, 0, 0, 0 };
}

#define INTEL(highest) \
   { 0, 0, { highest, 0x756e6547, 0x6c65746e, 0x49656e69 } }
#define AMD { 0, 0, { 0xd, 0x68747541, 0x444d4163, 0x69746e65 } }
#define LEAF(leaf, ...) { leaf, 0, { __VA_ARGS__ } }

static tlb_cpuid_design decoded(const processor *p)
{
   tlb_cpuid_design m;
   tlb_reason why;
   processor copy = *p;
   memset(&m, 0xA5, sizeof m);
   assert_true(tlb_cpuid_decode(ask, &copy, &m));
   if (!tlb_design_check(&m.design, 12, &why))
      fail_msg("%s", why.text);
   return m;
}

/* An array as text without pages and policy; "" if there is none. */
static void is(const tlb_cpuid_design *m, unsigned level, tlb_side side,
               const char *expected)
{
   char text[128] = "", wanted[128] = "";
   if (level < m->design.levels && m->design.at[level][side].present)
      tlb_geometry_print(&m->design.at[level][side].g, text, sizeof text);
   if (*expected != '\0')
      snprintf(wanted, sizeof wanted, "%s, pages 4K, lru", expected);
   assert_string_equal(text, wanted);
}

/* Instruction and data of the first level, then of the second; a second level
   of both sides is told by "unified" on the instruction side. */
static void has(const tlb_cpuid_design *m, const char *i1, const char *d1,
                const char *i2, const char *d2)
{
   const int unified = strcmp(i2, "unified") == 0;
   is(m, 0, TLB_INSTRUCTION, i1);
   is(m, 0, TLB_DATA, d1);
   is(m, 1, TLB_INSTRUCTION, unified ? "" : i2);
   is(m, 1, TLB_DATA, d2);
   assert_int_equal(m->design.levels, *i2 || *d2 ? 2 : 1);
   assert_int_equal(m->design.unified[0] != 0, 0);
   assert_int_equal(m->design.unified[1] != 0, unified);
}

static void notes(const tlb_cpuid_design *m, unsigned n,
                  const char *const *text)
{
   for (unsigned i = 0; i < m->n_notes && i < n; i++)
      assert_string_equal(m->note[i].text, text[i]);
   assert_int_equal(m->n_notes, n);
}

#define NOTES(...)                       \
   sizeof((const char *[]){ __VA_ARGS__ }) / sizeof(char *), \
      (const char *[]){ __VA_ARGS__ }

static void skylake(void **state)
{
   const processor p = { { INTEL(0x16),
                           LEAF(2, 0x76036301, 0x00f0b5ff, 0, 0x00c30000) } };
   const tlb_cpuid_design m = decoded(&p);
   (void)state;
   has(&m, "64 entries, 8-way, 8 sets", "64 entries, 4-way, 16 sets",
       "unified", "1536 entries, 6-way, 256 sets");
   assert_int_equal(m.n_notes, 0);
}

static void haswell(void **state)
{
   const processor p = { { INTEL(0xf),
                           LEAF(2, 0x76036301, 0x00f0b6ff, 0, 0x00c10000) } };
   const tlb_cpuid_design m = decoded(&p);
   (void)state;
   has(&m, "128 entries, 8-way, 16 sets", "64 entries, 4-way, 16 sets",
       "unified", "1024 entries, 8-way, 128 sets");
   assert_int_equal(m.n_notes, 0);
}

static void ivy_bridge(void **state)
{
   const processor ivy = { { INTEL(0xd), LEAF(2, 0x76036301, 0x00f0b2ff, 0,
                                              0x00ca0000) } };
   const processor westmere = { { INTEL(0xb), LEAF(2, 0x55035a01, 0x00f0b2ff,
                                                   0, 0x00ca0000) } };
   (void)state;
   for (int i = 0; i < 2; i++) {
      const tlb_cpuid_design m = decoded(i == 0 ? &ivy : &westmere);
      has(&m, "64 entries, 4-way, 16 sets", "64 entries, 4-way, 16 sets",
          "unified", "512 entries, 4-way, 128 sets");
      assert_int_equal(m.n_notes, 0);
   }
}

static void core_2(void **state)
{
   const processor clovertown = {
      { INTEL(0xa), LEAF(2, 0x05b0b101, 0x005657f0, 0, 0x2cb43049) }
   };
   const processor penryn = {
      { INTEL(0xb), LEAF(2, 0x05b0b101, 0x4d5657f0, 0, 0x2cb43048) }
   };
   /* B4 before and behind 57. */
   const processor turned = { { INTEL(0xa), LEAF(2, 0x00b0b101, 0x000057b4) } };
   (void)state;
   for (int i = 0; i < 3; i++) {
      const tlb_cpuid_design m = decoded(i == 0   ? &clovertown
                                          : i == 1 ? &penryn
                                                   : &turned);
      has(&m, "128 entries, 4-way, 32 sets", "16 entries, 4-way, 4 sets", "",
          "256 entries, 4-way, 64 sets");
      assert_int_equal(m.n_notes, 0);
   }
}

static void core_duo(void **state)
{
   const processor p = { { INTEL(0xa),
                           LEAF(2, 0x02b3b001, 0x000000f0, 0, 0x2c04307d) } };
   const tlb_cpuid_design m = decoded(&p);
   (void)state;
   has(&m, "128 entries, 4-way, 32 sets", "128 entries, 4-way, 32 sets", "",
       "");
   assert_int_equal(m.n_notes, 0);
}

static void pentium_4(void **state)
{
   /* Descriptors 50 and 5B: fully associative. */
   const processor p = { { INTEL(2), LEAF(2, 0x665b5001, 0, 0, 0x007a7000) } };
   const tlb_cpuid_design m = decoded(&p);
   (void)state;
   has(&m, "64 entries, fully associative", "64 entries, fully associative",
       "", "");
}

static void no_ways(void **state)
{
   const processor p = { { INTEL(2), LEAF(2, 0x00ba4f01, 0, 0, 0) } };
   const tlb_cpuid_design m = decoded(&p);
   (void)state;
   has(&m, "32 entries, fully associative", "64 entries, 4-way, 16 sets", "",
       "");
   notes(&m, NOTES("CPUID descriptor 4F does not give the ways of the "
                   "instruction array; full associativity is assumed"));
}

/* A register with bit 31 set says nothing, nor does the lowest byte of EAX. */
static void invalid_registers(void **state)
{
   const processor p = { { INTEL(2), LEAF(2, 0x00b20303, 0x80ca0000,
                                          0xff00c301, 0xca000000) } };
   const tlb_cpuid_design m = decoded(&p);
   (void)state;
   has(&m, "64 entries, 4-way, 16 sets", "64 entries, 4-way, 16 sets", "", "");

   processor al = { { INTEL(2), LEAF(2, 0x00b20003, 0, 0, 0) } };
   tlb_cpuid_design none;
   assert_false(tlb_cpuid_decode(ask, &al, &none));
}

#define SAPPHIRE_RAPIDS_TLBS                                       \
   LEAF(0x18, 8, 0, 0, 0),                                         \
      { 0x18, 1, { 0, 0x00080001, 0x20, 0x4022 } },                \
      { 0x18, 2, { 0, 0x00080006, 0x04, 0x4022 } },                \
      { 0x18, 3, { 0, 0x0010000f, 0x01, 0x4125 } },                \
      { 0x18, 4, { 0, 0x00040001, 0x10, 0x4024 } },                \
      { 0x18, 5, { 0, 0x00040006, 0x08, 0x4024 } },                \
      { 0x18, 6, { 0, 0x00080008, 0x01, 0x4124 } },                \
      { 0x18, 7, { 0, 0x00080007, 0x80, 0x4043 } },                \
      { 0x18, 8, { 0, 0x00080009, 0x80, 0x4043 } }

#define STORES                                                        \
   "stores have a first-level array of their own; they are simulated " \
   "in the loads' array"
#define SECOND "a second array of one level that takes 4K pages is left out"

static void sapphire_rapids(void **state)
{
   const processor p = { { INTEL(0x20), LEAF(2, 0x00feff01, 0xf0),
                           SAPPHIRE_RAPIDS_TLBS } };
   const tlb_cpuid_design m = decoded(&p);
   (void)state;
   /* The stores' array is told before the loads'. */
   has(&m, "256 entries, 8-way, 32 sets", "64 entries, 4-way, 16 sets",
       "unified", "1024 entries, 8-way, 128 sets");
   notes(&m, NOTES(SECOND, STORES));
}

static void loads_first(void **state)
{
   const processor p = { { INTEL(0x20), LEAF(2, 0x00feff01, 0xf0),
                           LEAF(0x18, 3, 0, 0, 0),
                           { 0x18, 1, { 0, 0x00080001, 0x20, 0x4022 } },
                           { 0x18, 2, { 0, 0x00040001, 0x10, 0x4024 } },
                           { 0x18, 3, { 0, 0x0010000f, 0x01, 0x4125 } } } };
   const tlb_cpuid_design m = decoded(&p);
   (void)state;
   has(&m, "256 entries, 8-way, 32 sets", "64 entries, 4-way, 16 sets", "",
       "");
   notes(&m, NOTES(STORES));
}

/* Of two arrays of one level and side the first told is taken. */
static void two_of_a_level(void **state)
{
   const processor p = { { INTEL(0x20), LEAF(2, 0x00feff01, 0xf0),
                           LEAF(0x18, 5, 0, 0, 0),
                           { 0x18, 1, { 0, 0x00080001, 0x20, 0x4022 } },
                           { 0x18, 2, { 0, 0x00040001, 0x10, 0x4021 } },
                           { 0x18, 3, { 0, 0x00080001, 0x40, 0x4021 } },
                           { 0x18, 4, { 0, 0x00080001, 0x80, 0x4043 } },
                           { 0x18, 5, { 0, 0x00040001, 0x40, 0x4043 } } } };
   const tlb_cpuid_design m = decoded(&p);
   (void)state;
   has(&m, "256 entries, 8-way, 32 sets", "64 entries, 4-way, 16 sets",
       "unified", "1024 entries, 8-way, 128 sets");
   notes(&m, NOTES(SECOND, SECOND));
}

static void hidden_leaf(void **state)
{
   processor p = { { INTEL(0x16), LEAF(2, 0x00feff01, 0xf0),
                     SAPPHIRE_RAPIDS_TLBS } };
   tlb_cpuid_design m;
   (void)state;
   assert_false(tlb_cpuid_decode(ask, &p, &m));
   notes(&m, NOTES("CPUID leaf 2 refers to leaf 18H, which is hidden",
                   "CPUID does not describe the first level of both sides"));
   /* There, but empty. */
   processor q = { { INTEL(0x20), LEAF(2, 0x00feff01, 0xf0) } };
   assert_false(tlb_cpuid_decode(ask, &q, &m));
   notes(&m, NOTES("CPUID does not describe the first level of both sides"));
}

/* Leaf 18H is only asked where leaf 2 sends there. */
static void not_sent(void **state)
{
   const processor p = { { INTEL(0x20),
                           LEAF(2, 0x76036301, 0x00f0b5ff, 0, 0x00c30000),
                           SAPPHIRE_RAPIDS_TLBS } };
   const tlb_cpuid_design m = decoded(&p);
   (void)state;
   has(&m, "64 entries, 8-way, 8 sets", "64 entries, 4-way, 16 sets",
       "unified", "1536 entries, 6-way, 256 sets");
}

static void zen_3(void **state)
{
   const processor p = { { AMD, LEAF(1, 0x00a00f11, 0, 0x7eda320b),
                           LEAF(0x80000000, 0x80000023),
                           LEAF(0x80000005, 0xff40ff40, 0xff40ff40),
                           LEAF(0x80000006, 0x48002200, 0x68004200),
                           LEAF(0x80000021, 0x0000204d) } };
   const tlb_cpuid_design m = decoded(&p);
   (void)state;
   has(&m, "64 entries, fully associative", "64 entries, fully associative",
       "512 entries, 4-way, 128 sets", "2048 entries, 8-way, 256 sets");
   notes(&m, NOTES("CPUID gives the ways of the second-level instruction "
                   "array as a range; 4 are assumed",
                   "CPUID gives the ways of the second-level data array as a "
                   "range; 8 are assumed"));
}

#define ZEN_5_TLBS                                    \
   LEAF(0x80000005, 0xff60ff40, 0xff60ff40),          \
      LEAF(0x80000006, 0x40802040, 0x60804040)

static void zen_5(void **state)
{
   const processor p = { { AMD, LEAF(1, 0x00b20f40, 0, 0x7ed8320b),
                           LEAF(0x80000000, 0x80000028), ZEN_5_TLBS,
                           LEAF(0x80000021, 0x593fffcf) } };
   tlb_cpuid_design m = decoded(&p);
   (void)state;
   has(&m, "64 entries, fully associative", "96 entries, fully associative",
       "2048 entries, 4-way, 512 sets", "4096 entries, 8-way, 512 sets");
   assert_int_equal(m.n_notes, 2);

   /* A hypervisor that shows itself and hides leaf 80000021H. */
   processor hidden = { { AMD, LEAF(1, 0x00b20f40, 0, 0xfed8320b),
                          LEAF(0x80000000, 0x8000001e), ZEN_5_TLBS } };
   m = decoded(&hidden);
   has(&m, "64 entries, fully associative", "96 entries, fully associative",
       "2048 entries, 4-way, 512 sets", "4096 entries, 8-way, 512 sets");
   assert_string_equal(m.note[0].text,
                       "the hypervisor hides that family 1AH counts its "
                       "second level in units of 32 entries; they are "
                       "assumed");
   assert_int_equal(m.n_notes, 3);

   /* The bit of leaf 80000021H, not the family, is what counts. */
   hidden.a[1].r[2] = 0x7ed8320b;
   m = decoded(&hidden);
   is(&m, 1, TLB_DATA, "128 entries, 8-way, 16 sets");
}

static void k8(void **state)
{
   const processor p = { { AMD, LEAF(1, 0x00040f12, 0, 0x2001),
                           LEAF(0x80000000, 0x80000018),
                           LEAF(0x80000005, 0xff08ff08, 0xff20ff20),
                           LEAF(0x80000006, 0, 0x42004200) } };
   const tlb_cpuid_design m = decoded(&p);
   (void)state;
   has(&m, "32 entries, fully associative", "32 entries, fully associative",
       "512 entries, 4-way, 128 sets", "512 entries, 4-way, 128 sets");
}

static void k10(void **state)
{
   const processor p = { { AMD, LEAF(1, 0x00100f91, 0, 0x00802009),
                           LEAF(0x80000000, 0x8000001b),
                           LEAF(0x80000005, 0xff30ff10, 0xff30ff20),
                           LEAF(0x80000006, 0x20800000, 0x42004200) } };
   const tlb_cpuid_design m = decoded(&p);
   (void)state;
   has(&m, "32 entries, fully associative", "48 entries, fully associative",
       "512 entries, 4-way, 128 sets", "512 entries, 4-way, 128 sets");
}

static void bulldozer(void **state)
{
   const processor p = { { AMD, LEAF(1, 0x00600f12, 0, 0x1e98220b),
                           LEAF(0x80000000, 0x8000001e),
                           LEAF(0x80000005, 0xff20ff18, 0xff20ff30),
                           LEAF(0x80000006, 0x64000000, 0x64004200) } };
   const tlb_cpuid_design m = decoded(&p);
   (void)state;
   has(&m, "48 entries, fully associative", "32 entries, fully associative",
       "512 entries, 4-way, 128 sets", "1024 entries, 8-way, 128 sets");
}

static void hygon(void **state)
{
   const processor p = {
      { { 0, 0, { 0xd, 0x6f677948, 0x656e6975, 0x6e65476e } },
        LEAF(0x80000000, 0x8000001f),
        LEAF(0x80000005, 0xff40ff40, 0xff40ff40),
        LEAF(0x80000006, 0x26006400, 0x66006400) }
   };
   const tlb_cpuid_design m = decoded(&p);
   (void)state;
   /* 1536 entries, 8 to 15 ways: 12 leave 128 sets; 1024: 8. */
   has(&m, "64 entries, fully associative", "64 entries, fully associative",
       "1024 entries, 8-way, 128 sets", "1536 entries, 12-way, 128 sets");
}

/* The second level of the data side, with that code and that many entries. */
static void amd_code(uint32_t code, uint32_t entries, const char *expected)
{
   const processor p = { { AMD, LEAF(0x80000000, 0x80000006),
                           LEAF(0x80000005, 0, 0xff40ff40),
                           LEAF(0x80000006, 0, code << 28 | entries << 16
                                                  | 0x4200) } };
   const tlb_cpuid_design m = decoded(&p);
   is(&m, 1, TLB_DATA, expected);
}

static void amd_codes(void **state)
{
   (void)state;
   amd_code(1, 512, "512 entries, direct-mapped");
   amd_code(2, 512, "512 entries, 2-way, 256 sets");
   amd_code(3, 1536, "1536 entries, 3-way, 512 sets");
   amd_code(4, 512, "512 entries, 4-way, 128 sets");
   amd_code(4, 1280, "1280 entries, 5-way, 256 sets");
   amd_code(5, 768, "768 entries, 6-way, 128 sets");
   amd_code(5, 896, "896 entries, 7-way, 128 sets");
   amd_code(6, 3072, "3072 entries, 12-way, 256 sets");
   amd_code(6, 2048, "2048 entries, 8-way, 256 sets");
   amd_code(8, 1024, "1024 entries, 16-way, 64 sets");
   amd_code(8, 1536, "1536 entries, 24-way, 64 sets");
   amd_code(10, 1024, "1024 entries, 32-way, 32 sets");
   amd_code(11, 1536, "1536 entries, 48-way, 32 sets");
   amd_code(12, 1024, "1024 entries, 64-way, 16 sets");
   amd_code(13, 1536, "1536 entries, 96-way, 16 sets");
   amd_code(14, 1024, "1024 entries, 128-way, 8 sets");
   amd_code(15, 1000, "1000 entries, fully associative");
   amd_code(0, 512, "");
   /* Codes without a meaning give no array. */
   amd_code(7, 512, "");
   amd_code(9, 512, "");
   /* Nor do ways that are all wrong for the entries: prime, but for 1. */
   amd_code(4, 509, "");
}

static void amd_unified(void **state)
{
   const processor p = { { AMD, LEAF(0x80000000, 0x80000006),
                           LEAF(0x80000005, 0, 0xff40ff40),
                           LEAF(0x80000006, 0, 0x4200) } };
   const tlb_cpuid_design m = decoded(&p);
   (void)state;
   has(&m, "64 entries, fully associative", "64 entries, fully associative",
       "unified", "512 entries, 4-way, 128 sets");
   notes(&m, NOTES("CPUID gives the ways of the second-level array as a "
                   "range; 4 are assumed"));
}

static void amd_direct(void **state)
{
   const processor p = { { AMD, LEAF(0x80000000, 0x80000005),
                           LEAF(0x80000005, 0, 0x04400120),
                           /* above the highest leaf: not to be asked */
                           LEAF(0x80000006, 0, 0x42004200) } };
   const tlb_cpuid_design m = decoded(&p);
   (void)state;
   has(&m, "32 entries, direct-mapped", "64 entries, 4-way, 16 sets", "", "");
   assert_int_equal(m.n_notes, 0);
}

static void nothing(void **state)
{
   processor none = { { { 0, 0, { 0, 0, 0, 0 } } } };
   processor intel_1 = { { INTEL(1), LEAF(2, 0x76036301, 0x00f0b5ff) } };
   processor amd_old = { { AMD, LEAF(0x80000000, 0x80000004),
                           LEAF(0x80000005, 0, 0xff40ff40) } };
   /* QEMU's own Intel: leaf 2 speaks of caches only, and the leaves of AMD are
      no concern of Intel's. */
   processor qemu = { { INTEL(0x1f), LEAF(2, 1, 0, 0x4d, 0x2c307d),
                        LEAF(0x80000000, 0x8000000a),
                        LEAF(0x80000005, 0x01ff01ff, 0x01ff01ff),
                        LEAF(0x80000006, 0, 0x42004200) } };
   processor *const all[] = { &none, &intel_1, &amd_old, &qemu };
   (void)state;
   for (int i = 0; i < 4; i++) {
      tlb_cpuid_design m;
      assert_false(tlb_cpuid_decode(ask, all[i], &m));
      notes(&m, NOTES("CPUID does not describe the first level of both "
                      "sides"));
   }
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
   static const uint32_t vendor[] = { 0x756e6547, 0x68747541, 0x6f677948,
                                      0x746e6543 };
   static const uint8_t descriptor[] = { 0x01, 0x03, 0x4f, 0x50, 0x57, 0x63,
                                         0x64, 0x6a, 0xb2, 0xb3, 0xb4, 0xb5,
                                         0xc1, 0xc3, 0xca, 0xfe, 0xff, 0x00 };
   dice *const d = opaque;
   uint64_t s = d->seed ^ leaf * UINT64_C(0x9E3779B97F4A7C15)
                ^ (uint64_t)subleaf << 40;
   unit_random(&s);
   const uint64_t a = unit_random(&s), b = unit_random(&s);
   tlb_cpuid r = { (uint32_t)a, (uint32_t)(a >> 32), (uint32_t)b,
                   (uint32_t)(b >> 32) };
   d->asked++;
   if (leaf == 0) {
      r.ebx = d->kind % 8 < 7 ? vendor[d->kind % 4] : r.ebx;
      r.eax = d->kind & 16 ? r.eax % 40 : r.eax;
   } else if (leaf == 0x80000000u && d->kind & 16) {
      r.eax = 0x80000000u + r.eax % 0x30;
   } else if (leaf == 0x80000005u && d->kind & 32) {
      static const uint32_t halves[] = { 0xff40, 0xff60, 0x0440, 0x0120,
                                         0xff01, 0x0240, 0x0540, 0x0040 };
      r.ebx = halves[r.eax % 8] << 16 | halves[r.ecx % 8];
   } else if (leaf == 2 && d->kind & 32) {
      uint8_t byte[16];
      for (int i = 0; i < 16; i++)
         byte[i] = descriptor[unit_random(&s) % sizeof descriptor];
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
      tlb_cpuid_design m;
      tlb_reason why;
      memset(&m, 0xA5, sizeof m);
      const int known = tlb_cpuid_decode(ask_dice, &d, &m);
      assert_true(d.asked < 100);
      assert_true(m.n_notes <= TLB_MAX_CPUID_NOTES);
      for (unsigned n = 0; n < m.n_notes; n++) {
         const char *const end = memchr(m.note[n].text, '\0',
                                        sizeof m.note[n].text);
         assert_non_null(end);
         assert_in_range(end - m.note[n].text, 20,
                         sizeof m.note[n].text - 2);
      }
      if (!known) {
         assert_true(m.n_notes > 0);
         assert_string_equal(m.note[m.n_notes - 1].text,
                             "CPUID does not describe the first level of both "
                             "sides");
         continue;
      }
      taken++;
      by_vendor[d.kind % 4]++;
      if (!tlb_design_check(&m.design, 12, &why))
         fail_msg("%u: %s", i, why.text);
      assert_true(m.design.levels >= 1 && m.design.levels <= TLB_MAX_LEVELS);
      assert_true(tlb_hierarchy_bytes(&m.design) > 0);
   }
   assert_true(taken > 5000);
   for (int v = 0; v < 4; v++)
      assert_true(by_vendor[v] > 100);
}

int main(void)
{
   const struct CMUnitTest tests[] = {
      CLAIM("Skylake: descriptors B5, 03, C3", skylake),
      CLAIM("Haswell: descriptors B6, 03, C1", haswell),
      CLAIM("Ivy Bridge and Westmere: descriptors B2, 03, CA", ivy_bridge),
      CLAIM("Core 2: descriptor B4 is the second level behind 57", core_2),
      CLAIM("Core Duo: descriptor B3 alone is the first level", core_duo),
      CLAIM("Pentium 4: descriptors 50 and 5B are fully associative",
            pentium_4),
      CLAIM("descriptor 4F is fully associative, and that is said", no_ways),
      CLAIM("registers with bit 31 and the count in AL are no descriptors",
            invalid_registers),
      CLAIM("Sapphire Rapids: leaf 18H, the loads' array for all data",
            sapphire_rapids),
      CLAIM("leaf 18H may tell the loads before the stores", loads_first),
      CLAIM("of two arrays of one level the first is taken, and that is said",
            two_of_a_level),
      CLAIM("a hidden leaf 18H is unknown, and that is said", hidden_leaf),
      CLAIM("leaf 18H is not asked where leaf 2 says all", not_sent),
      CLAIM("Zen 3: four arrays, ways out of a range", zen_3),
      CLAIM("Zen 5 counts its second level in units of 32, hidden or not",
            zen_5),
      CLAIM("K8: 32 and 512 entries on each side", k8),
      CLAIM("K10: 48 data entries in the first level", k10),
      CLAIM("Bulldozer: 1024 data entries in the second level", bulldozer),
      CLAIM("Hygon: 12 ways of 8 to 15 leave a power of two of sets", hygon),
      CLAIM("each code of AMD's ways is a range, out of which one is taken",
            amd_codes),
      CLAIM("AMD: no data half means one array for both sides", amd_unified),
      CLAIM("AMD: a first level with ways, and no second", amd_direct),
      CLAIM("what does not say anything is not guessed", nothing),
      CLAIM("100000 random processors are refused or can be", rubbish),
   };
   return cmocka_run_group_tests_name("cpuid", tests, NULL, NULL);
}
