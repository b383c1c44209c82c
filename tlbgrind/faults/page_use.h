/* Page use: which bytes of each page the program referenced, for --faults-used=yes.

   A page that is mapped for a few bytes costs as much as one that is used
   whole. A bit is kept for each byte of each page that was faulted in, or came along with one, for
   as long as the mapping lives: memory that is unmapped and mapped again is a new page. A page that
   mremap() moves stays what it is.

   All references have to be seen, so the check (engine/check.h) calls this for each
   segment, before it does anything else: only --faults-used=yes asks for it. */

#ifndef TG_PAGE_USE_H
#define TG_PAGE_USE_H

#include "pub_tool_basics.h"

#include "pub_tool_xarray.h"

#include "sim/faults/faultmodel.h"

#include "trace/superblocks.h"
#include "trace/shadow_area.h"

/* How a page came to be there in a view, if not by a fault, whose letter it is
   then (docs/fault-log.md). */
#define TG_PAGE_USE_NOT_THERE '-'
#define TG_PAGE_USE_BROUGHT '+'
#define TG_PAGE_USE_PRESENT 'p' /* populated, locked, inherited by a fork */

/* --faults-used=yes. Without it the functions below do nothing. */
extern Bool tg_page_use_on;

void tg_page_use_init(UInt page_shift, Bool lists_hidden);

/* --- References --- */

/* The segment has been run, with the bases that it left; it has not been
   counted yet. */
void tg_page_use_segment(const TgShadowArea* hot, const TgSegment* s);

/* A fault has cut it short, behind so many references and instructions. The
   last reference need not have been made. */
void tg_page_use_interrupted(const TgShadowArea* hot, const TgSegment* s, UInt n_refs,
                       UInt n_instrs);

/* The kernel reads or writes them for the program. */
void tg_page_use_bytes(Addr a, SizeT len);

/* --- Pages that come and go --- */

/* The touch of the byte at `a`, which lies at `native`, was a fault. */
void tg_page_use_fault(Addr a, ULong native, const tlb_fault in[TLB_N_VIEWS]);

/* Forgets all: the life of a forked child begins. */
void tg_page_use_clear(void);

/* --- What it comes to --- */

/* A range of pages that are all alike. */
typedef struct {
   UInt map;     /* number in native/maps.h */
   Addr page;
   ULong count;
   UInt bytes;   /* used, of each */
   HChar kinds[TLB_N_VIEWS + 1];
   ULong order;  /* of lives: the same page may come again */
} TgPageUseRange;

/* All pages so far, by map and address: an XArray of TgPageUseRange, to be deleted
   by the caller. */
XArray* tg_page_use_ranges(void);

#endif
