/* Machines that have a first level in common. See mmu/l1_sharing.h. */

#include "pub_tool_basics.h"

#include "pub_tool_libcbase.h"
#include "pub_tool_mallocfree.h"

#include "mmu/l2_presence.h"
#include "mmu/l1_sharing.h"
#include "mmu/traits.h"

/* --- Equal machines --- */

static Bool is_asked_first(const TgLane* lane, TgTable table, UInt i)
{
   if (table == TG_CODE)
      return tlb_asks_first(&lane->h, TLB_FETCH, i) != 0;
   return tlb_asks_first(&lane->h, TLB_LOAD, i)
          || tlb_asks_first(&lane->h, TLB_STORE, i);
}

/* The next array from number i on that is asked first, or n_arrays. */
static UInt next_first(const TgLane* lane, TgTable table, UInt i)
{
   while (i < lane->machine->m.n_arrays && !is_asked_first(lane, table, i))
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
static Bool have_equal_first_levels(const TgLane* a, const TgLane* b,
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
static Bool are_twins(const TgLane* a, const TgLane* b)
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
static void count_with_twin(TgLane* lane)
{
   for (TgLane* twin = tg_lanes; twin < lane; twin++) {
      if (are_twins(twin, lane)) {
         lane->counts = twin->counts;
         return;
      }
   }
}

static void follow(TgLane* leader, TgLane* lane, TgSide side)
{
   lane->follower[side] = leader->follower[side];
   lane->follows[side] = True;
   leader->follower[side] = lane;
}

/* --- As long as all pages are base pages --- */

static tlb_array* lru_array(TgLane* lane, TgKind kind)
{
   tlb_array* a = tg_base_array(lane, kind);
   return a == NULL || a->g.policy != TLB_LRU || a->also_behind ? NULL : a;
}

/* The LRU array that is asked first on that side for the lane's base pages; NULL: it is
   not that simple. */
static tlb_array* base_array(TgLane* lane, TgSide side)
{
   tlb_array* loads = lru_array(lane, TG_READ);
   tlb_array* stores = lru_array(lane, TG_WRITE);
   if (side == TG_CODE_SIDE)
      return lru_array(lane, TG_FETCH);
   if (loads == NULL || stores == NULL || (loads != stores) != lane->tells_apart)
      return NULL;
   if (side == TG_DATA_SIDE)
      return loads;
   return lane->tells_apart ? stores : NULL;
}

/* Whether one array misses nothing but what the other, which is no larger,
   misses. */
static Bool holds_all_of(const tlb_array* larger, const tlb_array* a)
{
   return larger->sets == a->sets && larger->g.ways >= a->g.ways;
}

static Bool is_free(const TgLane* lane, TgSide side)
{
   return lane->counts == lane->number && !lane->follows[side]
          && (side != TG_STORES_SIDE || lane->tells_apart);
}

/* The same, if the lane is free, and what asks it, and its base pages, are as with the
   other. */
static tlb_array* free_array(TgLane* lane, TgSide side, const TgLane* other)
{
   return is_free(lane, side) && lane->base_shift == other->base_shift
                && (side == TG_CODE_SIDE || lane->tells_apart == other->tells_apart)
             ? base_array(lane, side) : NULL;
}

/* How many ways the arrays have that the lane's holds all of or that hold all of it, in
   order; *smallest is the first lane with the fewest. Returns how many there are. */
static UInt ways_like(TgLane* lane, TgSide side, UInt ways[TLB_MAX_RUNGS],
                      TgLane** smallest)
{
   const tlb_array* a = base_array(lane, side);
   UInt n = 0;
   for (TgLane* l = lane; l < tg_lanes + tg_n_lanes; l++) {
      const tlb_array* b = free_array(l, side, lane);
      if (b == NULL || !(holds_all_of(a, b) || holds_all_of(b, a)))
         continue;
      UInt at = n;
      while (at > 0 && ways[at - 1] > b->g.ways)
         at--;
      if ((at > 0 && ways[at - 1] == b->g.ways) || n == TLB_MAX_RUNGS)
         continue;
      for (UInt i = n++; i > at; i--)
         ways[i] = ways[i - 1];
      ways[at] = b->g.ways;
      if (at == 0)
         *smallest = l;
   }
   return n;
}

/* A ladder for each set. */
static tlb_ladder* new_ladders(UInt sets, const UInt* ways, UInt n)
{
   UChar* room = VG_(malloc)("tg.shared", (sets + 1) * sizeof(tlb_ladder));
   tlb_ladder* l = (tlb_ladder*)VG_ROUNDUP((Addr)room, _Alignof(tlb_ladder));
   const SizeT bytes = tlb_ladder_bytes(ways, n);
   UChar* places = VG_(malloc)("tg.shared.places", sets * bytes);
   for (UInt i = 0; i < sets; i++)
      tlb_ladder_init(&l[i], ways, n, places + i * bytes);
   return l;
}

/* Lets lanes follow that miss nothing but what the smallest of them does. */
static void share_base_pages(TgLane* lane, TgSide side)
{
   UInt ways[TLB_MAX_RUNGS];
   TgLane* leader = lane;
   const UInt n = ways_like(lane, side, ways, &leader);
   const tlb_array* a = base_array(leader, side);
   for (TgLane* l = lane; l < tg_lanes + tg_n_lanes; l++) {
      const tlb_array* b = l == leader ? NULL : free_array(l, side, leader);
      if (b == NULL || !holds_all_of(b, a))
         continue;
      UInt rung = 0;
      while (rung < n && ways[rung] != b->g.ways)
         rung++;
      if (rung == n)
         continue;
      l->rung[side] = rung;
      follow(leader, l, side);
   }
   if (n > 1) {
      leader->laddered[side] = a;
      leader->ladder[side] = new_ladders(a->sets, ways, n);
   }
}

void tg_shared_find(void)
{
   for (TgLane* lane = tg_lanes; lane < tg_lanes + tg_n_lanes; lane++)
      count_with_twin(lane);
   for (UInt side = 0; side < TG_N_SIDES; side++) {
      for (TgLane* lane = tg_lanes; lane < tg_lanes + tg_n_lanes; lane++) {
         if (!is_free(lane, side))
            continue;
         if (base_array(lane, side) != NULL) {
            share_base_pages(lane, side);
            continue;
         }
         for (TgLane* l = lane + 1; l < tg_lanes + tg_n_lanes; l++) {
            if (is_free(l, side)
                && have_equal_first_levels(lane, l, tg_table_of(side)))
               follow(lane, l, side);
         }
      }
   }
}

/* --- What a leader misses --- */

UInt tg_shared_missed(const TgStream* s, tlb_shelf_page* page, TgPage* evicted)
{
   tlb_ladder* l = &s->ladder[tlb_set_of(page->number, s->sets, s->set_mask)];
   tlb_shelf_page* comes
      = evicted == NULL ? NULL : tg_behind(s->table, evicted, s->large);
   UInt place = 0;
   const UInt n = tlb_ladder_miss(l, page, (UInt)page->time[s->place], comes, &place);
   if (comes != NULL)
      comes->time[s->place] = place;
   return n;
}

/* --- When that ends --- */

static void fill_from_ladder(tlb_array* to, UInt rung, const tlb_array* from,
                             const tlb_ladder* l, UInt base_shift)
{
   for (UInt at = l->place[0].older; at != 0; at = l->place[at].older) {
      const tlb_shelf_page* p = l->place[at].page;
      const tlb_key key = tlb_key_of(p->number, base_shift, 0);
      if (l->place[at].rung <= rung)
         tlb_array_fill(to, key, tg_lane_time(from, key));
   }
}

/* Puts into the follower's own array what it would hold. */
static void fill_in(TgLane* leader, TgLane* f, TgSide side)
{
   const tlb_array* from = base_array(leader, side);
   tlb_array* to = base_array(f, side);
   for (UInt e = 0; e < from->g.entries; e++) {
      if (from->key[e] != TLB_NO_KEY)
         tlb_array_fill(to, from->key[e], tlb_array_time(from, e));
   }
   for (UInt set = 0; leader->ladder[side] != NULL && set < from->sets; set++)
      fill_from_ladder(to, f->rung[side], from, &leader->ladder[side][set],
                       leader->base_shift);
}

/* It is asked from now on. */
static void part(TgLane* f, TgSide side)
{
   f->follower[side] = NULL;
   f->rung[side] = 0;
   f->follows[side] = False;
   for (UInt kind = 0; kind < TG_N_KINDS; kind++) {
      if (tg_side_of(f, kind) == side && (kind != TG_WRITE || tg_knowledge.split))
         *tg_wanted_at_first(&tg_knowledge, kind) |= f->bit;
   }
}

void tg_shared_part(void)
{
   for (UInt side = 0; side < TG_N_SIDES; side++) {
      for (TgLane* leader = tg_lanes; leader < tg_lanes + tg_n_lanes; leader++) {
         if (!is_free(leader, side) || base_array(leader, side) == NULL)
            continue;
         TgLane* next;
         for (TgLane* f = leader->follower[side]; f != NULL; f = next) {
            next = f->follower[side];
            fill_in(leader, f, side);
            part(f, side);
         }
         leader->follower[side] = NULL;
         leader->ladder[side] = NULL;
      }
   }
}
