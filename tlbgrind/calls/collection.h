/* Collection: costs are kept only while one of the functions of --toggle-collect= is active.

   Everything is simulated all the time. A function is active in a thread from its first
   instruction until the stack pointer is above where it was there. When a thread begins or ceases
   to be in one, the misses since the last time are left in the lines or taken back, as are other
   totals of the run. What is counted with the segments is not counted in the first place
   (engine/check.c). */

#ifndef TG_COLLECTION_H
#define TG_COLLECTION_H

#include "pub_tool_basics.h"

#include "pub_tool_tooliface.h"

#include "calls/call_stack.h"
#include "options/options.h"

/* Whether there are such functions. */
extern Bool tg_collection_on;

/* Counts of the whole run that are no line's, so many bytes; 0: they need not be taken back. */
typedef struct {
   void* counts;
   SizeT n_bytes;
} TgTotals;

enum { TG_MAX_TOTALS = 2 };

/* `complete`: what books all misses that are still to be booked. `totals` are taken back with the
   misses. */
void tg_collection_init(const TgOptions* options, void (*complete)(void),
                        const TgTotals totals[TG_MAX_TOTALS]);

/* Where the stack pointer is among the guest's registers. */
void tg_collection_sp(Int offset);

/* Whether the address is the first of such a function. */
Bool tg_collection_begins_at(Addr a);

/* The thread begins a block that is the first of such a function. */
void tg_collection_enter(UChar* guest_state);

/* The thread begins a block with a stack pointer above area->until. */
void tg_collection_leave(UChar* guest_state);

/* The thread runs, or has made a system call; it ends. */
void tg_collection_started(ThreadId tid);
void tg_collection_ends(ThreadId tid);

/* Leaves or takes back what has been counted since the last time: before counts are read. */
void tg_collection_settle(void);

/* All counts have been set to zero. */
void tg_collection_zero(void);

/* Whether one of the functions has been entered. */
Bool tg_collection_was_on(void);

#endif
