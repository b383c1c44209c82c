/* Decoding of prefetch instructions, held against assemblers' encodings.
   Part of tlbgrind.  GPL-2.0-or-later; see COPYING. */

#include "unit.h"

#include "arch/prefetch_bytes.h"

#include "prefetch_forms.h"

enum { N_FORMS = sizeof forms / sizeof forms[0], LONGEST = 15 };

/* Its bytes, and zeros behind them. */
static void bytes_of(const form *f, uint8_t code[LONGEST])
{
   memset(code, 0, LONGEST);
   assert_int_equal(strlen(f->hex), 2 * f->is.length);
   for (unsigned i = 0; i < f->is.length; i++) {
      const char digits[] = { f->hex[2 * i], f->hex[2 * i + 1], 0 };
      char *end;
      code[i] = (uint8_t)strtoul(digits, &end, 16);
      assert_true(end == digits + 2);
   }
}

static void same(const tg_prefetch *a, const tg_prefetch *b)
{
   assert_int_equal(a->length, b->length);
   assert_int_equal(a->base, b->base);
   assert_int_equal(a->index, b->index);
   assert_int_equal(a->scale, b->scale);
   assert_int_equal(a->address_bits, b->address_bits);
   assert_int_equal(a->index_bits, b->index_bits);
   assert_int_equal(a->index_signed, b->index_signed);
   assert_int_equal(a->from_next, b->from_next);
   assert_int_equal(a->from_this, b->from_this);
   assert_int_equal(a->segment, b->segment);
   assert_true(a->displacement == b->displacement);
}

TEST(assembled)
{
   tg_prefetch p;
   uint8_t code[LONGEST];
   for (unsigned i = 0; i < N_FORMS; i++) {
      bytes_of(&forms[i], code);
      if (!tg_prefetch_decode(forms[i].kind, code, LONGEST, &p))
         fail_msg("%s is not decoded", forms[i].text);
      same(&p, &forms[i].is);
   }
}

TEST(cut_short)
{
   tg_prefetch p;
   uint8_t code[LONGEST];
   for (unsigned i = 0; i < N_FORMS; i++) {
      bytes_of(&forms[i], code);
      for (size_t n = 0; n < forms[i].is.length; n++)
         assert_false(tg_prefetch_decode(forms[i].kind, code, n, &p));
   }
}

TEST(prefixes)
{
   /* fs is the last override that counts; a REX prefix before another prefix does not. */
   static const uint8_t many[] = { 0x65, 0x49, 0x66, 0x64, 0x3e, 0xf3, 0xf2, 0x0f, 0x18, 0x08 };
   tg_prefetch p;
   assert_true(tg_prefetch_decode(TG_CODE_AMD64, many, sizeof many, &p));
   assert_int_equal(p.length, sizeof many);
   assert_int_equal(p.base, 0);
   assert_int_equal(p.segment, TG_SEGMENT_FS);
   /* On x86 every override counts, the last one wins. */
   static const uint8_t flat[] = { 0x65, 0x3e, 0x0f, 0x18, 0x08 };
   assert_true(tg_prefetch_decode(TG_CODE_X86, flat, sizeof flat, &p));
   assert_int_equal(p.segment, TG_SEGMENT_FLAT);
   uint8_t endless[32];
   memset(endless, 0x66, sizeof endless);
   endless[14] = 0x0f;
   endless[15] = 0x18;
   assert_false(tg_prefetch_decode(TG_CODE_AMD64, endless, sizeof endless, &p));
}

TEST(others)
{
   static const uint8_t none[][8] = {
      { 0x0f, 0x18, 0x20 }, { 0x0f, 0x18, 0x30 }, { 0x0f, 0x18, 0x3d }, /* /4, /6, /7 */
      { 0x0f, 0x18, 0xc0 }, { 0x0f, 0x0d, 0xc8 },                      /* registers */
      { 0x0f, 0x0d, 0x10 }, { 0x0f, 0x1f, 0x00 }, { 0x0f, 0x19, 0x08 },
      { 0xf0, 0x0f, 0x18, 0x08 }, { 0x90, 0x0f, 0x18, 0x08 }, { 0x8b, 0x00 },
   };
   tg_prefetch p;
   for (unsigned i = 0; i < sizeof none / sizeof none[0]; i++) {
      assert_false(tg_prefetch_decode(TG_CODE_AMD64, none[i], sizeof none[i], &p));
      assert_false(tg_prefetch_decode(TG_CODE_X86, none[i], sizeof none[i], &p));
   }
   static const uint8_t rex[] = { 0x48, 0x0f, 0x18, 0x08 };
   assert_false(tg_prefetch_decode(TG_CODE_X86, rex, sizeof rex, &p)); /* dec eax */
   static const uint8_t pli[] = { 0x08, 0x00, 0x80, 0xf9 }, ldr[] = { 0x00, 0x00, 0x40, 0xf9 };
   assert_false(tg_prefetch_decode(TG_CODE_ARM64, pli, sizeof pli, &p));
   assert_false(tg_prefetch_decode(TG_CODE_ARM64, ldr, sizeof ldr, &p));
}

/* As the GNU assembler has them. */
TEST(ppc64le)
{
   static const struct {
      uint8_t code[4];
      uint8_t base, index;
   } data[] = {
      { { 0x2c, 0x1a, 0x00, 0x7c }, TG_PREFETCH_NO_REGISTER, 3 }, /* dcbt 0,3 */
      { { 0x2c, 0xfa, 0x04, 0x7c }, 4, 31 },                      /* dcbt 4,31 */
      { { 0xec, 0x01, 0x05, 0x7c }, 5, 0 },                       /* dcbtst 5,0 */
      { { 0x2c, 0x4a, 0x00, 0x7e }, TG_PREFETCH_NO_REGISTER, 9 }, /* dcbtt 0,9 */
      { { 0xec, 0x49, 0x1e, 0x7e }, 30, 9 },                      /* dcbtstt 30,9 */
      { { 0x2c, 0x22, 0xe3, 0x7c }, 3, 4 },                       /* dcbt 3,4,7 */
   };
   static const uint8_t others[][4] = {
      { 0x2c, 0x22, 0x03, 0x7d }, { 0x2c, 0x22, 0x43, 0x7d }, /* dcbt 3,4,8 and 3,4,10 */
      { 0x2c, 0x22, 0x23, 0x7e },                             /* dcbt 3,4,17 */
      { 0xec, 0x21, 0x03, 0x7d },                             /* dcbtst 3,4,8 */
      { 0xac, 0x20, 0x03, 0x7c }, { 0xec, 0x27, 0x03, 0x7c }, /* dcbf 3,4, dcbz 3,4 */
      { 0x2c, 0x20, 0x03, 0x7c }, { 0xae, 0x28, 0x64, 0x7c }, /* icbt 0,3,4, lbzx 3,4,5 */
   };
   tg_prefetch p;
   for (unsigned i = 0; i < sizeof data / sizeof data[0]; i++) {
      assert_true(tg_prefetch_decode(TG_CODE_PPC64LE, data[i].code, 4, &p));
      assert_int_equal(p.length, 4);
      assert_int_equal(p.base, data[i].base);
      assert_int_equal(p.index, data[i].index);
      assert_true(p.displacement == 0);
      assert_false(tg_prefetch_decode(TG_CODE_PPC64LE, data[i].code, 3, &p));
   }
   for (unsigned i = 0; i < sizeof others / sizeof others[0]; i++)
      assert_false(tg_prefetch_decode(TG_CODE_PPC64LE, others[i], 4, &p));
}

/* RISC-V, CMO extensions: ORI to register 0, whose low five bits of the number say what it is. */
TEST(riscv64)
{
   static const struct {
      uint8_t code[4];
      uint8_t base;
      int64_t displacement;
   } data[] = {
      { { 0x13, 0x60, 0x15, 0x00 }, 10, 0 },   /* prefetch.r 0(a0) */
      { { 0x13, 0x60, 0x35, 0x04 }, 10, 64 },  /* prefetch.w 64(a0) */
      { { 0x13, 0x60, 0x31, 0xfe }, 2, -32 },  /* prefetch.w -32(sp) */
      { { 0x13, 0xe0, 0x1f, 0x80 }, 31, -2048 },
      { { 0x13, 0xe0, 0x1f, 0x7e }, 31, 2016 },
   };
   static const uint8_t others[][4] = {
      { 0x13, 0x60, 0x05, 0x00 }, /* prefetch.i 0(a0) */
      { 0x13, 0x60, 0x25, 0x00 }, { 0x93, 0x60, 0x15, 0x00 }, { 0x13, 0x70, 0x15, 0x00 },
   };
   tg_prefetch p;
   for (unsigned i = 0; i < sizeof data / sizeof data[0]; i++) {
      assert_true(tg_prefetch_decode(TG_CODE_RISCV64, data[i].code, 4, &p));
      assert_int_equal(p.length, 4);
      assert_int_equal(p.base, data[i].base);
      assert_int_equal(p.index, TG_PREFETCH_NO_REGISTER);
      assert_true(p.displacement == data[i].displacement);
      assert_false(tg_prefetch_decode(TG_CODE_RISCV64, data[i].code, 3, &p));
   }
   for (unsigned i = 0; i < sizeof others / sizeof others[0]; i++)
      assert_false(tg_prefetch_decode(TG_CODE_RISCV64, others[i], 4, &p));
}

int main(void)
{
   const struct CMUnitTest tests[] = {
      CLAIM("each form has the address that the assembler was given", assembled),
      CLAIM("a prefetch whose bytes end early is none", cut_short),
      CLAIM("of ppc64le, dcbt and dcbtst with a block's numbers", ppc64le),
      CLAIM("of riscv64, ORI to register 0 with two of 32 numbers", riscv64),
      CLAIM("of prefixes the last segment counts, and a REX only before the opcode", prefixes),
      CLAIM("hints to code, registers, and other instructions are no prefetches", others),
   };
   return cmocka_run_group_tests_name("prefetch", tests, NULL, NULL);
}
