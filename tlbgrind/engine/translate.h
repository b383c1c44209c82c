/* One reference of the program, as page faults and all MMUs of the run see it
   (sim/mmu/refer.h). --fast-path=no simulates every reference in every MMU. */

#ifndef TG_TRANSLATE_H
#define TG_TRANSLATE_H

#include "pub_tool_basics.h"

#include "options/options.h"
#include "trace/run_mmus.h"
#include "trace/superblocks.h"

void tg_translate_init(const TgOptions* options);

/* With --debug-check=yes: ends the run with a message if the data of the MMUs do not agree
   with each other. */
void tg_translate_check(void);

/* Simulates reference r to page p, whose number is `number`, at the time `now`,
   and books what it missed. A modify is a read here; in a run with arrays
   for stores alone it is a write to the same page, too. `on_one_page`: it does not cross to
   another. */
void tg_translate(TgRef* r, tlb_page* p, tlb_page_number number, ULong now,
                  Bool on_one_page);

/* Whether the reference is a first touch of the page for page faults, or a first write since a
   fork. */
Bool tg_translate_touches(const TgRef* r, const tlb_page* p);

/* Only the first touch of the page, for the page faults: no MMU sees the reference. */
void tg_translate_touch(const TgRef* r, tlb_page* p, tlb_page_number number);

/* The second half of the reference that was the last call of tg_translate(): it
   crosses from the page `before` to the next. */
void tg_translate_second(TgRef* r, tlb_page* p, tlb_page_number before, tlb_page_number number,
                         ULong now);

#endif
