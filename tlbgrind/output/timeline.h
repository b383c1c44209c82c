/* The timeline: misses, page faults and pages referred to, over the run's instructions.

   A sample has the run's counts at one instruction, and how many pages were referred to since the
   sample before. There are at most as many as fit: when there is no room, two neighbours become
   one, and from then on the distance is twice as long. */

#ifndef TG_TIMELINE_H
#define TG_TIMELINE_H

#include "pub_tool_basics.h"

#include "output/results.h"
#include "trace/sampling.h"

/* `take` settles the misses and calls tg_timeline_add(). */
void tg_timeline_init(const TgResults* results, TgSample* take);

/* Adds a sample. The misses have been settled. */
void tg_timeline_add(void);

/* A phase begins here. */
void tg_timeline_mark(const HChar* phase);

/* The timeline begins anew, at the instruction at hand; the counts begin at zero there. */
void tg_timeline_zero(void);

/* Writes the samples, and what came after the last one. Returns whether the file could be
   written. The misses have been settled. */
Bool tg_timeline_write(const TgResults* results, const HChar* name);

#endif
