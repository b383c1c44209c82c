/* MMUs: the TLBs and page walkers of several machines, which all see one stream of
   references.

   All counts are exact: the same as if each machine were simulated alone, reference by
   reference. But what machines have in common is simulated once, and a reference to a
   page that hits in every first level costs next to nothing: it only notes the time at
   the page (known_hits.h).

   What backs a page is asked of a page map (sim/pages/pagemap.h), or of a function; that
   changes by calls of the map, or is told with tlb_mmus_changed(). TLB entries stay where
   they are when a mapping goes, unless the machine has a policy for flushes and the caller
   calls tlb_mmus_flush().

   One tlb_mmus is one address space, of one core at a time. A process can have many, one after
   the other or side by side, each in one thread at a time.

   Part of the simulator: plain C11, no libc, no Valgrind. */

#ifndef TLB_MMU_H
#define TLB_MMU_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/base/api.h"
#include "sim/base/memory.h"
#include "sim/machine/machine.h"
#include "sim/pages/pagemap.h"
#include "sim/tlb/hierarchy.h"

TLB_API_BEGIN

typedef struct tlb_mmus tlb_mmus;

enum { TLB_MAX_MMUS = 62, TLB_MAX_VIEWS = TLB_MAX_MMUS };

/* What a miss costs, by machine and kind of reference (tlb_user). */
typedef enum {
   TLB_COST_MISS_1, /* misses of the first level, and of those behind it */
   TLB_COST_MISS_2,
   TLB_COST_MISS_3,
   TLB_COST_WALKS,  /* page walks: misses of the last level, whichever it is */
   TLB_COST_WALK_REFERENCES, /* of these walks to page tables */
   TLB_COST_CYCLES, /* beyond hits in the first level, as far as they are known */
   TLB_N_COSTS
} tlb_cost;

/* What the kernel does for pages whose entries in its tables have changed. */
typedef enum {
   TLB_FLUSH_NONE,    /* nothing is simulated */
   TLB_FLUSH_CEILING, /* up to n pages one by one, else everything: Linux since 3.17 */
   TLB_FLUSH_SHIFT,   /* up to as many pages as the last level has entries for base pages,
                         divided by 2^n, one by one: Linux 3.6 to 3.16 */
   TLB_FLUSH_ALL      /* everything */
} tlb_flush_how;

typedef struct {
   tlb_flush_how how;
   uint32_t n;
} tlb_flush_policy;

/* What flushes are counted as, for each machine. A translation that is in several levels counts
   once. */
typedef enum {
   TLB_FLUSHES_OF_ALL,   /* flushes of everything */
   TLB_FLUSHES_OF_PAGES, /* pages that were flushed one by one */
   TLB_FLUSHED_WITHIN,   /* translations of the pages in question that were there */
   TLB_FLUSHED_OUTSIDE,  /* other translations that a flush of everything has thrown away */
   TLB_FLUSHED_AGAIN,    /* of these, walked for again */
   TLB_FLUSHES_REMOTE,   /* flushes for which other cores had to be asked to flush, too; their
                            translations are counted with the others */
   TLB_N_FLUSH_COSTS
} tlb_flush_cost;

/* What a data prefetch does in a machine. */
typedef enum {
   TLB_PREFETCH_IGNORE,
   TLB_PREFETCH_WEAK,  /* dropped if no level has the translation, else what a load does */
   TLB_PREFETCH_STRONG /* what a load does: it walks, and fills what it has missed */
} tlb_prefetch_policy;

/* What prefetches are counted as, for each machine. None of it is in the costs of loads. */
typedef enum {
   TLB_PREFETCHES,
   TLB_PREFETCH_MISSES,        /* misses of the first level */
   TLB_PREFETCH_WALKS,
   TLB_PREFETCH_WALKS_IN_VAIN, /* of these: the page is not present, and nothing is filled */
   TLB_PREFETCHES_DROPPED,
   TLB_N_PREFETCH_COSTS
} tlb_prefetch_cost;

/* One machine of a run. */
typedef struct {
   const tlb_machine *machine; /* has passed tlb_machine_check() and tlb_machine_holds(), and
                                  must stay */
   const tlb_page_policy *pages; /* which pages back which memory, for the map; NULL: base
                                    pages, and what mappings ask for. Must stay */
   unsigned view; /* without a map: which answer of `backing` is meant, below TLB_MAX_VIEWS */
   bool asks;     /* what backs each page has to be asked; else all are base pages until
                     tlb_mmus_ask() is called. tlb_mmus_asks() says what is needed */
   tlb_flush_policy flush;
   bool shared; /* others use its TLBs, too: see tlb_mmus_empty() */
   tlb_prefetch_policy prefetch;
} tlb_mmu_machine;

/* What backs the base page at `address`, asked once until tlb_mmus_changed() says that it
   may have changed. */
typedef tlb_backing tlb_mmus_backing(void *opaque, unsigned view, uint64_t address);

typedef struct {
   unsigned n; /* machines: 1 to TLB_MAX_MMUS */
   const tlb_mmu_machine *machine;
   unsigned page_shift; /* the run's base page has 2^this bytes; no machine has a smaller one */
   bool nested;         /* page walks are a guest's, see sim/tlb/walk.h */
   bool exhaustive;     /* each reference is looked up in each machine: slow, with the same
                           counts */
   unsigned address_bits; /* what stands above these bits of an address names one of several
                             address spaces: see below; 0: there is one */
   unsigned siblings;   /* hardware threads of each core: see tlb_mmus_core(); 0 or 1: one */
   bool apart;          /* loads and stores are told apart, though no machine does */
   bool idle;           /* no machine sees any reference, flush or prefetch: there is room for its
                           counts, and others simulate it */
   tlb_memory memory;   /* which must never be out of memory: take() does not return NULL */
   tlb_pagemap *map;    /* must stay; gets a view for each set of rules. NULL: see below */
   tlb_mmus_backing *backing; /* without a map; NULL: nothing is ever asked */
   void *opaque;        /* given to it */
} tlb_mmus_options;

/* Whether a machine has to ask what backs its pages from the start: by its rules, or as
   its entries can cover several base pages (coalescing). */
bool tlb_mmus_asks(const tlb_machine *machine, const tlb_page_policy *pages);

/* Whether two machines have one view of what backs which page: the same rules over base
   pages of one size, and both ask from the start or neither does, for one that begins later
   has seen no first touch before. A prefetch can be the first touch, for those that heed it. */
bool tlb_mmus_share_view(const tlb_mmu_machine *a, const tlb_mmu_machine *b);

/* Makes the MMUs of these machines, with empty TLBs. The options are copied. */
tlb_mmus *tlb_mmus_new(const tlb_mmus_options *options);

/* Gives all memory back. A page map must still be there: it keeps its views, which no MMU
   listens to any more. */
void tlb_mmus_free(tlb_mmus *all);

/* --- References --- */

/* One reference of that kind to `size` bytes at `address`, which is later than all before
   it. `size` is at least 1 and no more than a page: what crosses to the next page is two
   translations, the lower first. */
void tlb_mmus_refer(tlb_mmus *all, tlb_user user, uint64_t address, unsigned size);

/* The same to one page, given by its number (address divided by 2^page_shift), with counts
   and a time of the caller's own. `counts` has room for tlb_mmus_n_counts() numbers for
   references of this kind, at first 0. `now` is at least 2 more than that of any call
   before, and below 2^56. */
void tlb_mmus_refer_page(tlb_mmus *all, uint64_t *counts, tlb_user user, uint64_t page,
                         uint64_t now);

/* --- Prefetches --- */

/* A prefetch of data at `address`, later than all references before it. With machines that do not
   ignore it, nothing is shared, so that many take longer; and if others do, each reference is
   looked up in each machine. `present`: the page tables map the page. Else no TLB can have it, and
   none is filled. */
void tlb_mmus_prefetch(tlb_mmus *all, uint64_t address, bool present);

/* The same of a page, with counts and a time of the caller's own, as tlb_mmus_refer_page(); the
   counts are those for loads. */
void tlb_mmus_prefetch_page(tlb_mmus *all, uint64_t *counts, uint64_t page, uint64_t now,
                            bool present);

/* --- Page sizes --- */

/* Without a map: what backs the pages in [start, end) in the view may differ from what it
   was. */
void tlb_mmus_changed(tlb_mmus *all, unsigned view, uint64_t start, uint64_t end);

/* From now on what backs each page is asked for all machines: to be called when the
   program first asks for huge pages, before the mapping changes. */
void tlb_mmus_ask(tlb_mmus *all);

/* --- Flushes --- */

/* The kernel has changed its page-table entries of [start, end), or, if both are 0, of all pages,
   and flushes the TLBs of machines that have a policy. `bytes`: how long the range is that the
   kernel takes for it, where that is longer, because page tables are freed, too; with `start` and
   `end` equal, nothing else is. With machines that have a policy nothing is shared, so that many
   take longer. `counts`: where it is counted, as for references that load, until the translations
   that are lost come back; NULL: by tlb_mmus_flushes(). Of a core's hardware threads a translation
   counts once if an array has it that they share, else for each whose own arrays have it. */
void tlb_mmus_flush(tlb_mmus *all, uint64_t *counts, uint64_t start, uint64_t end,
                    uint64_t bytes);

/* --- Cores --- */

/* From now on references, and what else happens, are those of core number `core`, which has TLBs of
   its own, empty at first; it begins with 0. Before the first other one all counts must have been
   settled, as before tlb_mmus_ask(). */
void tlb_mmus_core(tlb_mmus *all, unsigned core);

/* With `siblings`, each number is that of a hardware thread: of so many from a multiple of it on,
   each has the arrays that tlb_siblings_have_own() says for itself, and shares the others and the
   caches of the walk. Not with flushes, nor others; tlb_mmus_core_ends() does nothing. */

/* The core is not used any more, unless it is at hand; if it is used again, its TLBs are empty. */
void tlb_mmus_core_ends(tlb_mmus *all, unsigned core);

/* --- Address spaces --- */

/* With `address_bits`, programs that take turns on a core, such as copies of one, each refer to
   addresses with a number of their own above these bits. The page map, `backing` and
   tlb_mmus_changed() have addresses without it, and what they say is the same for all. Sets are
   chosen by the whole number of a page: numbers that are multiples of tlb_space_distance()
   (sim/machine/spaces.h) choose the same sets for all. Not with flushes, cores nor others. */

/* --- Others on the core --- */

/* What the kernel and other processes do between the program's references, to machines that are
   `shared`: bit i of `mmus` is machine i. Nothing of it is counted. `now`: as with
   tlb_mmus_refer_page(); 0: with tlb_mmus_refer(). */

/* All translations go, and what page walks have cached. */
void tlb_mmus_empty(tlb_mmus *all, uint64_t mmus);

/* They refer to base page number `nth` of their own, below 2^32. */
void tlb_mmus_refer_others(tlb_mmus *all, uint64_t mmus, tlb_user user, uint64_t nth,
                           uint64_t now);

/* The kernel refers to a page of the program's. */
void tlb_mmus_refer_uncounted(tlb_mmus *all, uint64_t mmus, tlb_user user, uint64_t page,
                              uint64_t now);

/* --- Counts --- */

/* What tlb_mmus_flush() has counted for a machine without counts of the caller's. */
void tlb_mmus_flushes(const tlb_mmus *all, unsigned machine, uint64_t cost[TLB_N_FLUSH_COSTS]);

/* What tlb_mmus_prefetch() has counted for a machine. */
void tlb_mmus_prefetches(const tlb_mmus *all, unsigned machine,
                         uint64_t cost[TLB_N_PREFETCH_COSTS]);

/* What tlb_mmus_refer() has counted for a machine (by its number in the options, from 0)
   and a kind of reference. */
void tlb_mmus_counts(tlb_mmus *all, unsigned machine, tlb_user user,
                     uint64_t cost[TLB_N_COSTS]);

/* For counts of the caller's own: how many numbers they are. Machines that miss together
   are counted together: so counts have to be settled before they are read, and all of them
   before tlb_mmus_ask(). Costs of machine number i then begin at tlb_mmus_cost_of(i). */
size_t tlb_mmus_n_counts(const tlb_mmus *all);
void tlb_mmus_settle(const tlb_mmus *all, tlb_user user, uint64_t *counts);
size_t tlb_mmus_cost_of(const tlb_mmus *all, unsigned machine);

/* Where the costs of flushes begin for a machine among the counts for loads; only where some
   machine has a policy. */
size_t tlb_mmus_flushes_at(const tlb_mmus *all, unsigned machine);

/* The same of prefetches; only where some machine does not ignore them. */
size_t tlb_mmus_prefetches_at(const tlb_mmus *all, unsigned machine);

/* --- Checking --- */

/* Whether all data agree with each other, for tests and debugging: NULL, or what is wrong.
   Takes as long as there are entries and pages. Between two references. */
const char *tlb_mmus_check(tlb_mmus *all);

TLB_API_END

#endif
