/* Touches: which part of the program's work is the first to touch each page, for
   --faults-touches=yes.

   The fault log has the first touch of each page. What would be left of the faults if the dynamic
   linker had less to do, or no locale were loaded, depends also on who touches a page after that.
   So the first touch and the first write by each part of the work (TgWork) are added to the log.

   Every reference counts, so engine/check.h calls tg_touches_segment() for every segment, before
   the fast path. That is slow, hence an option of its own. */

#ifndef TG_TOUCHES_H
#define TG_TOUCHES_H

#include "pub_tool_basics.h"

#include "sim/faults/faultmodel.h"

#include "trace/shadow_area.h"
#include "trace/superblocks.h"

/* --faults-touches=yes. Without it the functions below do nothing. */
extern Bool tg_touches_on;

void tg_touches_init(UInt page_shift);

/* Where the stack pointer is among the guest's registers. */
void tg_touches_sp(Int offset);

/* Whether the address is the first of a function of the C library that loads a locale: with
   LC_ALL=C it is not called, or returns at once. */
Bool tg_touches_locale_begins_at(Addr a);

/* The thread begins a block that is the first of such a function; or a block with a stack pointer
   above area->until (trace/shadow_area.h), where the function has been left. */
void tg_touches_enter(UChar* guest_state);
void tg_touches_leave(UChar* guest_state);

/* The thread runs, or has made a system call; it ends. */
void tg_touches_started(ThreadId tid);
void tg_touches_thread_ends(ThreadId tid);

/* Notes the touches of a segment. To be called after each execution. */
void tg_touches_segment(UChar* guest_state, const TgSegment* s);

/* The same for a segment that a signal has interrupted after `n_refs` references. */
void tg_touches_interrupted(const TgShadowArea* hot, const TgSegment* s, UInt n_refs);

/* Notes the kernel's touches during a system call of the instruction at `ip`; 0: of none. */
void tg_touches_bytes(Addr ip, Addr a, SizeT len, tlb_touch touch);

/* Forgets all: a forked child's log begins anew. */
void tg_touches_clear(void);

#endif
