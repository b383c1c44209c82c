/* Page use: which bytes of each page the program referenced, for --faults-used=yes.

   A page that is mapped for a few bytes costs as much as one that is used whole. Each page that a
   fault has mapped, directly or by fault-around, has a bit for each byte, until it is unmapped:
   memory that is unmapped and mapped again is a new page. mremap() moves a page with its bits.

   Every reference counts, so engine/check.h calls tg_page_use_segment() for every segment,
   before the fast path. That is slow, hence an option of its own. */

#ifndef TG_PAGE_USE_H
#define TG_PAGE_USE_H

#include "pub_tool_basics.h"

#include "pub_tool_xarray.h"

#include "sim/faults/faultmodel.h"

#include "trace/superblocks.h"
#include "trace/shadow_area.h"

/* How a page became present in a view. A page with a fault of its own has the letter of the
   fault's kind instead (faults/kinds.h, docs/internals/formats.md). */
#define TG_PAGE_USE_NOT_THERE '-'
#define TG_PAGE_USE_BROUGHT '+' /* mapped by the fault of another page */
#define TG_PAGE_USE_PRESENT 'p' /* populated, locked, inherited by a fork */

/* --faults-used=yes. Without it the functions below do nothing. */
extern Bool tg_page_use_on;

void tg_page_use_init(UInt page_shift, Bool lists_hidden);

/* --- References --- */

/* Sets the bits of the segment's references; `hot` has the bases of its addresses. To be called
   after each execution, before s->entered is incremented. */
void tg_page_use_segment(const TgShadowArea* hot, const TgSegment* s);

/* The same for a segment that a signal has interrupted after `n_refs` references and `n_instrs`
   instructions. The last reference need not have been made. */
void tg_page_use_interrupted(const TgShadowArea* hot, const TgSegment* s, UInt n_refs,
                       UInt n_instrs);

/* Sets the bits of bytes that the kernel reads or writes during a system call. */
void tg_page_use_bytes(Addr a, SizeT len);

/* --- Faults, forks --- */

/* Adds the pages of a fault at `a`, whose native address is `native`. */
void tg_page_use_fault(Addr a, ULong native, const tlb_fault in[TLB_N_VIEWS]);

/* Removes all pages: a forked child counts from zero. */
void tg_page_use_clear(void);

/* --- Results --- */

/* Adjacent pages of one map with the same kinds and number of used bytes. */
typedef struct {
   UInt map;     /* number in native/maps.h */
   Addr page;
   ULong count;
   UInt bytes;   /* used, of each */
   HChar kinds[TLB_N_VIEWS + 1];
   ULong order;  /* by time of unmapping: one address can be mapped several times */
} TgPageUseRange;

/* All pages so far, sorted by map and address: an XArray of TgPageUseRange, to be deleted
   by the caller. */
XArray* tg_page_use_ranges(void);

#endif
