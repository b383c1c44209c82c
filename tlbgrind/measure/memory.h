/* Memory to measure in: which page sizes can be had, and places with pages of them.
   Part of tlbgrind.  GPL-2.0-or-later; see COPYING. */

#ifndef TG_MEASURE_MEMORY_H
#define TG_MEASURE_MEMORY_H

#include <stdbool.h>
#include <stdint.h>

/* Where pages of a size come from. */
typedef enum {
   TG_BASE_PAGES,
   TG_TRANSPARENT, /* madvise(MADV_HUGEPAGE) */
   TG_POOL         /* hugetlbfs */
} TgPagesFrom;

typedef struct {
   unsigned shift;
   TgPagesFrom from;
   bool zero_page;   /* reading alone maps one page of zeros everywhere, and takes no memory */
   uint64_t most;    /* so many can be written to, within the budget */
} TgPageSize;

enum { TG_MOST_PAGE_SIZES = 8 };

/* What a place is for. */
typedef enum {
   TG_TO_WRITE,
   TG_TO_READ, /* all of it is the page of zeros */
   TG_TO_EXECUTE
} TgPlaceUse;

typedef struct {
   char *base;        /* NULL: there is none */
   unsigned shift;    /* of its pages */
   uint64_t span;     /* in pages: how far the addresses go */
   uint64_t checked;  /* so many from the base on are known to be of this size */
   TgPlaceUse use;
   TgPagesFrom from;
} TgPlace;

/* Bytes that may be used: a quarter of what is available, of the machine and of a control group. */
uint64_t tg_memory_budget(void);

/* The page sizes that can be had, rising. */
unsigned tg_page_sizes(uint64_t budget, TgPageSize out[TG_MOST_PAGE_SIZES]);

/* Reserves addresses for up to `span` pages, or for half as many, a quarter ... but at least
   `least`. Without memory, which comes at the first touch. Returns false if there are none. */
bool tg_place_reserve(const TgPageSize *size, TgPlaceUse use, uint64_t span, uint64_t least,
                      TgPlace *out);

/* Touches n pages, `stride` pages apart, in a random order, so that neighbours get frames that are
   no neighbours: some processors keep neighbours that lie together as one translation. Returns how
   many from the base on are pages of the place's size. */
uint64_t tg_place_touch(TgPlace *place, uint64_t n, uint64_t stride);

/* Gives the memory back, and the addresses. */
void tg_place_free(TgPlace *place);

#endif
