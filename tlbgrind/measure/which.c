/* Finds the shipped machines that fit the facts best. */

#include <math.h>
#include <string.h>

#include "measure/facts.h"
#include "measure/machine_levels.h"
#include "sim/machine/builtin.h"
#include "sim/machine/machine_file.h"

/* Entries tell processors apart, cycles hardly: they depend on the measurement, too. */
static const double weight_entries = 4, weight_ways = 2, weight_cycles = 1;

typedef struct {
   double sum, of;
   unsigned compared, agree;
} Score;

/* `how` from 0, differs, to 1, agrees. */
static void count(Score *s, double weight, double how)
{
   s->sum += weight * how;
   s->of += weight;
   s->compared++;
   s->agree += how >= 0.99;
}

static double closeness(double measured, double machine)
{
   const double apart = fabs(log(measured / machine));
   return apart <= log(1.1) ? 1 : fmax(0, 1 - apart / log(2));
}

static double cycles_closeness(double measured, const TgMachineLevel *l)
{
   const double apart = fmax(fmax(l->least - measured, measured - l->most), 0);
   return apart <= 2 ? 1 : fmax(0, 1 - (apart - 2) / 8);
}

static void compare(const TgSide *s, const tlb_machine *m, Score *score)
{
   TgMachineLevel level[TLB_MAX_LEVELS];
   const unsigned n = tg_machine_levels(m, s->ask, s->page_shift, level);
   if (n == 0 || s->n_levels == 0)
      return;
   for (unsigned i = 0; i < n || i < s->n_levels; i++) {
      if (i >= n || i >= s->n_levels) {
         count(score, weight_entries, 0);
         continue;
      }
      const TgLevel *const l = &s->level[i];
      if (l->entries.sure != TG_NOT_TOLD)
         count(score, weight_entries, closeness(l->entries.value, level[i].pages));
      if (l->ways.sure != TG_NOT_TOLD && !level[i].ways_unknown) {
         const int full = l->ways.value == l->entries.value;
         count(score, weight_ways, full == level[i].full
                                   && (full || l->ways.value == level[i].ways));
      }
      if (i > 0 && level[i].most != TLB_UNKNOWN && !level[i].cycles_unknown)
         count(score, weight_cycles, cycles_closeness(s->level[i - 1].after - s->level[0].before,
                                                      &level[i]));
   }
}

/* Whether any machine has that instruction set: else it says nothing. */
static int known_isa(const char *isa)
{
   static tlb_machine m;
   for (unsigned i = 0; *isa != '\0' && i < tlb_n_builtins(); i++) {
      const tlb_builtin *const b = tlb_builtin_at(i);
      uint32_t line;
      tlb_reason why;
      if (tlb_machine_parse(b->text, b->length, &m, &line, &why) && strcmp(m.isa, isa) == 0)
         return 1;
   }
   return 0;
}

static void insert(TgFit *fit, unsigned *n, const TgFit *new)
{
   unsigned at = *n;
   while (at > 0 && fit[at - 1].score < new->score)
      at--;
   if (at == TG_MAX_FITS)
      return;
   const unsigned last = *n < TG_MAX_FITS ? (*n)++ : TG_MAX_FITS - 1;
   memmove(&fit[at + 1], &fit[at], (last - at) * sizeof *fit);
   fit[at] = *new;
}

unsigned tg_which(const TgFacts *f, TgFit out[TG_MAX_FITS])
{
   static tlb_machine m;
   const int isa = known_isa(f->isa);
   unsigned n = 0;
   for (unsigned i = 0; i < tlb_n_builtins(); i++) {
      const tlb_builtin *const b = tlb_builtin_at(i);
      uint32_t line;
      tlb_reason why;
      Score score = { 0, 0, 0, 0 };
      if (!tlb_machine_parse(b->text, b->length, &m, &line, &why)
          || (isa && strcmp(m.isa, f->isa) != 0))
         continue;
      for (unsigned s = 0; s < f->n_sides; s++)
         compare(&f->side[s], &m, &score);
      if (score.compared > 0)
         insert(out, &n, &(TgFit){ b->name, score.sum / score.of, score.compared, score.agree });
   }
   return n;
}

unsigned tg_which_ties(const TgFit *fit, unsigned n)
{
   unsigned ties = 0;
   while (ties < n && fit[ties].score > fit[0].score - 1e-9)
      ties++;
   return ties;
}
