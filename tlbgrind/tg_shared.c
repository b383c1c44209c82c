/* Machines that have a first level in common. See tg_shared.h. */

#include "pub_tool_basics.h"

#include "pub_tool_libcbase.h"
#include "pub_tool_mallocfree.h"

#include "tg_behind.h"
#include "tg_shared.h"

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
       || a->asks != b->asks || tg_lane_is_mixed(a) || tg_lane_is_mixed(b))
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

static void follow(TgLane* leader, TgLane* lane, TgTable table)
{
   lane->follower[table] = leader->follower[table];
   lane->follows[table] = True;
   leader->follower[table] = lane;
}

/* --- As long as all pages are base pages --- */

/* The LRU array that the lane's pages of code or data have there; NULL: it is not
   that simple. */
static tlb_array* base_array(TgLane* lane, TgTable table)
{
   tlb_array* a = tg_lane_base_array(lane, table == TG_CODE ? TG_FETCH : TG_READ);
   return a == NULL || a->g.policy != TLB_LRU || a->also_behind
          || (table == TG_DATA && tg_lane_base_array(lane, TG_WRITE) != a)
             ? NULL : a;
}

/* Whether one array misses nothing but what the other, which is no larger,
   misses. */
static Bool holds_all_of(const tlb_array* larger, const tlb_array* a)
{
   return larger->sets == a->sets
          && (larger->g.ways == a->g.ways
              || (a->sets == 1 && larger->g.ways > a->g.ways));
}

static Bool is_free(const TgLane* lane, TgTable table)
{
   return lane->counts == lane->number && !lane->follows[table];
}

/* The same, if the lane is free, and its base pages are of that size. */
static tlb_array* free_array(TgLane* lane, TgTable table, UInt base_shift)
{
   return lane->base_shift == base_shift && is_free(lane, table)
             ? base_array(lane, table) : NULL;
}

/* The sizes of the arrays that the lane's holds all of or that hold all of it, in
   order; *smallest is the first lane with the smallest. Returns how many there
   are. */
static UInt sizes_like(TgLane* lane, TgTable table, UInt size[TLB_MAX_RUNGS],
                       TgLane** smallest)
{
   const tlb_array* a = base_array(lane, table);
   UInt n = 0;
   for (TgLane* l = lane; l < tg_lanes + tg_n_lanes; l++) {
      const tlb_array* b = free_array(l, table, lane->base_shift);
      if (b == NULL || !(holds_all_of(a, b) || holds_all_of(b, a)))
         continue;
      UInt at = n;
      while (at > 0 && size[at - 1] > b->g.ways)
         at--;
      if ((at > 0 && size[at - 1] == b->g.ways) || n == TLB_MAX_RUNGS)
         continue;
      for (UInt i = n++; i > at; i--)
         size[i] = size[i - 1];
      size[at] = b->g.ways;
      if (at == 0)
         *smallest = l;
   }
   return n;
}

/* Lets lanes follow that miss nothing but what the smallest of them does. */
static void share_base_pages(TgLane* lane, TgTable table)
{
   UInt size[TLB_MAX_RUNGS];
   TgLane* leader = lane;
   const UInt n = sizes_like(lane, table, size, &leader);
   const tlb_array* a = base_array(leader, table);
   for (TgLane* l = lane; l < tg_lanes + tg_n_lanes; l++) {
      const tlb_array* b = free_array(l, table, leader->base_shift);
      if (l == leader || b == NULL || !holds_all_of(b, a))
         continue;
      UInt rung = 0;
      while (rung < n && size[rung] != b->g.ways)
         rung++;
      if (rung == n)
         continue;
      l->rung[table] = rung;
      follow(leader, l, table);
   }
   if (n < 2)
      return;
   leader->ladder[table] = VG_(malloc)("tg.shared", sizeof(tlb_ladder));
   tlb_ladder_init(leader->ladder[table], size, n,
                   VG_(malloc)("tg.shared.places", tlb_ladder_bytes(size, n)));
}

void tg_shared_find(void)
{
   for (TgLane* lane = tg_lanes; lane < tg_lanes + tg_n_lanes; lane++)
      count_with_twin(lane);
   for (UInt t = 0; t < TG_N_TABLES; t++) {
      for (TgLane* lane = tg_lanes; lane < tg_lanes + tg_n_lanes; lane++) {
         if (!is_free(lane, t))
            continue;
         if (base_array(lane, t) != NULL) {
            share_base_pages(lane, t);
            continue;
         }
         for (TgLane* l = lane + 1; l < tg_lanes + tg_n_lanes; l++) {
            if (is_free(l, t) && have_equal_first_levels(lane, l, t))
               follow(lane, l, t);
         }
      }
   }
}

/* --- What a leader misses --- */

UInt tg_shared_missed(TgLane* leader, TgTable table, tlb_shelf_page* page,
                      const TgPage* evicted)
{
   tlb_ladder* l = leader->ladder[table];
   const UInt n = tlb_ladder_take(l, page, page->place[table]);
   if (evicted != NULL) {
      tlb_shelf_page* comes = tg_behind(table, evicted, leader->large);
      comes->place[table] = tlb_ladder_put(l, comes);
   }
   return n;
}

/* --- When that ends --- */

/* Puts into the follower's own array what it would hold. */
static void fill_in(TgLane* leader, TgLane* f, TgTable table)
{
   const tlb_array* from = base_array(leader, table);
   tlb_array* to = base_array(f, table);
   const tlb_ladder* l = leader->ladder[table];
   for (UInt e = 0; e < from->g.entries; e++) {
      if (from->key[e] != TLB_NO_KEY)
         tlb_array_fill(to, from->key[e], tlb_array_time(from, e));
   }
   for (UInt at = l == NULL ? 0 : l->place[0].older; at != 0;
        at = l->place[at].older) {
      const tlb_shelf_page* p = l->place[at].page;
      const tlb_key key = tlb_key_of(p->number, leader->base_shift, 0);
      if (l->place[at].rung <= f->rung[table])
         tlb_array_fill(to, key, tg_lane_time(from, key));
   }
}

void tg_shared_part(void)
{
   for (UInt t = 0; t < TG_N_TABLES; t++) {
      for (TgLane* leader = tg_lanes; leader < tg_lanes + tg_n_lanes; leader++) {
         if (!is_free(leader, t) || base_array(leader, t) == NULL)
            continue;
         TgLane* next;
         for (TgLane* f = leader->follower[t]; f != NULL; f = next) {
            next = f->follower[t];
            fill_in(leader, f, t);
            f->follower[t] = NULL;
            f->rung[t] = 0;
            f->follows[t] = False;
            tg_knowledge.wanted[t] |= f->bit;
            if (t == TG_DATA && tg_knowledge.split)
               tg_knowledge.wanted_writes |= f->bit;
         }
         leader->follower[t] = NULL;
         leader->ladder[t] = NULL;
      }
   }
}
