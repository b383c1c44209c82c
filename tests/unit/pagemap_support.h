/* Page policies from texts, for both tests of the page map.
   Part of tlbgrind.  GPL-2.0-or-later; see COPYING. */

#ifndef PAGEMAP_SUPPORT_H
#define PAGEMAP_SUPPORT_H

#include "memory_support.h"

#include "sim/pages/pagemap.h"

/* With a kernel whose transparent huge pages are on madvise. */
static inline tlb_page_policy policy_of(const char *rules, const char *pools,
                                        unsigned base)
{
   tlb_page_policy p;
   tlb_reason why;
   memset(&p, 0, sizeof p);
   p.thp = TLB_THP_MADVISE;
   if (rules[0] != '\0' && !tlb_page_rules_parse(rules, ',', base, &p, &why))
      fail_msg("%s: %s", rules, why.text);
   if (pools[0] != '\0' && !tlb_page_pools_parse(pools, base, &p, &why))
      fail_msg("%s: %s", pools, why.text);
   return p;
}

#endif
