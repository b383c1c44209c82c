/* The bar of what takes long: the time that is left.
   Part of tlbgrind.  GPL-2.0-or-later; see COPYING. */

#include "unit.h"

#include "command/bar.c"

static void left(double seconds, double part, const char *expected)
{
   char text[32];
   tg_bar_left(seconds, part, text, sizeof text);
   assert_string_equal(text, expected);
}

TEST(rest)
{
   left(10.0, 0.5, "0:10 left");
   left(10.0, 0.1, "1:30 left");
   left(61.0, 0.5, "1:01 left");
   left(3600.0, 0.5, "1:00:00 left");
   left(59.6, 0.5, "1:00 left");
   left(1.0, 1.0, "0:00 left");
}

TEST(unknown)
{
   left(10.0, 0.0, "");
   left(10.0, -1.0, "");
   left(1e6, 1e-6, "");
}

int main(void)
{
   const struct CMUnitTest tests[] = {
      CLAIM("the rest takes as long as what has been done", rest),
      CLAIM("before anything has been done, or where it would take days, no time is told", unknown),
   };
   return cmocka_run_group_tests_name("bar", tests, NULL, NULL);
}
