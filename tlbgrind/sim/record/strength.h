/* The strength of a recording: which references it leaves out, and so which machines can be
   simulated from it.

   A reference is left out if it hits in some small arrays, the filters, each of which holds the
   pages that were referenced last: of each of its sets so many. What hits there hits in each
   first-level array that the filter covers, and changes nothing but when its page was referenced
   last:
   - LRU keeps at least as many pages of a set as it has ways. So does it of any set of a filter
     whose sets are unions of its own: where the filter has `sets` of them, and the array a multiple
     of that, each chosen by the page's number modulo the sets; or where the filter has one.
   - A tree (PLRU) keeps the page that was referenced last, and log2(ways) before that: each
     reference to another page points one more node of the way to an older one at it.
   - FIFO, random, NRU and others keep the page that was referenced last, and to refer to it once
     more changes nothing.

   Part of the simulator: plain C11, no libc, no Valgrind. */

#ifndef TLB_STRENGTH_H
#define TLB_STRENGTH_H

#include <stddef.h>
#include <stdint.h>

#include "sim/machine/machine.h"

enum {
   TLB_MAX_FILTERS = 24,
   TLB_MAX_FILTER_WAYS = 64,
   TLB_MAX_FILTER_SETS = 256
};

/* One filter: pages that the users (TLB_FETCHES and so on) have referenced. */
typedef struct {
   uint32_t users;
   uint32_t sets; /* a page's is its number modulo these */
   uint32_t ways;
} tlb_filter;

typedef struct {
   unsigned base_page_shift; /* 0: of no machine yet */
   unsigned n;
   tlb_filter filter[TLB_MAX_FILTERS];
} tlb_strength;

/* Makes the strength that of this machine, too. Returns 1; or 0 with the reason, for the machine
   can not be simulated from a recording, or not together with those before it. */
int tlb_strength_add(tlb_strength *s, const tlb_machine *m, tlb_reason *why);

/* Whether the machine can be simulated from a recording of that strength. Returns 1, or 0 with
   the reason; then *by_strength says whether a stronger recording would do. */
int tlb_strength_covers(const tlb_strength *s, const tlb_machine *m, int *by_strength,
                        tlb_reason *why);

/* Whether loads and stores are told apart: some filter is of one of them alone. */
int tlb_strength_tells_apart(const tlb_strength *s);

/* Writes a filter as "IRW 16 4": its users, sets and ways. Longer text is cut. */
void tlb_filter_print(const tlb_filter *f, char *out, size_t size);

/* Reads that from a text of n bytes. Returns 1; or 0, for no filter is written so. */
int tlb_filter_parse(const char *text, size_t n, tlb_filter *out);

#endif
