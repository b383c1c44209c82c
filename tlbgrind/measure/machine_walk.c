/* Makes a machine's walk and caches of facts: what a walk costs, and more where its references find
   the tables farther away. */

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

/* What a reference found there costs more: measured on walks, else what data cost there, else what
   another description says. */
static void set_behind(tlb_table_cache *out, const TgWalkFacts *w, unsigned i, const TgFigure *data,
                       double nearest, const tlb_table_cache *known)
{
   if (i < w->n_behind && w->behind[i].sure != TG_NOT_TOLD) {
      out->cycles = tg_whole_number(w->behind[i].value, 0, 100000);
      add_source(out->source, "measured: ", w->behind[i].why);
      return;
   }
   out->cycles_unknown = 1;
   if (data->sure != TG_NOT_TOLD && data->value >= nearest) {
      out->cycles = tg_whole_number(data->value - nearest, 0, 100000);
      add_source(out->source, "assumed: what data cost more there: ", data->why);
   } else if (known) {
      out->cycles = known->cycles;
      out->spread = known->spread;
      add_source(out->source, "assumed: as it is published", "");
   } else {
      add_source(out->source, "assumed: no less than nearer", "");
   }
}

/* No reference that is found farther away costs less. */
static void keep_rising(tlb_table_cache *c, const tlb_table_cache *before)
{
   if (c->cycles >= before->cycles)
      return;
   c->cycles = before->cycles;
   c->spread = 0;
}

static void add_caches(tlb_machine *m, const TgFacts *f, const TgWalkFacts *w,
                       const tlb_machine *known)
{
   const double nearest = f->cache[0].found.value;
   for (unsigned i = 0; i < f->n_caches && i < TLB_MAX_TABLE_CACHES; i++) {
      tlb_table_cache *const c = &m->cache[m->n_caches++];
      set_cache(c, &f->cache[i], f, i);
      if (i == 0)
         continue;
      set_behind(c, w, i, &f->cache[i].found, nearest,
                 known && i < known->n_caches ? &known->cache[i] : NULL);
      keep_rising(c, &m->cache[i - 1]);
   }
   memset(&m->memory, 0, sizeof m->memory);
   set_behind(&m->memory, w, f->n_caches, &f->cache[f->n_caches - 1].beyond, nearest,
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
   m->entry_bytes = known->entry_bytes;
   snprintf(m->walk_source, sizeof m->walk_source, "%s", known->walk_source);
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
   if (w->overlap.sure != TG_NOT_TOLD) {
      m->walk_overlap = tg_whole_number(w->overlap.value * 10, TLB_NO_OVERLAP, TLB_MOST_OVERLAP);
      m->walk_overlap_unknown = 0;
      add_source(m->walk_source, "overlap: ", w->overlap.why);
   }
   if (m->n_walk_steps > 0 && f->n_caches > 0)
      add_caches(m, f, w, known);
}
