/* Behind the first levels. See mmu/l2_presence.h. */

#include "pub_tool_basics.h"

#include "pub_tool_libcbase.h"
#include "pub_tool_mallocfree.h"

#include "mmu/l2_presence.h"
#include "mmu/large_pages.h"
#include "attribution/sites.h"

_Static_assert((UInt)TLB_SHELF_SIDES == (UInt)TG_N_TABLES, "a side is a table");
_Static_assert((UInt)TLB_SHELF_SPANS == (UInt)TG_N_SIDES, "a span is a side");

UInt tg_n_streams;
ULong tg_behind_last[TG_N_TABLES];
ULong tg_behind_varies[TG_N_TABLES];
tlb_shelf* tg_shelf[TG_N_TABLES][TG_MAX_LANES];

/* A line of the processor's cache each. */
static struct {
   tlb_shelf shelf __attribute__((aligned(64)));
} shelves[TG_N_TABLES][TG_MAX_LANES];

/* --- What stands at a page --- */

/* Each begins a line of the processor's cache. */
enum { LINE = 64 };

UChar** tg_behind_chunks;
SizeT tg_behind_bytes;
static UInt n_pages;

static UInt new_page(UWord page_number)
{
   const UInt number = ++n_pages;
   const UInt n = number >> TG_BEHIND_BITS;
   if (tg_behind_chunks == NULL || (number & (TG_BEHIND_CHUNK - 1)) == 0) {
      tg_behind_chunks = VG_(realloc)("tg.behind.chunks", tg_behind_chunks,
                                      (n + 1) * sizeof *tg_behind_chunks);
      UChar* room = VG_(calloc)("tg.behind", TG_BEHIND_CHUNK * tg_behind_bytes + LINE, 1);
      tg_behind_chunks[n] = (UChar*)VG_ROUNDUP((Addr)room, LINE);
   }
   tg_behind_page(number)->number = page_number;
   return number;
}

static UWord number_of(TgTable table, const TgPage* p)
{
   const UInt shift = tg_knowledge.page_shift;
   return table == TG_CODE ? tg_code_page_number(p, shift)
                           : tg_page_number_of_data(p, shift);
}

/* A page of code and the same page as data are one behind the first level: the record of
   the data has it first. */
UInt tg_behind_number(TgTable table, const TgPage* p, UInt large)
{
   const UWord number = number_of(table, p);
   UInt* behind = tg_behind_at(tg_data_page(number), large);
   if (*behind == 0)
      *behind = new_page(number >> large);
   return *behind;
}

void tg_behind_fill(TgLane* lane, TgTable table, tlb_shelf_page* p,
                    const tlb_reference* r, tlb_outcome* out)
{
   TgShelf* s = lane->shelf[table];
   out->missed |= 1u << s->level;
   tlb_translate_from(&lane->h, r, s->level + 1, out);
   tlb_shelf_fill(s->shelf, p, r->now);
}

/* --- Who has a shelf --- */

static Bool is_of_table(UInt user, TgTable table)
{
   return (user == TLB_FETCH) == (table == TG_CODE);
}

/* Where the machine's base pages of code or data go behind the first level; NULL:
   nowhere, or not all of them to one place. */
static const tlb_stop* stop_behind(const TgLane* lane, TgTable table, UInt* level)
{
   const tlb_hierarchy* h = &lane->h;
   const tlb_stop* found = NULL;
   for (UInt user = 0; user < TLB_N_USERS; user++) {
      if (!is_of_table(user, table))
         continue;
      const tlb_route* route = tlb_route_of(h, user, lane->base_shift,
                                            h->base_shift);
      UInt l = 1;
      while (l < h->levels && route->at[l].n == 0)
         l++;
      if (l >= h->levels || h->entry_level[user] != 0
          || (found != NULL
              && VG_(memcmp)(&route->at[l], found, sizeof *found) != 0))
         return NULL;
      found = &route->at[l];
      *level = l;
   }
   return found;
}

static UInt hit_cycles(const TgLane* lane, const tlb_stop* stop, UInt i)
{
   return tlb_known_cycles(lane->machine->m.array[stop->array[i]].hit_cycles);
}

static UInt ways_of(const TgLane* lane, const tlb_stop* stop)
{
   UInt ways = 0;
   for (UInt i = 0; i < stop->n; i++)
      ways += lane->h.array[stop->array[i]].g.ways;
   return ways;
}

/* Whether the arrays there are one shelf: of those side by side it is the one with
   the oldest page that takes a new one. */
static Bool are_one_shelf(const TgLane* lane, const tlb_stop* stop)
{
   if (ways_of(lane, stop) > TLB_SHELF_MAX_WAYS)
      return False;
   const Int walks_kept_in = tlb_walk_array(&lane->machine->m);
   const UInt sets = lane->h.array[stop->array[0]].sets;
   for (UInt i = 0; i < stop->n; i++) {
      const tlb_array* a = &lane->h.array[stop->array[i]];
      if (a->g.policy != TLB_LRU || a->also_behind || a->sets != sets
          || (stop->array[i] == walks_kept_in && stop->n > 1)
          || stop->shift[i] != lane->base_shift
          || hit_cycles(lane, stop, i) != hit_cycles(lane, stop, 0))
         return False;
   }
   return True;
}

/* Whether those of the other table ask one of the arrays. */
static Bool are_asked_for(const TgLane* lane, const tlb_stop* stop, TgTable other)
{
   for (UInt i = 0; i < stop->n; i++) {
      for (UInt user = 0; user < TLB_N_USERS; user++) {
         if (is_of_table(user, other)
             && (lane->machine->m.array[stop->array[i]].users >> user & 1) != 0)
            return True;
      }
   }
   return False;
}

static void init_shelf(TgLane* lane, TgTable table, const tlb_stop* stop,
                       UInt level)
{
   TgShelf* s = &lane->own_shelf[table];
   const UInt sets = lane->h.array[stop->array[0]].sets;
   const UInt ways = ways_of(lane, stop);
   *s = (TgShelf){ .shelf = &shelves[table][lane->number].shelf, .stop = stop,
                   .level = level };
   tlb_shelf_init(s->shelf, sets, ways,
                  VG_(malloc)("tg.behind.shelf", tlb_shelf_bytes(sets, ways)));
   lane->shelf[table] = s;
   if (stop->array[0] == tlb_walk_array(&lane->machine->m))
      lane->h.walker.shelf = s->shelf;
}

/* Code and data each have arrays of their own there, or both the same, or have to
   be asked. */
static void find_shelves(TgLane* lane)
{
   const tlb_stop* stop[TG_N_TABLES];
   UInt level[TG_N_TABLES];
   for (UInt t = 0; t < TG_N_TABLES; t++) {
      stop[t] = stop_behind(lane, t, &level[t]);
      if (stop[t] != NULL && !are_one_shelf(lane, stop[t]))
         stop[t] = NULL;
   }
   const Bool joint = stop[0] != NULL && stop[1] != NULL
                      && VG_(memcmp)(stop[0], stop[1], sizeof *stop[0]) == 0;
   for (UInt t = 0; t < TG_N_TABLES; t++) {
      if (stop[t] == NULL || (!joint && are_asked_for(lane, stop[t], !t)))
         continue;
      if (joint && lane->shelf[!t] != NULL)
         lane->shelf[t] = lane->shelf[!t];
      else
         init_shelf(lane, t, stop[t], level[t]);
      tg_shelf[t][lane->number] = lane->shelf[t]->shelf;
   }
}

/* --- What is usual --- */

/* The levels behind the first that those references ask, a bit for each. */
static UInt levels_behind(const TgLane* lane, UInt user)
{
   const tlb_route* route = tlb_route_of(&lane->h, user, lane->base_shift,
                                         lane->base_shift);
   UInt levels = 0;
   for (UInt l = 1; l < lane->h.levels; l++)
      levels |= route->at[l].n > 0 ? 1u << l : 0;
   return levels;
}

/* Whether all references that no level has come to the same. */
static Bool walks_are_alike(const TgLane* lane, TgTable table)
{
   return table == TG_CODE
          || levels_behind(lane, TLB_LOAD) == levels_behind(lane, TLB_STORE);
}

static Bool walks_vary(const TgLane* lane)
{
   const tlb_machine* m = &lane->machine->m;
   for (UInt i = 0; i < m->n_walk_steps; i++) {
      if (m->walk[i].cached)
         return True;
   }
   return False;
}

/* What they come to, the miss of the first level aside, and references that vary. */
static tlb_outcome walk_of(TgLane* lane, TgTable table, Bool varies)
{
   const tlb_reference r = { .user = table == TG_CODE ? TLB_FETCH : TLB_LOAD,
                             .page_shift = (uint8_t)lane->base_shift,
                             .block_shift = (uint8_t)lane->base_shift };
   tlb_outcome o = { .missed = levels_behind(lane, r.user) };
   if (varies)
      tlb_hierarchy_pay_walk(&lane->h, &o);
   else
      tlb_hierarchy_walk(&lane->h, &r, &o);
   return o;
}

/* Machines of which some references begin at a later level are booked one by
   one. */
static void find_usual(TgLane* lane, TgTable table)
{
   TgUsual* u = &lane->usual[table];
   u->counted = True;
   for (UInt user = 0; user < TLB_N_USERS; user++)
      u->counted &= !is_of_table(user, table) || lane->h.entry_level[user] == 0;
   u->alike = walks_are_alike(lane, table);
   u->varies = walks_vary(lane);
   if (u->alike)
      u->walk = walk_of(lane, table, u->varies);
   UInt level;
   const tlb_stop* stop = stop_behind(lane, table, &level);
   if (stop != NULL)
      u->usual.cycles = hit_cycles(lane, stop, 0);
   u->known = u->counted && u->alike && !u->varies && u->walk.missed == 0
              && tg_lane_is_plain(lane);
   if (u->known)
      u->usual = u->walk;
   u->walk.cycles -= u->usual.cycles;
   const TgShelf* s = lane->shelf[table];
   if (s == NULL || !u->alike || u->walk.missed != 1u << s->level)
      return;
   tg_behind_last[table] |= lane->bit;
   if (u->varies)
      tg_behind_varies[table] |= lane->bit;
}

/* --- Streams --- */

static Bool is_simulated(const TgLane* lane)
{
   return lane->counts == lane->number;
}

/* The lane misses in the stream, from its rung on. */
static void join(TgStream* s, TgLane* lane, TgSide side)
{
   const TgTable table = tg_table_of(side);
   TgShelf* shelf = lane->shelf[table];
   const TgUsual* usual = &lane->usual[table];
   const UInt rung = lane->rung[side];
   for (TgMissed* by = &s->by[rung]; by < &s->by[s->n]; by++) {
      if (usual->counted)
         by->counted |= lane->bit;
      if (shelf != NULL)
         by->shelved |= lane->bit;
      else if (!usual->known)
         by->asked |= lane->bit;
   }
   if (shelf == NULL)
      return;
   shelf->shelf->bit[table] = lane->bit;
   shelf->shelf->from[side] = (UShort)(s->first + rung);
   shelf->shelf->to[side] = (UShort)(s->first + s->n);
}

static void find_stream(TgLane* leader, TgSide side, UInt* n)
{
   TgStream* s = &leader->stream[side];
   tlb_ladder* l = leader->ladder[side];
   const tlb_array* a = leader->laddered[side];
   *s = (TgStream){ .first = (UShort)*n, .n = 1, .large = (UChar)leader->large,
                    .table = (UChar)tg_table_of(side), .ladder = l };
   if (l != NULL) {
      s->n = (UShort)l->rungs;
      s->sets = a->sets;
      s->set_mask = a->set_mask;
   }
   for (TgLane* lane = leader; lane != NULL; lane = lane->follower[side])
      join(s, lane, side);
   *n += s->by[s->n - 1].counted != 0 ? s->n : 0;
   if (l != NULL)
      s->place = (UShort)(*n)++;
}

/* Returns how much room their counts take in a line, and their times, and places on
   ladders, at a page. */
static UInt find_streams(void)
{
   UInt n = 0;
   for (UInt side = 0; side < TG_N_SIDES; side++) {
      for (TgLane* l = tg_lanes; l < tg_lanes + tg_n_lanes; l++) {
         if (is_simulated(l) && !l->follows[side]
             && (side != TG_STORES_SIDE || l->tells_apart))
            find_stream(l, side, &n);
      }
   }
   return n;
}

void tg_behind_find(Bool fast_path)
{
   for (TgLane* l = tg_lanes; l < tg_lanes + tg_n_lanes; l++) {
      if (!fast_path || tg_n_lanes == 1 || !is_simulated(l))
         continue;
      if (tg_lane_is_plain(l))
         find_shelves(l);
      for (UInt t = 0; t < TG_N_TABLES; t++)
         find_usual(l, t);
   }
   tg_n_streams = find_streams();
   tg_behind_bytes = VG_ROUNDUP(sizeof(tlb_shelf_page) + tg_n_streams * sizeof(ULong), LINE);
   tg_lines_count(tg_streams_at() + tg_n_streams + tg_n_lanes);
}

/* --- What was counted together --- */

/* Adds it n times. Cycles can be less than none. */
static void add(ULong* cost, const tlb_outcome* o, ULong n)
{
   cost[TG_WALK_REFS - TG_MISS_1] += n * o->walk_references;
   cost[TG_CYCLES - TG_MISS_1] += n * (ULong)(Long)(Int)o->cycles;
   for (UInt bits = tg_misses_of(o); bits != 0; bits >>= 1, cost++)
      *cost += (bits & 1) * n;
}

static void settle_stream(const TgStream* s, TgTable table, ULong* misses)
{
   for (UInt i = 0; i < s->n; i++) {
      if (s->by[i].counted == 0)
         continue;
      ULong* count = misses + tg_streams_at() + s->first + i;
      for (ULong bits = s->by[i].counted; bits != 0; bits &= bits - 1) {
         const TgLane* lane = &tg_lanes[__builtin_ctzll(bits)];
         ULong* cost = misses + lane->number * TG_N_OF_A_MISS;
         cost[0] += *count;
         add(cost, &lane->usual[table].usual, *count);
      }
      *count = 0;
   }
}

static void settle_walks(const TgLane* lane, TgTable table, ULong* misses)
{
   ULong* count = tg_counts_of_walks(misses) + lane->number;
   add(misses + lane->number * TG_N_OF_A_MISS, &lane->usual[table].walk, *count);
   *count = 0;
}

static void settle(ULong* misses, TgKind kind)
{
   const TgTable table = tg_table_of_kind(kind);
   for (UInt i = 0; i < tg_n_lanes; i++) {
      for (UInt side = 0; side < TG_N_SIDES; side++) {
         if (tg_table_of(side) == table)
            settle_stream(&tg_lanes[i].stream[side], table, misses);
      }
      settle_walks(&tg_lanes[i], table, misses);
   }
}

void tg_behind_settle(void)
{
   tg_lines_each(settle);
}

/* --- When that ends --- */

static void clear_out(TgLane* lane, const TgShelf* s)
{
   UInt way = 0;
   for (UInt i = 0; i < s->stop->n; i++) {
      tlb_array* a = &lane->h.array[s->stop->array[i]];
      tlb_shelf_move(s->shelf, way, a, lane->base_shift);
      way += a->g.ways;
   }
   if (lane->h.walker.shelf == s->shelf)
      lane->h.walker.shelf = NULL;
   VG_(free)(s->shelf->memory);
}

void tg_behind_part(void)
{
   tg_behind_settle();
   for (TgLane* l = tg_lanes; l < tg_lanes + tg_n_lanes; l++) {
      for (UInt t = 0; t < TG_N_TABLES; t++) {
         if (l->shelf[t] == NULL)
            continue;
         if (l->shelf[t] == &l->own_shelf[t])
            clear_out(l, l->shelf[t]);
         l->shelf[t] = NULL;
         tg_shelf[t][l->number] = NULL;
      }
      VG_(memset)(l->usual, 0, sizeof l->usual);
   }
   for (UInt t = 0; t < TG_N_TABLES; t++)
      tg_behind_last[t] = tg_behind_varies[t] = 0;
   find_streams();
}
