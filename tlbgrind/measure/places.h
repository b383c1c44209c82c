/* The places in which one page size is measured.
   Part of tlbgrind.  GPL-2.0-or-later; see COPYING. */

#ifndef TG_MEASURE_PLACES_H
#define TG_MEASURE_PLACES_H

#include "measure/memory.h"

typedef struct {
   TgPageSize size;
   TgPlace data;       /* written */
   TgPlace zeros;      /* read alone */
   TgPlace code;
   TgPlace dense;      /* for many lines in as few pages as can be: of large pages, if there are */
   TgPlace dense_code;
} TgPlaces;

/* Reserves what can be had; a place that cannot has no base. `small`: no more than some thousand
   pages of addresses, for programs that interpret mappings page by page. */
void tg_places_reserve(const TgPageSize *size, const TgPageSize *large, bool small, TgPlaces *out);
void tg_places_free(TgPlaces *places);

#endif
