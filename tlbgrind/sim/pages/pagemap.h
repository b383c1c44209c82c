/* The page map: which page size backs each address of the simulated process.

   The caller reports every mapping that comes, goes or changes. A *view* is one set of rules
   (--pages=) over base pages of one size; one address space can have several views.

   The first call of tlb_pagemap_backing() for a base page counts as its first touch. When the
   first base page of an aligned block of the size that the rules wish for is touched, the
   block's backing is decided: one large page if the block lies wholly inside the mapping and
   the pool of that size is not empty. The decision stays while any of the block's pages is
   there, so memory that grows later does not change it; unmapping or protecting a part of a
   large page breaks it into base pages.

   Memory that grows by itself, the heap and the first thread's stack, grows by whole pages
   where a rule gives it a fixed size, as on Solaris and with libhugetlbfs: a block counts as
   inside although the break or the stack has not come that far, as long as nothing else is
   mapped in it.

   Part of the simulator: plain C11, no libc, no Valgrind. */

#ifndef TLB_PAGEMAP_H
#define TLB_PAGEMAP_H

#include <stddef.h>
#include <stdint.h>

#include "sim/base/api.h"
#include "sim/pages/large.h"
#include "sim/pages/mappings.h"
#include "sim/pages/pagerules.h"

TLB_API_BEGIN

/* What backs one base page. */
typedef struct {
   uint8_t page_shift; /* the page has 2^this bytes */
   uint8_t block_shift; /* the largest naturally aligned block around it that lies
                           inside one mapping of one protection, up to that which
                           the view looks for and to 128 pages; at least the base
                           page. For coalescing arrays. */
} tlb_backing;

/* Called when the answer for the base pages in [start, end) may differ from
   before, if any of them has been touched, also while nothing was there. It
   may not call tlb_pagemap_backing(), nor change the map. */
typedef void tlb_view_changed(void *opaque, uint64_t start, uint64_t end);

/* Called for an address that no mapping has, such as one below the stack's end.
   Returns 1 if it has called tlb_pagemap_map() for it, else 0. */
typedef int tlb_pagemap_ask(void *opaque, uint64_t address);

/* What changes the map: a call of one of the functions below, with its arguments. */
typedef enum {
   TLB_EVENT_MAP,      /* `mapping` */
   TLB_EVENT_UNMAP,    /* [start, end), as in all but MAP, SHARE and CONSENT */
   TLB_EVENT_PROTECT,  /* `value`: prot */
   TLB_EVENT_FLAG,     /* `set`, `clear` */
   TLB_EVENT_RENAME,   /* `value`: the kind; `set` */
   TLB_EVENT_ZAP,
   TLB_EVENT_SPLIT,    /* `value`: all */
   TLB_EVENT_MOVE,     /* `to` */
   TLB_EVENT_COLLAPSE,
   TLB_EVENT_SHARE,
   TLB_EVENT_WRITTEN,  /* `start`; `value`: still_shared */
   TLB_EVENT_CONSENT,  /* `value`: a tlb_thp_consent */
   TLB_EVENT_ASK,      /* no call: the program first asks for huge pages, see tlb_mmus_ask() */
   TLB_N_EVENTS
} tlb_map_event_what;

typedef struct {
   tlb_map_event_what what;
   uint64_t start;
   uint64_t end;
   uint64_t to;
   uint32_t set;
   uint32_t clear;
   uint8_t value;
   const tlb_mapping *mapping;
} tlb_map_event;

/* Called before each change of the map. It may not change the map, nor call
   tlb_pagemap_backing(). */
typedef void tlb_pagemap_told(void *opaque, const tlb_map_event *e);

enum { TLB_N_PAGE_SHIFTS = TLB_MAX_PAGE_SHIFT + 1 };

/* Bytes by the size of the page that backs them. */
typedef struct {
   uint64_t pages[TLB_N_PAGE_SHIFTS];   /* of 2^index bytes, touched at all */
   uint64_t touched[TLB_N_PAGE_SHIFTS]; /* bytes: their touched base pages */
} tlb_page_sums;

typedef struct {
   tlb_page_sums now;
   tlb_page_sums peak;  /* when the bytes backed were at their most */
   uint64_t backed;     /* bytes: of `now` */
   uint64_t peak_backed; /* bytes: of `peak` */
   uint64_t taken[TLB_N_PAGE_SHIFTS]; /* pages, ever */
   uint64_t first_touches; /* of base pages, ever */
   uint64_t faults;        /* of these, the first of the page that backs them: with each of
                              them a page comes */
   uint64_t broken;     /* large pages broken into base pages */
   uint64_t fallbacks[TLB_N_PAGE_SHIFTS]; /* large pages that an empty pool
                                             could not give */
} tlb_view_counts;

/* The touched pages of a view and what is left in its pools; pagemap_parts.h. */
typedef struct tlb_view_pages tlb_view_pages;

typedef struct {
   tlb_page_policy policy;
   int has_numbers; /* a rule of the policy names large mappings by their number */
   unsigned base_shift;
   unsigned most_block_shift; /* of the blocks that arrays coalesce */
   tlb_view_changed *changed; /* or NULL */
   void *opaque;
   tlb_view_pages *pages;
   /* A bit for each rule: that spoke of no page touched so far; that decided for one; that
      gave one its size. */
   uint32_t unmet;
   uint32_t decided;
   uint32_t had_effect;
   tlb_view_counts counts;
} tlb_view;

typedef struct {
   tlb_mappings mappings; /* to be looked at, not to be changed */
   tlb_large large;       /* the same */
   tlb_pagemap_ask *ask;  /* or NULL */
   void *ask_opaque;
   tlb_pagemap_told *told; /* or NULL */
   void *told_opaque;
   int is_in_change; /* made by another change */
   tlb_view **view;
   unsigned n_views;
   tlb_thp_consent thp; /* of pages that are touched from now on */
} tlb_pagemap;

/* memory->take() must not return NULL here. */
void tlb_pagemap_init(tlb_pagemap *p, const tlb_memory *memory);
void tlb_pagemap_free(tlb_pagemap *p);

/* The function that is called for addresses without a mapping. */
void tlb_pagemap_ask_for(tlb_pagemap *p, tlb_pagemap_ask *ask, void *opaque);

/* The function that is called before each change. */
void tlb_pagemap_tell(tlb_pagemap *p, tlb_pagemap_told *told, void *opaque);

/* Makes the change, as the call would. */
void tlb_pagemap_apply(tlb_pagemap *p, const tlb_map_event *e);

/* Adds a view with base pages of 2^base_shift bytes; *policy is copied. Returns
   its number, from 0. */
unsigned tlb_pagemap_add_view(tlb_pagemap *p, unsigned base_shift,
                              const tlb_page_policy *policy,
                              tlb_view_changed *changed, void *opaque);

/* Lets the view look for blocks of 2^block_shift bytes, too; from the start it does so up to
   64K. For the time before the first question. */
void tlb_pagemap_look_for(tlb_pagemap *p, unsigned view, unsigned block_shift);

/* What backs the base page at `address` in the view. The first call for
   a page counts as its first touch. Where nothing is mapped: a base page. */
tlb_backing tlb_pagemap_backing(tlb_pagemap *p, unsigned view,
                                uint64_t address);

/* The size (2^n bytes) of the page that backs the address in the view, as far as it has been
   touched; else that of a base page. Touches nothing. */
unsigned tlb_pagemap_shift(const tlb_pagemap *p, unsigned view, uint64_t address);

/* What has been counted in the view so far. */
const tlb_view_counts *tlb_pagemap_counts(tlb_pagemap *p, unsigned view);

/* Why a block that could be a transparent huge page is in small pages. */
typedef enum {
   TLB_SMALL_GREW,   /* its mapping did not reach over it when it was touched first */
   TLB_SMALL_LATE,   /* it was touched before the advice */
   TLB_SMALL_CUT,    /* mprotect() or advice of a part parted its mapping for a time */
   TLB_SMALL_PURGED, /* a part was given back: MADV_DONTNEED and its like */
   TLB_SMALL_MARKED, /* MADV_FREE or MADV_COLD of a part, or MADV_PAGEOUT */
   TLB_SMALL_MOVED,  /* by mremap(), not as a whole, or by no multiple of its size */
   TLB_SMALL_FORKED, /* it was written to after a fork */
   TLB_N_SMALL_REASONS
} tlb_small_reason;

/* Counts by reason the aligned blocks that are in small pages, of memory that transparent huge
   pages could back now. The kernel's khugepaged would make huge pages of them in time. */
void tlb_pagemap_small(tlb_pagemap *p, unsigned view, uint64_t count[TLB_N_SMALL_REASONS]);

/* --- What happens to the address space: bytes [start, end) --- */

/* A new mapping, in the place of whatever was there; or more of one, if it
   differs in nothing from its neighbour (the break, the stack). */
void tlb_pagemap_map(tlb_pagemap *p, const tlb_mapping *m);

/* Removes what is mapped there, with its pages. */
void tlb_pagemap_unmap(tlb_pagemap *p, uint64_t start, uint64_t end);

/* prot: TLB_MAY_READ and so on. */
void tlb_pagemap_protect(tlb_pagemap *p, uint64_t start, uint64_t end,
                         unsigned prot);

/* Gives what is mapped in [start, end) the flags in `set` and takes those in
   `clear`; pages that are there already stay what they are. */
void tlb_pagemap_flag(tlb_pagemap *p, uint64_t start, uint64_t end,
                      unsigned set, unsigned clear);

/* What is mapped there gets another kind, and the flags in `set`. */
void tlb_pagemap_rename(tlb_pagemap *p, uint64_t start, uint64_t end,
                        tlb_kind kind, unsigned set);

/* The pages go away, the mapping stays (MADV_DONTNEED): the next question is a
   first touch. A transparent huge page of which a part goes breaks. */
void tlb_pagemap_zap(tlb_pagemap *p, uint64_t start, uint64_t end);

/* The pages stay, but are no longer treated alike: a transparent huge page of
   which only a part is in the range breaks (MADV_FREE, MADV_COLD), with `all`
   any that has a part there (MADV_PAGEOUT). */
void tlb_pagemap_split(tlb_pagemap *p, uint64_t start, uint64_t end, int all);

/* mremap(): maps [to, to + length) as [from, from + length) is, and takes the
   pages there. A large page stays one if all of it goes, and is aligned at the new
   place as it was at the old. The old mapping stays, without pages, until it is
   unmapped. */
void tlb_pagemap_move(tlb_pagemap *p, uint64_t from, uint64_t to,
                      uint64_t length);

/* What the process has set for transparent huge pages. */
void tlb_pagemap_consent(tlb_pagemap *p, tlb_thp_consent consent);

/* MADV_COLLAPSE, which has succeeded, so that something was there: every block
   in [start, end) that could be a transparent huge page becomes one. */
void tlb_pagemap_collapse(tlb_pagemap *p, uint64_t start, uint64_t end);

/* fork(): the transparent huge pages of private memory are shared with the other process from now
   on. Returns how many there are, in all views. */
uint64_t tlb_pagemap_share(tlb_pagemap *p);

/* Whether the address is in such a page, in any view. */
int tlb_pagemap_is_shared(const tlb_pagemap *p, uint64_t address);

/* The program writes there. If it is in such a page: that breaks into base pages if another process
   has it still, else it is this one's again. */
void tlb_pagemap_written(tlb_pagemap *p, uint64_t address, int still_shared);

TLB_API_END

#endif
