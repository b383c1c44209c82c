/* What misses cost. See output/miss_cost.h. */

#include "pub_tool_basics.h"

#include "pub_tool_libcbase.h"
#include "pub_tool_libcprint.h"

#include "sim/machine/cost.h"
#include "sim/mmu/mmu.h"

#include "output/miss_cost.h"
#include "trace/run_mmus.h"

Bool tg_miss_cost_is_nested(const tlb_machine* m)
{
   return tg_mmus.options.nested && m->n_walk_steps > 0 && !m->software_walk;
}

/* The least cost with the most time, and the other way round. */
static void set_shares(const TgResult* r, TgMissCost* c)
{
   const ULong instructions = r->total[tg_cost(TLB_FETCH, TG_REFS)];
   const ULong cycles = r->machine->cycles;
   if (cycles != 0) {
      c->least_share = tlb_cost_share(c->least, cycles);
      c->most_share = tlb_cost_share(c->most, cycles);
   } else {
      c->least_share = tlb_cost_share_beyond(c->least, instructions, TLB_LEAST_PER_CYCLE);
      c->most_share = tlb_cost_share_beyond(c->most, instructions, TLB_MOST_PER_CYCLE);
   }
}

ULong tg_miss_cost_least(const TgMachine* machine, const ULong* cost)
{
   const tlb_machine* m = &machine->m;
   tlb_kind_misses missed[TLB_N_USERS];
   if (!tlb_cost_is_known(m) || cost[TG_ALL_CYCLES] == 0)
      return 0;
   for (UInt kind = 0; kind < TLB_N_USERS; kind++) {
      for (UInt level = 0; level < TLB_MAX_LEVELS; level++)
         missed[kind].missed[level] = cost[tg_cost(kind, TG_MISS_1 + level)];
      missed[kind].walks = cost[tg_cost(kind, TG_WALKS)];
   }
   return tlb_cost_least(m, missed, cost[tg_cost(TLB_FETCH, TG_REFS)], tg_miss_cost_is_nested(m),
                         cost[TG_ALL_CYCLES]);
}

TgMissCost tg_miss_cost(const TgResult* r)
{
   const tlb_machine* m = &r->machine->m;
   TgMissCost c = { .is_known = tlb_cost_is_known(m) != 0 };
   if (!c.is_known)
      return c;
   c.is_assumed = tlb_cost_is_assumed(m) != 0;
   c.most = r->total[TG_ALL_CYCLES];
   c.least = r->least_cycles;
   c.is_range = c.least != c.most;
   set_shares(r, &c);
   return c;
}

TgNumber tg_miss_cost_cycles(const TgMissCost* c)
{
   TgNumber text = tg_number(0, c->least);
   if (c->is_range) {
      const SizeT length = VG_(strlen)(text.text);
      VG_(snprintf)(text.text + length, (Int)(sizeof text.text - length), " to %s",
                    tg_number(0, c->most).text);
   }
   return text;
}

/* Rounded half up. */
static TgNumber rounded(ULong hundredths)
{
   TgNumber text;
   if (hundredths < 995)
      VG_(snprintf)(text.text, sizeof text.text, "%llu.%llu", (hundredths + 5) / 100,
                    (hundredths + 5) % 100 / 10);
   else
      VG_(snprintf)(text.text, sizeof text.text, "%llu", (hundredths + 50) / 100);
   return text;
}

TgNumber tg_miss_cost_share(const TgMissCost* c, Bool of_known_cycles)
{
   TgNumber text;
   if (of_known_cycles && !c->is_range) {
      VG_(snprintf)(text.text, sizeof text.text, "%llu.%02llu%%", c->most_share / 100,
                    c->most_share % 100);
      return text;
   }
   const TgNumber least = rounded(c->least_share);
   const TgNumber most = rounded(c->most_share);
   if (VG_(strcmp)(least.text, most.text) == 0)
      VG_(snprintf)(text.text, sizeof text.text, "%s%%", most.text);
   else
      VG_(snprintf)(text.text, sizeof text.text, "%s to %s%%", least.text, most.text);
   return text;
}

TgCostWords tg_miss_cost_of_walk(const tlb_machine* m)
{
   TgCostWords text;
   UInt length = VG_(snprintf)(text.text, sizeof text.text, "%s",
                               m->walk_cycles_unknown ? "assumed: " : "");
   if (m->walk_spread != 0)
      length += VG_(snprintf)(text.text + length, (Int)(sizeof text.text - length), "%u to ",
                              m->walk_cycles - m->walk_spread);
   length += VG_(snprintf)(text.text + length, (Int)(sizeof text.text - length),
                           "%u cycles a walk%s%s", m->walk_cycles,
                           tlb_tables_are_cached(m) ? " and its tables" : "",
                           tg_miss_cost_is_nested(m) ? ", the host's up to as much" : "");
   if (tlb_known_overlap(m->walk_overlap) > TLB_NO_OVERLAP)
      VG_(snprintf)(text.text + length, (Int)(sizeof text.text - length), ", %u.%u at a time",
                    m->walk_overlap / 10, m->walk_overlap % 10);
   return text;
}
