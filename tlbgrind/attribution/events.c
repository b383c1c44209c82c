/* Names and order of the events in the out-file. See attribution/events.h. */

#include "sim/machine/cost.h"
#include "sim/tlb/walk.h"

#include "attribution/events.h"

#define COST(kind, what) ((kind) * TG_N_OF_A_KIND + (what))

static bool always(const tlb_machine* m)
{
   (void)m;
   return true;
}

/* Only with three levels the second level's misses are an event: those of the last level are the
   walks. */
static bool has_three_levels(const tlb_machine* m)
{
   return tlb_machine_levels(m) > 2;
}

static bool has_walks(const tlb_machine* m)
{
   return tlb_walks_described(m) != 0;
}

static bool has_cost(const tlb_machine* m)
{
   return tlb_cost_is_known(m) && !tlb_cost_is_assumed(m);
}

static bool assumes_cost(const tlb_machine* m)
{
   return tlb_cost_is_known(m) && tlb_cost_is_assumed(m);
}

static const struct {
   TgEvent event;
   bool (*is_told)(const tlb_machine* m);
} all[] = {
   {{COST(TLB_FETCH, TG_REFS), "Ir", "Instructions"}, always},
   {{COST(TLB_FETCH, TG_MISS_1), "I1tm", "L1 instruction TLB misses"}, always},
   {{COST(TLB_FETCH, TG_MISS_2), "I2tm", "L2 instruction TLB misses"},
    has_three_levels},
   {{COST(TLB_FETCH, TG_WALKS), "ILtm", "Instruction page walks"}, always},
   {{COST(TLB_LOAD, TG_REFS), "Dr", "Data reads"}, always},
   {{COST(TLB_LOAD, TG_MISS_1), "D1tmr", "L1 data TLB read misses"}, always},
   {{COST(TLB_LOAD, TG_MISS_2), "D2tmr", "L2 data TLB read misses"},
    has_three_levels},
   {{COST(TLB_LOAD, TG_WALKS), "DLtmr", "Data page walks by reads"}, always},
   {{COST(TLB_STORE, TG_REFS), "Dw", "Data writes"}, always},
   {{COST(TLB_STORE, TG_MISS_1), "D1tmw", "L1 data TLB write misses"}, always},
   {{COST(TLB_STORE, TG_MISS_2), "D2tmw", "L2 data TLB write misses"},
    has_three_levels},
   {{COST(TLB_STORE, TG_WALKS), "DLtmw", "Data page walks by writes"}, always},
   {{TG_ALL_WALK_REFS, "Wref", "References to page tables by walks"},
    has_walks},
   {{TG_ALL_CYCLES, "Wcyc", "Cycles of misses, an estimate"},
    has_cost},
   /* Readers know by the last word that it tells no more than the misses do. */
   {{TG_ALL_CYCLES, "Wcyc", "Cycles of misses, an estimate, assumed"},
    assumes_cost},
};

static const TgEvent fault_events[TLB_N_USERS] = {
   { TG_FAULTS + TLB_FETCH, "PFi", "Page faults by instruction fetches" },
   { TG_FAULTS + TLB_LOAD, "PFr", "Page faults by reads" },
   { TG_FAULTS + TLB_STORE, "PFw", "Page faults by writes" },
};

static const TgEvent flush_events[TLB_N_FLUSH_COSTS] = {
   [TLB_FLUSHES_OF_ALL] = { TG_FLUSHES + TLB_FLUSHES_OF_ALL, "FLall", "TLB flushes of everything" },
   [TLB_FLUSHES_OF_PAGES] = { TG_FLUSHES + TLB_FLUSHES_OF_PAGES, "FLone",
                              "Pages flushed from the TLBs one by one" },
   [TLB_FLUSHED_WITHIN] = { TG_FLUSHES + TLB_FLUSHED_WITHIN, "FLin",
                            "Translations flushed that had to be" },
   [TLB_FLUSHED_OUTSIDE] = { TG_FLUSHES + TLB_FLUSHED_OUTSIDE, "FLout",
                             "Other translations that flushes of everything threw away" },
   [TLB_FLUSHED_AGAIN] = { TG_FLUSHES + TLB_FLUSHED_AGAIN, "FLhot",
                           "Other translations thrown away and walked for again" },
   [TLB_FLUSHES_REMOTE] = { TG_FLUSHES + TLB_FLUSHES_REMOTE, "FLrem",
                            "Flushes that other cores were asked for, too" },
};

/* A machine that does not drop prefetches has walks, and the other way round. */
static const struct {
   TgEvent event;
   tlb_prefetch_policy only; /* TLB_PREFETCH_IGNORE: whatever the machine does */
} prefetch_events[] = {
   {{TG_PREFETCHES + TLB_PREFETCHES, "Pref", "Data prefetches"}, TLB_PREFETCH_IGNORE},
   {{TG_PREFETCHES + TLB_PREFETCH_MISSES, "P1tm", "L1 TLB misses of data prefetches"},
    TLB_PREFETCH_IGNORE},
   {{TG_PREFETCHES + TLB_PREFETCH_WALKS, "PLtm", "Page walks by data prefetches"},
    TLB_PREFETCH_STRONG},
   {{TG_PREFETCHES + TLB_PREFETCH_WALKS_IN_VAIN, "Pvain",
     "Page walks by data prefetches that found no page"}, TLB_PREFETCH_STRONG},
   {{TG_PREFETCHES + TLB_PREFETCHES_DROPPED, "Pdrop",
     "Data prefetches dropped, for no TLB had the page"}, TLB_PREFETCH_WEAK},
};

unsigned tg_events(const tlb_machine* m, bool faults, bool flushes, tlb_prefetch_policy prefetch,
               const TgEvent** out)
{
   unsigned n = 0;
   for (unsigned i = 0; i < sizeof all / sizeof all[0]; i++) {
      if (all[i].is_told(m))
         out[n++] = &all[i].event;
   }
   for (unsigned i = 0; i < TLB_N_USERS && faults; i++)
      out[n++] = &fault_events[i];
   for (unsigned i = 0; i < TLB_N_FLUSH_COSTS && flushes; i++)
      out[n++] = &flush_events[i];
   for (unsigned i = 0; i < sizeof prefetch_events / sizeof prefetch_events[0]; i++) {
      const tlb_prefetch_policy only = prefetch_events[i].only;
      if (prefetch != TLB_PREFETCH_IGNORE && (only == TLB_PREFETCH_IGNORE || only == prefetch))
         out[n++] = &prefetch_events[i].event;
   }
   return n;
}
