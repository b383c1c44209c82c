/* Short texts: numbers that are read, and words that are written and cut.
   Part of tlbgrind.  GPL-2.0-or-later; see COPYING. */

#include "unit.h"

#include "sim/base/text.h"

/* Reads a number off the text; returns what is left of it, or NULL. */
static const char *number(const char *text, uint64_t *out)
{
   const char *s = text;
   if (!tlb_text_number(&s, text + strlen(text), out)) {
      assert_ptr_equal(s, text);
      return NULL;
   }
   return s;
}

TEST(largest_number)
{
   uint64_t n = 0;
   assert_string_equal(number("18446744073709551615", &n), "");
   assert_true(n == UINT64_MAX);
   assert_string_equal(number("00000000000000000000000000000007", &n), "");
   assert_true(n == 7);
   assert_string_equal(number("0", &n), "");
   assert_true(n == 0);
}

TEST(too_large)
{
   static const char *const large[] = {
      "18446744073709551616", "18446744073709551620", "18446744073709551700",
      "20000000000000000000", "99999999999999999999",
      "184467440737095516150", "36893488147419103232",
      "340282366920938463463374607431768211456",
   };
   for (size_t i = 0; i < sizeof large / sizeof large[0]; i++) {
      uint64_t n = 42;
      assert_null(number(large[i], &n));
      assert_true(n == 42);
   }
}

TEST(no_number)
{
   static const char *const none[] = { "", " 1", "-1", "+1", "x", "/", ":",
                                       "\t1", "\xd9\xa1", "e5" };
   for (size_t i = 0; i < sizeof none / sizeof none[0]; i++) {
      uint64_t n = 42;
      assert_null(number(none[i], &n));
      assert_true(n == 42);
   }
}

TEST(stops)
{
   uint64_t n;
   const char *s = "12345";
   assert_string_equal(number("64K", &n), "K");
   assert_true(n == 64);
   assert_string_equal(number("1.5", &n), ".5");
   assert_string_equal(number("7 ", &n), " ");
   assert_true(tlb_text_number(&s, s + 3, &n));
   assert_true(n == 123);
   assert_string_equal(s, "45");
}

TEST(grows)
{
   char out[64];
   tlb_text t = tlb_text_in(out, sizeof out);
   assert_string_equal(out, "");
   tlb_text_add(&t, "a ");
   tlb_text_add_number(&t, 0);
   tlb_text_add(&t, " ");
   tlb_text_add_number(&t, UINT64_MAX);
   assert_string_equal(out, "a 0 18446744073709551615");
}

/* The buffers are of exactly the size that is told: a write behind them would
   be the sanitizer's. */
TEST(cuts)
{
   for (size_t size = 1; size < 12; size++) {
      char *const out = malloc(size);
      assert_non_null(out);
      tlb_text t = tlb_text_in(out, size);
      tlb_text_add(&t, "abc");
      tlb_text_add_number(&t, 4567);
      tlb_text_add(&t, "z");
      tlb_text_add(&t, "");
      char expected[12] = "abc4567z";
      expected[size - 1] = '\0';
      assert_string_equal(out, expected);
      free(out);
   }
}

TEST(control)
{
   char out[64];
   tlb_text t = tlb_text_in(out, sizeof out);
   tlb_text_add_n(&t, "a\nb\r\t\x1b[0m\x7f\0z~ \xc3\xa4", 16);
   assert_string_equal(out, "a?b???[0m??z~ \xc3\xa4");
}

TEST(other_bytes)
{
   static const struct {
      const char *text, *shown;
   } known[] = {
      { "\x80\x9b" "31m\xff", "??31m?" },          /* no beginning of a character */
      { "\xc2\x9b" "31m", "??31m" },                /* a control character: CSI */
      { "\xc2\xa0\xdf\xbf", "\xc2\xa0\xdf\xbf" },
      { "\xc1\xbf\xe0\x9f\xbf\xf0\x8f\xbf\xbf", "?????????" }, /* longer than they need be */
      { "\xe2\x82\xac\xef\xbf\xbd", "\xe2\x82\xac\xef\xbf\xbd" },
      { "\xed\xa0\x80", "???" },                   /* half of a pair of UTF-16 */
      { "\xf0\x9f\x90\x8c", "\xf0\x9f\x90\x8c" },
      { "\xf4\x90\x80\x80\xf8\x88\x80\x80\x80", "?????????" }, /* behind the last */
      { "\xe2\x82", "??" },                         /* cut off */
      { "\xe2\x82" "a", "??a" },
   };
   for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
      char out[64];
      tlb_text t = tlb_text_in(out, sizeof out);
      tlb_text_add(&t, known[i].text);
      assert_string_equal(out, known[i].shown);
   }
   char small[5];
   tlb_text t = tlb_text_in(small, sizeof small);
   tlb_text_add(&t, "ab\xe2\x82\xac" "c");
   assert_string_equal(small, "ab");
}

TEST(page_sizes)
{
   static const struct {
      unsigned shift;
      const char *text;
   } known[] = {
      { 0, "1" },    { 9, "512" },  { 10, "1K" },  { 12, "4K" },
      { 13, "8K" },  { 14, "16K" }, { 16, "64K" }, { 19, "512K" },
      { 20, "1M" },  { 21, "2M" },  { 22, "4M" },  { 24, "16M" },
      { 30, "1G" },  { 34, "16G" }, { 40, "1T" },  { 63, "8E" },
   };
   for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
      char out[16];
      tlb_text t = tlb_text_in(out, sizeof out);
      tlb_text_add_page_size(&t, known[i].shift);
      assert_string_equal(out, known[i].text);
   }
}

TEST(words)
{
   assert_true(tlb_text_is("full", 4, "full"));
   assert_true(tlb_text_is("fuller", 4, "full"));
   assert_true(tlb_text_is("", 0, ""));
   assert_false(tlb_text_is("full", 4, "ful"));
   assert_false(tlb_text_is("ful", 3, "full"));
   assert_false(tlb_text_is("Full", 4, "full"));
   assert_false(tlb_text_is("full\0", 5, "full"));
   assert_false(tlb_text_is("", 0, "full"));
   assert_int_equal(tlb_text_length(""), 0);
   assert_int_equal(tlb_text_length("1280"), 4);
}

int main(void)
{
   const struct CMUnitTest tests[] = {
      CLAIM("numbers up to 2^64 - 1 are read", largest_number),
      CLAIM("a number of 2^64 or more is none, and nothing is moved",
            too_large),
      CLAIM("signs, spaces and letters do not begin a number", no_number),
      CLAIM("a number ends behind its last digit or at the end of the text", stops),
      CLAIM("a text grows to the right and always ends with a NUL", grows),
      CLAIM("a text that does not fit is cut, whatever the size", cuts),
      CLAIM("control characters are written as question marks", control),
      CLAIM("bytes that are no characters of UTF-8 are written as question marks",
            other_bytes),
      CLAIM("page sizes are written in their largest unit", page_sizes),
      CLAIM("a word equals only the whole of itself", words),
   };
   return cmocka_run_group_tests_name("text", tests, NULL, NULL);
}
