/* What is measured, in which order, and for how long. See measure/plan.h.
   Part of tlbgrind.  GPL-2.0-or-later; see COPYING. */

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command/bar.h"
#include "measure/chase.h"
#include "measure/clock.h"
#include "measure/curves_csv.h"
#include "measure/order.h"
#include "measure/places.h"
#include "measure/plan.h"

/* Least times stand when so many rounds brought none that is 1 % less. */
enum { LEAST_ROUNDS = 6, QUIET_ROUNDS = 4, MOST_ROUNDS = 64, FEW_ROUNDS = 3 };
static const double better = 0.99;

/* Base pages' bytes of few large pages: more than any last level has entries. */
enum { MOST_PIECES = 8192 };

enum { MOST_CURVES = 96, MOST_SIZES = TG_MEASURED_SIZES };

/* More points are put between two that differ by this, unless they are this close already. Most of
   what a store costs is the barrier behind it. */
static const double step_of_cycles = 0.08, step_of_stores = 0.025;
static const double least_step = 0.7, close_pages = 1.025;
enum { MOST_REFINED = 40, MOST_PAGES_REFINED = 16384 };

/* --- points --- */

typedef struct {
   uint64_t pages;
   double least;
   unsigned rounds, quiet; /* so many; so many since the least */
   float value[MOST_ROUNDS];
   bool settled;
} Point;

typedef struct {
   TgCurve what; /* without points */
   TgPlaces *places;
   unsigned importance; /* 0: always; others need more time */
   uint64_t from, to;
   unsigned per_octave;
   uint64_t limit;      /* what tg_probe_prepare() has made */
   Point *point;
   size_t n, room, refined;
} Line;

typedef struct {
   TgPlaces places[MOST_SIZES];
   unsigned n_places;
   Line line[MOST_CURVES];
   size_t n;
   uint64_t tried, disturbed;
   unsigned in_pieces[MOST_SIZES], n_in_pieces;
} Plan;

static bool add_point(Line *l, uint64_t pages)
{
   if (l->n == l->room) {
      l->room = l->room == 0 ? 128 : l->room * 2;
      Point *const more = realloc(l->point, l->room * sizeof *more);
      if (more == NULL)
         return false;
      l->point = more;
   }
   size_t at = l->n;
   while (at > 0 && l->point[at - 1].pages > pages)
      at--;
   if (at > 0 && l->point[at - 1].pages == pages)
      return true;
   memmove(&l->point[at + 1], &l->point[at], (l->n - at) * sizeof *l->point);
   memset(&l->point[at], 0, sizeof *l->point);
   l->point[at].pages = pages;
   l->n++;
   return true;
}

static bool add_points(Line *l)
{
   const uint64_t to = l->to < l->limit ? l->to : l->limit;
   if (l->what.kind == TG_CURVE_CONFLICT) {
      /* Each number up to 40, and then some. */
      for (uint64_t pages = l->from; pages <= to; pages += pages < l->from + 39 ? 1 : 4)
         if (!add_point(l, pages))
            return false;
      return true;
   }
   for (unsigned i = 0;; i++) {
      const double pages = (double)l->from * exp2((double)i / l->per_octave);
      if (pages > (double)to * 1.0001)
         break;
      if (!add_point(l, (uint64_t)(pages + 0.5)))
         return false;
   }
   return true;
}

static int by_value(const void *a, const void *b)
{
   const float x = *(const float *)a, y = *(const float *)b;
   return (x > y) - (x < y);
}

static unsigned sorted_values(const Point *p, float out[MOST_ROUNDS])
{
   const unsigned n = p->rounds < MOST_ROUNDS ? p->rounds : MOST_ROUNDS;
   memcpy(out, p->value, n * sizeof *out);
   qsort(out, n, sizeof *out, by_value);
   return n;
}

/* Between the least and the median. */
static double spread_of(const Point *p)
{
   float sorted[MOST_ROUNDS];
   const unsigned n = sorted_values(p, sorted);
   const double more = n == 0 ? 0.0 : (double)sorted[n / 2] - p->least;
   return more > 0.0 ? more : 0.0;
}

/* The least that a second round confirms. Where the core's speed changes between a part and the
   look at it, a time can be too short as well, but not twice by the same. */
static double least_of(const Point *p)
{
   static const double near[] = { 1.01, 1.03 };
   float sorted[MOST_ROUNDS];
   const unsigned n = sorted_values(p, sorted);
   if (n < 3)
      return (double)sorted[0];
   for (size_t k = 0; k < sizeof near / sizeof *near; k++)
      for (unsigned i = 0; i <= n / 2 && i + 1 < n; i++)
         if ((double)sorted[i + 1] <= (double)sorted[i] * near[k])
            return (double)sorted[i];
   return (double)sorted[1];
}

static void take(Point *p, double cycles)
{
   const double before = p->least;
   if (p->rounds < MOST_ROUNDS)
      p->value[p->rounds] = (float)cycles;
   p->rounds++;
   p->least = least_of(p);
   p->quiet = p->rounds > 1 && fabs(p->least - before) <= before * (1.0 - better) ? p->quiet + 1
                                                                                    : 0;
   p->settled = p->rounds >= MOST_ROUNDS
                || (p->rounds >= LEAST_ROUNDS && p->quiet >= QUIET_ROUNDS);
}

/* More pages seldom cost less. A point above one of the next was disturbed in each of its rounds,
   or shows a conflict that other points do not have; it gets more rounds. */
static void doubt(Line *l)
{
   enum { NEXT = 3 };
   for (size_t i = 0; i < l->n; i++) {
      Point *const p = &l->point[i];
      bool above = false;
      for (size_t k = i + 1; k < l->n && k <= i + NEXT; k++)
         above = above || (l->point[k].rounds > 0 && p->least > l->point[k].least * 1.04);
      if (above && p->rounds < 5 * LEAST_ROUNDS)
         p->settled = false;
   }
}

/* Puts points into steps. Curves of tables have their form from few. */
static bool refine(Line *l)
{
   if (l->what.kind == TG_CURVE_TABLES || l->what.kind == TG_CURVE_OVERLAP
       || l->what.kind == TG_CURVE_CONFLICT)
      return true;
   const double step = l->what.ask == TG_ASK_STORE ? step_of_stores : step_of_cycles;
   for (size_t i = 0; i + 1 < l->n && l->refined < MOST_REFINED; i++) {
      const Point *const a = &l->point[i], *const b = &l->point[i + 1];
      const double less = a->least < b->least ? a->least : b->least;
      const double more = fabs(a->least - b->least);
      if (a->pages > MOST_PAGES_REFINED || a->rounds == 0 || b->rounds == 0
          || more < less * step || more < least_step
          || b->pages < a->pages + 2 || (double)b->pages < (double)a->pages * close_pages)
         continue;
      const uint64_t middle = (uint64_t)(sqrt((double)a->pages * (double)b->pages) + 0.5);
      if (middle == a->pages || middle == b->pages)
         continue;
      if (!add_point(l, middle))
         return false;
      l->refined++;
      i++;
   }
   return true;
}

/* --- which curves --- */

/* A curve of fewer pages tells nothing. */
static uint64_t enough(const Line *l)
{
   return l->what.kind == TG_CURVE_CONFLICT ? l->from + 16 : 2 * l->from;
}

static void add_line(Plan *p, TgPlaces *places, TgCurveKind kind, TgAsk ask, unsigned stride,
                     unsigned chains, unsigned importance, uint64_t to, unsigned per_octave)
{
   if (p->n == MOST_CURVES)
      return;
   Line *const l = &p->line[p->n];
   memset(l, 0, sizeof *l);
   l->what = (TgCurve){ .kind = kind, .ask = ask, .page_shift = places->size.shift,
                        .stride_shift = stride, .chains = chains };
   l->places = places;
   l->importance = importance;
   l->from = kind == TG_CURVE_CONFLICT ? chains + 1
             : kind == TG_CURVE_STRIDE ? 2 /* fewer than an array has ways */
             : chains > 4              ? 2 * chains
                                       : 8;
   l->to = to;
   l->per_octave = per_octave;
   const uint64_t most = tg_probe_most(&l->what, places);
   if (most >= enough(l))
      p->n++;
   if (l->to > most)
      l->to = most;
}

static void add_base(Plan *p, TgPlaces *b)
{
   const unsigned tables = 3 + tg_line_shift() - 6; /* entries of 8 bytes in a line */
   add_line(p, b, TG_CURVE_PAGES, TG_ASK_LOAD, 0, 1, 0, 16384, 8);
   add_line(p, b, TG_CURVE_CONTROL, TG_ASK_LOAD, 0, 1, 0, 65536, 4);
   add_line(p, b, TG_CURVE_PAGES, TG_ASK_FETCH, 0, 1, 0, 8192, 8);
   add_line(p, b, TG_CURVE_CONTROL, TG_ASK_FETCH, 0, 1, 0, 8192, 4);
   add_line(p, b, TG_CURVE_PAGES, TG_ASK_STORE, 0, 1, 0, 8192, 8);
   add_line(p, b, TG_CURVE_CONTROL, TG_ASK_STORE, 0, 1, 0, 8192, 6);
   add_line(p, b, TG_CURVE_TABLES, TG_ASK_LOAD, tables, 1, 1, (uint64_t)1 << 21, 2);
   for (unsigned chains = 1; chains <= 32; chains *= 2)
      add_line(p, b, TG_CURVE_OVERLAP, TG_ASK_LOAD, 0, chains, 1, 16384, 3);
   add_line(p, b, TG_CURVE_MIXED, TG_ASK_FETCH, 0, 1, 1, 8192, 6);
   add_line(p, b, TG_CURVE_MIXED, TG_ASK_STORE, 0, 1, 1, 8192, 6);
   for (unsigned stride = 1; stride <= 10; stride++)
      add_line(p, b, TG_CURVE_STRIDE, TG_ASK_LOAD, stride, 1, 1, stride <= 2 ? 4096 : 2048, 6);
   for (unsigned stride = 1; stride <= 8; stride++)
      add_line(p, b, TG_CURVE_STRIDE, TG_ASK_FETCH, stride, 1, 2, 1024, 5);
}

static void add_large(Plan *p, TgPlaces *h)
{
   add_line(p, h, TG_CURVE_PAGES, TG_ASK_LOAD, 0, 1, 1, 16384, 6);
   add_line(p, h, TG_CURVE_CONTROL, TG_ASK_LOAD, 0, 1, 1, 16384, 3);
   if (h->zeros.base != NULL) {
      add_line(p, h, TG_CURVE_TABLES, TG_ASK_LOAD, 3 + tg_line_shift() - 6, 1, 2,
               (uint64_t)1 << 19, 2);
      for (unsigned stride = 1; stride <= 8; stride++)
         add_line(p, h, TG_CURVE_STRIDE, TG_ASK_LOAD, stride, 1, 2, 1024, 5);
   }
   add_line(p, h, TG_CURVE_PAGES, TG_ASK_FETCH, 0, 1, 2, 1024, 6);
   add_line(p, h, TG_CURVE_CONTROL, TG_ASK_FETCH, 0, 1, 2, 1024, 3);
   add_line(p, h, TG_CURVE_PAGES, TG_ASK_STORE, 0, 1, 2, 512, 6);
   add_line(p, h, TG_CURVE_CONTROL, TG_ASK_STORE, 0, 1, 2, 512, 3);
}

/* --- conflicts --- */

/* Negative if each of the rounds was disturbed. */
static double least_round(const TgCurve *look, TgPlaces *b, unsigned pages, unsigned rounds)
{
   double least = -1.0;
   for (unsigned i = 0; i < rounds; i++) {
      const double cycles = tg_probe_round(look, b, pages);
      if (cycles > 0.0 && (least < 0.0 || cycles < least))
         least = cycles;
   }
   return least;
}

/* So many pages that each reference misses in the first level, from a look of some rounds. 0: it
   cannot be told, or they are too many. */
static unsigned fillers_for(TgPlaces *b)
{
   enum { ROUNDS = 4, LEAST = 8, MOST = 512, IN_A_ROW = 3 };
   const TgCurve look = { .kind = TG_CURVE_PAGES, .ask = TG_ASK_LOAD, .page_shift = b->size.shift,
                          .chains = 1 };
   double base = 0.0;
   unsigned above = 0, first = 0;
   if (tg_probe_most(&look, b) < MOST || tg_probe_prepare(&look, b, MOST) < MOST)
      return 0;
   for (unsigned pages = LEAST; pages <= MOST; pages += pages / 16 + 1) {
      const double least = least_round(&look, b, pages, ROUNDS);
      if (base == 0.0 || (least > 0.0 && least < base))
         base = least;
      if (base > 0.0 && least > base * 1.1 + 0.5) {
         first = above++ == 0 ? pages : first;
         /* Nearly all miss with some more: the ways of a set, or a replacement that is not LRU. */
         const unsigned enough = first + first * 2 / 5;
         if (above == IN_A_ROW && least_round(&look, b, enough, ROUNDS) > base * 1.1 + 0.5)
            return enough;
      } else {
         above = 0;
      }
   }
   return 0;
}

/* Ways and sets behind the first level, which hides them from strides alone: few pages in one set,
   among many that drive them out of the first level. */
static void add_conflicts(Plan *p, TgPlaces *b)
{
   enum { FROM_STRIDE = 4, TO_STRIDE = 13, CONFLICTS = 96 };
   const unsigned fillers = fillers_for(b);
   for (unsigned stride = FROM_STRIDE; fillers > 0 && stride <= TO_STRIDE; stride++)
      add_line(p, b, TG_CURVE_CONFLICT, TG_ASK_LOAD, stride, fillers, 1, fillers + CONFLICTS, 0);
}

static void make_plan(Plan *p, bool small)
{
   TgPageSize size[TG_MOST_PAGE_SIZES];
   const unsigned n = tg_page_sizes(tg_memory_budget(), size);
   memset(p, 0, sizeof *p);
   p->n_places = n < MOST_SIZES ? n : MOST_SIZES;
   for (unsigned i = 0; i < p->n_places; i++)
      tg_places_reserve(&size[i], n > 1 && i == 0 ? &size[1] : NULL, small, &p->places[i]);
   if (p->n_places > 0)
      add_base(p, &p->places[0]);
   if (p->n_places > 0)
      add_conflicts(p, &p->places[0]);
   for (unsigned i = 1; i < p->n_places; i++) {
      /* Before anything else is written there. */
      const int whole = tg_probe_whole(&p->places[i]);
      add_line(p, &p->places[i], TG_CURVE_PIECES, TG_ASK_LOAD, 0, 1, 0, MOST_PIECES, 6);
      if (whole == 0)
         p->in_pieces[p->n_in_pieces++] = p->places[i].size.shift;
      else
         add_large(p, &p->places[i]);
   }
}

static void drop_plan(Plan *p)
{
   for (unsigned i = 0; i < p->n_places; i++)
      tg_places_free(&p->places[i]);
   for (size_t i = 0; i < p->n; i++)
      free(p->line[i].point);
}

/* --- rounds --- */

/* All points of all lines, in the order of a round. */
typedef struct {
   size_t line, point;
} Visit;

static Visit *visits(const Plan *p, size_t *n)
{
   size_t all = 0, at = 0;
   for (size_t i = 0; i < p->n; i++)
      all += p->line[i].n;
   Visit *const v = malloc((all + 1) * sizeof *v);
   if (v == NULL)
      return NULL;
   for (size_t i = 0; i < p->n; i++)
      for (size_t k = 0; k < p->line[i].n; k++)
         if (!p->line[i].point[k].settled)
            v[at++] = (Visit){ i, k };
   /* Shuffled: what disturbs for a while then disturbs no curve as a whole. */
   for (size_t i = at; i > 1; i--) {
      const size_t other = (size_t)tg_random_below(i);
      const Visit last = v[i - 1];
      v[i - 1] = v[other];
      v[other] = last;
   }
   *n = at;
   return v;
}

/* Returns -1 without memory, 0 if the time is over or all stands, 1 otherwise. */
static int measure_round(Plan *p, double begin, double seconds)
{
   size_t n;
   Visit *const v = visits(p, &n);
   int more = n > 0;
   if (v == NULL)
      return -1;
   for (size_t i = 0; i < n && more; i++) {
      Line *const l = &p->line[v[i].line];
      Point *const point = &l->point[v[i].point];
      const double cycles = tg_probe_round(&l->what, l->places, point->pages);
      const double now = tg_seconds() - begin;
      p->tried++;
      if (cycles > 0.0)
         take(point, cycles);
      else
         p->disturbed++;
      tg_bar_show(now / seconds, "measuring");
      more = now < seconds;
   }
   free(v);
   return more;
}

static void drop_lines(Plan *p, unsigned importance, size_t *left_out)
{
   size_t n = 0;
   for (size_t i = 0; i < p->n; i++) {
      if (p->line[i].importance <= importance)
         p->line[n++] = p->line[i];
      else
         ++*left_out;
   }
   p->n = n;
}

/* Touches a line of tables more and more, for a million first touches can take seconds. */
static uint64_t prepare_tables(Line *l, double seconds)
{
   const double begin = tg_seconds();
   uint64_t pages = l->to < 65536 ? l->to : 65536;
   for (;;) {
      const uint64_t had = tg_probe_prepare(&l->what, l->places, pages);
      const double took = tg_seconds() - begin;
      if (had < pages || pages == l->to || took * 3.0 > seconds)
         return had;
      pages = pages * 2 < l->to ? pages * 2 : l->to;
   }
}

/* Touches all that will be measured. Lines for which there is no memory go. */
static bool prepare(Plan *p, double begin, double seconds, size_t *left_out)
{
   size_t n = 0;
   for (size_t i = 0; i < p->n; i++) {
      Line l = p->line[i];
      /* First touches take time, too, and a third of it is enough. */
      if (l.importance > 0 && tg_seconds() - begin > seconds / 3) {
         ++*left_out;
         continue;
      }
      tg_bar_show((tg_seconds() - begin) / seconds, "getting memory");
      l.limit = l.what.kind == TG_CURVE_TABLES
                   ? prepare_tables(&l, seconds / 8)
                   : tg_probe_prepare(&l.what, l.places, l.to);
      if (l.limit < enough(&l))
         continue;
      if (!add_points(&l))
         return false;
      p->line[n++] = l;
   }
   p->n = n;
   return true;
}

static unsigned rounds_of(const Line *l)
{
   unsigned most = 0;
   for (size_t i = 0; i < l->n; i++)
      most = l->point[i].rounds > most ? l->point[i].rounds : most;
   return most;
}

static bool keep(const Plan *p, TgMeasured *out)
{
   out->curve = calloc(p->n + 1, sizeof *out->curve);
   if (out->curve == NULL)
      return false;
   for (size_t i = 0; i < p->n; i++) {
      const Line *const l = &p->line[i];
      TgCurve *const c = &out->curve[out->n];
      *c = l->what;
      c->point = calloc(l->n + 1, sizeof *c->point);
      if (c->point == NULL)
         return false;
      for (size_t k = 0; k < l->n; k++) {
         const Point *const point = &l->point[k];
         out->points++;
         out->settled += point->settled;
         /* Points that came late had too few rounds to be believed. */
         if (point->rounds == 0 || (point->rounds < FEW_ROUNDS && rounds_of(l) >= 2 * FEW_ROUNDS))
            continue;
         c->point[c->n++] = (TgPoint){ .pages = point->pages, .cycles = point->least,
                                       .spread = spread_of(point), .rounds = point->rounds };
         if (point->rounds > out->rounds)
            out->rounds = point->rounds;
      }
      if (c->n == 0)
         free(c->point);
      else
         out->n++;
   }
   out->n_in_pieces = p->n_in_pieces;
   memcpy(out->in_pieces, p->in_pieces, sizeof p->in_pieces);
   out->disturbed = p->tried == 0 ? 0.0 : (double)p->disturbed / (double)p->tried;
   return true;
}

bool tg_measure(const TgPlanWish *wish, TgMeasured *out)
{
   static Plan p;
   const double begin = tg_seconds();
   memset(out, 0, sizeof *out);
   make_plan(&p, wish->emulated);
   drop_lines(&p, wish->seconds < 4.0 ? 0 : wish->seconds < 15.0 ? 1 : 2, &out->left_out);
   bool good = prepare(&p, begin, wish->seconds, &out->left_out);
   int more = good;
   for (unsigned round = 1; more > 0; round++) {
      more = measure_round(&p, begin, wish->seconds);
      if (round >= 2 && round <= 8)
         for (size_t i = 0; i < p.n && good; i++)
            good = refine(&p.line[i]);
      for (size_t i = 0; i < p.n; i++)
         doubt(&p.line[i]);
      good = good && more >= 0;
   }
   good = good && keep(&p, out);
   drop_plan(&p);
   tg_bar_clear();
   if (!good)
      tg_measured_free(out);
   return good;
}

void tg_measured_free(TgMeasured *m)
{
   for (size_t i = 0; i < m->n; i++)
      free(m->curve[i].point);
   free(m->curve);
   memset(m, 0, sizeof *m);
}

/* --- what there is --- */

static const char *size_text(unsigned shift, char out[16])
{
   static const char units[] = "\0KMGT";
   const unsigned unit = shift / 10;
   snprintf(out, 16, "%u%c", 1u << shift % 10, units[unit]);
   return out;
}

void tg_measure_list(void)
{
   static Plan p;
   char page[16];
   make_plan(&p, false);
   printf("%-9s %-6s %6s %8s %7s %9s\n", "kind", "asks", "pages", "stride", "chains", "up to");
   for (size_t i = 0; i < p.n; i++) {
      const TgCurve *const c = &p.line[i].what;
      printf("%-9s %-6s %6s %8u %7u %9llu\n", tg_curve_kind_name(c->kind), tg_ask_name(c->ask),
             size_text(c->page_shift, page), 1u << c->stride_shift, c->chains,
             (unsigned long long)p.line[i].to);
   }
   drop_plan(&p);
}

/* More than a processor takes, which guesses a jump wrongly and gets a line from a cache, and less
   than any translation of a piece of code. */
static const double translated_cycles = 1000.0;

bool tg_is_translated(void)
{
   TgPageSize size[TG_MOST_PAGE_SIZES];
   TgPlaces places;
   TgFirstExecution took;
   const unsigned n = tg_page_sizes(tg_memory_budget(), size);
   if (n == 0)
      return false;
   tg_places_reserve(&size[0], NULL, true, &places);
   const bool told = tg_probe_first_execution(&places, &took);
   tg_places_free(&places);
   return told && took.first - took.later > translated_cycles * tg_ticks_per_cycle();
}
