/* Machines that have a first level in common. See mmu/l1_sharing.h. */

#include "pub_tool_basics.h"

#include "pub_tool_libcbase.h"
#include "pub_tool_mallocfree.h"

#include "mmu/l2_presence.h"
#include "mmu/l1_sharing.h"
#include "mmu/traits.h"

/* --- Equal machines --- */

static Bool is_asked_first(const TgMmu* mmu, TgTable table, UInt i)
{
   if (table == TG_CODE)
      return tlb_asks_first(&mmu->h, TLB_FETCH, i) != 0;
   return tlb_asks_first(&mmu->h, TLB_LOAD, i)
          || tlb_asks_first(&mmu->h, TLB_STORE, i);
}

/* The next array from number i on that is asked first, or n_arrays. */
static UInt next_first(const TgMmu* mmu, TgTable table, UInt i)
{
   while (i < mmu->machine->m.n_arrays && !is_asked_first(mmu, table, i))
      i++;
   return i;
}

static Bool are_equal(const tlb_machine_array* a, const tlb_machine_array* b)
{
   return a->level == b->level && a->users == b->users
          && VG_(memcmp)(&a->g, &b->g, sizeof a->g) == 0
          && a->splits == b->splits && a->coalesce_shift == b->coalesce_shift;
}

/* Whether the first levels of both for code or data, and what is told them,
   are the same at all times. */
static Bool have_equal_first_levels(const TgMmu* a, const TgMmu* b,
                                    TgTable table)
{
   UInt i = next_first(a, table, 0), j = next_first(b, table, 0);
   if (a->view != b->view || a->base_shift != b->base_shift
       || a->asks != b->asks || tg_is_mixed(a) || tg_is_mixed(b))
      return False;
   while (i < a->machine->m.n_arrays && j < b->machine->m.n_arrays) {
      if (a->h.array[i].also_behind || b->h.array[j].also_behind
          || !are_equal(&a->machine->m.array[i], &b->machine->m.array[j]))
         return False;
      i = next_first(a, table, i + 1);
      j = next_first(b, table, j + 1);
   }
   return i == a->machine->m.n_arrays && j == b->machine->m.n_arrays;
}

/* Whether all that is counted of both is the same at all times. */
static Bool are_twins(const TgMmu* a, const TgMmu* b)
{
   const tlb_machine* m = &a->machine->m;
   const tlb_machine* n = &b->machine->m;
   if (a->view != b->view || a->base_shift != b->base_shift
       || m->n_arrays != n->n_arrays || m->n_walk_steps != n->n_walk_steps
       || m->software_walk != n->software_walk
       || m->walk_cycles != n->walk_cycles)
      return False;
   for (UInt i = 0; i < m->n_arrays; i++) {
      if (!are_equal(&m->array[i], &n->array[i])
          || m->array[i].hit_cycles != n->array[i].hit_cycles)
         return False;
   }
   for (UInt i = 0; i < m->n_walk_steps; i++) {
      const tlb_walk_step* s = &m->walk[i];
      const tlb_walk_step* t = &n->walk[i];
      if (s->shift != t->shift || s->cached != t->cached
          || s->in_last_level != t->in_last_level || s->joined != t->joined
          || VG_(memcmp)(&s->g, &t->g, sizeof s->g) != 0)
         return False;
   }
   return True;
}

/* Processors of one family are often equal in all that is simulated: one of them
   is enough. */
static void count_with_twin(TgMmu* mmu)
{
   for (TgMmu* twin = tg_mmus; twin < mmu; twin++) {
      if (are_twins(twin, mmu)) {
         mmu->counts = twin->counts;
         return;
      }
   }
}

static void follow(TgMmu* leader, TgMmu* mmu, TgSide side)
{
   mmu->follower[side] = leader->follower[side];
   mmu->follows[side] = True;
   leader->follower[side] = mmu;
}

/* --- As long as all pages are base pages --- */

static tlb_array* lru_array(TgMmu* mmu, TgKind kind)
{
   tlb_array* a = tg_base_array(mmu, kind);
   return a == NULL || a->g.policy != TLB_LRU || a->also_behind ? NULL : a;
}

/* The LRU array that is asked first on that side for the MMU's base pages; NULL: it is
   not that simple. */
static tlb_array* base_array(TgMmu* mmu, TgSide side)
{
   tlb_array* loads = lru_array(mmu, TG_READ);
   tlb_array* stores = lru_array(mmu, TG_WRITE);
   if (side == TG_CODE_SIDE)
      return lru_array(mmu, TG_FETCH);
   if (loads == NULL || stores == NULL || (loads != stores) != mmu->tells_apart)
      return NULL;
   if (side == TG_DATA_SIDE)
      return loads;
   return mmu->tells_apart ? stores : NULL;
}

/* Whether one array misses nothing but what the other, which is no larger,
   misses. */
static Bool holds_all_of(const tlb_array* larger, const tlb_array* a)
{
   return larger->sets == a->sets && larger->g.ways >= a->g.ways;
}

static Bool is_free(const TgMmu* mmu, TgSide side)
{
   return mmu->counts == mmu->number && !mmu->follows[side]
          && (side != TG_STORES_SIDE || mmu->tells_apart);
}

/* The same, if the MMU is free, and what asks it, and its base pages, are as with the
   other. */
static tlb_array* free_array(TgMmu* mmu, TgSide side, const TgMmu* other)
{
   return is_free(mmu, side) && mmu->base_shift == other->base_shift
                && (side == TG_CODE_SIDE || mmu->tells_apart == other->tells_apart)
             ? base_array(mmu, side) : NULL;
}

/* How many ways the arrays have that the MMU's holds all of or that hold all of it, in
   order; *smallest is the first MMU with the fewest. Returns how many there are. */
static UInt ways_like(TgMmu* mmu, TgSide side, UInt ways[TLB_LRU_STACK_MAX_SIZES],
                      TgMmu** smallest)
{
   const tlb_array* a = base_array(mmu, side);
   UInt n = 0;
   for (TgMmu* l = mmu; l < tg_mmus + tg_n_mmus; l++) {
      const tlb_array* b = free_array(l, side, mmu);
      if (b == NULL || !(holds_all_of(a, b) || holds_all_of(b, a)))
         continue;
      UInt at = n;
      while (at > 0 && ways[at - 1] > b->g.ways)
         at--;
      if ((at > 0 && ways[at - 1] == b->g.ways) || n == TLB_LRU_STACK_MAX_SIZES)
         continue;
      for (UInt i = n++; i > at; i--)
         ways[i] = ways[i - 1];
      ways[at] = b->g.ways;
      if (at == 0)
         *smallest = l;
   }
   return n;
}

/* An LRU stack for each set. */
static tlb_lru_stack* new_lru_stacks(UInt sets, const UInt* ways, UInt n)
{
   UChar* room = VG_(malloc)("tg.shared", (sets + 1) * sizeof(tlb_lru_stack));
   tlb_lru_stack* l = (tlb_lru_stack*)VG_ROUNDUP((Addr)room, _Alignof(tlb_lru_stack));
   const SizeT bytes = tlb_lru_stack_bytes(ways, n);
   UChar* nodes = VG_(malloc)("tg.shared.places", sets * bytes);
   for (UInt i = 0; i < sets; i++)
      tlb_lru_stack_init(&l[i], ways, n, nodes + i * bytes);
   return l;
}

/* Lets MMUs follow that miss nothing but what the smallest of them does. */
static void share_base_pages(TgMmu* mmu, TgSide side)
{
   UInt ways[TLB_LRU_STACK_MAX_SIZES];
   TgMmu* leader = mmu;
   const UInt n = ways_like(mmu, side, ways, &leader);
   const tlb_array* a = base_array(leader, side);
   for (TgMmu* l = mmu; l < tg_mmus + tg_n_mmus; l++) {
      const tlb_array* b = l == leader ? NULL : free_array(l, side, leader);
      if (b == NULL || !holds_all_of(b, a))
         continue;
      UInt size = 0;
      while (size < n && ways[size] != b->g.ways)
         size++;
      if (size == n)
         continue;
      l->size[side] = size;
      follow(leader, l, side);
   }
   if (n > 1) {
      leader->stacked[side] = a;
      leader->lru_stack[side] = new_lru_stacks(a->sets, ways, n);
   }
}

void tg_shared_find(void)
{
   for (TgMmu* mmu = tg_mmus; mmu < tg_mmus + tg_n_mmus; mmu++)
      count_with_twin(mmu);
   for (UInt side = 0; side < TG_N_SIDES; side++) {
      for (TgMmu* mmu = tg_mmus; mmu < tg_mmus + tg_n_mmus; mmu++) {
         if (!is_free(mmu, side))
            continue;
         if (base_array(mmu, side) != NULL) {
            share_base_pages(mmu, side);
            continue;
         }
         for (TgMmu* l = mmu + 1; l < tg_mmus + tg_n_mmus; l++) {
            if (is_free(l, side)
                && have_equal_first_levels(mmu, l, tg_table_of(side)))
               follow(mmu, l, side);
         }
      }
   }
}

/* --- What a leader misses --- */

UInt tg_shared_missed(const TgMissGroup* s, tlb_lazy_lru_page* page, TgPage* evicted)
{
   tlb_lru_stack* l = &s->lru_stack[tlb_set_of(page->number, s->sets, s->set_mask)];
   tlb_lazy_lru_page* comes
      = evicted == NULL ? NULL : tg_l2_of_page(s->table, evicted, s->large);
   UInt node = 0;
   const UInt n = tlb_lru_stack_miss(l, page, (UInt)page->time[s->node], comes, &node);
   if (comes != NULL)
      comes->time[s->node] = node;
   return n;
}

/* --- When that ends --- */

static void fill_from_lru_stack(tlb_array* to, UInt size, const tlb_array* from,
                             const tlb_lru_stack* l, UInt base_shift)
{
   for (UInt at = l->node[0].older; at != 0; at = l->node[at].older) {
      const tlb_lazy_lru_page* p = l->node[at].page;
      const tlb_key key = tlb_key_of(p->number, base_shift, 0);
      if (l->node[at].size <= size)
         tlb_array_fill(to, key, tg_mmu_time(from, key));
   }
}

/* Puts into the follower's own array what it would hold. */
static void fill_in(TgMmu* leader, TgMmu* f, TgSide side)
{
   const tlb_array* from = base_array(leader, side);
   tlb_array* to = base_array(f, side);
   for (UInt e = 0; e < from->g.entries; e++) {
      if (from->key[e] != TLB_NO_KEY)
         tlb_array_fill(to, from->key[e], tlb_array_time(from, e));
   }
   for (UInt set = 0; leader->lru_stack[side] != NULL && set < from->sets; set++)
      fill_from_lru_stack(to, f->size[side], from, &leader->lru_stack[side][set],
                       leader->base_shift);
}

/* It is asked from now on. */
static void part(TgMmu* f, TgSide side)
{
   f->follower[side] = NULL;
   f->size[side] = 0;
   f->follows[side] = False;
   for (UInt kind = 0; kind < TG_N_KINDS; kind++) {
      if (tg_side_of(f, kind) == side && (kind != TG_WRITE || tg_run_traits.split))
         *tg_first_observers(&tg_run_traits, kind) |= f->bit;
   }
}

void tg_shared_part(void)
{
   for (UInt side = 0; side < TG_N_SIDES; side++) {
      for (TgMmu* leader = tg_mmus; leader < tg_mmus + tg_n_mmus; leader++) {
         if (!is_free(leader, side) || base_array(leader, side) == NULL)
            continue;
         TgMmu* next;
         for (TgMmu* f = leader->follower[side]; f != NULL; f = next) {
            next = f->follower[side];
            fill_in(leader, f, side);
            part(f, side);
         }
         leader->follower[side] = NULL;
         leader->lru_stack[side] = NULL;
      }
   }
}
