/* Makes a machine's arrays of facts. What is sure becomes a figure; for what is not, another
   description of the processor is taken, or else the figure is marked as assumed. */

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "measure/machine_levels.h"
#include "measure/to_machine_parts.h"

enum { MEGA_SHIFT = 21 };

/* Two figures for one array. */
static const double same_part = 1.12;

/* A step that far from a level's entries may still be its end: sets that are filled unevenly begin
   to miss early. */
static const double near_part = 1.5;

typedef struct {
   tlb_machine *m;
   const TgFacts *f;
   const tlb_machine *known;         /* or NULL */
   int added[TLB_MAX_ARRAYS];        /* by the array of `known`: 1 + its number in m; 0: not yet */
} Build;

uint32_t tg_whole_number(double value, uint32_t least, uint32_t most)
{
   return (uint32_t)fmin(fmax(round(value), least), most);
}

static int same(const TgFigure *a, const TgFigure *b)
{
   return a->sure != TG_NOT_TOLD && b->sure != TG_NOT_TOLD
          && fmax(a->value, b->value) <= same_part * fmin(a->value, b->value);
}

/* --- a level that was measured --- */

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
   a->entries_unknown = l->entries.sure != TG_SURE;
   a->g.entries = tg_whole_number(l->entries.sure == TG_NOT_TOLD ? (double)l->fits
                                                                 : l->entries.value,
                                  1, TLB_MAX_ENTRIES);
   a->ways_unknown = a->entries_unknown || l->ways.sure != TG_SURE;
   a->g.ways = l->ways.sure == TG_NOT_TOLD ? plausible_ways(a->g.entries)
                                           : tg_whole_number(l->ways.value, 1, a->g.entries);
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
   int n = snprintf(a->source, sizeof a->source, "%s: %s",
                    l->entries.sure == TG_SURE ? "measured" : "not sure", l->entries.why);
   if (l->ways.sure == TG_SURE && n > 0 && (size_t)n < sizeof a->source)
      n += snprintf(a->source + n, sizeof a->source - (size_t)n, "; ways: %s", l->ways.why);
   if (l->behind != TG_BEHIND_NOT_TOLD && n > 0 && (size_t)n < sizeof a->source)
      snprintf(a->source + n, sizeof a->source - (size_t)n, "; %s: %s",
               l->behind == TG_BEHIND_LRU_LIKE ? "as LRU" : "not LRU", l->behind_why);
}

/* Hits of the level behind that one. */
static void set_hit(const TgSide *s, unsigned before, tlb_machine_array *a)
{
   const TgFigure *const overlap = before + 1 < s->n_levels ? &s->level[before + 1].overlap : NULL;
   if (s->level[before].miss_cycles.sure == TG_NOT_TOLD)
      return;
   a->hit_cycles = tg_whole_number(s->level[before].after - s->level[0].before, 0, 100000);
   a->hit_spread = 0;
   a->hit_cycles_unknown = 0;
   if (overlap && overlap->sure != TG_NOT_TOLD) {
      a->overlap = tg_whole_number(overlap->value * 10, TLB_NO_OVERLAP, TLB_MOST_OVERLAP);
      a->overlap_unknown = 0;
   }
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
   a->hit_cycles = level == 0 ? 0 : TLB_UNKNOWN;
   if (level > 0)
      set_hit(s, level - 1, a);
   set_source(&s->level[level], a);
}

/* --- another description of the processor --- */

static unsigned known_levels(const Build *b, TgAsk ask, TgMachineLevel out[TLB_MAX_LEVELS])
{
   return b->known ? tg_machine_levels(b->known, ask, b->f->base_page_shift, out) : 0;
}

/* The level of the side whose end is that of the known one, or -1. */
static int match(const TgSide *s, const TgMachineLevel *known, unsigned n_known, unsigned level)
{
   for (unsigned i = 0; s && i < s->n_levels; i++) {
      const TgLevel *const l = &s->level[i];
      const double at = l->entries.sure == TG_NOT_TOLD ? (double)l->fits : l->entries.value;
      if (fmax(at, known[level].pages) <= near_part * fmin(at, known[level].pages))
         return (int)i;
   }
   return s && s->n_levels == n_known && s->level[level].entries.sure == TG_SURE ? (int)level : -1;
}

static int name_is_taken(const tlb_machine *m, const char *name)
{
   for (unsigned i = 0; i < m->n_arrays; i++) {
      if (strcmp(m->array[i].name, name) == 0)
         return 1;
   }
   return 0;
}

static void add_known_array(Build *b, unsigned i, unsigned users)
{
   tlb_machine *const m = b->m;
   const tlb_machine_array *const from = &b->known->array[i];
   if (b->added[i] != 0) {
      m->array[b->added[i] - 1].users |= from->users & users;
      return;
   }
   if (m->n_arrays == TLB_MAX_ARRAYS)
      return;
   tlb_machine_array *const a = &m->array[m->n_arrays];
   *a = *from;
   if (name_is_taken(m, a->name)) {
      const size_t n = strlen(a->name);
      snprintf(a->name + n, sizeof a->name - n, "-too");
   }
   a->users &= users;
   m->n_arrays++;
   b->added[i] = (int)m->n_arrays;
}

/* Whether what was measured is what is known. */
static int agrees(const TgSide *s, int level, const TgMachineLevel *known)
{
   if (level < 0 || s->level[level].entries.sure == TG_NOT_TOLD)
      return 0;
   const double entries = s->level[level].entries.value;
   return fmax(entries, known->pages) <= same_part * fmin(entries, known->pages);
}

/* What time tells of an array that is known otherwise. */
static void confirm(const TgLevel *l, tlb_machine_array *a)
{
   char source[TLB_SOURCE_SIZE];
   const int ways = l->ways.sure == TG_SURE && l->ways.value == a->g.ways;
   snprintf(source, sizeof source, "%s; measured%s: %s", a->source, ways ? ", the ways, too" : "",
            l->entries.why);
   snprintf(a->source, sizeof a->source, "%s", source);
   if (ways)
      a->ways_unknown = 0;
}

static const unsigned user[TG_N_ASK] = { TLB_LOADS, TLB_STORES, TLB_FETCHES };

/* All arrays of the level that serve these references, and what time tells of those of the side. */
static void add_known_level(Build *b, const TgSide *s, TgAsk ask, unsigned level, unsigned users)
{
   TgMachineLevel known[TLB_MAX_LEVELS];
   const unsigned n = known_levels(b, ask, known);
   const int before = level > 0 ? match(s, known, n, level - 1) : -1;
   const int here = match(s, known, n, level);
   const int is_it = agrees(s, here, &known[level]);
   /* Front ends run ahead and hide what fetches wait for, so their hits are told only where the
      level is. */
   const int hits = before >= 0 && s->level[before].entries.sure != TG_NOT_TOLD
                    && (ask != TG_ASK_FETCH || is_it);
   for (unsigned i = 0; i < b->known->n_arrays; i++) {
      if (b->known->array[i].level != level + 1 || (b->known->array[i].users & users) == 0)
         continue;
      const int first_time = b->added[i] == 0;
      add_known_array(b, i, users);
      if (!first_time || b->added[i] == 0 || (b->known->array[i].users & user[ask]) == 0)
         continue;
      if (is_it && known[level].ways > 0)
         confirm(&s->level[here], &b->m->array[b->added[i] - 1]);
      if (hits)
         set_hit(s, (unsigned)before, &b->m->array[b->added[i] - 1]);
   }
}

/* The page sizes that another description gives the level. */
static uint64_t known_sizes(const Build *b, TgAsk ask, unsigned level)
{
   const uint64_t base = UINT64_C(1) << b->f->base_page_shift;
   for (unsigned i = 0; b->known && i < b->known->n_arrays; i++) {
      const tlb_machine_array *const a = &b->known->array[i];
      if (a->level == level + 1 && (a->users & user[ask]) != 0 && (a->g.page_sizes & base) != 0)
         return a->g.page_sizes;
   }
   return base;
}

/* --- which of them --- */

static int shared(const Build *b, TgAsk ask, unsigned level)
{
   TgMachineLevel known[TLB_MAX_LEVELS];
   for (unsigned i = 0; i < b->f->n_shares; i++) {
      const TgShareFacts *const s = &b->f->share[i];
      if (s->ask == ask && s->level == level && s->share != TG_SHARE_NOT_TOLD)
         return s->share == TG_SHARE_YES;
   }
   return ask == TG_ASK_FETCH && level < known_levels(b, TG_ASK_LOAD, known)
          && known[level].with_fetches;
}

/* Whether stores go with loads on that level: they do unless the facts speak against it, as where
   stores begin to miss long before loads. */
static int stores_with_loads(const Build *b, const TgSide *loads, const TgSide *stores,
                             unsigned level)
{
   static const double long_before = 0.5;
   if (!stores || level >= stores->n_levels || shared(b, TG_ASK_STORE, level))
      return 1;
   const TgLevel *const of_stores = &stores->level[level], *const of_loads = &loads->level[level];
   if (of_stores->miss_cycles.sure != TG_NOT_TOLD
       && (double)of_stores->misses < long_before * (double)of_loads->fits)
      return 0;
   return of_stores->entries.sure != TG_SURE || same(&of_stores->entries, &of_loads->entries);
}

/* The page sizes of an array: large pages are in it, too, if as many of them fit. */
static uint64_t sizes_of(const Build *b, const TgSide *s, unsigned level, int *own)
{
   const uint64_t base = UINT64_C(1) << s->page_shift;
   const TgSide *const large = tg_facts_side(b->f, s->ask, MEGA_SHIFT);
   *own = 0;
   if (tg_in_pieces(b->f))
      return base;
   if (!large || large == s || level >= large->n_levels
       || large->level[level].entries.sure != TG_SURE)
      return known_sizes(b, s->ask, level);
   if (same(&large->level[level].entries, &s->level[level].entries))
      return base | UINT64_C(1) << MEGA_SHIFT;
   *own = 1;
   return base;
}

static void add_level(Build *b, const TgSide *s, unsigned level, unsigned users, const char *name)
{
   char large_name[TLB_NAME_SIZE];
   int own;
   add_array(b->m, s, level, users, sizes_of(b, s, level, &own), name);
   if (own) {
      snprintf(large_name, sizeof large_name, "%.50s-2M", name);
      add_array(b->m, tg_facts_side(b->f, s->ask, MEGA_SHIFT), level, users,
                UINT64_C(1) << MEGA_SHIFT, large_name);
   }
}

static void add_data(Build *b, const TgSide *loads, const TgSide *stores, unsigned level)
{
   char name[TLB_NAME_SIZE];
   const int with_fetches = shared(b, TG_ASK_FETCH, level);
   const int with_stores = stores_with_loads(b, loads, stores, level);
   if (level == 0)
      snprintf(name, sizeof name, with_fetches ? "TLB" : with_stores ? "DTLB" : "DTLB-loads");
   else
      snprintf(name, sizeof name, "L%u-%s%s", level + 1, with_fetches ? "TLB" : "DTLB",
               with_stores ? "" : "-loads");
   add_level(b, loads, level,
             TLB_LOADS | (with_stores ? (unsigned)TLB_STORES : 0)
                | (with_fetches ? (unsigned)TLB_FETCHES : 0),
             name);
   if (!with_stores) {
      if (level == 0)
         snprintf(name, sizeof name, "DTLB-stores");
      else
         snprintf(name, sizeof name, "L%u-DTLB-stores", level + 1);
      add_level(b, stores, level, TLB_STORES, name);
   }
}

/* Whether the level of the side goes into the machine as it was measured. With another description
   only what is sure and differs does, and only where that has the level, too. */
static int takes_measured(const Build *b, const TgSide *s, TgAsk ask, unsigned level)
{
   TgMachineLevel known[TLB_MAX_LEVELS];
   const unsigned n = known_levels(b, ask, known);
   if (!s || level >= s->n_levels)
      return 0;
   if (n == 0)
      return s->level[level].entries.sure != TG_NOT_TOLD || ask != TG_ASK_FETCH;
   return level < n && match(s, known, n, level) == (int)level
          && s->level[level].entries.sure == TG_SURE && !agrees(s, (int)level, &known[level]);
}

static unsigned levels_of(const Build *b, const TgSide *s, TgAsk ask)
{
   TgMachineLevel known[TLB_MAX_LEVELS];
   const unsigned n = known_levels(b, ask, known);
   return n > 0 ? n : s ? s->n_levels : 0;
}

static void add_all_data(Build *b, const TgSide *loads)
{
   const TgSide *const stores = tg_facts_side(b->f, TG_ASK_STORE, b->f->base_page_shift);
   for (unsigned l = 0; l < levels_of(b, loads, TG_ASK_LOAD); l++) {
      if (takes_measured(b, loads, TG_ASK_LOAD, l))
         add_data(b, loads, stores, l);
      else if (b->known)
         add_known_level(b, loads, TG_ASK_LOAD, l, TLB_LOADS | TLB_STORES);
   }
}

/* Something has to serve fetches: as many as loads have, and said to be assumed. */
static void assume_fetches(Build *b, const TgSide *loads, const char *why)
{
   add_array(b->m, loads, 0, TLB_FETCHES, UINT64_C(1) << loads->page_shift, "ITLB");
   tlb_machine_array *const a = &b->m->array[b->m->n_arrays - 1];
   a->entries_unknown = a->ways_unknown = 1;
   a->g.index_xor = 0;
   snprintf(a->source, sizeof a->source, "not told: %s; as many as for loads are assumed", why);
}

static void add_fetches(Build *b, const TgSide *loads)
{
   const TgSide *const fetches = tg_facts_side(b->f, TG_ASK_FETCH, b->f->base_page_shift);
   char name[TLB_NAME_SIZE];
   const unsigned n = levels_of(b, fetches, TG_ASK_FETCH);
   for (unsigned l = 0; l < n; l++) {
      const int with_loads = shared(b, TG_ASK_FETCH, l);
      if (with_loads && takes_measured(b, loads, TG_ASK_LOAD, l))
         continue;
      if (l == 0)
         snprintf(name, sizeof name, "ITLB");
      else
         snprintf(name, sizeof name, "L%u-ITLB", l + 1);
      if (!with_loads && takes_measured(b, fetches, TG_ASK_FETCH, l))
         add_level(b, fetches, l, TLB_FETCHES, name);
      else if (levels_of(b, NULL, TG_ASK_FETCH) > 0)
         add_known_level(b, fetches, TG_ASK_FETCH, l, TLB_FETCHES);
      else
         break;
   }
   unsigned served = 0;
   for (unsigned i = 0; i < b->m->n_arrays; i++)
      served |= b->m->array[i].users;
   if ((served & TLB_FETCHES) == 0 || n == 0)
      assume_fetches(b, loads, fetches ? fetches->why : "not measured");
}

int tg_machine_add_arrays(tlb_machine *m, const TgFacts *f, const tlb_machine *known,
                          tlb_reason *why)
{
   const TgSide *const loads = tg_facts_side(f, TG_ASK_LOAD, f->base_page_shift);
   Build b = { .m = m, .f = f, .known = known };
   if (!loads || loads->n_levels == 0) {
      snprintf(why->text, sizeof why->text, "no level is told of loads: %.100s",
               loads ? loads->why : "they were not measured");
      return 0;
   }
   add_all_data(&b, loads);
   add_fetches(&b, loads);
   if (tg_in_pieces(f))
      tlb_machine_cut_to_pieces(m, f->base_page_shift);
   return 1;
}
