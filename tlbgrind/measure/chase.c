/* The kernels that refer to pages, and their time. See measure/chase.h.
   Part of tlbgrind.  GPL-2.0-or-later; see COPYING. */

#define _GNU_SOURCE
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "measure/chase.h"
#include "measure/clock.h"
#include "measure/code.h"
#include "measure/order.h"
#include "measure/system_caches.h"

/* Where the line of number i is: base + (i << step) + (i * line & mask). The line's place in the
   page goes with i, so that all sets of the caches are used evenly. For code, `line` is an odd
   number of lines: tables of jumps are often found by an XOR of the address's parts, in which the
   number of the page and that of the line would cancel each other. */
typedef struct {
   char *base;
   unsigned step;
   uint64_t line;
   uint64_t mask;
   unsigned filler_step; /* of CONFLICT: between the pages that fill the first level */
} Lines;

static char *line_at(const Lines *l, uint64_t i)
{
   return l->base + (i << l->step) + (i * l->line & l->mask);
}

unsigned tg_line_shift(void)
{
#ifdef _SC_LEVEL1_DCACHE_LINESIZE
   const long bytes = sysconf(_SC_LEVEL1_DCACHE_LINESIZE);
#else /* musl */
   TgGivenCache caches[TG_MAX_CACHES];
   const unsigned bytes = tg_system_caches(caches) > 0 ? caches[0].line : 0;
#endif
   return bytes == 128 ? 7 : bytes == 256 ? 8 : 6;
}

/* log2 of the system's base page. */
static unsigned base_shift(void)
{
   unsigned shift = 0;
   while ((long)1 << shift < sysconf(_SC_PAGESIZE))
      shift++;
   return shift;
}

/* Modulo the 64 lines of 4K, its multiples have no short pattern. */
enum { ODD_LINES = 27 };

static Lines lines_of(const TgCurve *c, const TgPlace *place)
{
   Lines l = { .base = place->base, .line = (uint64_t)1 << tg_line_shift() };
   l.step = c->kind == TG_CURVE_CONTROL ? tg_line_shift() : place->shift + c->stride_shift;
   if (place->use == TG_TO_EXECUTE)
      l.line *= ODD_LINES;
   if (c->kind == TG_CURVE_PIECES)
      l.step = base_shift();
   if (c->kind != TG_CURVE_CONTROL && c->kind != TG_CURVE_TABLES)
      l.mask = ((uint64_t)1 << (c->kind == TG_CURVE_PIECES ? l.step : place->shift)) - 1;
   return l;
}

/* --- kernels --- */

/* A pointer in each line of a chain; behind it, for MIXED, a line to store to. */
typedef struct Link {
   struct Link *next;
   volatile uint64_t *store;
} Link;

enum { MOST_CHAINS = 32 };

static inline void chase(Link *p[], unsigned chains, uint64_t steps)
{
   Link *at[MOST_CHAINS];
   for (unsigned k = 0; k < chains; k++)
      at[k] = p[k];
   for (uint64_t i = 0; i < steps; i++)
      for (unsigned k = 0; k < chains; k++) {
         at[k] = at[k]->next;
         /* Or the compiler could load several ahead, or none at all. */
         __asm__ volatile("" : "+r"(at[k]));
      }
   for (unsigned k = 0; k < chains; k++)
      p[k] = at[k];
}

/* Each number of chains a loop of its own, in which the pointers are in registers, or at least each
   at a fixed place. */
static void chase_all(Link *p[], unsigned chains, uint64_t steps)
{
   switch (chains) {
   case 1:
      chase(p, 1, steps);
      break;
   case 2:
      chase(p, 2, steps);
      break;
   case 4:
      chase(p, 4, steps);
      break;
   case 8:
      chase(p, 8, steps);
      break;
   case 16:
      chase(p, 16, steps);
      break;
   default:
      chase(p, 32, steps);
      break;
   }
}

static Link *chase_and_store(Link *p, uint64_t steps)
{
   for (uint64_t i = 0; i < steps; i++) {
      volatile uint64_t *const store = p->store;
      p = p->next;
      *store = i;
      __asm__ volatile("" : "+r"(p));
   }
   return p;
}

/* The next number that arithmetic goes to. */
static inline uint64_t next_of(uint64_t x, uint64_t step, uint64_t n)
{
   x += step;
   return x - (n & -(uint64_t)(x >= n));
}

static inline void full_barrier(void)
{
#if defined(__x86_64__)
   __asm__ volatile("mfence" : : : "memory");
#elif defined(__aarch64__)
   __asm__ volatile("dsb ish" : : : "memory");
#elif defined(__powerpc64__)
   __asm__ volatile("sync" : : : "memory");
#else
   __asm__ volatile("fence rw, rw" : : : "memory");
#endif
}

static uint64_t store_round(Lines l, uint64_t n, uint64_t step, uint64_t x, uint64_t steps)
{
   for (uint64_t i = 0; i < steps; i++) {
      *(volatile uint64_t *)line_at(&l, x) = i;
      full_barrier();
      x = next_of(x, step, n);
   }
   return x;
}

static uint64_t zeros_round(Lines l, uint64_t n, uint64_t step, uint64_t x, uint64_t steps)
{
   for (uint64_t i = 0; i < steps; i++) {
      x += *(const volatile uint64_t *)line_at(&l, x);
      x = next_of(x, step, n);
   }
   return x;
}

/* --- what goes round --- */

typedef enum { BY_POINTERS, BY_POINTERS_AND_STORES, BY_ZEROS, BY_STORES, BY_CODE } Kernel;

static Kernel kernel_of(const TgCurve *c, const TgPlaces *places)
{
   if (c->kind == TG_CURVE_MIXED)
      return c->ask == TG_ASK_FETCH ? BY_CODE : BY_POINTERS_AND_STORES;
   if (c->ask == TG_ASK_FETCH)
      return BY_CODE;
   if (c->ask == TG_ASK_STORE)
      return BY_STORES;
   if (c->kind == TG_CURVE_TABLES
       || (places->zeros.base != NULL && c->kind != TG_CURVE_OVERLAP
           && c->kind != TG_CURVE_CONFLICT && c->kind != TG_CURVE_PIECES
           && places->size.from != TG_BASE_PAGES))
      return BY_ZEROS;
   return BY_POINTERS;
}

/* Where its references go; of MIXED loads and fetches, where the fetches go. */
static TgPlace *place_of(const TgCurve *c, TgPlaces *places)
{
   const bool dense = c->kind == TG_CURVE_CONTROL;
   switch (kernel_of(c, places)) {
   case BY_CODE:
      return dense ? &places->dense_code : &places->code;
   case BY_ZEROS:
      return &places->zeros;
   default:
      return dense ? &places->dense : &places->data;
   }
}

/* A round that is ready. */
typedef struct {
   Kernel kernel;
   Lines lines;
   uint64_t n;          /* references of a lap */
   uint64_t step, x;    /* of arithmetic */
   unsigned chains;
   Link *link[MOST_CHAINS];
   TgGenerated *code;
} Round;

/* A chain through the lines order[0] to order[n - 1] and back. */
static Link *link_lines(const Lines *l, const uint32_t *order, uint64_t n)
{
   for (uint64_t i = 0; i < n; i++) {
      Link *const at = (Link *)(void *)line_at(l, order[i]);
      at->next = (Link *)(void *)line_at(l, order[i + 1 < n ? i + 1 : 0]);
   }
   return (Link *)(void *)line_at(l, order[0]);
}

/* Pieces of code that jump round in that order. */
static TgGenerated *generate(const Lines *l, const uint32_t *order, uint64_t n, bool loads)
{
   char *const first = line_at(l, order[0]);
   for (uint64_t i = 0; i < n; i++) {
      const char *const next = line_at(l, order[i + 1 < n ? i + 1 : 0]);
      if (i == 0)
         tg_code_first(first, next, loads);
      else
         tg_code_piece(line_at(l, order[i]), next, loads);
   }
   tg_code_written(l->base, (size_t)(line_at(l, n - 1) + TG_CODE_BYTES - l->base));
   TgGenerated *code;
   memcpy(&code, &first, sizeof code);
   return code;
}

static bool begin_code(const TgCurve *c, TgPlaces *places, Round *r)
{
   const bool loads = c->kind == TG_CURVE_MIXED;
   const uint64_t pieces = loads ? r->n / 2 : r->n;
   const uint32_t *order = tg_random_order(pieces);
   if (order == NULL)
      return false;
   r->lines = lines_of(c, place_of(c, places));
   r->code = generate(&r->lines, order, pieces, loads);
   r->link[0] = NULL;
   if (loads) {
      const Lines data = lines_of(c, &places->data);
      order = tg_random_order(pieces);
      if (order == NULL)
         return false;
      r->link[0] = link_lines(&data, order, pieces);
   }
   return true;
}

/* In how many sets it is tried, and where the pages begin that are far apart: behind the others,
   and at a round number, for an XOR of the number's parts shares out whole parts evenly. */
enum { CONFLICT_SETS = 16, FIRST_CONFLICT = 64 };

/* The first pages that conflict, if `i` is so high; else others, side by side but for each 16th:
   that one could be found in the set where all that are many pages apart are. */
static char *conflict_at(const Lines *l, uint64_t i, uint64_t fillers)
{
   enum { GROUP = 16, FREE = GROUP - 1 };
   const unsigned page = l->filler_step;
   const uint64_t number = i < fillers ? i / FREE * GROUP + 1 + i % FREE : 0;
   char *const at = i < fillers ? l->base + (number << page)
                                : l->base + ((i - fillers + FIRST_CONFLICT) << l->step);
   return at + (i * l->line & l->mask);
}

/* As link_lines(), of a CONFLICT. */
static Link *link_conflicts(const Lines *l, const uint32_t *order, uint64_t n, uint64_t fillers)
{
   for (uint64_t i = 0; i < n; i++) {
      Link *const at = (Link *)(void *)conflict_at(l, order[i], fillers);
      at->next = (Link *)(void *)conflict_at(l, order[i + 1 < n ? i + 1 : 0], fillers);
   }
   return (Link *)(void *)conflict_at(l, order[0], fillers);
}

/* Loads all in ever other orders. In the same order again and again, a replacement that is not LRU
   may never drive out a page that is none of ours, though there is room for all of ours. */
static void settle_conflicts(const Lines *l, uint64_t n, uint64_t fillers)
{
   enum { ORDERS = 48 };
   for (int k = 0; k < ORDERS; k++) {
      const uint32_t *const order = tg_random_order(n);
      for (uint64_t i = 0; order != NULL && i < n; i++)
         (void)*(const volatile char *)conflict_at(l, order[i], fillers);
   }
}

static bool begin_conflict(const TgCurve *c, TgPlaces *places, Round *r)
{
   const uint32_t *const order = tg_random_order(r->n);
   if (order == NULL)
      return false;
   r->lines = lines_of(c, place_of(c, places));
   /* Another set each time: in one there may be a page that is none of ours. */
   r->lines.base += tg_random_below(CONFLICT_SETS) << places->size.shift;
   r->lines.filler_step = places->size.shift;
   r->link[0] = link_conflicts(&r->lines, order, r->n, c->chains);
   settle_conflicts(&r->lines, r->n, c->chains);
   return true;
}

enum { SIDE_BY_SIDE = 1024 }; /* lines: 16 pages of 4K */

static bool begin_pointers(const TgCurve *c, TgPlaces *places, Round *r)
{
   /* Lines side by side go from some pages to the next, for these may be in pieces: few of so many
      references then miss in a TLB. */
   const uint64_t window = c->kind == TG_CURVE_CONTROL ? SIDE_BY_SIDE : r->n;
   const uint32_t *const order = tg_random_order_in_windows(r->n, window);
   if (order == NULL)
      return false;
   r->lines = lines_of(c, place_of(c, places));
   const uint64_t chain = r->kernel == BY_POINTERS_AND_STORES ? r->n / 2 : r->n / r->chains;
   for (unsigned k = 0; k < r->chains; k++)
      r->link[k] = link_lines(&r->lines, order + k * chain, chain);
   for (uint64_t i = 0; i < chain && r->kernel == BY_POINTERS_AND_STORES; i++) {
      Link *const at = (Link *)(void *)line_at(&r->lines, order[i]);
      at->store = (volatile uint64_t *)(void *)line_at(&r->lines, order[chain + i]);
   }
   return true;
}

static bool begin(const TgCurve *c, TgPlaces *places, uint64_t pages, Round *r)
{
   *r = (Round){ .kernel = kernel_of(c, places), .chains = c->chains > 1 ? c->chains : 1 };
   if (c->kind == TG_CURVE_CONFLICT) {
      r->chains = 1;
      r->n = pages;
      return begin_conflict(c, places, r);
   }
   if (r->chains > MOST_CHAINS)
      return false;
   r->n = c->kind == TG_CURVE_MIXED ? pages / 2 * 2 : pages / r->chains * r->chains;
   if (r->n == 0)
      return false;
   switch (r->kernel) {
   case BY_CODE:
      return begin_code(c, places, r);
   case BY_POINTERS:
   case BY_POINTERS_AND_STORES:
      return begin_pointers(c, places, r);
   case BY_ZEROS:
   case BY_STORES:
      r->lines = lines_of(c, place_of(c, places));
      r->step = tg_random_step(r->n);
      r->x = tg_random_below(r->n);
      return true;
   }
   return false;
}

/* At least so many references, whole laps of code. Returns how many it were. */
static uint64_t go_round(Round *r, uint64_t references)
{
   const uint64_t laps = (references + r->n - 1) / r->n;
   const uint64_t steps = (references + r->chains - 1) / r->chains;
   switch (r->kernel) {
   case BY_CODE:
      r->code(laps + 1, r->link[0]);
      return laps * r->n;
   case BY_POINTERS:
      chase_all(r->link, r->chains, steps);
      return steps * r->chains;
   case BY_POINTERS_AND_STORES:
      r->link[0] = chase_and_store(r->link[0], references / 2 + 1);
      return (references / 2 + 1) * 2;
   case BY_ZEROS:
      r->x = zeros_round(r->lines, r->n, r->step, r->x, references);
      return references;
   case BY_STORES:
      r->x = store_round(r->lines, r->n, r->step, r->x, references);
      return references;
   }
   return 1;
}

/* --- time --- */

/* A part that is timed takes some 60 microseconds, less than the time between two interruptions of
   a busy machine; one that walks far is longer, for its references differ. */
enum { SOME_REFERENCES = 64 };
static const double part_cycles = 150000.0, part_cycles_far = 1000000.0;

/* More lines than any cache has are not kept warm. */
static const uint64_t most_warm = (uint64_t)512 << 10;

/* One part in core cycles per reference, or negative if the speed of the core changed meanwhile. */
static double timed(Round *r, uint64_t references)
{
   const double before = tg_ticks_per_cycle();
   const uint64_t begin_ticks = tg_ticks();
   const uint64_t done = go_round(r, references);
   const uint64_t ticks = tg_ticks() - begin_ticks;
   const double after = tg_ticks_per_cycle();
   const double slow = before > after ? before : after, fast = before > after ? after : before;
   if (slow > fast * 1.02)
      return -1.0;
   return (double)ticks / fast / (double)done;
}

double tg_probe_round(const TgCurve *c, TgPlaces *places, uint64_t pages)
{
   Round r;
   double least = -1.0;
   if (!begin(c, places, pages, &r))
      return -1.0;
   const uint64_t warm = r.n < most_warm ? r.n : most_warm;
   /* Twice, for a replacement that is not LRU forgets slowly what was there before. */
   go_round(&r, r.n <= 16384 ? 2 * warm : warm);
   const double guess = timed(&r, SOME_REFERENCES);
   const double wanted = (c->kind == TG_CURVE_TABLES ? part_cycles_far : part_cycles)
                         / (guess > 1.0 ? guess : 4.0);
   uint64_t references = (uint64_t)wanted;
   if (references < r.n && c->kind != TG_CURVE_TABLES)
      references = r.n;
   for (int part = 0; part < 3; part++) {
      const double cycles = timed(&r, references);
      if (cycles > 0.0 && (least < 0.0 || cycles < least))
         least = cycles;
   }
   return least;
}

/* --- what there is room for --- */

/* The jumps of most architectures reach 2G. */
static const uint64_t most_code = (uint64_t)2 << 30;

uint64_t tg_probe_most(const TgCurve *c, TgPlaces *places)
{
   const TgPlace *const place = place_of(c, places);
   if (place->base == NULL)
      return 0;
   if (c->kind == TG_CURVE_MIXED && places->data.base == NULL)
      return 0;
   if (c->kind == TG_CURVE_CONTROL)
      return place->span << (place->shift - tg_line_shift());
   uint64_t most = place->span >> c->stride_shift;
   if (c->kind == TG_CURVE_PIECES)
      return (most < places->size.most ? most : places->size.most) << (place->shift - base_shift());
   if (c->kind == TG_CURVE_CONFLICT)
      most = most <= FIRST_CONFLICT + 1 ? 0 : most - FIRST_CONFLICT - 1 + c->chains;
   if (place->use == TG_TO_EXECUTE && most > most_code >> place->shift >> c->stride_shift)
      most = most_code >> place->shift >> c->stride_shift;
   if (place->use != TG_TO_READ && most > places->size.most)
      most = places->size.most;
   return most;
}

uint64_t tg_probe_prepare(const TgCurve *c, TgPlaces *places, uint64_t pages)
{
   TgPlace *const place = place_of(c, places);
   if (c->kind == TG_CURVE_CONTROL) {
      const unsigned lines = place->shift - tg_line_shift();
      const uint64_t need = (pages - 1) >> lines;
      const uint64_t got = tg_place_touch(place, need + 1, 1);
      return got > need ? pages : got << lines;
   }
   if (c->kind == TG_CURVE_PIECES) {
      const unsigned pieces = place->shift - base_shift();
      const uint64_t need = ((pages - 1) >> pieces) + 1;
      const uint64_t got = tg_place_touch(place, need, 1);
      return got >= need ? pages : got << pieces;
   }
   /* Few pages, which come at their first use, in random order as well. */
   if (c->kind == TG_CURVE_CONFLICT)
      return pages;
   if (c->kind == TG_CURVE_MIXED && c->ask == TG_ASK_FETCH) {
      const uint64_t data = tg_place_touch(&places->data, pages, 1);
      pages = data < pages ? data : pages;
   }
   return tg_place_touch(place, pages, (uint64_t)1 << c->stride_shift);
}

/* --- are large pages whole? --- */

/* The least of some rounds over 256 lines, so many bytes (log2) apart. */
static double lines_apart(char *base, unsigned step, uint64_t mask)
{
   enum { PLACES = 256, ROUNDS = 12 };
   double least = -1.0;
   for (int i = 0; i < ROUNDS; i++) {
      Round r = { .kernel = BY_ZEROS, .n = PLACES, .chains = 1, .step = tg_random_step(PLACES) };
      r.lines = (Lines){ .base = base, .step = step, .mask = mask,
                         .line = (uint64_t)1 << tg_line_shift() };
      go_round(&r, 2 * PLACES);
      const double cycles = timed(&r, 32 * PLACES);
      if (cycles > 0.0 && (least < 0.0 || cycles < least))
         least = cycles;
   }
   return least;
}

int tg_probe_whole(TgPlaces *places)
{
   enum { PAGES_SHIFT = 4, PLACES_SHIFT = 8, PAGES = 1 << PAGES_SHIFT };
   const double least_miss = 1.5; /* cycles: no second level is nearer */
   TgPlace *const data = &places->data;
   if (data->base == NULL || data->span < PAGES || places->size.most < PAGES
       || tg_place_touch(data, PAGES, 1) < PAGES)
      return -1;
   const unsigned apart = data->shift + PAGES_SHIFT - PLACES_SHIFT;
   const uint64_t base_page = (uint64_t)sysconf(_SC_PAGESIZE);
   if ((uint64_t)1 << apart < 2 * base_page)
      return -1;
   const double spread = lines_apart(data->base, apart, base_page - 1);
   const double dense = lines_apart(data->base, tg_line_shift(), 0);
   if (spread < 0.0 || dense < 0.0)
      return -1;
   return spread < dense + least_miss;
}

/* --- is it a processor? --- */

int tg_probe_first_execution(const TgPlaces *places, TgFirstExecution *out)
{
   enum { PIECES = 256, TRIES = 4 };
   *out = (TgFirstExecution){ 0 };
   if (places->dense_code.base == NULL)
      return 0;
   Lines l = { .base = places->dense_code.base, .step = tg_line_shift() };
   for (int i = 0; i < TRIES; i++) {
      const uint32_t *const order = tg_random_order(PIECES);
      if (order == NULL)
         return 0;
      TgGenerated *const code = generate(&l, order, PIECES, false);
      uint64_t begin_ticks = tg_ticks();
      code(2, NULL);
      const double first = (double)(tg_ticks() - begin_ticks) / PIECES;
      begin_ticks = tg_ticks();
      code(2, NULL);
      const double later = (double)(tg_ticks() - begin_ticks) / PIECES;
      if (i == 0 || first < out->first)
         out->first = first;
      if (i == 0 || later < out->later)
         out->later = later;
   }
   return 1;
}
