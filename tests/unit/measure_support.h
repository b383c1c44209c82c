/* Curves for the tests of the detection: as the simulator's misses and made-up costs give them,
   with noise that only adds. */

#ifndef MEASURE_SUPPORT_H
#define MEASURE_SUPPORT_H

#include <math.h>

#include "unit.h"

#include "measure/facts.h"
#include "sim/machine/builtin.h"
#include "sim/machine/machine_file.h"
#include "sim/tlb/hierarchy.h"

enum { SUPPORT_POINTS = 300 };

typedef struct {
   TgCurve curve;
   TgPoint point[SUPPORT_POINTS];
} support_curve;

typedef struct {
   double hit[TLB_MAX_LEVELS]; /* of a reference found in that level */
   double walk;
   double noise;               /* typical, as a part */
   unsigned doubled_of;        /* one of so many points is doubled; 0: none */
   uint64_t seed;
} support_costs;

static const support_costs support_usual = { { 4, 11, 19 }, 40, 0.05, 20, 1 };

static inline uint64_t support_next(uint64_t *seed)
{
   *seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
   return *seed >> 33;
}

static inline double support_random(uint64_t *seed)
{
   return (double)support_next(seed) / (double)(UINT64_C(1) << 31);
}

/* The numbers of pages that are measured: each up to 20, then one `part` of them apart, up to
   `most`. */
static inline size_t support_pages(uint64_t most, uint64_t part, uint64_t *out)
{
   size_t n = 0;
   for (uint64_t p = 2; p <= most && n < SUPPORT_POINTS; p += p < 20 ? 1 : p / part)
      out[n++] = p;
   return n;
}

/* The caches alone: 512 lines, 16,384, all others. */
static inline double support_cache(double lines)
{
   return lines <= 512 ? 0 : lines <= 16384 ? 10 : 40;
}

static inline void support_noise(TgPoint *p, double cycles, const support_costs *c, uint64_t *seed)
{
   const double part = c->noise * (support_random(seed) + support_random(seed));
   const int twice = c->doubled_of > 0 && support_next(seed) % c->doubled_of == 0;
   p->cycles = cycles * (1 + part) * (twice ? 2 : 1);
   p->spread = cycles * c->noise;
   p->rounds = 15;
}

static inline void support_control(support_curve *out, uint64_t most, const support_costs *c)
{
   uint64_t pages[SUPPORT_POINTS], seed = c->seed * 77 + 5;
   memset(out, 0, sizeof *out);
   out->curve = (TgCurve){ TG_CURVE_CONTROL, TG_ASK_LOAD, 12, 0, 1, support_pages(most, 20, pages),
                           out->point };
   for (size_t i = 0; i < out->curve.n; i++) {
      out->point[i].pages = pages[i];
      support_noise(&out->point[i], c->hit[0] + support_cache((double)pages[i]), c, &seed);
   }
}

/* A chase round `n` pages 2^stride apart, in an order that is shuffled once: misses of the rounds
   behind the first ones, in cycles per reference. MIXED: the second half is asked by `other`. */
static inline double support_chase(const tlb_machine *m, tlb_user user, tlb_user other, uint64_t n,
                                   unsigned stride, const support_costs *c)
{
   /* What a walk costs is told, so the caches that the tables are read from need not be there. */
   tlb_machine bare = *m;
   bare.n_caches = 0;
   void *const memory = malloc(tlb_hierarchy_bytes(&bare));
   uint64_t *const order = malloc((size_t)n * sizeof *order);
   tlb_hierarchy *const h = malloc(sizeof *h);
   uint64_t now = 2, seed = 99;
   double sum = 0;
   assert_true(memory && order && h);
   tlb_hierarchy_init(h, &bare, m->base_page_shift, 0, memory, NULL, NULL, NULL);
   for (uint64_t i = 0; i < n; i++)
      order[i] = i;
   for (uint64_t i = n; i-- > 1;) {
      const uint64_t k = support_next(&seed) % (i + 1), swapped = order[i];
      order[i] = order[k];
      order[k] = swapped;
   }
   enum { WARM = 2, ROUNDS = 1 };
   for (unsigned round = 0; round < WARM + ROUNDS; round++) {
      for (uint64_t i = 0; i < n; i++, now += 2) {
         const int second = order[i] >= n / 2 && user != other;
         const tlb_reference r = {
            .page = UINT64_C(0x10000000) + (order[i] << stride),
            .now = now,
            .user = (uint8_t)(second ? other : user),
            .page_shift = (uint8_t)m->base_page_shift,
            .block_shift = (uint8_t)m->base_page_shift,
         };
         const tlb_outcome o = tlb_translate(h, &r);
         if (round < WARM)
            continue;
         unsigned level = 0;
         while (level < TLB_MAX_LEVELS && (o.missed >> level & 1) != 0)
            level++;
         /* Stores of some processors begin behind the first level. */
         sum += o.walked ? c->walk : c->hit[level];
      }
   }
   free(h);
   free(order);
   free(memory);
   return sum / (double)(ROUNDS * n);
}

static inline void support_pages_curve(support_curve *out, const tlb_machine *m, TgAsk ask,
                                       unsigned stride, uint64_t most, const support_costs *c)
{
   static const tlb_user user[] = { TLB_LOAD, TLB_STORE, TLB_FETCH };
   uint64_t pages[SUPPORT_POINTS], seed = c->seed * 31 + stride * 7 + (uint64_t)ask;
   memset(out, 0, sizeof *out);
   out->curve = (TgCurve){ stride > 0 ? TG_CURVE_STRIDE : TG_CURVE_PAGES, ask, m->base_page_shift,
                           stride, 1, support_pages(most, stride > 0 ? 10 : 20, pages),
                           out->point };
   for (size_t i = 0; i < out->curve.n; i++) {
      out->point[i].pages = pages[i];
      support_noise(&out->point[i],
                    support_chase(m, user[ask], user[ask], pages[i], stride, c)
                       + support_cache((double)pages[i]),
                    c, &seed);
   }
}

/* A shipped machine, read. */
static inline void support_machine(unsigned i, tlb_machine *out)
{
   const tlb_builtin *const b = tlb_builtin_at(i);
   uint32_t line;
   tlb_reason why;
   assert_true(b && tlb_machine_parse(b->text, b->length, out, &line, &why));
}

#endif
