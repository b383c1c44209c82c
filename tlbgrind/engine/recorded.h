/* What a recording is written to: the file of --record=, or the processes of
   --jobs=. */

#ifndef TG_RECORDED_H
#define TG_RECORDED_H

#include "pub_tool_basics.h"

#include "sim/record/stream.h"

#include "options/options.h"

/* Opens it, and writes the head. Ends the run if that can not be. */
void tg_recorded_open(const TgOptions* options);

/* A move of a call stack, of the run with --calls=yes; and the end of those before a reference,
   which is added next. */
void tg_recorded_move(tlb_move move, ULong n);
void tg_recorded_end_moves(void);

/* A reference or use; a mark; a change of the page map. */
void tg_recorded_add(tlb_record r);
/* Uses of n pages with these numbers. */
void tg_recorded_add_uses(uint8_t what, const uint64_t* page, UInt n);
void tg_recorded_mark(tlb_mark mark, const HChar* text);
void tg_recorded_event(const tlb_map_event* e);

/* Adds a point where others use the core. */
void tg_recorded_point(tlb_point point, ULong first, ULong last);

/* Adds a flush. */
void tg_recorded_flush_point(const tlb_flush_point* f);

/* Adds text, behind all references. */
void tg_recorded_text(void* opaque, const HChar* text, SizeT n);

/* Closes the file. NULL: it is complete; else the reason. */
const HChar* tg_recorded_close(void);

/* Closes it with the reason why it ends before the program, and says so. */
void tg_recorded_cut(const HChar* why);

/* In a forked child, whose parent goes on with the file: goes on in one of its own, which says how
   much of the parent's stands before it. False: it has none, since its name would be the same (*why
   is NULL then) or since it can not be written; nothing more is written then. */
Bool tg_recorded_fork(const HChar** why);

#endif
