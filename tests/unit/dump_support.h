/* Dumps of CPUID that are read, or refused, for the tests of both formats.
   Part of tlbgrind.  GPL-2.0-or-later; see COPYING. */

#ifndef DUMP_SUPPORT_H
#define DUMP_SUPPORT_H

#include "cpuid_support.h"

#include "sim/machine/cpuid_dump.h"

/* Reads the first n bytes, in memory of exactly their size. Returns 1 or 0, and the place and
   reason as "LINE: REASON". */
static inline int read_bytes(const char *text, size_t n, tlb_cpuid_dump *out, char *error,
                             size_t size)
{
   uint64_t line = UINT64_MAX;
   tlb_reason why;
   char *const exact = malloc(n + (n == 0));
   assert_non_null(exact);
   memcpy(exact, text, n);
   memset(out, 0xA5, sizeof *out);
   memset(&why, 0xA5, sizeof why);
   const int good = tlb_cpuid_dump_read(exact, n, out, &line, &why);
   free(exact);
   assert_in_range(out->n, 0, TLB_MAX_DUMP_PROCESSORS);
   if (!good) {
      assert_non_null(memchr(why.text, '\0', sizeof why.text));
      assert_in_range(strlen(why.text), 10, sizeof why.text - 2);
      assert_null(strchr(why.text, '\n'));
      snprintf(error, size, "%llu: %s", (unsigned long long)line, why.text);
   }
   return good;
}

static inline tlb_cpuid_dump reads(const dump *d)
{
   tlb_cpuid_dump out;
   char error[256];
   assert_true(tlb_cpuid_is_dump(d->text, d->n));
   if (!read_bytes(d->text, d->n, &out, error, sizeof error))
      fail_msg("%s", error);
   return out;
}

static inline void refuses(const dump *d, const char *expected)
{
   tlb_cpuid_dump out;
   char error[256] = "it is read";
   if (!read_bytes(d->text, d->n, &out, error, sizeof error))
      assert_string_not_equal(error, "it is read");
   assert_string_equal(error, expected);
}

#endif
