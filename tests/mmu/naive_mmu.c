/* A naive MMU. See naive_mmu.h.
   Part of tlbgrind.  GPL-2.0-or-later; see COPYING. */

#include "naive_mmu.h"

#include <stdlib.h>
#include <string.h>

/* What an entry is of: a page of 2^what bytes, or, from FIRST_STEP on, a step of the walk. */
typedef struct {
   unsigned what;
   uint64_t number;
} name;

enum { FIRST_STEP = 64 };

/* Whose line of the caches of tables it is, where it is no table's. */
enum { OF_PROGRAM = UINT16_MAX };

/* How many lines one kind of them begins behind another, and how many steps a walk has at most. */
enum { KINDS_APART = 37, MOST_STEPS = 6 };

typedef struct {
   bool there;
   bool used;     /* NRU */
   bool half[2];  /* which pages of a pair are there */
   name of;
   uint64_t last; /* the time of its last reference */
} entry;

/* LRU has the entries of a set in order, the next to go in front. The others have them in ways with
   numbers. */
typedef struct {
   tlb_geometry g;
   entry *entry;
   bool *to_the_right; /* PLRU: node n of a set's tree sends the next page that way */
   uint32_t *next;     /* FIFO, by set: the way that goes next */
   uint64_t state;     /* random: of the one generator of all sets */
   bool drove_out;     /* the last reference has driven an entry out, which was: */
   entry driven_out;
} cache;

/* A translation that has left one level for the next. */
typedef struct {
   bool there;
   name of;
   unsigned from; /* array */
} on_its_way;

enum { MOST_ON_A_CORE = 16 };

/* A line of page tables in one of the caches that walks read through. `place`: its number, counted
   from where the lines of the first kind begin. */
typedef struct {
   unsigned cache, whose;
   uint64_t number, place;
} table_line;

/* All lines of all of them in one list; the one used last is at its end. */
typedef struct {
   table_line *line;
   unsigned n;
} table_lines;

struct naive_mmu {
   const tlb_machine *m;
   bool nested;
   table_lines own_tables;
   table_lines *tables; /* these, or a sibling's */
   cache array[TLB_MAX_ARRAYS];
   cache *at[TLB_MAX_ARRAYS];        /* each of them, or a sibling's */
   cache own[TLB_MAX_WALK_LEVELS];
   cache *step[TLB_MAX_WALK_LEVELS]; /* where entries of the step are kept, or NULL */
   uint64_t time;
   uint64_t *now;                    /* that time, or a sibling's */
   uint64_t count[NAIVE_USERS][NAIVE_COSTS];
   uint64_t flushed[NAIVE_FLUSH_COSTS];
   uint64_t prefetched[NAIVE_PREFETCH_COSTS];
   naive_mmu *core[MOST_ON_A_CORE];  /* of the first hardware thread: all of them */
   unsigned n_on_core;
   naive_mmu *first;                 /* of the core */
   on_its_way leaves[TLB_MAX_LEVELS + 1]; /* by the level that it leaves */
   name *lost; /* of the first hardware thread: what flushes have thrown away without need */
   unsigned n_lost;
};

/* --- One array --- */

static void make(cache *c, const tlb_geometry *g)
{
   c->g = *g;
   c->entry = calloc(g->entries, sizeof *c->entry);
   c->to_the_right = calloc(g->entries, sizeof *c->to_the_right);
   c->next = calloc(g->entries, sizeof *c->next);
   c->state = g->seed;
   if (c->entry == NULL || c->to_the_right == NULL || c->next == NULL)
      abort();
}

static void unmake(cache *c)
{
   free(c->entry);
   free(c->to_the_right);
   free(c->next);
}

static uint32_t set_of(const cache *c, name of)
{
   uint64_t number = of.number;
   for (unsigned i = 0; c->g.index_xor != 0 && i < 20; i++) {
      const uint64_t bit = UINT64_C(1) << i, above = bit << c->g.index_xor;
      if ((of.number & above) != 0)
         number ^= bit;
   }
   return (uint32_t)(number % (c->g.entries / c->g.ways));
}

/* In an array of pairs entries are of pairs: those of the walk do not come here. */
static name pair_of(const cache *c, name of)
{
   return c->g.paired ? (name){ of.what, of.number / 2 } : of;
}

static entry *entries_of(const cache *c, name of)
{
   return c->entry + set_of(c, of) * c->g.ways;
}

static entry *find(const cache *c, name of)
{
   entry *const set = entries_of(c, of);
   for (uint32_t way = 0; way < c->g.ways; way++) {
      if (set[way].there && set[way].of.what == of.what && set[way].of.number == of.number)
         return &set[way];
   }
   return NULL;
}

static bool is_ordered(const cache *c)
{
   return c->g.policy == TLB_LRU;
}

static uint32_t next_random(uint64_t *state, uint32_t ways)
{
   *state = *state * 6364136223846793005u + 1442695040888963407u;
   return (uint32_t)(*state / (UINT64_C(1) << 33) % ways);
}

static uint32_t plru_victim(const cache *c, name of)
{
   const bool *const tree = c->to_the_right + set_of(c, of) * c->g.ways;
   uint32_t node = 1;
   while (node < c->g.ways)
      node = 2 * node + tree[node];
   return node - c->g.ways;
}

static uint32_t mru_plru_victim(const cache *c, name of)
{
   const bool *const tree = c->to_the_right + set_of(c, of) * c->g.ways;
   const uint32_t last = tree[4] ? 2 : tree[0] ? 1 : 0;
   const bool *const own = tree + 4 * ((last + 1) % 3);
   uint32_t node = 1;
   while (node < 4)
      node = 2 * node + own[node];
   return 4 * ((last + 1) % 3) + node - 4;
}

static uint32_t nru_victim(const cache *c, name of)
{
   const entry *const set = entries_of(c, of);
   for (uint32_t way = 0; way < c->g.ways; way++) {
      if (!set[way].used)
         return way;
   }
   return 0;
}

/* The entry of a full set that leaves for a new one; `state` of the generator changes. */
static entry *victim(const cache *c, name of, uint64_t *state)
{
   entry *const set = entries_of(c, of);
   switch (c->g.policy) {
   case TLB_RANDOM:
      return &set[next_random(state, c->g.ways)];
   case TLB_MRU_PLRU:
      return &set[mru_plru_victim(c, of)];
   case TLB_PLRU:
      return &set[plru_victim(c, of)];
   case TLB_NRU:
      return &set[nru_victim(c, of)];
   case TLB_FIFO:
      return &set[c->next[set_of(c, of)]];
   default:
      return &set[0];
   }
}

static entry *free_place(const cache *c, name of)
{
   entry *const set = entries_of(c, of);
   for (uint32_t way = 0; way < c->g.ways; way++) {
      if (!set[way].there)
         return &set[way];
   }
   return NULL;
}

/* Puts the entry behind all others of its set. */
static entry *to_the_end(const cache *c, entry *e)
{
   const entry moved = *e;
   entry *const set = entries_of(c, e->of);
   uint32_t way = (uint32_t)(e - set);
   for (; way + 1 < c->g.ways && set[way + 1].there; way++)
      set[way] = set[way + 1];
   set[way] = moved;
   return &set[way];
}

static void touch_tree(cache *c, name of, uint32_t way)
{
   bool *const tree = c->to_the_right + set_of(c, of) * c->g.ways;
   /* Three trees of four ways, and in place 0 and 4 the bits of the last group. */
   if (c->g.policy == TLB_MRU_PLRU) {
      const uint32_t group = way / 4;
      tree[0] = group == 1;
      tree[4] = group == 2;
      for (uint32_t node = 4 + way % 4; node > 1; node /= 2)
         tree[4 * group + node / 2] = node % 2 == 0;
      return;
   }
   for (uint32_t node = c->g.ways + way; node > 1; node /= 2)
      tree[node / 2] = node % 2 == 0;
}

static void touch_used(cache *c, name of, uint32_t way)
{
   entry *const set = entries_of(c, of);
   bool all = true;
   set[way].used = true;
   for (uint32_t w = 0; w < c->g.ways; w++)
      all = all && set[w].used;
   for (uint32_t w = 0; all && w < c->g.ways; w++)
      set[w].used = w == way;
}

/* A reference to an entry; what is not there is from now on. */
static entry *refer(cache *c, name of, uint64_t now)
{
   entry *e = find(c, of);
   const bool hit = e != NULL;
   c->drove_out = false;
   if (!hit) {
      e = free_place(c, of);
      if (e == NULL) {
         e = victim(c, of, &c->state);
         c->next[set_of(c, of)] = (c->next[set_of(c, of)] + 1) % c->g.ways;
      }
      if (is_ordered(c) && e->there)
         e = to_the_end(c, e);
      c->drove_out = e->there;
      c->driven_out = *e;
      *e = (entry){ .there = true, .of = of };
   }
   e->last = now;
   if (hit && c->g.policy == TLB_LRU)
      e = to_the_end(c, e);
   if (c->g.policy == TLB_PLRU || c->g.policy == TLB_MRU_PLRU)
      touch_tree(c, of, (uint32_t)(e - entries_of(c, of)));
   if (c->g.policy == TLB_NRU)
      touch_used(c, of, (uint32_t)(e - entries_of(c, of)));
   return e;
}

static void reference(cache *c, name of, uint64_t now)
{
   refer(c, pair_of(c, of), now)->half[of.number % 2] = true;
}

static bool is_there(const cache *c, name of)
{
   const entry *const e = find(c, pair_of(c, of));
   return e != NULL && (!c->g.paired || e->half[of.number % 2]);
}

/* The entry goes; of those in order the others move up. */
static void empty(const cache *c, entry *e)
{
   if (is_ordered(c))
      e = to_the_end(c, e);
   *e = (entry){ .there = false };
}

/* When that was referenced last which leaves for the new one; 0: there is a free place, or the
   entry of its pair. */
static uint64_t age_of_victim(const cache *c, name of)
{
   uint64_t state = c->state;
   of = pair_of(c, of);
   return find(c, of) != NULL || free_place(c, of) != NULL ? 0 : victim(c, of, &state)->last;
}

/* --- Which array of a level takes a page --- */

/* What the array holds of a page: the page, or pieces of it. */
static unsigned largest(const tlb_machine_array *a, unsigned page_shift)
{
   unsigned shift = page_shift;
   while ((a->g.page_sizes >> shift & 1) == 0)
      shift--;
   return shift;
}

static bool holds_some(const tlb_machine_array *a, unsigned base, unsigned page_shift)
{
   for (unsigned shift = base; shift <= page_shift; shift++) {
      if ((a->g.page_sizes >> shift & 1) != 0)
         return true;
   }
   return false;
}

/* The level (from 1) that such references begin at. */
static unsigned first_level(const tlb_machine *m, unsigned user)
{
   unsigned level = TLB_MAX_LEVELS + 1;
   for (unsigned i = 0; i < m->n_arrays; i++) {
      if ((m->array[i].users >> user & 1) != 0 && m->array[i].level < level)
         level = m->array[i].level;
   }
   return level;
}

static unsigned last_level(const tlb_machine *m)
{
   unsigned level = 0;
   for (unsigned i = 0; i < m->n_arrays; i++)
      level = m->array[i].level > level ? m->array[i].level : level;
   return level;
}

/* Those that take it whole; else those that split it; on the first level else any. Of those that
   split it, the ones with the largest pieces; none smaller than a base page. */
unsigned naive_takers(const tlb_machine *m, unsigned user, unsigned level, unsigned page_shift,
                      unsigned array[TLB_MAX_ARRAYS])
{
   bool asked[TLB_MAX_ARRAYS], chosen[TLB_MAX_ARRAYS];
   bool any_whole = false, any_splits = false;
   unsigned piece = 0, n = 0;
   for (unsigned i = 0; i < m->n_arrays; i++) {
      const tlb_machine_array *const a = &m->array[i];
      asked[i] = a->level == level && (a->users >> user & 1) != 0
                 && holds_some(a, m->base_page_shift, page_shift);
      any_whole = any_whole || (asked[i] && largest(a, page_shift) == page_shift);
      any_splits = any_splits || (asked[i] && a->splits);
   }
   for (unsigned i = 0; i < m->n_arrays; i++) {
      const tlb_machine_array *const a = &m->array[i];
      chosen[i] = asked[i]
                  && (any_whole    ? largest(a, page_shift) == page_shift
                      : any_splits ? a->splits != 0
                                   : level == first_level(m, user));
      if (chosen[i] && largest(a, page_shift) > piece)
         piece = largest(a, page_shift);
   }
   for (unsigned i = 0; i < m->n_arrays; i++) {
      if (chosen[i] && largest(&m->array[i], page_shift) == piece)
         array[n++] = i;
   }
   return n;
}

/* --- Inclusive and exclusive levels --- */

static uint64_t end_of(name of)
{
   return ((of.number + 1) << of.what) - 1;
}

static bool overlap(name a, name b)
{
   return a.number << a.what <= end_of(b) && b.number << b.what <= end_of(a);
}

/* Whatever the array has of that page goes; of a pair the page that it is. */
static void drop_page(cache *c, name gone)
{
   for (uint32_t at = 0; at < c->g.entries; at++) {
      entry *const e = &c->entry[at];
      if (!e->there || e->of.what >= FIRST_STEP)
         continue;
      for (unsigned half = 0; c->g.paired && half < 2; half++) {
         if (overlap((name){ e->of.what, 2 * e->of.number + half }, gone))
            e->half[half] = false;
      }
      if (c->g.paired ? e->half[0] || e->half[1] : !overlap(e->of, gone))
         continue;
      empty(c, e);
      at--; /* another may have moved up */
   }
}

/* From the levels in front of the array, of each hardware thread that it serves. */
static void drop_in_front(const naive_mmu *n, unsigned array, name gone)
{
   const tlb_machine_array *const a = &n->m->array[array];
   for (unsigned t = 0; t < n->first->n_on_core; t++) {
      const naive_mmu *const thread = n->first->core[t];
      for (unsigned i = 0; thread->at[array] == n->at[array] && i < n->m->n_arrays; i++) {
         if (n->m->array[i].level < a->level && (n->m->array[i].users & a->users) != 0)
            drop_page(thread->at[i], gone);
      }
   }
}

/* What the array's last reference has driven out. */
static void see_off(naive_mmu *n, unsigned array)
{
   const cache *const c = n->at[array];
   const entry e = c->driven_out;
   if (!c->drove_out || e.of.what >= FIRST_STEP)
      return;
   for (unsigned half = 0; half < (c->g.paired ? 2 : 1); half++) {
      const name gone = c->g.paired ? (name){ e.of.what, 2 * e.of.number + half } : e.of;
      if (c->g.paired && !e.half[half])
         continue;
      if (n->m->array[array].inclusion == TLB_INCLUSIVE)
         drop_in_front(n, array, gone);
      n->leaves[n->m->array[array].level] = (on_its_way){ true, gone, array };
   }
}

static bool has_entries_of(const tlb_machine_array *a, unsigned shift)
{
   if ((a->g.page_sizes >> shift & 1) != 0 || a->coalesce_shift == shift)
      return true;
   for (unsigned page = TLB_MIN_PAGE_SHIFT; page < shift; page++) {
      if (a->block_shift[page] == shift)
         return true;
   }
   return false;
}

/* What has left a level goes to the next, if that is exclusive: where it is, or where the entry
   goes for it that was referenced longest ago. */
static void move_on(naive_mmu *n, unsigned level)
{
   const on_its_way w = n->leaves[level];
   int best = -1;
   uint64_t oldest = UINT64_MAX;
   n->leaves[level].there = false;
   for (unsigned i = 0; w.there && i < n->m->n_arrays; i++) {
      const tlb_machine_array *const a = &n->m->array[i];
      if (a->inclusion != TLB_EXCLUSIVE || a->level != level + 1
          || (a->users & n->m->array[w.from].users) == 0 || !has_entries_of(a, w.of.what))
         continue;
      if (is_there(n->at[i], w.of)) {
         reference(n->at[i], w.of, *n->now);
         return;
      }
      if (age_of_victim(n->at[i], w.of) < oldest) {
         oldest = age_of_victim(n->at[i], w.of);
         best = (int)i;
      }
   }
   if (best < 0)
      return;
   reference(n->at[best], w.of, *n->now);
   see_off(n, (unsigned)best);
}

static void move_all_on(naive_mmu *n)
{
   for (unsigned level = 1; level < TLB_MAX_LEVELS; level++)
      move_on(n, level);
}

/* --- Page walks --- */

/* Of the last level's arrays for loads the one with the smallest pages; but not if that is what
   some reference asks first. */
int naive_keeps_steps(const tlb_machine *m)
{
   int chosen = -1;
   unsigned smallest = 64;
   for (unsigned i = 0; i < m->n_arrays; i++) {
      const tlb_machine_array *const a = &m->array[i];
      unsigned shift = 0;
      while ((a->g.page_sizes >> shift & 1) == 0)
         shift++;
      if (a->level != last_level(m) || (a->users & TLB_LOADS) == 0 || shift >= smallest)
         continue;
      smallest = shift;
      chosen = (int)i;
   }
   if (chosen >= 0 && m->array[chosen].g.paired)
      return -1; /* an entry of the walk has no other half */
   for (unsigned user = 0; chosen >= 0 && user < NAIVE_USERS; user++) {
      if ((m->array[chosen].users >> user & 1) != 0 && first_level(m, user) == last_level(m))
         return -1;
   }
   return chosen;
}

static name name_of_step(const naive_mmu *n, unsigned step, uint64_t address)
{
   return (name){ FIRST_STEP + step, address >> n->m->walk[step].shift };
}

/* Before the translation that is walked for, which comes when the walk is over. */
static void keep(naive_mmu *n, unsigned step, uint64_t address)
{
   if (n->step[step] == NULL)
      return;
   reference(n->step[step], name_of_step(n, step, address), *n->now - 1);
   if (n->m->walk[step].in_last_level)
      see_off(n, (unsigned)naive_keeps_steps(n->m));
}

/* --- What its references cost --- */

static void append_line(table_lines *t, table_line l)
{
   t->line = realloc(t->line, (t->n + 1) * sizeof *t->line);
   if (t->line == NULL)
      abort();
   t->line[t->n++] = l;
}

static void drop_line(table_lines *t, unsigned at)
{
   memmove(&t->line[at], &t->line[at + 1], (t->n - at - 1) * sizeof *t->line);
   t->n--;
}

/* Whether the cache has the line; then it has been used last. */
static bool has_line(table_lines *t, table_line l)
{
   for (unsigned i = 0; i < t->n; i++) {
      if (t->line[i].cache != l.cache || t->line[i].whose != l.whose
          || t->line[i].number != l.number)
         continue;
      drop_line(t, i);
      append_line(t, l);
      return true;
   }
   return false;
}

/* The one that left its set alone longest goes if there is no room. */
static void put_line(table_lines *t, table_line l, uint64_t sets, unsigned ways)
{
   unsigned n = 0, oldest = 0;
   for (unsigned i = t->n; i-- > 0;) {
      if (t->line[i].cache == l.cache && t->line[i].place % sets == l.place % sets) {
         n++;
         oldest = i;
      }
   }
   if (n == ways)
      drop_line(t, oldest);
   append_line(t, l);
}

/* Kinds in turn: the guest's steps; the host's walk for the page; the program; the host's walk for
   a table of the first step, of the second... */
static unsigned kind_of(unsigned whose)
{
   const unsigned table = whose / 100, step = whose % 100;
   if (whose == OF_PROGRAM)
      return 3 * MOST_STEPS;
   return table == 0 ? step : table == 1 ? MOST_STEPS + step : (1 + table) * MOST_STEPS + step;
}

/* Entry number `nth`; entries of the host are alone in their lines. */
static void read_entry(naive_mmu *n, uint64_t *cycles, unsigned whose, uint64_t nth, bool alone)
{
   const tlb_machine *const m = n->m;
   const uint64_t bytes = m->entry_bytes == 0 ? 8 : m->entry_bytes;
   bool found = false;
   if (m->n_caches == 0 || m->walk_cycles == TLB_UNKNOWN)
      return;
   for (unsigned i = 0; i < m->n_caches && !found; i++) {
      const tlb_table_cache *const c = &m->cache[i];
      const uint64_t number = alone ? nth : nth * bytes / c->line;
      const table_line l = { i, whose, number, number + KINDS_APART * kind_of(whose) };
      uint64_t sets = (uint64_t)c->size * c->share / 100 / c->line / c->ways;
      sets = sets == 0 ? 1 : sets;
      found = has_line(n->tables, l);
      if (found)
         *cycles += c->cycles;
      else
         put_line(n->tables, l, sets, c->ways);
   }
   if (!found)
      *cycles += m->memory.cycles;
}

/* The host walks for an address of the guest's memory: of its pages, or of table number `table` of
   its tables, which have an area of their own for each step. */
static void read_host(naive_mmu *n, uint64_t *cycles, uint64_t address, unsigned table)
{
   for (unsigned j = 0; n->nested && j < n->m->n_walk_steps; j++)
      read_entry(n, cycles, 100 * (table + 1) + j, address >> n->m->walk[j].shift, true);
}

static void read_tables(naive_mmu *n, uint64_t *cycles, unsigned first, unsigned end,
                        uint64_t address)
{
   const uint64_t bytes = n->m->entry_bytes == 0 ? 8 : n->m->entry_bytes;
   for (unsigned i = first; i <= end; i++) {
      const uint64_t nth = address >> n->m->walk[i].shift;
      read_host(n, cycles, nth * bytes, i + 1);
      read_entry(n, cycles, i, nth, false);
   }
   read_host(n, cycles, address, 0);
   /* The program's own line follows; it is no part of the walk. */
   uint64_t without = 0;
   read_entry(n, &without, OF_PROGRAM, address >> n->m->base_page_shift, true);
}

static unsigned walk(naive_mmu *n, uint64_t *cycles, uint64_t address, unsigned page_shift)
{
   const tlb_machine *const m = n->m;
   unsigned end = 0, first;
   if (m->software_walk)
      return 1;
   if (m->n_walk_steps == 0)
      return 0;
   while (m->walk[end].shift > page_shift && end + 1 < m->n_walk_steps)
      end++;
   for (first = end; first > 0; first--) {
      const unsigned above = first - 1;
      if (n->step[above] == NULL || !is_there(n->step[above], name_of_step(n, above, address)))
         continue;
      keep(n, above, address);
      break;
   }
   for (unsigned step = first; step < end; step++)
      keep(n, step, address);
   read_tables(n, cycles, first, end, address);
   const unsigned guest = end - first + 1;
   const unsigned host = n->nested ? m->n_walk_steps : 0;
   return guest + (guest + 1) * host;
}

/* --- One reference --- */

/* What a walk finds that a flush has thrown away without need. */
static void come_back(naive_mmu *n, uint64_t address)
{
   naive_mmu *const of = n->first;
   unsigned left = 0;
   for (unsigned i = 0; i < of->n_lost; i++) {
      if (address >> of->lost[i].what == of->lost[i].number)
         n->flushed[NAIVE_FLUSHED_AGAIN]++;
      else
         of->lost[left++] = of->lost[i];
   }
   of->n_lost = left;
}

/* As an entry of which page the array has it: the pages of a block may be one together, and so
   may the pieces of a page that holds their block. */
static name name_in(const tlb_machine *m, unsigned array, uint64_t address, unsigned page_shift,
                    unsigned block_shift)
{
   const tlb_machine_array *const a = &m->array[array];
   const unsigned whole = largest(a, page_shift);
   const unsigned of_base = whole == m->base_page_shift ? a->coalesce_shift : 0;
   const unsigned block = a->block_shift[whole] != 0 ? a->block_shift[whole] : of_base;
   const bool together = block <= page_shift || block <= block_shift;
   const unsigned shift = block > whole && together ? block : whole;
   return (name){ shift, address >> shift };
}

/* The array of a level that has the page, by number; -1: none had it. */
static int look_up(naive_mmu *n, const unsigned *array, unsigned n_arrays, uint64_t address,
                   unsigned page_shift, unsigned block_shift)
{
   for (unsigned i = 0; i < n_arrays; i++) {
      const name of = name_in(n->m, array[i], address, page_shift, block_shift);
      if (!is_there(n->at[array[i]], of))
         continue;
      reference(n->at[array[i]], of, *n->now);
      return (int)array[i];
   }
   return -1;
}

/* Of arrays side by side that takes it which gives up what was referenced longest ago. */
static void fill(naive_mmu *n, const unsigned *array, unsigned n_arrays, uint64_t address,
                 unsigned page_shift, unsigned block_shift)
{
   unsigned best = 0;
   uint64_t oldest = UINT64_MAX;
   for (unsigned i = 0; i < n_arrays; i++) {
      const uint64_t age
         = age_of_victim(n->at[array[i]],
                         name_in(n->m, array[i], address, page_shift, block_shift));
      if (age < oldest) {
         oldest = age;
         best = i;
      }
   }
   reference(n->at[array[best]],
             name_in(n->m, array[best], address, page_shift, block_shift), *n->now);
   see_off(n, array[best]);
}

static uint32_t known(uint32_t cycles)
{
   return cycles == TLB_UNKNOWN ? 0 : cycles;
}

void naive_translate(naive_mmu *n, unsigned user, uint64_t address, unsigned page_shift,
                     unsigned block_shift)
{
   const tlb_machine *const m = n->m;
   uint64_t *const count = n->count[user];
   unsigned array[TLB_MAX_ARRAYS];
   bool missed = false;
   *n->now += 2;
   memset(n->leaves, 0, sizeof n->leaves);
   for (unsigned level = first_level(m, user); level <= last_level(m); level++) {
      const unsigned n_arrays = naive_takers(m, user, level, page_shift, array);
      if (n_arrays == 0)
         continue;
      const int hit = look_up(n, array, n_arrays, address, page_shift, block_shift);
      if (hit >= 0) {
         count[NAIVE_CYCLES] += missed ? known(m->array[hit].hit_cycles) : 0;
         if (m->array[hit].inclusion == TLB_EXCLUSIVE)
            empty(n->at[hit], find(n->at[hit], name_in(m, (unsigned)hit, address, page_shift,
                                                       block_shift)));
         move_all_on(n);
         return;
      }
      missed = true;
      count[NAIVE_MISS_1 + level - 1]++;
      if (level < last_level(m) && m->array[array[0]].inclusion != TLB_EXCLUSIVE)
         fill(n, array, n_arrays, address, page_shift, block_shift);
   }
   come_back(n, address);
   count[NAIVE_WALKS]++;
   count[NAIVE_CYCLES] += known(m->walk_cycles);
   /* Steps behind one of the page's size, or a smaller one, are not come to. */
   for (unsigned i = 1; i < m->n_walk_steps; i++)
      count[NAIVE_CYCLES] -= m->walk[i - 1].shift <= page_shift ? m->walk[i].cycles : 0;
   const unsigned references = walk(n, &count[NAIVE_CYCLES], address, page_shift);
   count[NAIVE_WALK_REFERENCES] += references;
   /* A walk of the host for each of the guest's references, and one for the page: the cycles of a
      machine that is a guest have them. */
   const bool pays = n->nested && m->host_page_shift == 0 && m->n_walk_steps > 0
                     && !m->software_walk;
   for (unsigned read = 0; pays && read < references;
        read += m->n_walk_steps + 1)
      count[NAIVE_CYCLES] += known(m->walk_cycles);
   move_all_on(n);
   const unsigned n_arrays = naive_takers(m, user, last_level(m), page_shift, array);
   if (n_arrays > 0 && m->array[array[0]].inclusion != TLB_EXCLUSIVE)
      fill(n, array, n_arrays, address, page_shift, block_shift);
}

/* --- Prefetches --- */

static bool has(const naive_mmu *n, uint64_t address, unsigned page_shift, unsigned block_shift)
{
   unsigned array[TLB_MAX_ARRAYS];
   for (unsigned level = 1; level <= last_level(n->m); level++) {
      const unsigned n_arrays = naive_takers(n->m, NAIVE_LOAD, level, page_shift, array);
      for (unsigned i = 0; i < n_arrays; i++) {
         if (is_there(n->at[array[i]],
                      name_in(n->m, array[i], address, page_shift, block_shift)))
            return true;
      }
   }
   return false;
}

void naive_prefetch(naive_mmu *n, uint64_t address, unsigned page_shift, unsigned block_shift,
                    bool strong, bool present)
{
   uint64_t before[NAIVE_COSTS];
   n->prefetched[NAIVE_PREFETCHES]++;
   if (!present || (!strong && !has(n, address, page_shift, block_shift))) {
      n->prefetched[NAIVE_PREFETCH_MISSES] += first_level(n->m, NAIVE_LOAD) == 1;
      n->prefetched[strong ? NAIVE_PREFETCH_WALKS : NAIVE_PREFETCHES_DROPPED]++;
      n->prefetched[NAIVE_PREFETCH_WALKS_IN_VAIN] += strong;
      return;
   }
   /* As a load, and then no load's costs. */
   memcpy(before, n->count[NAIVE_LOAD], sizeof before);
   naive_translate(n, NAIVE_LOAD, address, page_shift, block_shift);
   n->prefetched[NAIVE_PREFETCH_MISSES] += n->count[NAIVE_LOAD][NAIVE_MISS_1]
                                           - before[NAIVE_MISS_1];
   n->prefetched[NAIVE_PREFETCH_WALKS] += n->count[NAIVE_LOAD][NAIVE_WALKS] - before[NAIVE_WALKS];
   memcpy(n->count[NAIVE_LOAD], before, sizeof before);
}

uint64_t naive_prefetch_count(const naive_mmu *n, unsigned cost)
{
   return n->prefetched[cost];
}

/* --- Flushes --- */

uint32_t naive_last_entries(const tlb_machine *m)
{
   unsigned level = 0;
   uint32_t sum = 0;
   for (unsigned pass = 0; pass < 2; pass++) {
      for (unsigned i = 0; i < m->n_arrays; i++) {
         const tlb_machine_array *const a = &m->array[i];
         const bool holds = (a->users & TLB_LOADS) != 0
                            && (a->g.page_sizes >> m->base_page_shift & 1) != 0;
         if (holds && pass == 0 && a->level > level)
            level = a->level;
         sum += holds && pass == 1 && a->level == level ? a->g.entries : 0;
      }
   }
   return sum;
}

static bool is_of(name of, uint64_t start, uint64_t end)
{
   return of.number << of.what < end && ((of.number + 1) << of.what) - 1 >= start;
}

static bool is_in(const name *list, unsigned n, name of)
{
   for (unsigned i = 0; i < n; i++) {
      if (list[i].what == of.what && list[i].number == of.number)
         return true;
   }
   return false;
}

static void forget_lost(naive_mmu *n, uint64_t start, uint64_t end)
{
   unsigned left = 0;
   for (unsigned i = 0; i < n->n_lost; i++) {
      if (!is_of(n->lost[i], start, end))
         n->lost[left++] = n->lost[i];
   }
   n->n_lost = left;
}

static void lose(naive_mmu *n, name of)
{
   if (is_in(n->lost, n->n_lost, of))
      return;
   n->lost = realloc(n->lost, (n->n_lost + 1) * sizeof *n->lost);
   if (n->lost == NULL)
      abort();
   n->lost[n->n_lost++] = of;
}

static entry *first_there(cache *c)
{
   for (uint32_t e = 0; e < c->g.entries; e++) {
      if (c->entry[e].there)
         return &c->entry[e];
   }
   return NULL;
}

static void empty_steps(cache *c)
{
   for (uint32_t e = 0; e < c->g.entries; e++) {
      if (c->entry[e].there && c->entry[e].of.what >= FIRST_STEP)
         empty(c, &c->entry[e--]);
   }
}

/* Addresses from here on are those of others, whose translations stay. */
#define OTHERS (UINT64_C(1) << 63)

void naive_empty(naive_mmu *n)
{
   for (unsigned i = 0; i < n->m->n_arrays; i++) {
      while (n->at[i]->g.entries > 0 && first_there(n->at[i]) != NULL)
         empty(n->at[i], first_there(n->at[i]));
   }
   for (unsigned i = 0; i < n->m->n_walk_steps; i++)
      empty_steps(&n->first->own[i]);
   n->first->n_lost = 0;
}

void naive_translate_uncounted(naive_mmu *n, unsigned user, uint64_t address, unsigned page_shift,
                               unsigned block_shift)
{
   uint64_t count[NAIVE_COSTS];
   memcpy(count, n->count[user], sizeof count);
   naive_translate(n, user, address, page_shift, block_shift);
   memcpy(n->count[user], count, sizeof count);
}

void naive_flush_asks(naive_mmu *n)
{
   n->flushed[NAIVE_FLUSHES_REMOTE]++;
}

/* Whether another hardware thread has the array, too. */
static bool is_shared(const naive_mmu *n, unsigned array)
{
   const naive_mmu *const first = n->first;
   for (unsigned i = 0; i < first->n_on_core; i++) {
      if (first->core[i] != n && first->core[i]->at[array] == n->at[array])
         return true;
   }
   return false;
}

typedef struct {
   name seen[1 << 16];
   unsigned n_seen;
   uint64_t start, end;
   bool full, whole;
} going;

static name half_of(const cache *c, const entry *e, unsigned half)
{
   return c->g.paired ? (name){ e->of.what, 2 * e->of.number + half } : e->of;
}

static bool is_within(name of, const going *g)
{
   return g->whole || is_of(of, g->start, g->end);
}

static bool goes(name of, const going *g)
{
   return of.number << of.what < OTHERS && (is_within(of, g) || g->full);
}

/* Sees what goes of the thread's own arrays, or of those that are shared, and counts it, once. */
static void see(naive_mmu *n, going *g, bool shared, bool counts)
{
   for (unsigned i = 0; i < n->m->n_arrays; i++) {
      const cache *const c = n->at[i];
      for (uint32_t at = 0; at < c->g.entries && is_shared(n, i) == shared; at++) {
         const entry *const e = &c->entry[at];
         if (!e->there || e->of.what >= FIRST_STEP)
            continue;
         for (unsigned half = 0; half < (c->g.paired ? 2 : 1); half++) {
            const name of = half_of(c, e, half);
            if ((c->g.paired && !e->half[half]) || !goes(of, g) || is_in(g->seen, g->n_seen, of))
               continue;
            g->seen[g->n_seen++] = of;
            if (!counts)
               continue;
            n->flushed[is_within(of, g) ? NAIVE_FLUSHED_WITHIN : NAIVE_FLUSHED_OUTSIDE]++;
            if (!is_within(of, g))
               lose(n->first, of);
         }
      }
   }
}

void naive_count_flush(naive_mmu *n, uint64_t start, uint64_t end, uint64_t pages, bool full,
                       bool whole, bool remote, bool is_first)
{
   static going g;
   g.n_seen = 0;
   g.start = start;
   g.end = end;
   g.full = full;
   g.whole = whole;
   if (!remote)
      n->flushed[full ? NAIVE_FLUSHES_OF_ALL : NAIVE_FLUSHES_OF_PAGES] += full ? 1 : pages;
   if (whole)
      n->first->n_lost = 0;
   else
      forget_lost(n->first, start, end);
   see(n, &g, true, is_first);
   see(n, &g, false, true);
}

void naive_flush(naive_mmu *n, uint64_t start, uint64_t end, bool full, bool whole)
{
   const going g = { .start = start, .end = end, .full = full, .whole = whole };
   for (unsigned i = 0; i < n->m->n_arrays; i++) {
      cache *const c = n->at[i];
      for (uint32_t at = 0; at < c->g.entries; at++) {
         entry *const e = &c->entry[at];
         bool stays = false;
         if (!e->there || e->of.what >= FIRST_STEP)
            continue;
         for (unsigned half = 0; half < (c->g.paired ? 2 : 1); half++) {
            if (c->g.paired && !e->half[half])
               continue;
            if (goes(half_of(c, e, half), &g))
               e->half[half] = false;
            else
               stays = true;
         }
         if (stays)
            continue;
         empty(c, e);
         at--; /* another may have moved up */
      }
   }
   if (!full && strncmp(n->m->isa, "x86", 3) != 0)
      return;
   for (unsigned i = 0; i < n->m->n_arrays; i++)
      empty_steps(n->at[i]);
   for (unsigned i = 0; i < n->m->n_walk_steps; i++)
      empty_steps(&n->first->own[i]);
}

uint64_t naive_flush_count(const naive_mmu *n, unsigned cost)
{
   return n->flushed[cost];
}

/* --- Start and end --- */

naive_mmu *naive_new(const tlb_machine *m, bool nested)
{
   naive_mmu *const n = calloc(1, sizeof *n);
   cache *nearest = NULL;
   if (n == NULL)
      abort();
   n->m = m;
   n->nested = nested || m->host_page_shift != 0;
   n->now = &n->time;
   n->first = n;
   n->core[n->n_on_core++] = n;
   n->tables = &n->own_tables;
   for (unsigned i = 0; i < TLB_MAX_ARRAYS; i++)
      n->at[i] = &n->array[i];
   for (unsigned i = 0; i < m->n_arrays; i++)
      make(&n->array[i], &m->array[i].g);
   for (unsigned i = 0; i < m->n_walk_steps; i++) {
      const tlb_walk_step *const s = &m->walk[i];
      if (!s->cached)
         continue;
      if (s->in_last_level) {
         n->step[i] = n->at[naive_keeps_steps(m)];
         continue;
      }
      if (!s->joined) {
         nearest = &n->own[i];
         make(nearest, &s->g);
      }
      n->step[i] = nearest;
   }
   return n;
}

void naive_share(naive_mmu *n, naive_mmu *first)
{
   n->now = first->now;
   n->first = first;
   if (first->n_on_core == MOST_ON_A_CORE)
      abort();
   first->core[first->n_on_core++] = n;
   n->tables = first->tables;
   for (unsigned i = 0; i < n->m->n_arrays; i++) {
      const tlb_machine_array *const a = &n->m->array[i];
      if (a->threads != 1 && a->sharing != TLB_PARTITIONED && a->sharing != TLB_COPIED)
         n->at[i] = &first->array[i];
   }
   for (unsigned i = 0; i < n->m->n_walk_steps; i++) {
      if (n->m->walk[i].in_last_level)
         n->step[i] = n->at[naive_keeps_steps(n->m)];
      else
         n->step[i] = first->step[i];
   }
}

static void make_anew(cache *c)
{
   const tlb_geometry g = c->g;
   if (c->entry == NULL)
      return;
   unmake(c);
   make(c, &g);
}

void naive_reset(naive_mmu *n)
{
   for (unsigned i = 0; i < TLB_MAX_ARRAYS; i++)
      make_anew(&n->array[i]);
   for (unsigned i = 0; i < TLB_MAX_WALK_LEVELS; i++)
      make_anew(&n->own[i]);
   n->own_tables.n = 0;
   n->n_lost = 0;
}

void naive_free(naive_mmu *n)
{
   for (unsigned i = 0; i < TLB_MAX_ARRAYS; i++)
      unmake(&n->array[i]);
   for (unsigned i = 0; i < TLB_MAX_WALK_LEVELS; i++)
      unmake(&n->own[i]);
   free(n->own_tables.line);
   free(n->lost);
   free(n);
}

uint64_t naive_count(const naive_mmu *n, unsigned user, unsigned cost)
{
   return n->count[user][cost];
}
