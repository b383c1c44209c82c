/* Lists segments that may have missed. See trace/missed_segments.h. */

#include "pub_tool_basics.h"

#include "pub_tool_mallocfree.h"

#include "trace/missed_segments.h"

Bool tg_lists_missed_segments;
TgSegment** tg_missed_segments;
UInt tg_n_missed_segments;
UInt tg_room_for_missed_segments;

void tg_missed_segments_grow(TgSegment* s)
{
   tg_room_for_missed_segments = 2 * tg_room_for_missed_segments + 256;
   tg_missed_segments = VG_(realloc)("tg.missed", tg_missed_segments,
                                     tg_room_for_missed_segments * sizeof *tg_missed_segments);
   tg_missed_segments[tg_n_missed_segments++] = s;
}
