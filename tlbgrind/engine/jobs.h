/* The processes of --jobs=, which simulate the run's machines.

   The tool feeds tg_simulate what a recording would have (engine/recording.h), and asks it for the
   counts so far when it needs them. tg_simulate spreads the machines over so many processes. */

#ifndef TG_JOBS_H
#define TG_JOBS_H

#include "pub_tool_basics.h"

#include "attribution/lines.h"
#include "calls/arcs.h"
#include "options/options.h"

/* Whether the machines are simulated by others, or were to be. */
extern Bool tg_jobs_on;

/* Starts them, with the machines of the run. Ends the run if that can not be. */
void tg_jobs_begin(const TgOptions* options);

/* Hands them a part of the stream. Once they have ended nothing more is written, which is said. */
void tg_jobs_write(const UChar* bytes, SizeT n);

/* Stores what they have counted by now, once they have been asked for it: misses of the lines and
   arcs of calls, which line() and arc() have by their numbers, NULL for none, and misses beyond a
   reference's first. */
void tg_jobs_take(TgLine* (*line)(UInt number), TgArc* (*arc)(UInt number));

/* From now on there are none, and no counts of theirs: says so, and why. */
void tg_jobs_stop(const HChar* why);

/* In a forked child, which has none. */
void tg_jobs_forked(void);

/* Why there are no counts of TLBs; NULL: there are. */
const HChar* tg_jobs_lost(void);

#endif
