/* Reads all curves of a machine into its facts, each by the file of its subject. */

#include <stdio.h>
#include <string.h>

#include "measure/figure.h"

static const TgCurve *find(const TgCurve *curve, size_t n, TgCurveKind kind, TgAsk ask,
                           unsigned page_shift)
{
   for (size_t i = 0; i < n; i++) {
      if (curve[i].kind == kind && curve[i].ask == ask && curve[i].page_shift == page_shift)
         return &curve[i];
   }
   return NULL;
}

/* The caches as that kind of reference sees them; at worst as loads do. */
static const TgCurve *control_of(const TgCurve *curve, size_t n, const TgCurve *of)
{
   const TgAsk asks[] = { of->ask, TG_ASK_LOAD };
   for (unsigned i = 0; i < sizeof asks / sizeof *asks; i++) {
      const TgCurve *const found = find(curve, n, TG_CURVE_CONTROL, asks[i], of->page_shift);
      if (found)
         return found;
      for (size_t k = 0; k < n; k++) {
         if (curve[k].kind == TG_CURVE_CONTROL && curve[k].ask == asks[i])
            return &curve[k];
      }
   }
   return NULL;
}

/* Processors guess fetches ahead, by tables with ends of their own. Behind the first level a step
   is that of translations only if strides find ways in it, or loads fill it, too. */
static void doubt_guesses(TgFacts *f)
{
   for (unsigned i = 0; i < f->n_sides; i++) {
      TgSide *const side = &f->side[i];
      for (unsigned l = 1; side->ask == TG_ASK_FETCH && l < side->n_levels; l++) {
         int shared = 0;
         for (unsigned k = 0; k < f->n_shares; k++)
            shared = shared || (f->share[k].ask == TG_ASK_FETCH && f->share[k].level == l
                                && f->share[k].share == TG_SHARE_YES);
         if (!shared && side->level[l].ways.sure == TG_NOT_TOLD)
            tg_figure_not_told(&side->level[l].entries,
                               "a step that may be that of guesses where fetches go");
      }
   }
}

/* Whether a level of stores can be that of loads. In a virtual machine the first pages miss long
   before all entries are taken, and not at the same number in each run. */
static int can_be_one(const TgLevel *stores, const TgLevel *loads)
{
   const double begins = (double)stores->fits;
   if (loads->entries.sure != TG_NOT_TOLD && begins <= 1.15 * loads->entries.value
       && begins >= 0.45 * loads->entries.value)
      return 1;
   return begins <= 1.25 * (double)loads->fits && (double)loads->fits <= 1.25 * begins;
}

/* The first step of stores is small beside their barrier, and may not be seen. Then what looks like
   it is that of the second level. */
static void add_unseen(TgSide *stores, const TgSide *loads)
{
   if (stores->n_levels == TG_SIDE_LEVELS
       || (double)stores->level[0].fits < 4 * loads->level[0].entries.value
       || !can_be_one(&stores->level[0], &loads->level[1]))
      return;
   memmove(&stores->level[1], &stores->level[0], stores->n_levels * sizeof *stores->level);
   stores->n_levels++;
   TgLevel *const first = &stores->level[0];
   const char *const why = "its step is not seen";
   tg_figure_not_told(&first->entries, why);
   tg_figure_not_told(&first->ways, why);
   tg_figure_not_told(&first->sets, why);
   tg_figure_not_told(&first->miss_cycles, why);
   tg_figure_not_told(&first->overlap, why);
   first->after = first->before;
   first->behind = TG_BEHIND_NOT_TOLD;
   snprintf(first->behind_why, sizeof first->behind_why, "%s", why);
}

/* Behind the first level, steps at which loads have none are of caches and of stores themselves,
   and there is one for each of the levels of loads. */
static void drop_others(TgSide *stores, const TgSide *loads)
{
   unsigned kept = 1, of = 1;
   for (unsigned l = 1; l < stores->n_levels; l++) {
      unsigned k = of;
      while (k < loads->n_levels && !can_be_one(&stores->level[l], &loads->level[k]))
         k++;
      if (k == loads->n_levels)
         continue;
      stores->level[kept++] = stores->level[l];
      of = k + 1;
   }
   stores->n_levels = kept;
}

/* Stores have no CONFLICT curves. Where their step behind the first level lies where that of loads
   can lie, it is that of the same array or of one like it. */
static void as_of_loads(TgFacts *f)
{
   const TgSide *const loads = tg_facts_side(f, TG_ASK_LOAD, f->base_page_shift);
   for (unsigned i = 0; loads && i < f->n_sides; i++) {
      TgSide *const s = &f->side[i];
      if (s->ask != TG_ASK_STORE || s->page_shift != f->base_page_shift || s->n_levels < 1
          || loads->n_levels < 2)
         continue;
      const TgLevel *const of = &loads->level[1];
      add_unseen(s, loads);
      drop_others(s, loads);
      if (s->n_levels < 2 || !can_be_one(&s->level[1], of))
         continue;
      TgLevel *const l = &s->level[1];
      if (of->entries.sure == TG_NOT_TOLD || of->sets.sure == TG_NOT_TOLD) {
         tg_figure_not_told(&l->entries, "not told of loads, whose misses begin at as many pages");
         continue;
      }
      tg_figure_tell(&l->entries, of->entries.value, TG_LIKELY,
                     "as of loads, for misses begin between %llu and %llu pages",
                     (unsigned long long)l->fits, (unsigned long long)l->misses);
      tg_figure_tell(&l->ways, of->ways.value, TG_LIKELY, "as of loads");
      tg_figure_tell(&l->sets, of->sets.value, TG_LIKELY, "as of loads");
   }
}

/* Where fetches are guessed ahead, a part of the misses is hidden, and what is behind the last
   entry looks like a slope whatever the replacement is. The same holds for a step that is not
   sharp. */
static void doubt_slopes(TgSide *side)
{
   static const double sharp = 1.04;
   for (unsigned l = 0; l < side->n_levels; l++) {
      TgLevel *const level = &side->level[l];
      const int is_fetch = side->ask == TG_ASK_FETCH;
      if (level->behind == TG_BEHIND_NOT_TOLD
          || (!is_fetch && (double)level->misses <= sharp * (double)level->fits + 1))
         continue;
      level->behind = TG_BEHIND_NOT_TOLD;
      snprintf(level->behind_why, sizeof level->behind_why, "%s",
               is_fetch ? "a part of what fetches miss is hidden" : "the step is not sharp");
   }
}

/* Of few entries each counts, and some may be taken by pages that are none of ours. Without the
   ways they are never sure, and told only where all pages miss at once, or nearly so. */
static void doubt_few(TgSide *side)
{
   static const double few = 32, at_once = 1.1;
   for (unsigned l = 0; l < side->n_levels; l++) {
      TgLevel *const level = &side->level[l];
      if ((double)level->fits >= few || level->ways.sure != TG_NOT_TOLD
          || level->entries.sure == TG_NOT_TOLD)
         continue;
      level->entries.sure = TG_LIKELY;
      if (level->full > at_once * (double)level->misses)
         tg_figure_not_told(&level->entries,
                            "it is of few entries, some of which others may take, and no cliff");
   }
}

static void read_side(const TgCurve *curve, size_t n, const TgCurve *pages, TgSide *out)
{
   const TgCurve *const control = control_of(curve, n, pages);
   tg_levels_read(pages, control, out);
   tg_sets_read(curve, n, pages, control, out);
   tg_conflicts_read(curve, n, out);
   doubt_few(out);
   for (unsigned l = 0; l < out->n_levels; l++) {
      tg_replacement_read(pages, control, &out->level[l]);
      if (l > 0)
         tg_overlap_read(curve, n, out, l - 1, &out->level[l].overlap);
   }
   doubt_slopes(out);
}

/* Where the end of the last level is not seen, a step is that of the level in front: its misses are
   found there, for much less than what walks of loads cost. */
static void doubt_walks(TgFacts *f)
{
   static const double part = 0.4;
   const TgSide *const loads = tg_facts_side(f, TG_ASK_LOAD, f->base_page_shift);
   if (!loads || loads->n_levels == 0 || !loads->last_walks)
      return;
   const double walk = loads->level[loads->n_levels - 1].miss_cycles.value;
   for (unsigned i = 0; i < f->n_sides; i++) {
      TgSide *const s = &f->side[i];
      if (s->ask != TG_ASK_LOAD && s->page_shift == f->base_page_shift && s->n_levels > 0
          && s->n_levels < loads->n_levels
          && s->level[s->n_levels - 1].miss_cycles.value < part * walk)
         s->last_walks = false;
   }
}

static void read_shares(const TgCurve *curve, size_t n, TgFacts *out)
{
   static const TgAsk others[] = { TG_ASK_FETCH, TG_ASK_STORE };
   const TgSide *const loads = tg_facts_side(out, TG_ASK_LOAD, out->base_page_shift);
   for (unsigned i = 0; loads && i < sizeof others / sizeof *others; i++) {
      const TgSide *const other = tg_facts_side(out, others[i], out->base_page_shift);
      const TgCurve *const mixed = find(curve, n, TG_CURVE_MIXED, others[i], out->base_page_shift);
      if (!other || !mixed)
         continue;
      for (unsigned l = 0; l < loads->n_levels && l < other->n_levels; l++)
         tg_share_read(mixed, control_of(curve, n, mixed), loads, other, l,
                       &out->share[out->n_shares++]);
   }
}

static void read_walks(const TgCurve *curve, size_t n, TgFacts *out)
{
   const unsigned line = out->line_bytes > 0 ? out->line_bytes : 64;
   const TgCurve *const caches = find(curve, n, TG_CURVE_CONTROL, TG_ASK_LOAD,
                                      out->base_page_shift);
   out->n_caches = tg_caches_read(caches, line, out->given, out->n_given, out->cache);
   for (unsigned i = 0; i < out->n_sides && out->n_walks < 2; i++) {
      const TgSide *const s = &out->side[i];
      if (s->ask != TG_ASK_LOAD)
         continue;
      TgWalkFacts *const w = &out->walk[out->n_walks++];
      tg_walk_read(find(curve, n, TG_CURVE_TABLES, TG_ASK_LOAD, s->page_shift), line, s, out->cache,
                   out->n_caches, tg_in_pieces(out), w);
      if (s->n_levels > 0 && s->last_walks)
         tg_overlap_read(curve, n, s, s->n_levels - 1, &w->overlap);
   }
}

static void read_large(const TgCurve *curve, size_t n, TgFacts *out)
{
   const TgCurve *const pages = find(curve, n, TG_CURVE_PAGES, TG_ASK_LOAD, out->base_page_shift);
   for (size_t i = 0; pages && i < n && out->n_large < TG_MAX_LARGE; i++) {
      if (curve[i].kind == TG_CURVE_PIECES && curve[i].page_shift > out->base_page_shift)
         tg_pieces_read(&curve[i], pages, control_of(curve, n, pages),
                        tg_facts_side(out, TG_ASK_LOAD, out->base_page_shift),
                        &out->large[out->n_large++]);
   }
}

void tg_facts_read(const TgCurve *curve, size_t n, TgFacts *out)
{
   unsigned smallest = 64;
   out->n_sides = out->n_shares = out->n_caches = out->n_walks = out->n_large = 0;
   for (size_t i = 0; i < n; i++) {
      if (curve[i].kind != TG_CURVE_PAGES)
         continue;
      if (curve[i].page_shift < smallest)
         smallest = curve[i].page_shift;
      if (out->n_sides < TG_MAX_SIDES && !tg_facts_side(out, curve[i].ask, curve[i].page_shift))
         read_side(curve, n, &curve[i], &out->side[out->n_sides++]);
   }
   if (out->base_page_shift == 0 && smallest < 64)
      out->base_page_shift = smallest;
   as_of_loads(out);
   read_shares(curve, n, out);
   doubt_guesses(out);
   doubt_walks(out);
   read_large(curve, n, out);
   read_walks(curve, n, out);
}
