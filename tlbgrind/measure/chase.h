/* One round of one point of a curve: the kernels that refer to pages, and their time.
   Part of tlbgrind.  GPL-2.0-or-later; see COPYING.

   Loads of base pages are a chain of pointers in memory, in random cyclic order, one line in each
   page. All others go round by arithmetic: their next page is computed, and added to it is what was
   loaded, which is always 0. That needs neither memory nor a translation of its own.

   Loads of large pages read the one large page of zeros that the kernel maps everywhere, each page
   a line of its own of it, so that 10,000 large pages take 2M.

   A store is followed by a full barrier, which waits until it is done and its translation with it.
   Nothing else waits for a store: without the barrier misses would overlap and not be seen.

   PIECES are a chain of pointers in large pages that were written to: those of zeros are one page,
   which a hypervisor may keep otherwise.

   TABLES read the same one line of the page of zeros through each page, so nothing but the tables
   takes room in the caches. The pages are so far apart (stride_shift) that each has a line of the
   last-level tables for itself: pages << stride_shift entries of tables, and pages lines of them,
   are in use. The points with few pages say what such a reference costs without a walk. */

#ifndef TG_MEASURE_CHASE_H
#define TG_MEASURE_CHASE_H

#include <stdint.h>

#include "measure/curve.h"
#include "measure/places.h"

/* log2 of the bytes of a cache line. */
unsigned tg_line_shift(void);

/* How many pages the curve can have in these places; 0: none. */
uint64_t tg_probe_most(const TgCurve *curve, TgPlaces *places);

/* Touches what the curve needs up to so many pages, before its first round. Returns how many pages
   it can go round. */
uint64_t tg_probe_prepare(const TgCurve *curve, TgPlaces *places, uint64_t pages);

/* One round: core cycles per reference. Negative: it was disturbed, or cannot be done. */
double tg_probe_round(const TgCurve *curve, TgPlaces *places, uint64_t pages);

/* Whether the processor translates these large pages as a whole: a hypervisor with smaller pages
   leaves translations of those. 16 of them are read in 256 places, more than a first level has
   entries, and beside it as many lines of one page. Before anything is stored to `data`. Returns 1
   if they cost the same, 0 if not, -1 if it cannot be told. */
int tg_probe_whole(TgPlaces *places);

/* How long a piece of code takes at its first execution, in ticks per piece, and later: a processor
   takes some ten cycles, a program that translates instructions some thousand. Returns false
   if no code can be made. */
typedef struct {
   double first, later;
} TgFirstExecution;
int tg_probe_first_execution(const TgPlaces *places, TgFirstExecution *out);

#endif
