/* Fuzzes the parser and printer of --pages= and --huge-pool=.
   The first byte says which: '@' rules behind an @, '#' pools, else rules.
   Part of tlbgrind.  GPL-2.0-or-later; see COPYING. */

#include "fuzz.h"

#include <stdlib.h>
#include <string.h>

#include "sim/pages/pagerules.h"

const char *const fuzz_words[] = {
   "all", "anon", "heap", "stack", "text", "data", "file", "thp", "contig",
   "4K", "16K", "64K", "2M", "4M", "16M", "256M", "1G", "16G", "4096", ":",
   ",", "+", "*", "?", ".so", "/usr/lib/", "libstdc++", "heap:2M", "16M:65",
   "2M:0", "18446744073709551616", "1099511627777", "@", "#", NULL
};

const char *const fuzz_more = NULL;

static tlb_page_policy policy, again;

static void check_refusal(const tlb_reason *why)
{
   fuzz_check_reason(why->text, sizeof why->text);
   if (policy.n_rules != 0 || policy.n_pools != 0)
      fuzz_fail("refused, but something is there");
}

/* Control characters, and bytes that are not UTF-8, are printed as '?'. */
static int printable(const char *text)
{
   for (; *text != '\0'; text++) {
      if ((unsigned char)*text < ' ' || (unsigned char)*text >= 0x7f)
         return 0;
   }
   return 1;
}

void fuzz_one(char *data, size_t size)
{
   char printed[TLB_MAX_PAGE_RULES * (TLB_PATTERN_SIZE + 16)];
   tlb_reason why;
   char *const text = malloc(size + 1);
   const char separator = size > 0 && data[0] == '@' ? '+' : ',';
   const int pools = size > 0 && data[0] == '#';
   memcpy(text, data, size);
   text[size] = '\0';
   const char *const at = text + (separator == '+' || pools);
   memset(&why, 'x', sizeof why);
   memset(&policy, 0, sizeof policy);
   const int taken = pools ? tlb_page_pools_parse(at, 12, &policy, &why)
                           : tlb_page_rules_parse(at, separator, 12, &policy,
                                                  &why);
   if (!taken)
      check_refusal(&why);
   for (unsigned i = 0; i < policy.n_rules; i++) {
      const tlb_page_rule *const r = &policy.rule[i];
      if (r->how == TLB_FIXED
          && (r->shift < TLB_MIN_PAGE_SHIFT || r->shift > TLB_MAX_PAGE_SHIFT))
         fuzz_fail("a page that no machine has");
      if (memchr(r->pattern, '\0', sizeof r->pattern) == NULL)
         fuzz_fail("a pattern without an end");
      tlb_pattern_matches(r->pattern, "/usr/lib/libstdc++.so.6");
   }
   if (taken && !pools && printable(at)) {
      tlb_page_rules_print(&policy, separator, printed, sizeof printed);
      memset(&again, 0, sizeof again);
      if (!tlb_page_rules_parse(printed, separator, 12, &again, &why))
         fuzz_fail("what is printed is not read");
      if (again.n_rules != policy.n_rules)
         fuzz_fail("what is printed has another number of rules");
      for (unsigned i = 0; i < policy.n_rules; i++) {
         const tlb_page_rule *const a = &policy.rule[i];
         const tlb_page_rule *const b = &again.rule[i];
         if (a->what != b->what || a->how != b->how || a->shift != b->shift
             || strcmp(a->pattern, b->pattern) != 0)
            fuzz_fail("what is printed is another rule");
      }
   }
   free(text);
}
