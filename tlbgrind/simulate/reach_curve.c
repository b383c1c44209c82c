/* The reach curve of a recording. See simulate/reach_curve.h.
   Part of tlbgrind.  GPL-2.0-or-later; see COPYING.

   A reference that the recording has left out is to one of the pages of its side that were used
   last, no more than the smallest array has. It hits in all arrays, and uses tell the order. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command/load_machine.h"
#include "sim/base/text.h"
#include "sim/tlb/hierarchy.h"
#include "sim/tlb/reach.h"
#include "simulate/out_file.h"
#include "simulate/reach_curve.h"

enum { CODE, DATA, N_SIDES, MOST_CURVES = N_SIDES * TLB_REACH_CURVES };

struct TgReachCurve {
   unsigned page_shift;
   uint64_t now;
   tlb_reach side[N_SIDES];
};

TgReachCurve *tg_reach_curve_new(unsigned page_shift)
{
   TgReachCurve *const r = tg_load_need(malloc(sizeof *r));
   r->page_shift = page_shift;
   r->now = 0;
   for (unsigned i = 0; i < N_SIDES; i++)
      tlb_reach_init(&r->side[i], tg_load_memory, NULL, NULL);
   return r;
}

void tg_reach_curve_records(TgReachCurve *r, const tlb_record *record, unsigned n)
{
   const unsigned shift = r->page_shift - TLB_REACH_PAGE_SHIFT;
   for (unsigned i = 0; i < n; i++) {
      if ((record[i].what & TLB_RECORD_USER) == TLB_RECORD_PREFETCH)
         continue;
      const unsigned side = (record[i].what & TLB_RECORD_USER) == TLB_FETCH ? CODE : DATA;
      tlb_reach_reference(&r->side[side], record[i].page << shift, ++r->now, NULL);
   }
}

void tg_reach_curve_zero(TgReachCurve *r)
{
   for (unsigned i = 0; i < N_SIDES; i++)
      tlb_reach_zero(&r->side[i]);
}

void tg_reach_curve_free(TgReachCurve *r)
{
   for (unsigned i = 0; i < N_SIDES; i++)
      tlb_reach_destroy(&r->side[i]);
   free(r);
}

/* --- The file --- */

/* The misses of a side by number of entries, for pages of one size. */
typedef struct {
   unsigned side, shift;
   uint64_t cold;
   uint64_t misses[TLB_REACH_SIZES];
} curve;

/* The first is for the base page, and there is none for smaller pages. */
static unsigned make_curves(const TgReachCurve *r, curve *out)
{
   unsigned n = 0;
   for (unsigned side = 0; side < N_SIDES; side++) {
      for (unsigned size = 0; size < TLB_REACH_CURVES; size++) {
         curve *const c = &out[n];
         if (size > 0 && tlb_reach_shift(size) <= r->page_shift)
            continue;
         c->side = side;
         c->shift = size == 0 ? r->page_shift : tlb_reach_shift(size);
         c->cold = tlb_reach_cold(&r->side[side], size);
         tlb_reach_misses(&r->side[side], size, c->misses);
         n++;
      }
   }
   return n;
}

/* The line of the run's text that begins so. */
static void print_line(FILE *f, const char *text, size_t n, const char *key)
{
   const size_t length = strlen(key);
   for (const char *line = text, *end; line < text + n; line = end + 1) {
      end = memchr(line, '\n', (size_t)(text + n - line));
      if (end == NULL)
         return;
      if ((size_t)(end - line) >= length && memcmp(line, key, length) == 0) {
         fprintf(f, "# %.*s\n", (int)(end - line), line);
         return;
      }
   }
}

static const char *size_of(unsigned shift, char out[24])
{
   tlb_text t = tlb_text_in(out, 24);
   tlb_text_add_page_size(&t, shift);
   return out;
}

static void print_head(FILE *f, const char *text, size_t n_text, const uint64_t *total,
                       const curve *c, unsigned n)
{
   static const char *const names[N_SIDES] = { "instruction", "data" };
   const uint64_t references[N_SIDES] = {
      total[tg_cost(TLB_FETCH, TG_REFS)],
      total[tg_cost(TLB_LOAD, TG_REFS)] + total[tg_cost(TLB_STORE, TG_REFS)] };
   char size[24];
   fputs("# tlbgrind reach\n# version: 1\n", f);
   print_line(f, text, n_text, "creator: ");
   print_line(f, text, n_text, "pid: ");
   print_line(f, text, n_text, "cmd: ");
   for (unsigned side = 0; side < N_SIDES; side++)
      fprintf(f, "# %s references: %llu\n", names[side], (unsigned long long)references[side]);
   for (unsigned i = 0; i < n; i++)
      fprintf(f, "# %s pages of %s: %llu\n", names[c[i].side], size_of(c[i].shift, size),
              (unsigned long long)c[i].cold);
   fputs("entries", f);
   for (unsigned i = 0; i < n; i++)
      fprintf(f, "\t%c-%s", c[i].side == CODE ? 'I' : 'D', size_of(c[i].shift, size));
   fputs("\n", f);
}

char *tg_reach_curve_file(const TgReachCurve *r, const char *text, size_t n,
                          const uint64_t total[TG_N_COSTS], size_t *length)
{
   char *file;
   FILE *const f = tg_load_need(open_memstream(&file, length));
   curve *const c = tg_load_need(malloc(MOST_CURVES * sizeof *c));
   const unsigned n_curves = make_curves(r, c);
   print_head(f, text, n, total, c, n_curves);
   for (unsigned i = 0; i < TLB_REACH_SIZES; i++) {
      fprintf(f, "%u", i + TLB_REACH_SMALLEST);
      for (unsigned j = 0; j < n_curves; j++)
         fprintf(f, "\t%llu", (unsigned long long)c[j].misses[i]);
      fputs("\n", f);
   }
   free(c);
   if (fflush(f) != 0)
      tg_load_refuse("no memory");
   fprintf(f, "# checksum: %08x\n", (unsigned)tg_out_text_sum(file, *length));
   if (fclose(f) != 0)
      tg_load_refuse("no memory");
   return file;
}
