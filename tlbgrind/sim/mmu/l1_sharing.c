/* Shared first levels. See l1_sharing.h. */

#include "sim/mmu/l1_sharing.h"

#include "sim/machine/siblings.h"
#include "sim/mmu/l1_lookup.h"
#include "sim/mmu/mmu_memory.h"
#include "sim/mmu/traits.h"
#include "sim/tlb/policy.h"

/* --- Equal machines --- */

static bool is_asked_first(const tlb_mmu *mmu, tlb_side table, unsigned i)
{
   if (table == TLB_CODE)
      return tlb_asks_first(&mmu->h, TLB_FETCH, i) != 0;
   return tlb_asks_first(&mmu->h, TLB_LOAD, i)
          || tlb_asks_first(&mmu->h, TLB_STORE, i);
}

/* The next array from number i on that is asked first, or n_arrays. */
static unsigned next_first(const tlb_mmu *mmu, tlb_side table, unsigned i)
{
   while (i < mmu->machine->n_arrays && !is_asked_first(mmu, table, i))
      i++;
   return i;
}

static bool are_equal_geometries(const tlb_geometry *a, const tlb_geometry *b)
{
   return a->entries == b->entries && a->ways == b->ways && a->page_sizes == b->page_sizes
          && a->policy == b->policy && a->seed == b->seed
          && a->index_xor == b->index_xor && a->paired == b->paired;
}

static bool are_equal(const tlb_mmus *all, const tlb_machine_array *a, const tlb_machine_array *b)
{
   if (all->options.siblings > 1 && tlb_siblings_have_own(a) != tlb_siblings_have_own(b))
      return false;
   return a->level == b->level && a->users == b->users
          && are_equal_geometries(&a->g, &b->g)
          && a->splits == b->splits && a->inclusion == b->inclusion
          && tlb_arrays_coalesce_alike(a, b);
}

/* Whether the first levels of both for code or data, and what is told them,
   are the same at all times. One that is asked always leads none of whose pages more is
   known: that one can be the leader of others. */
static bool have_equal_first_levels(const tlb_mmu *a, const tlb_mmu *b,
                                    tlb_side table)
{
   unsigned i = next_first(a, table, 0), j = next_first(b, table, 0);
   if (a->view != b->view || a->base_shift != b->base_shift
       || a->large != b->large || a->asks != b->asks || a->asked_always != b->asked_always)
      return false;
   while (i < a->machine->n_arrays && j < b->machine->n_arrays) {
      if (a->h.array[i].also_behind || b->h.array[j].also_behind
          || !are_equal(a->all, &a->machine->array[i], &b->machine->array[j]))
         return false;
      i = next_first(a, table, i + 1);
      j = next_first(b, table, j + 1);
   }
   return i == a->machine->n_arrays && j == b->machine->n_arrays;
}

/* Whether each reference of a walk costs the same in both, at most. */
static bool have_equal_tables(const tlb_machine *m, const tlb_machine *n)
{
   if (!tlb_tables_are_cached(m) || !tlb_tables_are_cached(n))
      return !tlb_tables_are_cached(m) && !tlb_tables_are_cached(n);
   if (m->n_caches != n->n_caches || tlb_entry_bytes(m) != tlb_entry_bytes(n)
       || m->memory.cycles != n->memory.cycles)
      return false;
   for (unsigned i = 0; i < m->n_caches; i++) {
      const tlb_table_cache *c = &m->cache[i];
      const tlb_table_cache *d = &n->cache[i];
      if (c->line != d->line || c->ways != d->ways || c->cycles != d->cycles
          || tlb_table_cache_sets(c) != tlb_table_cache_sets(d))
         return false;
   }
   return true;
}

/* Whether all that is counted of both is the same at all times. */
static bool are_twins(const tlb_mmu *a, const tlb_mmu *b)
{
   const tlb_machine *m = a->machine;
   const tlb_machine *n = b->machine;
   if (a->view != b->view || a->asks != b->asks || a->base_shift != b->base_shift
       || m->n_arrays != n->n_arrays || m->n_walk_steps != n->n_walk_steps
       || m->software_walk != n->software_walk
       || m->walk_cycles != n->walk_cycles || m->host_page_shift != n->host_page_shift
       || !have_equal_tables(m, n))
      return false;
   for (unsigned i = 0; i < m->n_arrays; i++) {
      if (!are_equal(a->all, &m->array[i], &n->array[i])
          || m->array[i].hit_cycles != n->array[i].hit_cycles)
         return false;
   }
   for (unsigned i = 0; i < m->n_walk_steps; i++) {
      const tlb_walk_step *s = &m->walk[i];
      const tlb_walk_step *t = &n->walk[i];
      if (s->shift != t->shift || s->cycles != t->cycles || s->cached != t->cached
          || s->in_last_level != t->in_last_level || s->joined != t->joined
          || !are_equal_geometries(&s->g, &t->g))
         return false;
   }
   return true;
}

/* Processors of one family are often equal in all that is simulated: one of them
   is enough. */
static void count_with_twin(const tlb_mmus *all, tlb_mmu *mmu)
{
   for (tlb_mmu *twin = all->mmu; twin < mmu; twin++) {
      if (are_twins(twin, mmu)) {
         mmu->counts = twin->counts;
         return;
      }
   }
}

static void follow(tlb_mmu *leader, tlb_mmu *mmu, tlb_side side)
{
   mmu->follower[side] = leader->follower[side];
   mmu->follows[side] = true;
   leader->follower[side] = mmu;
}

/* --- As long as all pages are base pages --- */

static tlb_array *lru_array(tlb_mmu *mmu, tlb_user user)
{
   tlb_array *a = tlb_base_array(mmu, user);
   return a == NULL || a->policy->by != TLB_BY_OLDEST || a->also_behind ? NULL : a;
}

/* The LRU array that is asked first on that side for the MMU's base pages; NULL: it is
   not that simple. */
static tlb_array *base_array(tlb_mmu *mmu, tlb_side side)
{
   tlb_array *loads = lru_array(mmu, TLB_LOAD);
   tlb_array *stores = lru_array(mmu, TLB_STORE);
   if (side == TLB_CODE)
      return lru_array(mmu, TLB_FETCH);
   if (loads == NULL || stores == NULL || (loads != stores) != mmu->tells_apart)
      return NULL;
   if (side == TLB_DATA)
      return loads;
   return mmu->tells_apart ? stores : NULL;
}

/* Whether one array misses nothing but what the other, which is no larger,
   misses. */
static bool holds_all_of(const tlb_array *larger, const tlb_array *a)
{
   return larger->sets == a->sets && larger->g.index_xor == a->g.index_xor
          && larger->g.ways >= a->g.ways;
}

static bool is_free(const tlb_mmu *mmu, tlb_side side)
{
   return mmu->counts == mmu->number && !mmu->follows[side] && !mmu->alone
          && (side != TLB_OWN_STORES || mmu->tells_apart);
}

/* The same, if the MMU is free, and what asks it, and its base pages, are as with the
   other. */
static tlb_array *free_array(tlb_mmu *mmu, tlb_side side, const tlb_mmu *other)
{
   return is_free(mmu, side) && mmu->base_shift == other->base_shift
                && (side == TLB_CODE || mmu->tells_apart == other->tells_apart)
             ? base_array(mmu, side) : NULL;
}

/* How many ways the arrays have that the MMU's holds all of or that hold all of it, in
   order; *smallest is the first MMU with the fewest. Returns how many there are. */
static unsigned ways_like(const tlb_mmus *all, tlb_mmu *mmu, tlb_side side,
                          unsigned ways[TLB_LRU_STACK_MAX_SIZES], tlb_mmu **smallest)
{
   const tlb_array *a = base_array(mmu, side);
   unsigned n = 0;
   for (tlb_mmu *l = mmu; l < all->mmu + all->n_mmus; l++) {
      const tlb_array *b = free_array(l, side, mmu);
      if (b == NULL || !(holds_all_of(a, b) || holds_all_of(b, a)))
         continue;
      unsigned at = n;
      while (at > 0 && ways[at - 1] > b->g.ways)
         at--;
      if ((at > 0 && ways[at - 1] == b->g.ways) || n == TLB_LRU_STACK_MAX_SIZES)
         continue;
      for (unsigned i = n++; i > at; i--)
         ways[i] = ways[i - 1];
      ways[at] = b->g.ways;
      if (at == 0)
         *smallest = l;
   }
   return n;
}

/* An LRU stack for each set. */
static tlb_lru_stack *new_lru_stacks(tlb_mmus *all, unsigned sets, const unsigned *ways,
                                     unsigned n)
{
   const size_t bytes = tlb_lru_stack_bytes(ways, n);
   tlb_lru_stack *const l = tlb_mmus_take(all, sets * sizeof *l);
   uint8_t *const nodes = tlb_mmus_take(all, sets * bytes);
   for (unsigned i = 0; i < sets; i++)
      tlb_lru_stack_init(&l[i], ways, n, nodes + i * bytes);
   return l;
}

/* Lets MMUs follow that miss nothing but what the smallest of them does. */
static void share_base_pages(tlb_mmus *all, tlb_mmu *mmu, tlb_side side)
{
   unsigned ways[TLB_LRU_STACK_MAX_SIZES];
   tlb_mmu *leader = mmu;
   const unsigned n = ways_like(all, mmu, side, ways, &leader);
   const tlb_array *a = base_array(leader, side);
   for (tlb_mmu *l = mmu; l < all->mmu + all->n_mmus; l++) {
      const tlb_array *b = l == leader ? NULL : free_array(l, side, leader);
      if (b == NULL || !holds_all_of(b, a))
         continue;
      unsigned size = 0;
      while (size < n && ways[size] != b->g.ways)
         size++;
      if (size == n)
         continue;
      l->size[side] = size;
      follow(leader, l, side);
   }
   if (n > 1) {
      leader->stacked[side] = a;
      leader->lru_stack[side] = new_lru_stacks(all, a->sets, ways, n);
   }
}

void tlb_sharing_find(tlb_mmus *all)
{
   for (tlb_mmu *mmu = all->mmu; mmu < all->mmu + all->n_mmus; mmu++)
      count_with_twin(all, mmu);
   for (unsigned side = 0; side < TLB_N_SIDES; side++) {
      for (tlb_mmu *mmu = all->mmu; mmu < all->mmu + all->n_mmus; mmu++) {
         if (!is_free(mmu, side))
            continue;
         if (base_array(mmu, side) != NULL) {
            share_base_pages(all, mmu, side);
            continue;
         }
         for (tlb_mmu *l = mmu + 1; l < all->mmu + all->n_mmus; l++) {
            if (is_free(l, side)
                && have_equal_first_levels(mmu, l, tlb_table_of(side)))
               follow(mmu, l, side);
         }
      }
   }
}

/* --- What a leader misses --- */

unsigned tlb_sharing_missed(tlb_mmus *all, const tlb_miss_group *s,
                            tlb_lazy_lru_page *page, tlb_page *evicted)
{
   tlb_lru_stack *l = &s->lru_stack[tlb_set_of(page->number, s->sets, s->set_mask,
                                              s->index_xor)];
   tlb_lazy_lru_page *comes
      = evicted == NULL ? NULL : tlb_l2_of_page(all, s->table, evicted, s->large);
   unsigned node = 0;
   const unsigned n = tlb_lru_stack_miss(l, page, (unsigned)page->time[s->node], comes, &node);
   if (comes != NULL)
      comes->time[s->node] = node;
   return n;
}

/* --- When that ends --- */

static void fill_from_lru_stack(tlb_array *to, unsigned size, const tlb_array *from,
                             const tlb_lru_stack *l, unsigned base_shift)
{
   for (unsigned at = l->node[0].older; at != 0; at = l->node[at].older) {
      const tlb_lazy_lru_page *p = l->node[at].page;
      const tlb_key key = tlb_key_of(p->number, base_shift, 0);
      if (l->node[at].size <= size)
         tlb_array_fill(to, key, tlb_l1_time(from, key));
   }
}

/* Puts into the follower's own array what it would hold. */
static void fill_in(tlb_mmu *leader, tlb_mmu *f, tlb_side side)
{
   const tlb_array *from = base_array(leader, side);
   tlb_array *to = base_array(f, side);
   for (unsigned e = 0; e < from->g.entries; e++) {
      if (from->key[e] != TLB_NO_KEY)
         tlb_array_fill(to, from->key[e], tlb_array_time(from, e));
   }
   for (unsigned set = 0; leader->lru_stack[side] != NULL && set < from->sets; set++)
      fill_from_lru_stack(to, f->size[side], from, &leader->lru_stack[side][set],
                       leader->base_shift);
}

/* It is asked from now on. */
static void part(tlb_mmus *all, tlb_mmu *f, tlb_side side)
{
   f->follower[side] = NULL;
   f->size[side] = 0;
   f->follows[side] = false;
   for (unsigned user = 0; user < TLB_N_USERS; user++) {
      if (tlb_mmu_side(f, user) == side && (user != TLB_STORE || all->traits.split))
         *tlb_first_observers(&all->traits, user) |= f->bit;
   }
}

void tlb_sharing_part(tlb_mmus *all)
{
   for (unsigned side = 0; side < TLB_N_SIDES; side++) {
      for (tlb_mmu *leader = all->mmu; leader < all->mmu + all->n_mmus; leader++) {
         if (!is_free(leader, side) || base_array(leader, side) == NULL)
            continue;
         tlb_mmu *next;
         for (tlb_mmu *f = leader->follower[side]; f != NULL; f = next) {
            next = f->follower[side];
            fill_in(leader, f, side);
            part(all, f, side);
         }
         leader->follower[side] = NULL;
         leader->lru_stack[side] = NULL;
      }
   }
}
