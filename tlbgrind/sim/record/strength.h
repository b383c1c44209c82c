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
     reference to another page points one more node of the way to an older one at it. No more than
     TLB_MOST_ORDERED are counted on: of more, their order may be recorded late (late_uses.h).
   - FIFO, random, NRU and others keep the page that was referenced last, and to refer to it once
     more changes nothing.

   A recording can be for large pages, too, without a word about which memory has them: that is said
   when it is simulated. Then a reference is left out if it also hits in filters of large pages,
   each of which takes all memory for pages of one size.
   - An array whose entries are all of one size sees, of the references to pages of that size in
     such a filter, some: those that the filter holds are no more of its pages than it has ways.
   - An array with entries of several sizes has a filter of base pages with one set: fewer base
     pages than the array has ways are no more entries, of whichever sizes.
   - What backs a page is decided when it is referenced first, and that hits in no filter. It is
     asked anew where mappings change: there the filters have forgotten the page
     (engine/recording.c). In between, what a large page of the filter covers is one page of that
     size, or holds none.
   - A machine whose base pages are larger than the recording's has these everywhere: they are large
     pages to it.

   Other machines need more:
   - An array whose entries cover several pages (coalescing) is one with entries of several sizes.
     The blocks are no larger than the largest of the recording's pages, as far as which a change of
     a mapping is felt.
   - An array can be asked first by some references, and by others behind an array of theirs. What
     is left out of the others hits in front of it, and changes nothing in it. Those that are
     recorded may refer to it or not. So in its filter each such reference to a page counts as one
     to another page than what the first refer to, and never helps it to stay.
   - An inclusive level drops what it evicts from the levels in front of it, and it evicts only for
     references that are recorded. A page is certain to be in front of it still if no other page
     has been recorded since its last reference, or, where the level has base pages alone, none of
     its set there. A step of a walk that is kept there can be in any set.
   - Where code and data share an array, a page is two to its filter. Which of them was used last
     is to be known at each instruction: the run simulates all references for that.
   - Prefetches of the program can do what loads do, or nothing, in one machine and in another. In
     a recording that tells of them each is told of, and takes a place of its own in each filter
     that loads refer to, as if it were such a reference that counts as one to another page: it can
     drive out what is there, and never helps its page to stay.
   - Where an array has pages of some size for some of its users only, or stands beside one of other
     users, the page that was referenced last by any is certain to be where it was.

   Part of the simulator: plain C11, no libc, no Valgrind. */

#ifndef TLB_STRENGTH_H
#define TLB_STRENGTH_H

#include <stddef.h>
#include <stdint.h>

#include "sim/machine/machine.h"
#include "sim/pages/pagerules.h"
#include "sim/tlb/hierarchy.h"

enum {
   TLB_MAX_FILTERS = 48,
   TLB_MAX_FILTER_WAYS = 64,
   TLB_MAX_FILTER_SETS = 256,
   TLB_MOST_ORDERED = 8, /* ways of a filter for a tree */
   TLB_MAX_RECORD_SIZES = 15 /* of large pages */
};

/* The number, as a user behind, of prefetches of the program; and its bit. */
enum { TLB_PREFETCHER = TLB_N_USERS, TLB_PREFETCHERS = 1 << TLB_PREFETCHER };

/* One filter: pages that the users (TLB_FETCHES and so on) have referenced. */
typedef struct {
   uint32_t users;
   uint32_t behind; /* users, TLB_PREFETCHERS among them, whose recorded references take places
                       from these; 0: none */
   uint32_t sets; /* a page's is its number modulo these */
   uint32_t ways;
   unsigned shift; /* of its pages; 0: base pages */
} tlb_filter;

/* Which of so many sets a page of that number is in. Most filters have a power of two of them, and
   need no division. */
static inline uint32_t tlb_filter_set(uint64_t number, uint32_t sets)
{
   return (uint32_t)((sets & (sets - 1)) == 0 ? number & (sets - 1) : number % sets);
}

typedef struct {
   unsigned base_page_shift; /* 0: of no machine yet */
   uint64_t large; /* bit n: pages of 2^n bytes are told of; to be set before the first machine */
   uint64_t not_for_all; /* of these, such as only machines with larger base pages have */
   unsigned n;
   tlb_filter filter[TLB_MAX_FILTERS];
} tlb_strength;

/* Makes the strength that of this machine, too. Returns 1; or 0 with the reason, for the machine
   can not be simulated from such a recording, or not together with those before it. */
int tlb_strength_add(tlb_strength *s, const tlb_machine *m, tlb_reason *why);

/* Makes it that of the reach curve (sim/tlb/reach.h), too; whether it is. */
int tlb_strength_add_reach(tlb_strength *s, tlb_reason *why);
int tlb_strength_covers_reach(const tlb_strength *s);

/* To be called behind the last machine: gives each kind of reference a filter of base pages, by
   which they are left out, if machines have given it filters of larger ones alone. */
void tlb_strength_complete(tlb_strength *s);

/* To be called behind that: the recording tells of prefetches. */
void tlb_strength_add_prefetches(tlb_strength *s);

/* Whether it tells of prefetches: all filters that loads refer to are made for them. */
int tlb_strength_has_prefetches(const tlb_strength *s);

/* Whether a machine can be simulated from a recording, and if not, which one would do. */
typedef enum {
   TLB_COVERED,
   TLB_COVERED_BY_NONE,
   TLB_COVERED_BY_MACHINES, /* one that is for the machine */
   TLB_COVERED_BY_PAGES     /* one that is for these large pages, too: bits of `missing` */
} tlb_covered;

/* Whether the machine can be simulated from a recording of that strength, with its base pages and
   large pages of these sizes; if not, with the reason. */
tlb_covered tlb_strength_covers(const tlb_strength *s, const tlb_machine *m, uint64_t large,
                                uint64_t *missing, tlb_reason *why);

/* Whether filters of one set, with no fewer than so many ways, cover what the machine needs for
   base pages of these users. */
int tlb_strength_has_in_one_set(const tlb_strength *s, const tlb_machine *m, uint32_t users,
                                uint32_t ways);

/* The pages that a recording has to tell of for that machine, however its policy is: its own base
   pages, and its largest block. */
uint64_t tlb_strength_own_sizes(const tlb_strength *s, const tlb_machine *m);

/* The pages of 2^n bytes, of base pages or larger, that a policy gives memory: a bit for each n.
   What the program asks for itself is not among them. */
uint64_t tlb_policy_sizes(const tlb_page_policy *policy, unsigned base_page_shift);

/* Reads large pages "2M,1G", or "none", which are no smaller than the base page. Returns 1, or 0
   with the reason. */
int tlb_record_sizes_parse(const char *text, unsigned base_page_shift, uint64_t *out,
                           tlb_reason *why);

/* Whether loads and stores are told apart: some filter is of one of them alone. */
int tlb_strength_tells_apart(const tlb_strength *s);

/* Whether code and data have a filter in common. Then the order of their uses is one order. */
int tlb_strength_is_joint(const tlb_strength *s);

/* Whether data can take places from code. Then, and where their order is one, it matters at each
   instruction: the run has to simulate all references. */
int tlb_strength_needs_each(const tlb_strength *s);

/* Whether some references take places from others in a filter, and whether fetches do so from
   data. */
int tlb_strength_has_behind(const tlb_strength *s);
int tlb_strength_has_code_behind(const tlb_strength *s);

/* In how many sets the order of base pages is told: of fetches, or of loads and stores. */
uint32_t tlb_strength_sets(const tlb_strength *s, int of_fetches);

/* Whether some filter is such as version 2 of the format does not have, or there are more sizes. */
int tlb_strength_is_new(const tlb_strength *s);

/* Writes a filter as "RW 16 4": its users, sets and ways, and, of large pages, " 21": their size.
   "W/R 64 4": those behind slash take places, P are prefetches. Longer text is cut. */
void tlb_filter_print(const tlb_filter *f, char *out, size_t size);

/* Reads that from a text of n bytes. Returns 1; or 0, for no filter is written so. */
int tlb_filter_parse(const char *text, size_t n, tlb_filter *out);

#endif
