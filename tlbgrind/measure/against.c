/* Puts the facts beside a machine: what agrees, what differs, what is not seen. */

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "measure/facts.h"
#include "measure/machine_levels.h"

static const char *const asks[TG_N_ASK] = { "loads", "stores", "fetches" };

/* What may differ without being a difference. */
static const double entries_part = 1.1, cycles_apart = 2, cycles_part = 1.25, overlap_part = 1.25;

typedef struct {
   TgDifference *out;
   unsigned n;
} Rows;

static TgDifference *row(Rows *r, const char *why, const char *format, ...)
{
   static TgDifference beyond;
   TgDifference *const d = r->n < TG_MAX_DIFFERENCES ? &r->out[r->n++] : &beyond;
   va_list arguments;
   memset(d, 0, sizeof *d);
   va_start(arguments, format);
   vsnprintf(d->what, sizeof d->what, format, arguments);
   va_end(arguments);
   snprintf(d->why, sizeof d->why, "%s", why);
   d->verdict = TG_NOT_SEEN;
   return d;
}

static const char *pages_of(unsigned shift)
{
   static char text[16];
   static const char unit[] = "BKMGT";
   snprintf(text, sizeof text, "%u%c", 1u << shift % 10, unit[shift / 10 < 5 ? shift / 10 : 4]);
   return text;
}

static void set(char text[48], const TgFigure *f, const char *format)
{
   if (f->sure == TG_NOT_TOLD)
      snprintf(text, 48, "not told");
   else
      snprintf(text, 48, format, f->value);
}

static void judge(TgDifference *d, const TgFigure *f, int machine_known, int agrees)
{
   if (f->sure != TG_NOT_TOLD && machine_known)
      d->verdict = agrees ? TG_AGREES : TG_DIFFERS;
}

static int near(double measured, double least, double most)
{
   return (measured >= least - cycles_apart && measured <= most + cycles_apart)
          || (measured >= least / cycles_part && measured <= most * cycles_part);
}

static void cycles_text(char text[48], uint32_t least, uint32_t most, int assumed)
{
   if (most == TLB_UNKNOWN)
      snprintf(text, 48, "unknown");
   else if (least == most)
      snprintf(text, 48, "%s%u", assumed ? "assumed " : "", most);
   else
      snprintf(text, 48, "%s%u..%u", assumed ? "assumed " : "", least, most);
}

static void hit_row(Rows *r, const TgSide *s, unsigned i, const TgMachineLevel *l)
{
   TgFigure f = s->level[i - 1].miss_cycles;
   f.value = s->level[i - 1].after - s->level[0].before;
   TgDifference *const d = row(r, f.why, "%s %s, level %u: cycles of a hit", asks[s->ask],
                               pages_of(s->page_shift), i + 1);
   set(d->measured, &f, "%.1f");
   cycles_text(d->machine, l->least, l->most, l->cycles_unknown);
   judge(d, &f, l->most != TLB_UNKNOWN && !l->cycles_unknown, near(f.value, l->least, l->most));
}

static void overlap_row(Rows *r, const TgFigure *f, uint32_t tenths, const char *what)
{
   TgDifference *const d = row(r, f->why, "%s: overlap", what);
   set(d->measured, f, "%.1f");
   if (tenths == 0)
      snprintf(d->machine, sizeof d->machine, "unknown");
   else
      snprintf(d->machine, sizeof d->machine, "%u.%u", tenths / 10, tenths % 10);
   judge(d, f, tenths != 0, fabs(log(f->value * 10 / (tenths ? tenths : 1))) <= log(overlap_part));
}

static void level_rows(Rows *r, const TgSide *s, unsigned i, const TgMachineLevel *l)
{
   const TgLevel *const m = &s->level[i];
   TgDifference *d = row(r, m->entries.why, "%s %s, level %u: entries", asks[s->ask],
                         pages_of(s->page_shift), i + 1);
   set(d->measured, &m->entries, "%.0f");
   snprintf(d->machine, sizeof d->machine, "%s%u", l->entries_unknown ? "assumed " : "", l->pages);
   judge(d, &m->entries, !l->entries_unknown,
         fabs(log(m->entries.value / l->pages)) <= log(entries_part));

   const int full = m->ways.value == m->entries.value;
   d = row(r, m->ways.why, "%s %s, level %u: ways", asks[s->ask], pages_of(s->page_shift), i + 1);
   set(d->measured, &m->ways, full && m->ways.sure != TG_NOT_TOLD ? "full" : "%.0f");
   if (l->full)
      snprintf(d->machine, sizeof d->machine, "%sfull", l->ways_unknown ? "assumed " : "");
   else if (l->ways > 0)
      snprintf(d->machine, sizeof d->machine, "%s%u", l->ways_unknown ? "assumed " : "", l->ways);
   else
      snprintf(d->machine, sizeof d->machine, "of several arrays");
   judge(d, &m->ways, l->ways > 0 && !l->ways_unknown,
         full ? l->full : m->ways.value == l->ways);
   if (i > 0)
      hit_row(r, s, i, l);
}

static void side_rows(Rows *r, const TgSide *s, const tlb_machine *m)
{
   TgMachineLevel level[TLB_MAX_LEVELS];
   const unsigned n = tg_machine_levels(m, s->ask, s->page_shift, level);
   for (unsigned i = 0; i < n || i < s->n_levels; i++) {
      if (i < n && i < s->n_levels) {
         level_rows(r, s, i, &level[i]);
         continue;
      }
      const int measured = i < s->n_levels;
      TgDifference *const d = row(r, measured ? s->level[i].entries.why : s->why,
                                  "%s %s, level %u: entries", asks[s->ask],
                                  pages_of(s->page_shift), i + 1);
      if (measured)
         set(d->measured, &s->level[i].entries, "%.0f");
      else
         snprintf(d->measured, sizeof d->measured, s->n_levels > 0 ? "no such step" : "not told");
      if (measured)
         snprintf(d->machine, sizeof d->machine, n > 0 ? "no such level" : "no such pages");
      else
         snprintf(d->machine, sizeof d->machine, "%u", level[i].pages);
      /* A step that is missing may lie where a cache's lies: it is not seen. */
      if (measured && n > 0 && s->level[i].entries.sure == TG_SURE)
         d->verdict = TG_DIFFERS;
   }
}

static void walk_rows(Rows *r, const TgWalkFacts *w, const tlb_machine *m)
{
   const uint32_t most = m->walk_cycles;
   const uint32_t least = most == TLB_UNKNOWN ? 0 : most - m->walk_spread;
   TgDifference *const d = row(r, w->near_cycles.why, "walk %s: cycles, tables near",
                               pages_of(w->page_shift));
   set(d->measured, &w->near_cycles, "%.1f");
   cycles_text(d->machine, least, most, m->walk_cycles_unknown);
   judge(d, &w->near_cycles, most != TLB_UNKNOWN && !m->walk_cycles_unknown,
         near(w->near_cycles.value, least, most));
   char what[32];
   snprintf(what, sizeof what, "walk %s", pages_of(w->page_shift));
   overlap_row(r, &w->overlap, m->walk_overlap_unknown ? 0 : m->walk_overlap, what);
}

static void share_row(Rows *r, const TgShareFacts *s, unsigned page_shift, const tlb_machine *m)
{
   static const char *const words[] = { "not told", "no", "yes" };
   TgMachineLevel level[TLB_MAX_LEVELS];
   if (s->ask != TG_ASK_FETCH)
      return;
   const unsigned n = tg_machine_levels(m, s->ask, page_shift, level);
   TgDifference *const d = row(r, s->why, "level %u: shared by loads and fetches", s->level + 1);
   snprintf(d->measured, sizeof d->measured, "%s", words[s->share]);
   if (s->level >= n) {
      snprintf(d->machine, sizeof d->machine, "no such level");
      return;
   }
   const int shared = level[s->level].with_fetches;
   snprintf(d->machine, sizeof d->machine, "%s", shared ? "yes" : "no");
   if (s->share != TG_SHARE_NOT_TOLD)
      d->verdict = (s->share == TG_SHARE_YES) == shared ? TG_AGREES : TG_DIFFERS;
}

unsigned tg_against(const TgFacts *f, const tlb_machine *m, TgDifference out[TG_MAX_DIFFERENCES])
{
   Rows r = { out, 0 };
   for (unsigned i = 0; i < f->n_sides; i++)
      side_rows(&r, &f->side[i], m);
   for (unsigned i = 0; i < f->n_shares; i++)
      share_row(&r, &f->share[i], f->base_page_shift, m);
   for (unsigned i = 0; i < f->n_walks; i++) {
      if (f->walk[i].page_shift == f->base_page_shift)
         walk_rows(&r, &f->walk[i], m);
   }
   return r.n;
}
