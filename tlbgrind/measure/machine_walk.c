/* Makes a machine's walk and caches of facts: what a walk costs, and more where its references find
   the tables farther away. */

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "measure/to_machine_parts.h"

/* --- steps --- */

static void usual_steps(tlb_machine *m)
{
   static const unsigned shifts[] = { 39, 30, 21, 12 };
   const int by_9 = strcmp(m->isa, "x86-64") == 0 || strcmp(m->isa, "aarch64") == 0
                    || strcmp(m->isa, "riscv64") == 0;
   if (!by_9 || m->base_page_shift != 12)
      return;
   /* RISC-V's usual Sv39 has three. */
   const unsigned first = strcmp(m->isa, "riscv64") == 0;
   for (unsigned i = first; i < 4; i++) {
      tlb_walk_step *const s = &m->walk[m->n_walk_steps++];
      s->shift = shifts[i];
      s->cache_unknown = 1;
   }
}

static void add_steps(tlb_machine *m, const tlb_machine *known)
{
   if (!known || known->n_walk_steps == 0 || known->base_page_shift != m->base_page_shift) {
      usual_steps(m);
      return;
   }
   m->n_walk_steps = known->n_walk_steps;
   memcpy(m->walk, known->walk, sizeof m->walk);
}

/* --- caches --- */

static void add_source(char *source, const char *what, const char *why)
{
   const size_t n = strlen(source);
   snprintf(source + n, TLB_SOURCE_SIZE - n, "%s%s%s", n > 0 ? "; " : "", what, why);
}

static void set_cache(tlb_table_cache *out, const TgCacheFacts *c, const TgFacts *f, unsigned i)
{
   static const char *const names[TG_MAX_CACHES] = { "L1D", "L2", "L3", "L4" };
   memset(out, 0, sizeof *out);
   snprintf(out->name, sizeof out->name, "%s", names[i]);
   out->line = f->line_bytes > 0 ? f->line_bytes : TLB_USUAL_LINE;
   out->size = tg_whole_number(c->about, out->line, TLB_MOST_CACHE_SIZE);
   out->size_unknown = c->bytes.sure != TG_SURE;
   out->ways = c->ways > 0 && c->ways <= TLB_MOST_CACHE_WAYS ? c->ways : 8;
   out->ways_unknown = c->ways != out->ways;
   out->share = 50;
   out->share_unknown = 1;
   add_source(out->source, "size: ", c->bytes.why);
}

/* What the caches behind the nearest are told from. */
typedef struct {
   const TgWalkFacts *walks;
   unsigned references; /* of each walk that leave the nearest cache together: a guest's walk has
                           one to its own tables and one to the hypervisor's */
   unsigned nearest;    /* the cache that had the tables of the walks that the others are compared
                           with */
   double found;        /* cycles of a reference to data there */
} Yardstick;

static Yardstick yardstick_of(const tlb_machine *m, const TgFacts *f, const TgWalkFacts *w)
{
   Yardstick y = { w, m->host_page_shift != 0 ? 2 : 1, 0, 0 };
   while (y.nearest + 1 < f->n_caches && w->near_bytes > f->cache[y.nearest].about)
      y.nearest++;
   y.found = f->cache[y.nearest].found.value;
   return y;
}

/* Two ways of measuring the same agree. */
static int agree(double a, double b)
{
   static const double part = 1.25, cycles = 1;
   return fmax(a, b) <= part * fmin(a, b) + cycles;
}

/* By walks, and what data cost more there: where they differ, one of them or anything between. And
   up to what walks cost in half of the rounds. */
static void set_measured(tlb_table_cache *out, const Yardstick *y, unsigned i, const TgFigure *data)
{
   const double by_walks = y->walks->behind[i].value / y->references;
   const double by_data = data->value - y->found;
   double least = by_walks, most = by_walks;
   add_source(out->source, "measured: ", y->walks->behind[i].why);
   if (y->references > 1 && by_walks > 0)
      add_source(out->source, "for two references, one to the hypervisor's tables", "");
   if (i > y->nearest && data->sure != TG_NOT_TOLD && by_data >= 0 && !agree(by_walks, by_data)) {
      char words[40];
      least = fmin(by_walks, by_data);
      most = fmax(by_walks, by_data);
      snprintf(words, sizeof words, "not sure: data cost %.0f more there, ", by_data);
      add_source(out->source, words, data->why);
   }
   most = fmax(most, y->walks->usual[i] / y->references);
   out->cycles = tg_whole_number(most, 0, 100000);
   out->spread = out->cycles - tg_whole_number(least, 0, out->cycles);
}

/* What a reference found there costs more: measured on walks, else what data cost there, else what
   another description says. */
static void set_behind(tlb_table_cache *out, const Yardstick *y, unsigned i, const TgFigure *data,
                       const tlb_table_cache *known)
{
   if (i < y->walks->n_behind && y->walks->behind[i].sure != TG_NOT_TOLD) {
      set_measured(out, y, i, data);
      return;
   }
   out->cycles_unknown = 1;
   if (data->sure != TG_NOT_TOLD && data->value >= y->found) {
      out->cycles = tg_whole_number(data->value - y->found, 0, 100000);
      add_source(out->source, "assumed: what data cost more there: ", data->why);
   } else if (known) {
      out->cycles = known->cycles;
      out->spread = known->spread;
      add_source(out->source, "assumed: as it is published", "");
   } else {
      add_source(out->source, "assumed: no less than nearer", "");
   }
}

/* No reference that is found farther away costs less, at either end. */
static void keep_rising(tlb_table_cache *c, const tlb_table_cache *before)
{
   uint32_t least = c->cycles - c->spread;
   if (least < before->cycles - before->spread)
      least = before->cycles - before->spread;
   if (c->cycles < before->cycles)
      c->cycles = before->cycles;
   c->spread = c->cycles - least;
}

static void add_caches(tlb_machine *m, const TgFacts *f, const TgWalkFacts *w,
                       const tlb_machine *known)
{
   const Yardstick y = yardstick_of(m, f, w);
   for (unsigned i = 0; i < f->n_caches && i < TLB_MAX_TABLE_CACHES; i++) {
      tlb_table_cache *const c = &m->cache[m->n_caches++];
      set_cache(c, &f->cache[i], f, i);
      if (i == 0)
         continue;
      set_behind(c, &y, i, &f->cache[i].found,
                 known && i < known->n_caches ? &known->cache[i] : NULL);
      keep_rising(c, &m->cache[i - 1]);
   }
   memset(&m->memory, 0, sizeof m->memory);
   set_behind(&m->memory, &y, f->n_caches, &f->cache[f->n_caches - 1].beyond,
              known && known->n_caches > 0 ? &known->memory : NULL);
   keep_rising(&m->memory, &m->cache[m->n_caches - 1]);
}

/* --- the walk --- */

static void take_known_walk(tlb_machine *m, const tlb_machine *known)
{
   m->walk_cycles = known->walk_cycles;
   m->walk_spread = known->walk_spread;
   m->walk_cycles_unknown = known->walk_cycles != TLB_UNKNOWN;
   m->walk_overlap = known->walk_overlap;
   m->walk_overlap_unknown = known->walk_overlap != 0;
   m->window = known->window;
   m->window_unknown = known->window_unknown;
   m->entry_bytes = known->entry_bytes;
   snprintf(m->walk_source, sizeof m->walk_source, "%s", known->walk_source);
}

/* --- a guest --- */

/* The step behind the one that walks for such pages end at; NULL: there is none. */
static tlb_walk_step *step_behind(tlb_machine *m, unsigned page_shift)
{
   for (unsigned i = 1; i < m->n_walk_steps; i++) {
      if (m->walk[i - 1].shift <= page_shift)
         return &m->walk[i];
   }
   return NULL;
}

/* Walks for pieces of large pages are shorter by the steps that they do without. Smaller pages come
   first. */
static void set_step_cycles(tlb_machine *m, const TgFacts *f)
{
   for (unsigned i = 0; i < f->n_large; i++) {
      const TgLargeFacts *const l = &f->large[i];
      tlb_walk_step *const s = step_behind(m, l->page_shift);
      if (l->whole != TG_IN_PIECES || l->walk_cycles.sure == TG_NOT_TOLD || s == NULL)
         continue;
      const uint32_t shorter = tg_whole_number(l->walk_cycles.value, 0, 1000000);
      const uint32_t cycles = tlb_machine_walk_cycles(m, l->page_shift);
      if (s->cycles != 0 || shorter >= cycles)
         continue;
      s->cycles = cycles - shorter;
      s->source[0] = '\0';
      add_source(s->source, "measured: a walk for a piece of a larger page does without it: ",
                 l->why);
   }
}

/* Where a hypervisor leaves nothing but base pages, it has its own tables between. */
static void set_guest(tlb_machine *m, const TgFacts *f)
{
   if (!tg_in_pieces(f) || m->n_walk_steps == 0
       || m->walk[m->n_walk_steps - 1].shift != f->base_page_shift)
      return;
   m->host_page_shift = f->base_page_shift;
   set_step_cycles(m, f);
}

void tg_machine_add_walk(tlb_machine *m, const TgFacts *f, const tlb_machine *known)
{
   const TgWalkFacts *w = NULL;
   for (unsigned i = 0; i < f->n_walks; i++) {
      if (f->walk[i].page_shift == f->base_page_shift)
         w = &f->walk[i];
   }
   m->walk_cycles = TLB_UNKNOWN;
   add_steps(m, known);
   if (known)
      take_known_walk(m, known);
   if (!w || w->near_cycles.sure == TG_NOT_TOLD)
      return;
   m->walk_cycles = tg_whole_number(w->near_cycles.value, 0, 1000000);
   m->walk_spread = 0;
   m->walk_cycles_unknown = 0;
   m->walk_source[0] = '\0';
   add_source(m->walk_source, "measured: ", w->near_cycles.why);
   if (m->window != 0)
      add_source(m->walk_source, "window: that of the processor's machine file", "");
   if (w->overlap.sure != TG_NOT_TOLD) {
      m->walk_overlap = tg_whole_number(w->overlap.value * 10, TLB_NO_OVERLAP, TLB_MOST_OVERLAP);
      m->walk_overlap_unknown = 0;
      add_source(m->walk_source, "overlap: ", w->overlap.why);
   }
   set_guest(m, f);
   if (m->n_walk_steps > 0 && f->n_caches > 0)
      add_caches(m, f, w, known);
}
