/* What of a machine is assumed, in words. */

#include "sim/machine/machine.h"

#include "sim/base/text.h"

/* Kinds of assumption; in each, arrays and steps with the same words share a
   note. Parts of a machine are numbered through: arrays, then steps, caches, and the memory. */
typedef enum {
   ENTRIES,
   WAYS,
   SIZES,
   POLICY,
   SPLITS,
   CONTIGUOUS,
   HIT_CYCLES,
   OVERLAP,
   WALK_CACHE,
   CACHE_SIZE,
   CACHE_WAYS,
   CACHE_SHARE,
   CACHE_CYCLES,
   N_KINDS
} kind;

static const char too_many[] =
   "more figures are unknown than there is room to say here; the machine file "
   "has them all";

static unsigned n_parts_of(const tlb_machine *m)
{
   return m->n_arrays + m->n_walk_steps + (m->n_caches > 0 ? m->n_caches + 1 : 0);
}

/* The cache that the part is, or the memory; NULL: it is an array or a step. */
static const tlb_table_cache *cache_of(const tlb_machine *m, unsigned part)
{
   const unsigned before = m->n_arrays + m->n_walk_steps;
   return part < before                 ? NULL
          : part - before < m->n_caches ? &m->cache[part - before]
                                        : &m->memory;
}

static int is_assumed(const tlb_machine *m, kind k, unsigned part)
{
   const tlb_table_cache *const c = cache_of(m, part);
   if (c != NULL)
      return k == CACHE_SIZE     ? c->size_unknown
             : k == CACHE_WAYS   ? c->ways_unknown
             : k == CACHE_SHARE  ? c->share_unknown
             : k == CACHE_CYCLES ? c->cycles_unknown
                                 : 0;
   if (part >= m->n_arrays) {
      const tlb_walk_step *const s = &m->walk[part - m->n_arrays];
      return k == WAYS         ? s->ways_unknown
             : k == POLICY     ? s->policy_unknown
             : k == WALK_CACHE ? s->cache_unknown
                               : 0;
   }
   const tlb_machine_array *const a = &m->array[part];
   return k == ENTRIES      ? a->entries_unknown
          : k == WAYS       ? a->ways_unknown
          : k == SIZES      ? a->sizes_unknown
          : k == POLICY     ? a->policy_unknown
          : k == SPLITS     ? a->splits_unknown
          : k == CONTIGUOUS ? tlb_array_largest_block(a) != 0
          : k == HIT_CYCLES ? a->hit_cycles_unknown
          : k == OVERLAP    ? a->overlap_unknown
                            : 0;
}

/* Of an array or a step. */
static const tlb_geometry *geometry_of(const tlb_machine *m, unsigned part)
{
   return part < m->n_arrays ? &m->array[part].g
                             : &m->walk[part - m->n_arrays].g;
}

static int same_of_caches(kind k, const tlb_table_cache *c, const tlb_table_cache *d)
{
   return k == CACHE_SIZE    ? c->size == d->size
          : k == CACHE_WAYS  ? c->ways == d->ways
          : k == CACHE_SHARE ? c->share == d->share
                             : c->cycles == d->cycles && c->spread == d->spread;
}

/* Whether what is assumed of two parts is the same. */
static int same_assumption(const tlb_machine *m, kind k, unsigned a, unsigned b)
{
   if (k >= CACHE_SIZE)
      return same_of_caches(k, cache_of(m, a), cache_of(m, b));
   const tlb_geometry *const g = geometry_of(m, a);
   const tlb_geometry *const h = geometry_of(m, b);
   switch (k) {
   case ENTRIES:
      return g->entries + m->array[a].wired == h->entries + m->array[b].wired;
   case WAYS:
      return g->ways == g->entries ? h->ways == h->entries
                                   : h->ways != h->entries
                                        && g->ways == h->ways;
   case SIZES:
      return g->page_sizes == h->page_sizes;
   case POLICY:
      return g->policy == h->policy && g->seed == h->seed;
   case SPLITS:
      return m->array[a].splits == m->array[b].splits;
   case CONTIGUOUS:
      return tlb_arrays_coalesce_alike(&m->array[a], &m->array[b]);
   case HIT_CYCLES:
      return m->array[a].hit_cycles == m->array[b].hit_cycles
             && m->array[a].hit_spread == m->array[b].hit_spread;
   case OVERLAP:
      return m->array[a].overlap == m->array[b].overlap;
   case WALK_CACHE:
   case CACHE_SIZE:
   case CACHE_WAYS:
   case CACHE_SHARE:
   case CACHE_CYCLES:
   case N_KINDS:
      break;
   }
   return 1;
}

/* "64K", or "64K of 4K, 32M of 2M". */
static void add_blocks(tlb_text *t, const tlb_machine_array *a)
{
   const char *before = "";
   if (a->coalesce_shift != 0)
      tlb_text_add_page_size(t, a->coalesce_shift);
   for (unsigned page = 0; page <= TLB_MAX_PAGE_SHIFT; page++) {
      if (a->block_shift[page] == 0)
         continue;
      tlb_text_add(t, before);
      tlb_text_add_page_size(t, a->block_shift[page]);
      tlb_text_add(t, " of ");
      tlb_text_add_page_size(t, page);
      before = ", ";
   }
}

static void describe_cycles(const char *of, uint32_t most, uint32_t spread, tlb_text *t)
{
   tlb_text_add(t, "cycles of a ");
   tlb_text_add(t, of);
   tlb_text_add(t, " unknown, ");
   tlb_text_add_number(t, most - spread);
   if (spread != 0) {
      tlb_text_add(t, " to ");
      tlb_text_add_number(t, most);
   }
   tlb_text_add(t, " assumed");
}

static void describe_overlap(const char *of, uint32_t overlap, tlb_text *t)
{
   tlb_text_add(t, "overlap of ");
   tlb_text_add(t, of);
   tlb_text_add(t, " unknown, ");
   tlb_text_add_tenths(t, overlap);
   tlb_text_add(t, " assumed");
}

static void describe_cache(kind k, const tlb_table_cache *c, tlb_text *t)
{
   if (k == CACHE_CYCLES) {
      describe_cycles("table entry", c->cycles, c->spread, t);
      return;
   }
   tlb_text_add(t, k == CACHE_SIZE   ? "bytes unknown, "
                   : k == CACHE_WAYS ? "ways unknown, "
                                     : "share of page tables unknown, ");
   tlb_text_add_number(t, k == CACHE_SIZE ? c->size : k == CACHE_WAYS ? c->ways : c->share);
   tlb_text_add(t, k == CACHE_SHARE ? "% assumed" : " assumed");
}

static void describe(const tlb_machine *m, kind k, unsigned part, char *out,
                     size_t size)
{
   char words[80];
   tlb_text t = tlb_text_in(out, size);
   if (k >= CACHE_SIZE) {
      describe_cache(k, cache_of(m, part), &t);
      return;
   }
   const tlb_geometry *const g = geometry_of(m, part);
   switch (k) {
   case ENTRIES:
      tlb_text_add(&t, "entries unknown, ");
      tlb_text_add_number(&t, g->entries + m->array[part].wired);
      tlb_text_add(&t, " assumed");
      break;
   case WAYS:
      tlb_text_add(&t, "ways unknown, ");
      if (g->ways == g->entries) {
         tlb_text_add(&t, "full associativity");
      } else {
         tlb_text_add_number(&t, g->ways);
      }
      tlb_text_add(&t, " assumed");
      break;
   case SIZES:
      tlb_page_sizes_print(g->page_sizes, words, sizeof words);
      tlb_text_add(&t, "page sizes unknown, ");
      tlb_text_add(&t, words);
      tlb_text_add(&t, " assumed");
      break;
   case POLICY:
      tlb_policy_print(g, words, sizeof words);
      tlb_text_add(&t, "replacement policy unknown, ");
      tlb_text_add(&t, words);
      tlb_text_add(&t, " assumed");
      break;
   case SPLITS:
      tlb_text_add(&t, "unknown what becomes of larger pages, assumed ");
      tlb_text_add(&t, m->array[part].splits ? "to be split" : "to pass by");
      break;
   case CONTIGUOUS:
      tlb_text_add(&t, "aligned blocks of ");
      add_blocks(&t, &m->array[part]);
      tlb_text_add(&t, " in one mapping assumed contiguous in memory");
      break;
   case HIT_CYCLES:
      describe_cycles("hit", m->array[part].hit_cycles, m->array[part].hit_spread, &t);
      break;
   case OVERLAP:
      describe_overlap("hits", m->array[part].overlap, &t);
      break;
   case WALK_CACHE:
   case CACHE_SIZE:
   case CACHE_WAYS:
   case CACHE_SHARE:
   case CACHE_CYCLES:
   case N_KINDS:
      tlb_text_add(&t, "page-walk caches unknown, none assumed");
      break;
   }
}

static void name_part(const tlb_machine *m, unsigned part, int first_step,
                      tlb_text *t)
{
   const tlb_table_cache *const c = cache_of(m, part);
   if (part < m->n_arrays) {
      tlb_text_add(t, m->array[part].name);
   } else if (c != NULL) {
      tlb_text_add(t, c == &m->memory ? "memory" : "cache ");
      tlb_text_add(t, c == &m->memory ? "" : c->name);
   } else {
      if (first_step)
         tlb_text_add(t, "walk step ");
      tlb_text_add_page_size(t, m->walk[part - m->n_arrays].shift);
   }
}

/* The parts, as bits, that share the assumption with `part`; 0 if it has none
   of this kind, or an earlier part speaks for them all. */
static uint32_t group_of(const tlb_machine *m, kind k, unsigned part)
{
   const unsigned n_parts = n_parts_of(m);
   uint32_t group = 0;
   if (!is_assumed(m, k, part))
      return 0;
   for (unsigned i = 0; i < n_parts; i++) {
      if (!is_assumed(m, k, i) || !same_assumption(m, k, part, i))
         continue;
      if (i < part)
         return 0;
      group |= UINT32_C(1) << i;
   }
   return group;
}

static unsigned how_many(uint32_t group)
{
   unsigned n = 0;
   for (; group != 0; group &= group - 1)
      n++;
   return n;
}

/* Writes the note of this kind that `part` is the first to need. Returns 0 if
   it needs none. */
static int note_of(const tlb_machine *m, kind k, unsigned part, tlb_reason *out)
{
   enum { ROOM_FOR_MORE = 16 };
   const uint32_t arrays = (UINT32_C(1) << m->n_arrays) - 1;
   const unsigned n_parts = n_parts_of(m);
   uint32_t group = group_of(m, k, part);
   unsigned named = 0, steps_named = 0;
   char words[TLB_REASON_SIZE];

   if (group == 0)
      return 0;
   *out = (tlb_reason){ "" }; /* the same to the last byte each time */
   tlb_text t = tlb_text_in(out->text, sizeof out->text);
   describe(m, k, part, words, sizeof words);
   tlb_text_add(&t, words);
   if (group == arrays && m->n_arrays > 1) {
      tlb_text_add(&t, " (all arrays)");
      return 1;
   }
   for (unsigned i = part; i < n_parts; i++) {
      if ((group >> i & 1) == 0)
         continue;
      tlb_text name = tlb_text_in(words, sizeof words);
      name_part(m, i, steps_named == 0, &name);
      if (t.end - t.at < name.at - words + ROOM_FOR_MORE) {
         tlb_text_add(&t, named == 0 ? " (" : " and ");
         tlb_text_add_number(&t, how_many(group));
         tlb_text_add(&t, named == 0 ? " of them" : " more");
         break;
      }
      tlb_text_add(&t, named == 0 ? " (" : ", ");
      tlb_text_add(&t, words);
      group &= ~(UINT32_C(1) << i);
      named++;
      steps_named += i >= m->n_arrays;
   }
   tlb_text_add(&t, ")");
   return 1;
}

/* The note about the cycles of a walk. Returns 0 if nothing is assumed of them. */
static int note_walk(const tlb_machine *m, tlb_reason *out)
{
   if (!m->walk_cycles_unknown)
      return 0;
   *out = (tlb_reason){ "" };
   tlb_text t = tlb_text_in(out->text, sizeof out->text);
   describe_cycles("walk", m->walk_cycles, m->walk_spread, &t);
   return 1;
}

/* The same of its overlap. */
static int note_walk_overlap(const tlb_machine *m, tlb_reason *out)
{
   if (!m->walk_overlap_unknown)
      return 0;
   *out = (tlb_reason){ "" };
   tlb_text t = tlb_text_in(out->text, sizeof out->text);
   describe_overlap("walks", m->walk_overlap, &t);
   return 1;
}

/* The same of the window. */
static int note_window(const tlb_machine *m, tlb_reason *out)
{
   if (!m->window_unknown)
      return 0;
   *out = (tlb_reason){ "" };
   tlb_text t = tlb_text_in(out->text, sizeof out->text);
   tlb_text_add(&t, "instructions under way unknown, ");
   tlb_text_add_number(&t, m->window);
   tlb_text_add(&t, " assumed");
   return 1;
}

/* Whether a note of the kinds from `first` on says this. */
static int follows_from(const tlb_machine *m, kind first, const char *text)
{
   const unsigned n_parts = n_parts_of(m);
   tlb_reason note;
   if ((note_walk(m, &note) && tlb_text_same(note.text, text))
       || (note_walk_overlap(m, &note) && tlb_text_same(note.text, text))
       || (first == ENTRIES && note_window(m, &note) && tlb_text_same(note.text, text)))
      return 1;
   for (kind k = first; k < N_KINDS; k++) {
      for (unsigned i = 0; i < n_parts; i++) {
         if (note_of(m, k, i, &note) && tlb_text_same(note.text, text))
            return 1;
      }
   }
   return 0;
}

int tlb_machine_note_is_of_walk(const tlb_machine *m, const char *text)
{
   return follows_from(m, CACHE_SIZE, text);
}

int tlb_machine_note_follows(const tlb_machine *m, const char *text)
{
   return follows_from(m, ENTRIES, text) || tlb_text_same(text, too_many);
}

/* Without room for it the last note says so. */
static void add_note(tlb_machine *m, const tlb_reason *note)
{
   for (unsigned i = 0; i < m->n_notes; i++) {
      if (tlb_text_same(m->note[i].text, note->text))
         return;
   }
   if (m->n_notes < TLB_MAX_NOTES) {
      m->note[m->n_notes++] = *note;
      return;
   }
   tlb_text t = tlb_text_in(m->note[TLB_MAX_NOTES - 1].text, sizeof m->note[0].text);
   tlb_text_add(&t, too_many);
}

void tlb_machine_note_unknowns(tlb_machine *m)
{
   const unsigned n_parts = n_parts_of(m);
   tlb_reason note;
   for (kind k = ENTRIES; k < N_KINDS; k++) {
      for (unsigned i = 0; i < n_parts; i++) {
         if (note_of(m, k, i, &note))
            add_note(m, &note);
      }
   }
   if (note_walk(m, &note))
      add_note(m, &note);
   if (note_walk_overlap(m, &note))
      add_note(m, &note);
   if (note_window(m, &note))
      add_note(m, &note);
}

/* --- Two machines --- */

/* `unknown`: it is assumed of one of them at least. */
static int may_be_equal(uint64_t a, uint64_t b, int unknown)
{
   return a == b || unknown;
}

static int arrays_may_be_equal(const tlb_machine_array *a, const tlb_machine_array *b)
{
   return a->level == b->level && a->users == b->users
          && a->g.paired == b->g.paired && a->wired == b->wired && a->inclusion == b->inclusion
          && tlb_arrays_coalesce_alike(a, b) && a->g.index_xor == b->g.index_xor
          && may_be_equal(a->g.entries, b->g.entries, a->entries_unknown || b->entries_unknown)
          && may_be_equal(a->g.ways, b->g.ways, a->ways_unknown || b->ways_unknown)
          && may_be_equal(a->g.page_sizes, b->g.page_sizes, a->sizes_unknown || b->sizes_unknown)
          && may_be_equal(a->g.policy, b->g.policy, a->policy_unknown || b->policy_unknown)
          && may_be_equal((uint64_t)(a->splits != 0), (uint64_t)(b->splits != 0),
                          a->splits_unknown || b->splits_unknown);
}

int tlb_machines_may_be_equal(const tlb_machine *a, const tlb_machine *b)
{
   if (a->n_arrays != b->n_arrays)
      return 0;
   for (unsigned i = 0; i < a->n_arrays; i++) {
      if (!arrays_may_be_equal(&a->array[i], &b->array[i]))
         return 0;
   }
   return 1;
}
