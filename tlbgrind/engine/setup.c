/* The start of the engine. See engine/setup.h. */

#include "pub_tool_basics.h"

#include "pub_tool_libcassert.h"
#include "pub_tool_mallocfree.h"

#include "sim/machine/spaces.h"
#include "sim/mmu/miss_counts.h"
#include "sim/mmu/mmu_init.h"

#include "attribution/sites.h"
#include "base/allocator.h"
#include "calls/call_stack.h"
#include "calls/collection.h"
#include "engine/batch.h"
#include "engine/check.h"
#include "engine/fast_path.h"
#include "engine/program_prefetches.h"
#include "engine/recording.h"
#include "engine/replay.h"
#include "engine/segment_miss.h"
#include "engine/setup.h"
#include "engine/shared_context.h"
#include "engine/translate.h"
#include "options/record_options.h"
#include "space/aspace.h"
#include "space/forks.h"
#include "trace/copy_counts.h"
#include "trace/instrumentation.h"
#include "trace/run_mmus.h"

static void settle_line(uint64_t* misses, tlb_user kind)
{
   tlb_mmus_settle(&tg_mmus, kind, misses);
}

void tg_engine_settle(void)
{
   tg_translate_check();
   tg_lines_each_miss(settle_line);
   tg_copy_counts_each(settle_line);
   tg_call_stacks_each(settle_line);
}

/* Whether the program asks for huge pages. */
static Bool asks_for_huge(const TgSpaceEvent* e)
{
   enum { LINUX_MADV_HUGEPAGE = 14, LINUX_MADV_COLLAPSE = 25 };
   const Bool maps = e->mapping != NULL
                     && (e->mapping->flags & TLB_MAP_HUGETLB) != 0;
   return maps
          || (e->what == TG_SPACE_ADVISE
              && (e->advice == LINUX_MADV_HUGEPAGE || e->advice == LINUX_MADV_COLLAPSE));
}

/* From then on what backs a page has to be asked of the map, also of those that are
   known. */
static void listen(void* opaque, const TgSpaceEvent* e)
{
   static Bool asked;
   (void)opaque;
   if (asked || !asks_for_huge(e))
      return;
   asked = True;
   tg_recording_asks();
   tg_engine_settle();
   tlb_mmus_ask(&tg_mmus);
   tg_fast_path_find();
}

/* Huge pages are shared since a fork: a write to one matters. */
static void watch_writes(void)
{
   tg_batch_look_up();
   if (tlb_mmus_watch_writes(&tg_mmus)) {
      tg_segment_miss_renew();
      tg_instrumentation_renew();
   }
}

/* What a recording has to know is observed as if a machine of the run had to. */
static void add_traits(const tlb_strength* s)
{
   tg_mmus.traits.mixed |= tlb_strength_needs_each(s) != 0;
   tg_mmus.traits.own_times |= tlb_strength_has_behind(s) != 0;
   tg_mmus.traits.code_behind |= tlb_strength_has_code_behind(s) != 0;
}

static void init_mmus(const TgOptions* o)
{
   tlb_mmu_machine* machine = VG_(calloc)("tg.setup", o->n_machines, sizeof *machine);
   for (UInt i = 0; i < o->n_machines; i++)
      machine[i] = tg_mmu_machine(&o->machine[i]);
   const tlb_mmus_options options = {
      .n = o->n_machines, .machine = machine, .page_shift = o->page_shift,
      .nested = o->nested,
      .exhaustive = !o->fast_path || tg_shared_context_on
                    || (o->record != NULL && tlb_strength_needs_each(&o->record->strength)),
      .memory = tg_memory("tg.mmus"), .map = tg_aspace_map(), .siblings = o->kernel.siblings,
      .address_bits = o->kernel.copies > 1 ? TLB_SPACE_SHIFT : 0,
      .idle = o->jobs > 0,
      .apart = o->record != NULL && tlb_strength_tells_apart(&o->record->strength) };
   const ULong others = (o->reach ? TLB_OBSERVER_REACH : 0)
                        | (o->record != NULL ? TLB_OBSERVER_RECORDING : 0)
                        | (o->faults.simulated ? TLB_OBSERVER_FAULTS : 0);
   tl_assert(o->n_machines > 0 && o->n_machines <= TLB_MAX_MMUS);
   tlb_mmus_init(&tg_mmus, &options, others, tg_near, TG_NEAR_PAGES);
   if (o->record != NULL)
      add_traits(&o->record->strength);
   tl_assert(options.map->n_views <= TLB_MAX_VIEWS);
   VG_(free)(machine);
}

void tg_engine_init(const TgOptions* options)
{
   tg_forks_init(watch_writes);
   tg_aspace_listen(listen, NULL);
   tg_shared_context_init(options);
   init_mmus(options);
   tg_lines_count((UInt)tlb_mmus_n_counts(&tg_mmus));
   if (tg_mmus.flushes)
      tg_lines_count_flushes((UInt)tlb_mmus_flushes_at(&tg_mmus, 0));
   if (tg_mmus.prefetches)
      tg_lines_count_prefetches((UInt)tlb_mmus_prefetches_at(&tg_mmus, 0));
   if (options->calls)
      tg_call_stacks_init(tg_batch_look_up, options->record != NULL ? tg_recording_move : NULL,
                          options->jobs == 0);
   const TgTotals totals[TG_MAX_TOTALS] = {
      { tg_replay_straddles(), TLB_N_USERS * sizeof(ULong) },
      { tlb_missed_extra(&tg_mmus, 0),
        options->jobs > 0 ? 0 : options->n_machines * sizeof(*tg_mmus.parts.extra) } };
   tg_collection_init(options, tg_batch_look_up, totals);
   tg_translate_init(options);
   if (options->record != NULL)
      tg_recording_begin(options);
   tg_fast_path_find();
   tg_replay_init(options);
   tg_check_init(options);
   tg_prefetch_init(options);
}
