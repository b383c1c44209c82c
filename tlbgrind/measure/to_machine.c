/* Makes a machine of facts: what is told becomes a figure with its source, what is not is marked as
   assumed. */

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "measure/facts.h"
#include "sim/machine/machine_file.h"

enum { MEGA_SHIFT = 21 };

/* Two figures for one array. */
static const double same_part = 1.12;

static int same(const TgFigure *a, const TgFigure *b)
{
   return a->sure != TG_NOT_TOLD && b->sure != TG_NOT_TOLD
          && fmax(a->value, b->value) <= same_part * fmin(a->value, b->value);
}

static uint32_t whole(double value, uint32_t least, uint32_t most)
{
   return (uint32_t)fmin(fmax(round(value), least), most);
}

/* --- arrays --- */

/* Ways that divide the entries and leave a power of two of sets. */
static uint32_t plausible_ways(uint32_t entries)
{
   static const uint32_t usual[] = { 8, 12, 6, 4, 16, 5, 7, 10, 3, 2 };
   for (unsigned i = 0; entries > 128 && i < sizeof usual / sizeof *usual; i++) {
      const uint32_t sets = entries / usual[i];
      if (entries % usual[i] == 0 && (sets & (sets - 1)) == 0)
         return usual[i];
   }
   return entries;
}

static void set_geometry(const TgLevel *l, tlb_machine_array *a)
{
   a->entries_unknown = l->entries.sure == TG_NOT_TOLD;
   a->g.entries = whole(a->entries_unknown ? (double)l->fits : l->entries.value, 1,
                        TLB_MAX_ENTRIES);
   a->ways_unknown = l->ways.sure == TG_NOT_TOLD;
   a->g.ways = a->ways_unknown ? plausible_ways(a->g.entries)
                               : whole(l->ways.value, 1, a->g.entries);
   if (a->g.entries % a->g.ways != 0) {
      a->ways_unknown = 1;
      a->g.ways = plausible_ways(a->g.entries);
   }
   a->g.policy = TLB_LRU;
   a->policy_unknown = 1;
   const uint32_t sets = a->g.entries / a->g.ways;
   if (l->index == TG_INDEX_XOR && (sets & (sets - 1)) == 0 && !a->ways_unknown)
      a->g.index_xor = l->index_xor;
}

static void set_source(const TgLevel *l, tlb_machine_array *a)
{
   int n = snprintf(a->source, sizeof a->source, "measured: %s", l->entries.why);
   if (l->ways.sure != TG_NOT_TOLD && n > 0 && (size_t)n < sizeof a->source)
      n += snprintf(a->source + n, sizeof a->source - (size_t)n, "; ways: %s", l->ways.why);
   if (l->behind != TG_BEHIND_NOT_TOLD && n > 0 && (size_t)n < sizeof a->source)
      snprintf(a->source + n, sizeof a->source - (size_t)n, "; %s: %s",
               l->behind == TG_BEHIND_LRU_LIKE ? "as LRU" : "not LRU", l->behind_why);
}

/* Hits of a level behind the first, from the step of the level before it. */
static void set_hit(const TgSide *s, unsigned level, tlb_machine_array *a)
{
   const TgLevel *const l = &s->level[level];
   a->hit_cycles = TLB_UNKNOWN;
   if (level == 0)
      return;
   a->hit_cycles = whole(s->level[level - 1].after - s->level[0].before, 0, 100000);
   if (l->overlap.sure != TG_NOT_TOLD)
      a->overlap = whole(l->overlap.value * 10, TLB_NO_OVERLAP, TLB_MOST_OVERLAP);
}

static void add_array(tlb_machine *m, const TgSide *s, unsigned level, unsigned users,
                      uint64_t sizes, const char *name)
{
   if (m->n_arrays == TLB_MAX_ARRAYS)
      return;
   tlb_machine_array *const a = &m->array[m->n_arrays++];
   memset(a, 0, sizeof *a);
   snprintf(a->name, sizeof a->name, "%s", name);
   a->level = level + 1;
   a->users = users;
   set_geometry(&s->level[level], a);
   a->g.page_sizes = sizes;
   a->splits = level == 0;
   a->splits_unknown = 1;
   set_hit(s, level, a);
   set_source(&s->level[level], a);
}

static int shared(const TgFacts *f, TgAsk ask, unsigned level)
{
   for (unsigned i = 0; i < f->n_shares; i++) {
      if (f->share[i].ask == ask && f->share[i].level == level)
         return f->share[i].share == TG_SHARE_YES;
   }
   return 0;
}

/* Whether stores go with loads on that level: they do unless the facts speak against it. */
static int stores_with_loads(const TgFacts *f, const TgSide *loads, const TgSide *stores,
                             unsigned level)
{
   if (!stores || level >= stores->n_levels || shared(f, TG_ASK_STORE, level))
      return 1;
   return stores->level[level].entries.sure == TG_NOT_TOLD
          || same(&stores->level[level].entries, &loads->level[level].entries);
}

/* The page sizes of an array: large pages are in it, too, if as many of them fit. */
static uint64_t sizes_of(const TgFacts *f, const TgSide *s, unsigned level, int *own)
{
   const uint64_t base = UINT64_C(1) << s->page_shift;
   const TgSide *const large = tg_facts_side(f, s->ask, MEGA_SHIFT);
   *own = 0;
   if (!large || large == s || level >= large->n_levels
       || large->level[level].entries.sure == TG_NOT_TOLD)
      return base;
   if (same(&large->level[level].entries, &s->level[level].entries))
      return base | UINT64_C(1) << MEGA_SHIFT;
   *own = 1;
   return base;
}

static void add_level(tlb_machine *m, const TgFacts *f, const TgSide *s, unsigned level,
                      unsigned users, const char *name)
{
   char large_name[TLB_NAME_SIZE];
   int own;
   add_array(m, s, level, users, sizes_of(f, s, level, &own), name);
   if (own) {
      snprintf(large_name, sizeof large_name, "%.50s-2M", name);
      add_array(m, tg_facts_side(f, s->ask, MEGA_SHIFT), level, users, UINT64_C(1) << MEGA_SHIFT,
                large_name);
   }
}

static void add_data(tlb_machine *m, const TgFacts *f, const TgSide *loads, const TgSide *stores,
                     unsigned level)
{
   char name[TLB_NAME_SIZE];
   const int with_fetches = shared(f, TG_ASK_FETCH, level);
   const int with_stores = stores_with_loads(f, loads, stores, level);
   if (level == 0)
      snprintf(name, sizeof name, with_fetches ? "TLB" : with_stores ? "DTLB" : "DTLB-loads");
   else
      snprintf(name, sizeof name, "L%u-%s%s", level + 1, with_fetches ? "TLB" : "DTLB",
               with_stores ? "" : "-loads");
   add_level(m, f, loads, level,
             TLB_LOADS | (with_stores ? (unsigned)TLB_STORES : 0)
                | (with_fetches ? (unsigned)TLB_FETCHES : 0),
             name);
   if (!with_stores) {
      if (level == 0)
         snprintf(name, sizeof name, "DTLB-stores");
      else
         snprintf(name, sizeof name, "L%u-DTLB-stores", level + 1);
      add_level(m, f, stores, level, TLB_STORES, name);
   }
}

static void add_arrays(tlb_machine *m, const TgFacts *f, const TgSide *loads)
{
   const TgSide *const stores = tg_facts_side(f, TG_ASK_STORE, f->base_page_shift);
   const TgSide *const fetches = tg_facts_side(f, TG_ASK_FETCH, f->base_page_shift);
   char name[TLB_NAME_SIZE];
   for (unsigned l = 0; l < loads->n_levels; l++)
      add_data(m, f, loads, stores, l);
   for (unsigned l = 0; fetches && l < fetches->n_levels; l++) {
      if (l < loads->n_levels && shared(f, TG_ASK_FETCH, l))
         continue;
      if (l == 0)
         snprintf(name, sizeof name, "ITLB");
      else
         snprintf(name, sizeof name, "L%u-ITLB", l + 1);
      add_level(m, f, fetches, l, TLB_FETCHES, name);
   }
   if (!fetches || fetches->n_levels == 0) {
      /* Something has to serve them: as many as loads have, and said to be assumed. */
      add_array(m, loads, 0, TLB_FETCHES, UINT64_C(1) << loads->page_shift, "ITLB");
      tlb_machine_array *const a = &m->array[m->n_arrays - 1];
      a->entries_unknown = a->ways_unknown = 1;
      a->g.index_xor = 0;
      snprintf(a->source, sizeof a->source, "not told: %s; as many as for loads are assumed",
               fetches ? fetches->why : "not measured");
   }
}

/* --- walk --- */

static int add_steps(tlb_machine *m)
{
   static const unsigned shifts[] = { 39, 30, 21, 12 };
   const int by_9 = strcmp(m->isa, "x86-64") == 0 || strcmp(m->isa, "aarch64") == 0
                    || strcmp(m->isa, "riscv64") == 0;
   if (!by_9 || m->base_page_shift != 12)
      return 0;
   /* RISC-V's usual Sv39 has three. */
   const unsigned first = strcmp(m->isa, "riscv64") == 0;
   for (unsigned i = first; i < 4; i++) {
      tlb_walk_step *const s = &m->walk[m->n_walk_steps++];
      s->shift = shifts[i];
      s->cache_unknown = 1;
   }
   return 1;
}

static void set_cache(tlb_table_cache *out, const TgCacheFacts *c, const TgFacts *f, unsigned i)
{
   static const char *const names[TG_MAX_CACHES] = { "L1D", "L2", "L3", "L4" };
   memset(out, 0, sizeof *out);
   snprintf(out->name, sizeof out->name, "%s", names[i]);
   out->line = f->line_bytes > 0 ? f->line_bytes : TLB_USUAL_LINE;
   out->size = whole(c->bytes.value, out->line, TLB_MOST_CACHE_SIZE);
   out->ways = 8;
   out->share = 50;
   out->ways_unknown = out->share_unknown = 1;
   snprintf(out->source, sizeof out->source, "measured: %s", c->bytes.why);
}

/* What a reference found there costs more: measured on walks, else what data cost there. */
static void set_behind(tlb_table_cache *out, const TgWalkFacts *w, unsigned i, double of_data)
{
   const TgFigure *const f = &w->behind[i];
   const size_t n = strlen(out->source);
   if (i < w->n_behind && f->sure != TG_NOT_TOLD) {
      out->cycles = whole(f->value, 0, 100000);
      snprintf(out->source + n, sizeof out->source - n, "%smeasured: %s", n > 0 ? "; " : "",
               f->why);
   } else {
      out->cycles = whole(of_data, 0, 100000);
      out->cycles_unknown = 1;
      snprintf(out->source + n, sizeof out->source - n,
               "%sassumed: what a reference to data costs more there", n > 0 ? "; " : "");
   }
}

static void add_walk(tlb_machine *m, const TgFacts *f)
{
   const TgWalkFacts *w = NULL;
   for (unsigned i = 0; i < f->n_walks; i++) {
      if (f->walk[i].page_shift == f->base_page_shift)
         w = &f->walk[i];
   }
   m->walk_cycles = TLB_UNKNOWN;
   const int steps = add_steps(m);
   if (!w || w->near_cycles.sure == TG_NOT_TOLD)
      return;
   m->walk_cycles = whole(w->near_cycles.value, 0, 1000000);
   snprintf(m->walk_source, sizeof m->walk_source, "measured: %s", w->near_cycles.why);
   if (w->overlap.sure != TG_NOT_TOLD) {
      const size_t n = strlen(m->walk_source);
      m->walk_overlap = whole(w->overlap.value * 10, TLB_NO_OVERLAP, TLB_MOST_OVERLAP);
      snprintf(m->walk_source + n, sizeof m->walk_source - n, "; overlap: %s", w->overlap.why);
   }
   if (!steps || f->n_caches == 0)
      return;
   for (unsigned i = 0; i < f->n_caches && i < TLB_MAX_TABLE_CACHES; i++) {
      tlb_table_cache *const c = &m->cache[m->n_caches++];
      set_cache(c, &f->cache[i], f, i);
      if (i > 0)
         set_behind(c, w, i, f->cache[i].before - f->cache[0].before);
   }
   memset(&m->memory, 0, sizeof m->memory);
   set_behind(&m->memory, w, f->n_caches,
              f->cache[f->n_caches - 1].after - f->cache[0].before);
   if (m->memory.cycles < m->cache[m->n_caches - 1].cycles)
      m->memory.cycles = m->cache[m->n_caches - 1].cycles;
}

int tg_to_machine(const TgFacts *f, char *out, size_t size, tlb_reason *why)
{
   static tlb_machine m;
   const TgSide *const loads = tg_facts_side(f, TG_ASK_LOAD, f->base_page_shift);
   if (!loads || loads->n_levels == 0) {
      snprintf(why->text, sizeof why->text, "no level is told of loads: %.100s",
               loads ? loads->why : "they were not measured");
      return 0;
   }
   memset(&m, 0, sizeof m);
   snprintf(m.name, sizeof m.name, "%s", f->name[0] != '\0' ? f->name : "measured");
   snprintf(m.title, sizeof m.title, "%s", f->title[0] != '\0' ? f->title : "a machine measured");
   snprintf(m.isa, sizeof m.isa, "%s", f->isa[0] != '\0' ? f->isa : "unknown");
   snprintf(m.source, sizeof m.source, "%s", f->when[0] != '\0' ? f->when : "tg_measure");
   m.year = f->year;
   m.confidence = TLB_MEASURED;
   m.base_page_shift = f->base_page_shift;
   add_arrays(&m, f, loads);
   add_walk(&m, f);
   tlb_machine_note_unknowns(&m);
   if (!tlb_machine_check(&m, why))
      return 0;
   tlb_machine_print(&m, out, size);
   return 1;
}
