/* Segments that are looked up a little later. See engine/batch.h. */

#include "pub_tool_basics.h"

#include "sim/mmu/miss_counts.h"

#include "engine/batch.h"
#include "trace/run_mmus.h"
#include "trace/segment_run.h"

/* What was noted of a segment. */
typedef struct {
   TgSegment* segment;
   ULong clock, idle_passes; /* at its end */
   TgShadowArea shadow;                /* its bases alone */
} Noted;

/* Walks are dense if so many come in a row with so little time between any two of
   them, and as long as there are as many among so many segments. */
enum { N_SEGMENTS = 64, N_WALKS = 16, MAX_BETWEEN = 64 * TG_INSTR_TICKS };

UWord tg_batching;

static Noted noted[N_SEGMENTS];
static ULong walks;
static UInt in_a_row;
static TgBatched* look_up_noted;

void tg_batch_init(TgBatched* f)
{
   look_up_noted = f;
}

void tg_batch_walked(void)
{
   static ULong last;
   walks++;
   in_a_row = tg_clock - last < MAX_BETWEEN ? in_a_row + 1 : 0;
   last = tg_clock;
   if (look_up_noted != NULL && tg_n_segments_noted == 0 && in_a_row >= N_WALKS)
      tg_batching = ~(UWord)0;
}

void tg_batch_look_up(void)
{
   const ULong clock = tg_clock, idle_passes = tg_idle_passes;
   tg_batching = 0;
   for (UInt i = 0; i < tg_n_segments_noted; i++) {
      tg_clock = noted[i].clock;
      tg_idle_passes = noted[i].idle_passes;
      look_up_noted(&noted[i].shadow, noted[i].segment);
   }
   tg_n_segments_noted = 0;
   tg_clock = clock;
   tg_idle_passes = idle_passes;
}

void tg_batch_add(const TgShadowArea* shadow, TgSegment* s)
{
   Noted* n = &noted[tg_n_segments_noted++];
   n->segment = s;
   n->clock = tg_clock;
   n->idle_passes = tg_idle_passes;
   for (UInt i = 0; i < s->n_groups; i++) {
      const UInt base = s->group[i].base;
      n->shadow.base[base] = shadow->base[base];
      /* The program's own memory has driven it out of the nearer caches. */
      __builtin_prefetch(tlb_rest(tg_segment_page[i]), 1);
      tlb_missed_fetch(&tg_mmus, shadow->base[base]);
   }
   if (tg_n_segments_noted < N_SEGMENTS)
      return;
   const ULong before = walks;
   tg_batch_look_up();
   if (walks - before >= N_WALKS)
      tg_batching = ~(UWord)0;
   else
      in_a_row = 0;
}
