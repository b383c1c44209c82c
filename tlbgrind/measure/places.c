/* The places in which one page size is measured. See measure/places.h.
   Part of tlbgrind.  GPL-2.0-or-later; see COPYING. */

#include <string.h>

#include "measure/places.h"

/* Bytes of lines that are packed densely, of code and of data. */
static const uint64_t dense_bytes = (uint64_t)16 << 20, most_dense_page = (uint64_t)32 << 20;

/* So far go the addresses: of base pages 2,048 pages 1,024 apart, of lines of tables two
   millions. */
static const uint64_t data_span = (uint64_t)2 << 20, table_span = (uint64_t)16 << 20;
static const uint64_t code_bytes = (uint64_t)2 << 30;
static const uint64_t small_span = 4096;

static uint64_t at_most(uint64_t n, uint64_t most)
{
   return n < most ? n : most;
}

void tg_places_reserve(const TgPageSize *size, const TgPageSize *large, bool small, TgPlaces *out)
{
   memset(out, 0, sizeof *out);
   out->size = *size;
   if (small)
      out->size.most = at_most(size->most, small_span);
   /* Nothing but base pages can be spread out: of others each takes memory. */
   uint64_t span = size->from == TG_BASE_PAGES ? data_span : size->most;
   uint64_t code = at_most(code_bytes >> size->shift, span);
   uint64_t tables = table_span;
   if (small) {
      span = at_most(span, small_span);
      code = at_most(code, small_span);
      tables = size->from == TG_BASE_PAGES ? small_span : 0;
   }
   tg_place_reserve(size, TG_TO_WRITE, span, 16, &out->data);
   tg_place_reserve(size, TG_TO_EXECUTE, code, 16, &out->code);
   if (size->zero_page)
      tg_place_reserve(size, TG_TO_READ, tables, 64, &out->zeros);
   const TgPageSize *const packed = large != NULL && (uint64_t)1 << large->shift <= most_dense_page
                                       ? large
                                       : size;
   const uint64_t pages = ((dense_bytes - 1) >> packed->shift) + 1;
   tg_place_reserve(packed, TG_TO_WRITE, pages, 1, &out->dense);
   tg_place_reserve(packed, TG_TO_EXECUTE, pages, 1, &out->dense_code);
}

void tg_places_free(TgPlaces *places)
{
   tg_place_free(&places->data);
   tg_place_free(&places->zeros);
   tg_place_free(&places->code);
   tg_place_free(&places->dense);
   tg_place_free(&places->dense_code);
}
