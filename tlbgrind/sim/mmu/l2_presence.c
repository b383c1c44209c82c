/* Second levels of many machines. See l2_presence.h. */

#include "sim/mmu/l2_presence.h"

#include "sim/mmu/mmu_memory.h"
#include "sim/tlb/policy.h"

_Static_assert((unsigned)TLB_LAZY_LRU_SIDES == (unsigned)TLB_N_TABLES, "a side is a table");
_Static_assert((unsigned)TLB_LAZY_LRU_SPANS == (unsigned)TLB_N_SIDES, "a span is a side");

/* --- What stands at a page --- */

static size_t up_to_line(size_t n)
{
   return (n + TLB_CACHE_LINE - 1) / TLB_CACHE_LINE * TLB_CACHE_LINE;
}

static unsigned new_page(tlb_mmus *all, tlb_page_number page_number)
{
   const unsigned number = ++all->l2.n_pages;
   const unsigned n = number >> TLB_L2_CHUNK_BITS;
   if (all->l2.chunk == NULL || (number & (TLB_L2_CHUNK - 1)) == 0) {
      all->l2.chunk = tlb_mmus_list(all, all->l2.chunk, n);
      all->l2.chunk[n] = tlb_mmus_take_zeroes(all, TLB_L2_CHUNK * all->l2.bytes);
   }
   tlb_l2_page(all, number)->number = page_number;
   return number;
}

/* A page of code and the same page as data are one behind the first level: the record of
   the data has it first. */
unsigned tlb_l2_number(tlb_mmus *all, tlb_side table, const tlb_page *p, unsigned large)
{
   const unsigned shift = all->traits.page_shift;
   const tlb_page_number number = table == TLB_CODE ? tlb_code_page_number(p, shift)
                                                    : tlb_page_number_of_data(p, shift);
   uint32_t *const l2 = tlb_l2_at(all, tlb_data_page(all, number), large);
   if (*l2 == 0)
      *l2 = new_page(all, number >> large);
   return *l2;
}

/* --- Which machines have a lazy LRU array --- */

static bool is_of_table(unsigned user, tlb_side table)
{
   return (user == TLB_FETCH) == (table == TLB_CODE);
}

static bool is_same_stop(const tlb_stop *a, const tlb_stop *b)
{
   for (unsigned i = 0; i < a->n && i < b->n; i++) {
      if (a->array[i] != b->array[i] || a->shift[i] != b->shift[i])
         return false;
   }
   return a->n == b->n;
}

/* Where the machine's base pages of code or data go behind the first level; NULL:
   nowhere, or not all of them to one place. */
static const tlb_stop *stop_behind(const tlb_mmu *mmu, tlb_side table, unsigned *level)
{
   const tlb_hierarchy *h = &mmu->h;
   const tlb_stop *found = NULL;
   for (unsigned user = 0; user < TLB_N_USERS; user++) {
      if (!is_of_table(user, table))
         continue;
      const tlb_route *route = tlb_route_of(h, user, mmu->base_shift,
                                            h->base_shift);
      unsigned l = 1;
      while (l < h->levels && route->at[l].n == 0)
         l++;
      if (l >= h->levels || h->entry_level[user] != 0
          || (found != NULL && !is_same_stop(&route->at[l], found)))
         return NULL;
      found = &route->at[l];
      *level = l;
   }
   return found;
}

static unsigned hit_cycles(const tlb_mmu *mmu, const tlb_stop *stop, unsigned i)
{
   return tlb_known_cycles(mmu->machine->array[stop->array[i]].hit_cycles);
}

static unsigned ways_of(const tlb_mmu *mmu, const tlb_stop *stop)
{
   unsigned ways = 0;
   for (unsigned i = 0; i < stop->n; i++)
      ways += mmu->h.array[stop->array[i]].g.ways;
   return ways;
}

/* Whether the arrays there are one lazy LRU array: of those side by side it is the one with
   the oldest page that takes a new one. */
static bool are_one_lazy_lru(const tlb_mmu *mmu, const tlb_stop *stop)
{
   if (ways_of(mmu, stop) > TLB_LAZY_LRU_MAX_WAYS)
      return false;
   const int walks_kept_in = tlb_walk_array(mmu->machine);
   const tlb_array *first = &mmu->h.array[stop->array[0]];
   for (unsigned i = 0; i < stop->n; i++) {
      const tlb_array *a = &mmu->h.array[stop->array[i]];
      if (a->policy->by != TLB_BY_OLDEST || a->g.paired || a->also_behind || a->sets != first->sets
          || a->g.index_xor != first->g.index_xor
          || (stop->array[i] == walks_kept_in && stop->n > 1)
          || stop->shift[i] != mmu->base_shift
          || hit_cycles(mmu, stop, i) != hit_cycles(mmu, stop, 0))
         return false;
   }
   return true;
}

/* Whether those of the other table ask one of the arrays. */
static bool are_asked_for(const tlb_mmu *mmu, const tlb_stop *stop, tlb_side other)
{
   for (unsigned i = 0; i < stop->n; i++) {
      for (unsigned user = 0; user < TLB_N_USERS; user++) {
         if (is_of_table(user, other)
             && (mmu->machine->array[stop->array[i]].users >> user & 1) != 0)
            return true;
      }
   }
   return false;
}

static void init_lazy_lru(tlb_mmus *all, tlb_mmu *mmu, tlb_side table,
                          const tlb_stop *stop, unsigned level)
{
   tlb_lazy_level *const s = &mmu->own_lazy_lru[table];
   const unsigned sets = mmu->h.array[stop->array[0]].sets;
   const unsigned ways = ways_of(mmu, stop);
   *s = (tlb_lazy_level){ .lazy_lru = tlb_mmus_take(all, sizeof *s->lazy_lru),
                          .stop = stop, .level = level };
   tlb_lazy_lru_init(s->lazy_lru, sets, ways, mmu->h.array[stop->array[0]].g.index_xor,
                     tlb_mmus_take(all, tlb_lazy_lru_bytes(sets, ways)));
   mmu->lazy_lru[table] = s;
   if (stop->array[0] == tlb_walk_array(mmu->machine))
      mmu->h.walker.lazy_lru = s->lazy_lru;
}

/* Code and data each have arrays of their own there, or both the same, or have to
   be asked. */
static void find_lazy_lrus(tlb_mmus *all, tlb_mmu *mmu)
{
   const tlb_stop *stop[TLB_N_TABLES];
   unsigned level[TLB_N_TABLES];
   for (unsigned t = 0; t < TLB_N_TABLES; t++) {
      stop[t] = stop_behind(mmu, t, &level[t]);
      if (stop[t] != NULL && !are_one_lazy_lru(mmu, stop[t]))
         stop[t] = NULL;
   }
   const bool joint = stop[0] != NULL && stop[1] != NULL
                      && is_same_stop(stop[0], stop[1]);
   for (unsigned t = 0; t < TLB_N_TABLES; t++) {
      if (stop[t] == NULL || (!joint && are_asked_for(mmu, stop[t], !t)))
         continue;
      if (joint && mmu->lazy_lru[!t] != NULL)
         mmu->lazy_lru[t] = mmu->lazy_lru[!t];
      else
         init_lazy_lru(all, mmu, t, stop[t], level[t]);
      all->l2.lazy_lru_of[t][mmu->number] = mmu->lazy_lru[t]->lazy_lru;
   }
}

/* --- What is usual --- */

/* The levels behind the first that those references ask, a bit for each. */
static unsigned levels_behind(const tlb_mmu *mmu, unsigned user)
{
   const tlb_route *route = tlb_route_of(&mmu->h, user, mmu->base_shift,
                                         mmu->base_shift);
   unsigned levels = 0;
   for (unsigned l = 1; l < mmu->h.levels; l++)
      levels |= route->at[l].n > 0 ? 1u << l : 0;
   return levels;
}

/* Whether all references that no level has come to the same. */
static bool walks_are_alike(const tlb_mmu *mmu, tlb_side table)
{
   return table == TLB_CODE
          || levels_behind(mmu, TLB_LOAD) == levels_behind(mmu, TLB_STORE);
}

static bool walks_vary(const tlb_mmu *mmu)
{
   const tlb_machine *m = mmu->machine;
   for (unsigned i = 0; i < m->n_walk_steps; i++) {
      if (m->walk[i].cached)
         return true;
   }
   return tlb_tables_are_cached(m) != 0;
}

/* What they come to, the miss of the first level aside, and references that vary. */
static tlb_outcome walk_of(tlb_mmu *mmu, tlb_side table, bool varies)
{
   const tlb_reference r = { .user = table == TLB_CODE ? TLB_FETCH : TLB_LOAD,
                             .page_shift = (uint8_t)mmu->base_shift,
                             .block_shift = (uint8_t)mmu->base_shift };
   tlb_outcome o = { .missed = levels_behind(mmu, r.user) };
   if (varies)
      tlb_hierarchy_pay_walk(&mmu->h, r.page_shift, &o);
   else
      tlb_hierarchy_walk(&mmu->h, &r, &o);
   return o;
}

/* Machines of which some references begin at a later level are booked one by
   one. */
static void find_common_outcome(tlb_mmus *all, tlb_mmu *mmu, tlb_side table)
{
   tlb_common_outcome *u = &mmu->common[table];
   u->counted = true;
   for (unsigned user = 0; user < TLB_N_USERS; user++)
      u->counted &= !is_of_table(user, table) || mmu->h.entry_level[user] == 0;
   u->alike = walks_are_alike(mmu, table);
   u->varies = walks_vary(mmu);
   if (u->alike)
      u->walk = walk_of(mmu, table, u->varies);
   unsigned level;
   const tlb_stop *stop = stop_behind(mmu, table, &level);
   if (stop != NULL)
      u->common.cycles = hit_cycles(mmu, stop, 0);
   u->known = u->counted && u->alike && !u->varies && u->walk.missed == 0
              && tlb_mmu_is_plain(mmu);
   if (u->known)
      u->common = u->walk;
   u->walk.cycles -= u->common.cycles;
   const tlb_lazy_level *s = mmu->lazy_lru[table];
   if (s == NULL || !u->alike || u->walk.missed != 1u << s->level)
      return;
   all->l2.last[table] |= mmu->bit;
   if (u->varies)
      all->l2.varies[table] |= mmu->bit;
}

/* --- Miss groups --- */

static bool is_simulated(const tlb_mmu *mmu)
{
   return mmu->counts == mmu->number;
}

/* The MMU misses in the group, from its size on. */
static void join(tlb_miss_group *s, tlb_mmu *mmu, tlb_side side)
{
   const tlb_side table = tlb_table_of(side);
   tlb_lazy_level *lazy_lru = mmu->lazy_lru[table];
   const tlb_common_outcome *common = &mmu->common[table];
   const unsigned size = mmu->size[side];
   for (tlb_missed *by = &s->by[size]; by < &s->by[s->n]; by++) {
      if (common->counted)
         by->counted |= mmu->bit;
      if (lazy_lru != NULL)
         by->lazy |= mmu->bit;
      else if (!common->known)
         by->asked |= mmu->bit;
   }
   if (lazy_lru == NULL)
      return;
   lazy_lru->lazy_lru->bit[table] = mmu->bit;
   lazy_lru->lazy_lru->from[side] = (uint16_t)(s->first + size);
   lazy_lru->lazy_lru->to[side] = (uint16_t)(s->first + s->n);
}

static void find_miss_group(tlb_mmu *leader, tlb_side side, unsigned *n)
{
   tlb_miss_group *s = &leader->miss_group[side];
   tlb_lru_stack *l = leader->lru_stack[side];
   const tlb_array *a = leader->stacked[side];
   *s = (tlb_miss_group){ .first = (uint16_t)*n, .n = 1, .large = (uint8_t)leader->large,
                           .table = (uint8_t)tlb_table_of(side), .lru_stack = l };
   if (l != NULL) {
      s->n = (uint16_t)l->n_sizes;
      s->sets = a->sets;
      s->set_mask = a->set_mask;
      s->index_xor = a->g.index_xor;
   }
   for (tlb_mmu *mmu = leader; mmu != NULL; mmu = mmu->follower[side])
      join(s, mmu, side);
   *n += s->by[s->n - 1].counted != 0 ? s->n : 0;
   if (l != NULL)
      s->node = (uint16_t)(*n)++;
}

/* Returns how much room their counts take in a line, and their times, and places on
   LRU stacks, at a page. */
static unsigned find_miss_groups(tlb_mmus *all)
{
   unsigned n = 0;
   for (unsigned side = 0; side < TLB_N_SIDES; side++) {
      for (tlb_mmu *l = all->mmu; l < all->mmu + all->n_mmus; l++) {
         if (is_simulated(l) && !l->follows[side]
             && (side != TLB_OWN_STORES || l->tells_apart))
            find_miss_group(l, side, &n);
      }
   }
   return n;
}

void tlb_l2_find(tlb_mmus *all)
{
   for (tlb_mmu *l = all->mmu; l < all->mmu + all->n_mmus; l++) {
      if (!all->fast_path || all->n_mmus == 1 || all->apart || !is_simulated(l)
          || l->alone)
         continue;
      if (tlb_mmu_is_plain(l))
         find_lazy_lrus(all, l);
      for (unsigned t = 0; t < TLB_N_TABLES; t++)
         find_common_outcome(all, l, t);
   }
   all->l2.n_miss_groups = find_miss_groups(all);
   all->l2.bytes = up_to_line(sizeof(tlb_lazy_lru_page)
                              + all->l2.n_miss_groups * sizeof(uint64_t));
}

/* --- What was counted together --- */

/* Adds it n times. Cycles can be less than none. */
static void add(uint64_t *cost, const tlb_outcome *o, uint64_t n)
{
   cost[TLB_COST_WALK_REFERENCES] += n * o->walk_references;
   cost[TLB_COST_CYCLES] += n * (uint64_t)(int64_t)(int)o->cycles;
   for (unsigned bits = tlb_misses_of(o); bits != 0; bits >>= 1, cost++)
      *cost += (bits & 1) * n;
}

static void settle_miss_group(const tlb_mmus *all, const tlb_miss_group *s,
                              tlb_side table, uint64_t *counts)
{
   for (unsigned i = 0; i < s->n; i++) {
      if (s->by[i].counted == 0)
         continue;
      uint64_t *const count = counts + tlb_miss_groups_at(all) + s->first + i;
      for (uint64_t bits = s->by[i].counted; bits != 0; bits &= bits - 1) {
         const tlb_mmu *const mmu = &all->mmu[__builtin_ctzll(bits)];
         uint64_t *const cost = counts + mmu->number * TLB_N_COSTS;
         cost[TLB_COST_MISS_1] += *count;
         add(cost, &mmu->common[table].common, *count);
      }
      *count = 0;
   }
}

static void settle_walks(const tlb_mmus *all, const tlb_mmu *mmu, tlb_side table,
                         uint64_t *counts)
{
   uint64_t *const count = tlb_counts_of_walks(all, counts) + mmu->number;
   add(counts + mmu->number * TLB_N_COSTS, &mmu->common[table].walk, *count);
   *count = 0;
}

void tlb_l2_settle(const tlb_mmus *all, tlb_side table, uint64_t *counts)
{
   for (unsigned i = 0; i < all->n_mmus; i++) {
      for (unsigned side = 0; side < TLB_N_SIDES; side++) {
         if (tlb_table_of(side) == table)
            settle_miss_group(all, &all->mmu[i].miss_group[side], table, counts);
      }
      settle_walks(all, &all->mmu[i], table, counts);
   }
}

/* --- When that ends --- */

static void clear_out(tlb_mmu *mmu, const tlb_lazy_level *s)
{
   unsigned way = 0;
   for (unsigned i = 0; i < s->stop->n; i++) {
      tlb_array *a = &mmu->h.array[s->stop->array[i]];
      tlb_lazy_lru_move(s->lazy_lru, way, a, mmu->base_shift);
      way += a->g.ways;
   }
   if (mmu->h.walker.lazy_lru == s->lazy_lru)
      mmu->h.walker.lazy_lru = NULL;
}

void tlb_l2_part(tlb_mmus *all)
{
   for (tlb_mmu *l = all->mmu; l < all->mmu + all->n_mmus; l++) {
      for (unsigned t = 0; t < TLB_N_TABLES; t++) {
         if (l->lazy_lru[t] == NULL)
            continue;
         if (l->lazy_lru[t] == &l->own_lazy_lru[t])
            clear_out(l, l->lazy_lru[t]);
         l->lazy_lru[t] = NULL;
         all->l2.lazy_lru_of[t][l->number] = NULL;
      }
      for (unsigned t = 0; t < TLB_N_TABLES; t++)
         l->common[t] = (tlb_common_outcome){ .counted = false };
   }
   for (unsigned t = 0; t < TLB_N_TABLES; t++)
      all->l2.last[t] = all->l2.varies[t] = 0;
   find_miss_groups(all);
}
