/* Data prefetches of the program. See engine/program_prefetches.h. */

#include "pub_tool_basics.h"

#include "pub_tool_aspacemgr.h"
#include "pub_tool_libcbase.h"
#include "pub_tool_mallocfree.h"
#include "pub_tool_vki.h"

#include "sim/faults/faultmodel.h"
#include "sim/mmu/mmu.h"

#include "attribution/lines.h"
#include "engine/batch.h"
#include "engine/program_prefetches.h"
#include "engine/recording.h"
#include "native/maps.h"
#include "trace/missed_segments.h"
#include "trace/run_mmus.h"
#include "trace/segment_run.h"

/* A segment has ended right before the prefetch, and the first reference of the next one is at
   least two such steps away (trace/superblocks.h): so the clock need not go on. */
enum { LATER = TG_HALF_TICKS };

static UInt page_shift;
static uint64_t* not_kept; /* counts that go nowhere */

void tg_prefetch_init(const TgOptions* options)
{
   page_shift = options->page_shift;
   if (options->kernel.prefetches)
      not_kept = VG_(calloc)("tg.prefetch", tg_lines_n_counts(), sizeof *not_kept);
}

/* Whether the kernel's page tables map the byte for the program: as the warm view of page faults
   has it. */
static Bool is_present(Addr a)
{
   UInt number;
   ULong native;
   return VG_(am_is_valid_for_client)(a, 1, VKI_PROT_READ)
          && tg_maps_find(a, &number, &native) != NULL
          && tlb_fault_is_present(tg_maps_model(), native, TLB_VIEW_WARM);
}

/* All prefetches that are counted at a line are kept. */
static void keep(uint64_t* counts)
{
   const SizeT first = tlb_mmus_prefetches_at(&tg_mmus, 0);
   uint64_t* taken = counts + tg_lines_n_counts();
   VG_(memcpy)(taken + first, counts + first, (tg_lines_n_counts() - first) * sizeof *counts);
}

void tg_prefetch_refer(TgSite* site, Addr a)
{
   uint64_t* counts = tg_costs_are_kept ? tg_line_misses(tg_site_line(site), TLB_LOAD) : not_kept;
   const Bool present = is_present(a);
   tg_batch_look_up();
   const tlb_page_number number = a >> page_shift;
   if (tg_recording_on)
      tg_recording_prefetch(tg_site_line(site), number, tg_clock + LATER, present);
   tlb_mmus_prefetch_page(&tg_mmus, counts, number, tg_clock + LATER, present);
   if (tg_lists_missed_segments && tg_costs_are_kept)
      keep(counts);
}
