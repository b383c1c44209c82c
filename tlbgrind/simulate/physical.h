/* Where pages lie in physical memory, as a file beside a trace tells: DynamoRIO's v2p.textproto.

   It has the sizes of the pages, and so which pages back which memory; and which of them lie side
   by side, for arrays whose entries cover several pages. docs/internals/formats.md has the format.
   Part of tlbgrind.  GPL-2.0-or-later; see COPYING. */

#ifndef TG_SIMULATE_PHYSICAL_H
#define TG_SIMULATE_PHYSICAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/pages/pagemap.h"

typedef struct TgPhysical TgPhysical;

/* Makes it of a text, with no page smaller than 2^base_page_shift bytes. NULL: the line, from 1, is
   wrong, and why. */
TgPhysical *tg_physical_parse(const char *text, size_t n, unsigned base_page_shift, unsigned *line,
                              char why[160]);

/* What backs the page of the address. One that the file does not have is a base page of its own. */
tlb_backing tg_physical_backing(TgPhysical *p, uint64_t address);

/* The pages it has, and those that have been asked for and that it does not have. */
size_t tg_physical_n_pages(const TgPhysical *p);
size_t tg_physical_n_missing(const TgPhysical *p);

void tg_physical_free(TgPhysical *p);

#endif
