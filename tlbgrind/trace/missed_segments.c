/* Lists segments that may have missed. See trace/missed_segments.h. */

#include "pub_tool_basics.h"

#include "pub_tool_libcbase.h"
#include "pub_tool_mallocfree.h"
#include "pub_tool_xarray.h"

#include "attribution/lines.h"
#include "trace/missed_segments.h"

Bool tg_lists_missed_segments;
TgSegment** tg_missed_segments;
UInt tg_n_missed_segments;
UInt tg_room_for_missed_segments;

static XArray* left; /* TgLine*: parts with a bit set in `listed` */

void tg_missed_segments_grow(TgSegment* s)
{
   tg_room_for_missed_segments = 2 * tg_room_for_missed_segments + 256;
   tg_missed_segments = VG_(realloc)("tg.missed", tg_missed_segments,
                                     tg_room_for_missed_segments * sizeof *tg_missed_segments);
   tg_missed_segments[tg_n_missed_segments++] = s;
}

void tg_missed_segments_leave(const TgSegment* s, TgLine* part, tlb_user kind)
{
   const UChar bit = (UChar)(1u << kind);
   if (!s->missed || (part->listed & bit) != 0)
      return;
   if (left == NULL)
      left = VG_(newXA)(VG_(malloc), "tg.missed.left", VG_(free), sizeof part);
   if (part->listed == 0)
      VG_(addToXA)(left, &part);
   part->listed |= bit;
}

void tg_missed_segments_take(void (*take)(uint64_t* misses, uint64_t* taken, UInt n, tlb_user kind,
                                          void* opaque), void* opaque)
{
   const UInt n = tg_lines_n_counts();
   for (UInt i = 0; i < tg_n_missed_segments; i++) {
      TgSegment* s = tg_missed_segments[i];
      const TgRef* ref = tg_segment_refs(s);
      s->missed = False;
      for (UInt j = 0; j < s->n_refs; j++) {
         if (ref[j].misses != NULL)
            take(ref[j].misses, ref[j].misses + n, n, ref[j].kind, opaque);
      }
   }
   tg_n_missed_segments = 0;
   for (Word i = left == NULL ? 0 : VG_(sizeXA)(left); i > 0; i--) {
      TgLine* part = *(TgLine**)VG_(indexXA)(left, i - 1);
      for (UInt kind = 0; kind < TLB_N_USERS; kind++) {
         if ((part->listed & (1u << kind)) != 0)
            take(part->misses[kind], part->misses[kind] + n, n, (tlb_user)kind, opaque);
      }
      part->listed = 0;
      VG_(dropTailXA)(left, 1);
   }
}

static void keep(uint64_t* misses, uint64_t* taken, UInt n, tlb_user kind, void* opaque)
{
   (void)kind; (void)opaque;
   VG_(memcpy)(taken, misses, n * sizeof *taken);
}

static void take_back(uint64_t* misses, uint64_t* taken, UInt n, tlb_user kind, void* opaque)
{
   (void)kind; (void)opaque;
   VG_(memcpy)(misses, taken, n * sizeof *misses);
}

void tg_missed_segments_keep(void)
{
   tg_missed_segments_take(keep, NULL);
}

void tg_missed_segments_take_back(void)
{
   tg_missed_segments_take(take_back, NULL);
}
