/* Clones of segments: what copies of the program execute in place of its segments.

   To the simulator a copy's segment is another segment, whose addresses have the copy's number
   above those of the program (sim/machine/spaces.h). So it has fetches, references and miss
   counts of its own; all else is as in the program's. */

#ifndef TG_CLONES_H
#define TG_CLONES_H

#include "pub_tool_basics.h"

#include "trace/superblocks.h"
#include "trace/shadow_area.h"

typedef struct _TgClones {
   struct _TgClones* next_gone;
   ULong gone_at; /* how many references had been made when the segment went */
   UInt n_bases;
   UChar base[TG_MAX_BASES]; /* those that its references are relative to */
   TgSegment* of[]; /* by copy, from 1 */
} TgClones;

/* `distance`: between the addresses of two copies. */
void tg_clones_init(UInt n_copies, UWord distance);

/* By the segment's number; NULL: it has not been run. */
extern TgClones** tg_clones;
extern UInt tg_clones_room;

TgClones* tg_clones_make(TgSegment* s);

/* Those of a segment, made when it is run first. */
static inline TgClones* tg_clones_of(TgSegment* s)
{
   TgClones* c = s->number < tg_clones_room ? tg_clones[s->number] : NULL;
   return LIKELY(c != NULL) ? c : tg_clones_make(s);
}

/* Those of a segment that goes, or NULL; the caller frees them. */
TgClones* tg_clones_take(UInt number);

void tg_clones_free(TgClones* c);

#endif
