/* What the two tests of the page map share: memory full of rubbish that must be
   given back, and policies.
   Part of tlbgrind.  GPL-2.0-or-later; see COPYING. */

#ifndef PAGEMAP_SUPPORT_H
#define PAGEMAP_SUPPORT_H

#include "unit.h"

#include "pagemap.h"

static size_t given;

static inline void *take(size_t bytes, void *opaque)
{
   (void)opaque;
   assert_true(bytes > 0);
   void *const got = malloc(bytes);
   assert_non_null(got);
   memset(got, 0xA5, bytes);
   given++;
   return got;
}

static inline void give(void *memory, void *opaque)
{
   (void)opaque;
   assert_non_null(memory);
   given--;
   free(memory);
}

static const tlb_memory memory = { take, give, NULL };

static inline tlb_page_policy policy_of(const char *rules, const char *pools,
                                        unsigned base)
{
   tlb_page_policy p;
   tlb_reason why;
   memset(&p, 0, sizeof p);
   if (rules[0] != '\0' && !tlb_page_rules_parse(rules, ',', base, &p, &why))
      fail_msg("%s: %s", rules, why.text);
   if (pools[0] != '\0' && !tlb_page_pools_parse(pools, base, &p, &why))
      fail_msg("%s: %s", pools, why.text);
   return p;
}

#endif
