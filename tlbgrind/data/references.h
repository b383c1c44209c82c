/* Attributes data references to the objects that they refer to.

   When a segment has come to its end, and before it is simulated, each of its data references is
   counted at the line of its instruction, in a part of it for its object (tg_line_part()), and gets
   that part's counts for its misses. So lines and objects are counted together, and sums over
   objects are the sums over lines. */

#ifndef TG_DATA_REFERENCES_H
#define TG_DATA_REFERENCES_H

#include "pub_tool_basics.h"

#include "options/options.h"
#include "trace/shadow_area.h"
#include "trace/superblocks.h"

/* Whether this is done: --data=yes, or --mappings=yes for row blocks (data/row_blocks.h) in the
   place of objects, or both for pairs of an object and a row block. */
extern Bool tg_data_on;

/* --data=yes: heap blocks, names and stacks are followed. */
extern Bool tg_data_objects_on;

/* Before the first block of code is translated. */
void tg_data_init(const TgOptions* options);

/* What translated code calls at the end of a segment with data references, before the check
   (engine/check.h): counts them. */
typedef void TgDataCheck(UChar* guest_state, TgSegment* s);
extern TgDataCheck* tg_data_check;

/* Counts the first n references of a segment that has been run. */
void tg_data_segment(const TgShadowArea* shadow, TgSegment* s, UInt n);

/* The part of its line that the reference, one of the segment, was counted at. */
TgLine* tg_data_line_of_ref(const TgSegment* s, const TgRef* r);

/* The part of the line for the object at the address. */
TgLine* tg_data_line_at(TgLine* line, Addr a);

/* A thread runs code: its stack is found when it is the first time. */
void tg_data_started(ThreadId tid);
void tg_data_thread_begins(ThreadId tid);

/* Another thread runs from now on: parts that it does not use are not looked at until they are used
   again, so that many threads do not take a time that grows with the square of their number. */
void tg_data_set_aside(void);

/* The child's counts begin at zero. */
void tg_data_zero(void);

#endif
