/* Prints what was found. See measure/report.h.
   Part of tlbgrind.  GPL-2.0-or-later; see COPYING. */

#include <math.h>
#include <stdio.h>

#include "measure/report.h"

static const char *const asks[] = { "loads", "stores", "fetches" };
static const char *const sures[] = { "not told", "likely", "sure" };

/* "4K" */
typedef struct {
   char text[24];
} Size;

static Size size_of(double bytes)
{
   static const char *const units[] = { "", "K", "M", "G", "T" };
   unsigned unit = 0;
   Size s;
   while (bytes >= 1024.0 && unit < 4) {
      bytes /= 1024.0;
      unit++;
   }
   snprintf(s.text, sizeof s.text, bytes < 10.0 && bytes != floor(bytes) ? "%.1f%s" : "%.0f%s",
            bytes, units[unit]);
   return s;
}

/* --- a row --- */

static void row(const char *what, const char *value, const char *sure, const char *why)
{
   printf("  %-22s %-12s %-7s %s\n", what, value, sure, why);
}

static void figure_row(const char *what, const TgFigure *g, const char *form)
{
   char value[32];
   if (g->sure == TG_NOT_TOLD) {
      row(what, "not told", "", g->why);
   } else {
      snprintf(value, sizeof value, form, g->value);
      row(what, value, sures[g->sure], g->why);
   }
}

/* --- levels --- */

static void ways_row(const TgLevel *l)
{
   if (l->ways.sure != TG_NOT_TOLD && l->ways.value == l->entries.value)
      row("  ways", "full", sures[l->ways.sure], l->ways.why);
   else
      figure_row("  ways", &l->ways, "%.0f");
}

static void level_rows(const TgLevel *l, unsigned number, bool last, bool walks)
{
   static const char *const behinds[] = { "not told", "a cliff", "a slope" };
   static const char *const indices[] = { "", "modulo", "xor" };
   char what[32];
   snprintf(what, sizeof what, "level %u: entries", number);
   figure_row(what, &l->entries, "%.0f");
   ways_row(l);
   figure_row("  sets", &l->sets, "%.0f");
   if (l->index != TG_INDEX_NOT_TOLD)
      row("  index", indices[l->index], "", "");
   row("  behind the last entry", behinds[l->behind], "", l->behind_why);
   figure_row(!last ? "  cycles of a miss" : walks ? "  cycles of a walk" : "  cycles of a miss",
              &l->miss_cycles, "%.1f");
   if (number > 1)
      figure_row("  overlap of hits", &l->overlap, "%.1f");
}

static void side_rows(const TgSide *s)
{
   printf("\n%s, pages of %s\n", asks[s->ask], size_of(exp2((double)s->page_shift)).text);
   if (s->n_levels == 0)
      row("levels", "not told", "", s->why);
   for (unsigned i = 0; i < s->n_levels; i++)
      level_rows(&s->level[i], i + 1, i + 1 == s->n_levels, s->last_walks);
   if (s->n_levels > 0 && !s->last_walks)
      row("walks", "not seen", "", s->why);
}

/* --- walks --- */

static void walk_rows(const TgFacts *f, const TgWalkFacts *w)
{
   char what[40], value[32];
   printf("\nwalks for pages of %s\n", size_of(exp2((double)w->page_shift)).text);
   figure_row("cycles, tables near", &w->near_cycles, "%.1f");
   figure_row("overlap", &w->overlap, "%.1f");
   for (unsigned i = 0; i <= f->n_caches && i <= TG_MAX_CACHES; i++) {
      if (i < f->n_caches)
         snprintf(what, sizeof what, "more from cache %u", i + 1);
      else
         snprintf(what, sizeof what, "more from memory");
      if (i < w->n_behind)
         figure_row(what, &w->behind[i], "%.1f");
   }
   for (unsigned i = 0; i < w->n_costs; i++) {
      const Size tables = size_of((double)w->cost[i].table_bytes);
      snprintf(what, sizeof what, "with %s of tables", tables.text);
      snprintf(value, sizeof value, "%.1f", w->cost[i].cycles);
      row(what, value, "", "");
   }
}

/* --- large pages --- */

static void large_rows(const TgLargeFacts *l)
{
   static const char *const wholes[] = { "not told", "whole", "in pieces" };
   printf("\npages of %s\n", size_of(exp2((double)l->page_shift)).text);
   row("translated", wholes[l->whole], "", l->why);
   if (l->whole == TG_IN_PIECES)
      figure_row("cycles of a walk", &l->walk_cycles, "%.1f");
}

void tg_report_facts(const TgFacts *f)
{
   static const char *const shares[] = { "not told", "no", "yes" };
   char what[64];
   for (unsigned i = 0; i < f->n_sides; i++)
      side_rows(&f->side[i]);
   if (f->n_shares > 0)
      printf("\narrays that are shared with loads\n");
   for (unsigned i = 0; i < f->n_shares; i++) {
      const TgShareFacts *const s = &f->share[i];
      snprintf(what, sizeof what, "%s, level %u", asks[s->ask], s->level + 1);
      row(what, shares[s->share], "", s->why);
   }
   if (f->n_caches > 0)
      printf("\ncaches of data\n");
   for (unsigned i = 0; i < f->n_caches; i++) {
      const TgFigure *const bytes = &f->cache[i].bytes;
      snprintf(what, sizeof what, "cache %u", i + 1);
      row(what, bytes->sure == TG_NOT_TOLD ? "not told" : size_of(bytes->value).text,
          bytes->sure == TG_NOT_TOLD ? "" : sures[bytes->sure], bytes->why);
      figure_row("  cycles", &f->cache[i].found, "%.1f");
   }
   for (unsigned i = 0; i < f->n_walks; i++)
      walk_rows(f, &f->walk[i]);
   for (unsigned i = 0; i < f->n_large; i++)
      large_rows(&f->large[i]);
}

/* --- words of others --- */

void tg_report_words(const TgFacts *f)
{
   const TgSide *const loads = tg_facts_side(f, TG_ASK_LOAD, f->base_page_shift);
   if (loads == NULL || loads->n_levels == 0)
      return;
   printf("\nTLB_LEVELS=%u\n", loads->n_levels);
   for (unsigned i = 0; i < loads->n_levels; i++) {
      const TgLevel *const l = &loads->level[i];
      if (l->entries.sure != TG_NOT_TOLD)
         printf("TLB_LEVEL%u_ENTRIES=%.0f\n", i + 1, l->entries.value);
      if (i + 1 < loads->n_levels && l->miss_cycles.sure != TG_NOT_TOLD)
         printf("TLB_LEVEL%u_LATENCY_CYCLES=%.0f\n", i + 2, l->miss_cycles.value);
   }
   for (unsigned i = 0; i < f->n_walks; i++) {
      const TgWalkFacts *const w = &f->walk[i];
      if (w->page_shift == f->base_page_shift && w->near_cycles.sure != TG_NOT_TOLD) {
         printf("TLB_MISS_LATENCY_CYCLES=%.0f\n", w->near_cycles.value);
         return;
      }
   }
   const TgLevel *const last = &loads->level[loads->n_levels - 1];
   if (loads->last_walks && last->miss_cycles.sure != TG_NOT_TOLD)
      printf("TLB_MISS_LATENCY_CYCLES=%.0f\n", last->miss_cycles.value);
}

/* --- beside other machines --- */

void tg_report_against(const TgFacts *f, const tlb_machine *m)
{
   static const char *const verdicts[] = { "agrees", "differs", "not seen" };
   static TgDifference d[TG_MAX_DIFFERENCES];
   unsigned n_of[3] = { 0 };
   const unsigned n = tg_against(f, m, d);
   printf("\nbeside %s (%s)\n", m->name, m->title);
   printf("  %-36s %-12s %-12s %-9s %s\n", "", "measured", "there", "", "");
   for (unsigned i = 0; i < n && i < TG_MAX_DIFFERENCES; i++) {
      printf("  %-36s %-12s %-12s %-9s %s\n", d[i].what, d[i].measured, d[i].machine,
             verdicts[d[i].verdict], d[i].why);
      n_of[d[i].verdict]++;
   }
   printf("  %u agree, %u differ, %u were not seen\n", n_of[TG_AGREES], n_of[TG_DIFFERS],
          n_of[TG_NOT_SEEN]);
}

void tg_report_which(const TgFacts *f)
{
   TgFit fit[TG_MAX_FITS];
   const unsigned n = tg_which(f, fit), ties = tg_which_ties(fit, n);
   if (n == 0 || ties == 0) {
      printf("\nWhich shipped machine fits cannot be told.\n");
      return;
   }
   printf("\nshipped machines that fit best\n");
   for (unsigned i = 0; i < n; i++)
      printf("  %-22s %3.0f %%  %u of %u figures agree%s\n", fit[i].name, 100.0 * fit[i].score,
             fit[i].agree, fit[i].compared, i < ties ? ", fits best" : "");
}
