/* The order in which pages were used. See engine/record_uses.h. */

#include "pub_tool_basics.h"

#include "engine/record_uses.h"
#include "engine/recorded.h"

enum { MOST_SORTED = 16 };

/* In order of their times: each goes to the place that as many are before. No branch depends on a
   time. */
static void sort_few(TgUse* use, UInt n)
{
   TgUse was[MOST_SORTED];
   for (UInt i = 0; i < n; i++)
      was[i] = use[i];
   for (UInt i = 0; i < n; i++) {
      UInt before = 0;
      for (UInt j = 0; j < n; j++)
         before += was[j].time < was[i].time + (j < i);
      use[before] = was[i];
   }
}

static void sort(TgUse* use, UInt n)
{
   if (n <= MOST_SORTED) {
      sort_few(use, n);
      return;
   }
   for (UInt i = 1; i < n; i++) {
      const TgUse u = use[i];
      UInt j = i;
      for (; j > 0 && use[j - 1].time > u.time; j--)
         use[j] = use[j - 1];
      use[j] = u;
   }
}

/* How many of the uses, from the first on, are the last that the recording has of the set, in this
   order: it need not have them twice. */
static UInt n_known(const TgUse* use, UInt n, ULong n_recorded)
{
   UInt known = n;
   while (known > 0 && *use[known - 1].recorded != n_recorded)
      known--;
   for (UInt i = 1; i < known; i++) {
      if (*use[known - 1 - i].recorded != n_recorded - i)
         return 0;
   }
   return known;
}

void tg_record_uses(TgUseOrder* order, UInt set, TgUse* use, UInt n, UInt size)
{
   sort(use, n);
   for (UInt i = n_known(use, n, order->n[set]); i < n; i++) {
      tg_recorded_add((tlb_record){ .what = tlb_record_use(use[i].user, size),
                                    .page = use[i].page });
      *use[i].recorded = ++order->n[set];
   }
   if (n > 0)
      order->last[set] = use[n - 1].time;
}
