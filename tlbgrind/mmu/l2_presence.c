/* Behind the first levels. See mmu/l2_presence.h. */

#include "pub_tool_basics.h"

#include "pub_tool_libcbase.h"
#include "pub_tool_mallocfree.h"

#include "mmu/l2_presence.h"
#include "mmu/large_pages.h"
#include "attribution/sites.h"

_Static_assert((UInt)TLB_LAZY_LRU_SIDES == (UInt)TG_N_TABLES, "a side is a table");
_Static_assert((UInt)TLB_LAZY_LRU_SPANS == (UInt)TG_N_SIDES, "a span is a side");

UInt tg_n_miss_groups;
ULong tg_l2_last[TG_N_TABLES];
ULong tg_l2_varies[TG_N_TABLES];
tlb_lazy_lru* tg_lazy_lrus[TG_N_TABLES][TG_MAX_MMUS];

/* A line of the processor's cache each. */
static struct {
   tlb_lazy_lru lazy_lru __attribute__((aligned(64)));
} lazy_lrus[TG_N_TABLES][TG_MAX_MMUS];

/* --- What stands at a page --- */

/* Each begins a line of the processor's cache. */
enum { LINE = 64 };

UChar** tg_l2_chunks;
SizeT tg_l2_bytes;
static UInt n_pages;

static UInt new_page(UWord page_number)
{
   const UInt number = ++n_pages;
   const UInt n = number >> TG_L2_CHUNK_BITS;
   if (tg_l2_chunks == NULL || (number & (TG_L2_CHUNK - 1)) == 0) {
      tg_l2_chunks = VG_(realloc)("tg.l2.chunks", tg_l2_chunks,
                                      (n + 1) * sizeof *tg_l2_chunks);
      UChar* room = VG_(calloc)("tg.l2", TG_L2_CHUNK * tg_l2_bytes + LINE, 1);
      tg_l2_chunks[n] = (UChar*)VG_ROUNDUP((Addr)room, LINE);
   }
   tg_l2_page(number)->number = page_number;
   return number;
}

static UWord number_of(TgTable table, const TgPage* p)
{
   const UInt shift = tg_run_traits.page_shift;
   return table == TG_CODE ? tg_code_page_number(p, shift)
                           : tg_page_number_of_data(p, shift);
}

/* A page of code and the same page as data are one behind the first level: the record of
   the data has it first. */
UInt tg_l2_number(TgTable table, const TgPage* p, UInt large)
{
   const UWord number = number_of(table, p);
   UInt* l2 = tg_l2_at(tg_data_page(number), large);
   if (*l2 == 0)
      *l2 = new_page(number >> large);
   return *l2;
}

void tg_l2_fill(TgMmu* mmu, TgTable table, tlb_lazy_lru_page* p,
                    const tlb_reference* r, tlb_outcome* out)
{
   TgLazyLru* s = mmu->lazy_lru[table];
   out->missed |= 1u << s->level;
   tlb_translate_from(&mmu->h, r, s->level + 1, out);
   tlb_lazy_lru_fill(s->lazy_lru, p, r->now);
}

/* --- Who has a lazy LRU array --- */

static Bool is_of_table(UInt user, TgTable table)
{
   return (user == TLB_FETCH) == (table == TG_CODE);
}

/* Where the machine's base pages of code or data go behind the first level; NULL:
   nowhere, or not all of them to one place. */
static const tlb_stop* stop_behind(const TgMmu* mmu, TgTable table, UInt* level)
{
   const tlb_hierarchy* h = &mmu->h;
   const tlb_stop* found = NULL;
   for (UInt user = 0; user < TLB_N_USERS; user++) {
      if (!is_of_table(user, table))
         continue;
      const tlb_route* route = tlb_route_of(h, user, mmu->base_shift,
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

static UInt hit_cycles(const TgMmu* mmu, const tlb_stop* stop, UInt i)
{
   return tlb_known_cycles(mmu->machine->m.array[stop->array[i]].hit_cycles);
}

static UInt ways_of(const TgMmu* mmu, const tlb_stop* stop)
{
   UInt ways = 0;
   for (UInt i = 0; i < stop->n; i++)
      ways += mmu->h.array[stop->array[i]].g.ways;
   return ways;
}

/* Whether the arrays there are one lazy LRU array: of those side by side it is the one with
   the oldest page that takes a new one. */
static Bool are_one_lazy_lru(const TgMmu* mmu, const tlb_stop* stop)
{
   if (ways_of(mmu, stop) > TLB_LAZY_LRU_MAX_WAYS)
      return False;
   const Int walks_kept_in = tlb_walk_array(&mmu->machine->m);
   const UInt sets = mmu->h.array[stop->array[0]].sets;
   for (UInt i = 0; i < stop->n; i++) {
      const tlb_array* a = &mmu->h.array[stop->array[i]];
      if (a->g.policy != TLB_LRU || a->also_behind || a->sets != sets
          || (stop->array[i] == walks_kept_in && stop->n > 1)
          || stop->shift[i] != mmu->base_shift
          || hit_cycles(mmu, stop, i) != hit_cycles(mmu, stop, 0))
         return False;
   }
   return True;
}

/* Whether those of the other table ask one of the arrays. */
static Bool are_asked_for(const TgMmu* mmu, const tlb_stop* stop, TgTable other)
{
   for (UInt i = 0; i < stop->n; i++) {
      for (UInt user = 0; user < TLB_N_USERS; user++) {
         if (is_of_table(user, other)
             && (mmu->machine->m.array[stop->array[i]].users >> user & 1) != 0)
            return True;
      }
   }
   return False;
}

static void init_lazy_lru(TgMmu* mmu, TgTable table, const tlb_stop* stop,
                       UInt level)
{
   TgLazyLru* s = &mmu->own_lazy_lru[table];
   const UInt sets = mmu->h.array[stop->array[0]].sets;
   const UInt ways = ways_of(mmu, stop);
   *s = (TgLazyLru){ .lazy_lru = &lazy_lrus[table][mmu->number].lazy_lru, .stop = stop,
                   .level = level };
   tlb_lazy_lru_init(s->lazy_lru, sets, ways,
                  VG_(malloc)("tg.l2.shelf", tlb_lazy_lru_bytes(sets, ways)));
   mmu->lazy_lru[table] = s;
   if (stop->array[0] == tlb_walk_array(&mmu->machine->m))
      mmu->h.walker.lazy_lru = s->lazy_lru;
}

/* Code and data each have arrays of their own there, or both the same, or have to
   be asked. */
static void find_lazy_lrus(TgMmu* mmu)
{
   const tlb_stop* stop[TG_N_TABLES];
   UInt level[TG_N_TABLES];
   for (UInt t = 0; t < TG_N_TABLES; t++) {
      stop[t] = stop_behind(mmu, t, &level[t]);
      if (stop[t] != NULL && !are_one_lazy_lru(mmu, stop[t]))
         stop[t] = NULL;
   }
   const Bool joint = stop[0] != NULL && stop[1] != NULL
                      && VG_(memcmp)(stop[0], stop[1], sizeof *stop[0]) == 0;
   for (UInt t = 0; t < TG_N_TABLES; t++) {
      if (stop[t] == NULL || (!joint && are_asked_for(mmu, stop[t], !t)))
         continue;
      if (joint && mmu->lazy_lru[!t] != NULL)
         mmu->lazy_lru[t] = mmu->lazy_lru[!t];
      else
         init_lazy_lru(mmu, t, stop[t], level[t]);
      tg_lazy_lrus[t][mmu->number] = mmu->lazy_lru[t]->lazy_lru;
   }
}

/* --- What is usual --- */

/* The levels behind the first that those references ask, a bit for each. */
static UInt levels_behind(const TgMmu* mmu, UInt user)
{
   const tlb_route* route = tlb_route_of(&mmu->h, user, mmu->base_shift,
                                         mmu->base_shift);
   UInt levels = 0;
   for (UInt l = 1; l < mmu->h.levels; l++)
      levels |= route->at[l].n > 0 ? 1u << l : 0;
   return levels;
}

/* Whether all references that no level has come to the same. */
static Bool walks_are_alike(const TgMmu* mmu, TgTable table)
{
   return table == TG_CODE
          || levels_behind(mmu, TLB_LOAD) == levels_behind(mmu, TLB_STORE);
}

static Bool walks_vary(const TgMmu* mmu)
{
   const tlb_machine* m = &mmu->machine->m;
   for (UInt i = 0; i < m->n_walk_steps; i++) {
      if (m->walk[i].cached)
         return True;
   }
   return False;
}

/* What they come to, the miss of the first level aside, and references that vary. */
static tlb_outcome walk_of(TgMmu* mmu, TgTable table, Bool varies)
{
   const tlb_reference r = { .user = table == TG_CODE ? TLB_FETCH : TLB_LOAD,
                             .page_shift = (uint8_t)mmu->base_shift,
                             .block_shift = (uint8_t)mmu->base_shift };
   tlb_outcome o = { .missed = levels_behind(mmu, r.user) };
   if (varies)
      tlb_hierarchy_pay_walk(&mmu->h, &o);
   else
      tlb_hierarchy_walk(&mmu->h, &r, &o);
   return o;
}

/* Machines of which some references begin at a later level are booked one by
   one. */
static void find_common_outcome(TgMmu* mmu, TgTable table)
{
   TgCommonOutcome* u = &mmu->common[table];
   u->counted = True;
   for (UInt user = 0; user < TLB_N_USERS; user++)
      u->counted &= !is_of_table(user, table) || mmu->h.entry_level[user] == 0;
   u->alike = walks_are_alike(mmu, table);
   u->varies = walks_vary(mmu);
   if (u->alike)
      u->walk = walk_of(mmu, table, u->varies);
   UInt level;
   const tlb_stop* stop = stop_behind(mmu, table, &level);
   if (stop != NULL)
      u->common.cycles = hit_cycles(mmu, stop, 0);
   u->known = u->counted && u->alike && !u->varies && u->walk.missed == 0
              && tg_mmu_is_plain(mmu);
   if (u->known)
      u->common = u->walk;
   u->walk.cycles -= u->common.cycles;
   const TgLazyLru* s = mmu->lazy_lru[table];
   if (s == NULL || !u->alike || u->walk.missed != 1u << s->level)
      return;
   tg_l2_last[table] |= mmu->bit;
   if (u->varies)
      tg_l2_varies[table] |= mmu->bit;
}

/* --- Streams --- */

static Bool is_simulated(const TgMmu* mmu)
{
   return mmu->counts == mmu->number;
}

/* The MMU misses in the stream, from its size on. */
static void join(TgMissGroup* s, TgMmu* mmu, TgSide side)
{
   const TgTable table = tg_table_of(side);
   TgLazyLru* lazy_lru = mmu->lazy_lru[table];
   const TgCommonOutcome* common = &mmu->common[table];
   const UInt size = mmu->size[side];
   for (TgMissed* by = &s->by[size]; by < &s->by[s->n]; by++) {
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
   lazy_lru->lazy_lru->from[side] = (UShort)(s->first + size);
   lazy_lru->lazy_lru->to[side] = (UShort)(s->first + s->n);
}

static void find_miss_group(TgMmu* leader, TgSide side, UInt* n)
{
   TgMissGroup* s = &leader->miss_group[side];
   tlb_lru_stack* l = leader->lru_stack[side];
   const tlb_array* a = leader->stacked[side];
   *s = (TgMissGroup){ .first = (UShort)*n, .n = 1, .large = (UChar)leader->large,
                    .table = (UChar)tg_table_of(side), .lru_stack = l };
   if (l != NULL) {
      s->n = (UShort)l->n_sizes;
      s->sets = a->sets;
      s->set_mask = a->set_mask;
   }
   for (TgMmu* mmu = leader; mmu != NULL; mmu = mmu->follower[side])
      join(s, mmu, side);
   *n += s->by[s->n - 1].counted != 0 ? s->n : 0;
   if (l != NULL)
      s->node = (UShort)(*n)++;
}

/* Returns how much room their counts take in a line, and their times, and places on
   LRU stacks, at a page. */
static UInt find_miss_groups(void)
{
   UInt n = 0;
   for (UInt side = 0; side < TG_N_SIDES; side++) {
      for (TgMmu* l = tg_mmus; l < tg_mmus + tg_n_mmus; l++) {
         if (is_simulated(l) && !l->follows[side]
             && (side != TG_STORES_SIDE || l->tells_apart))
            find_miss_group(l, side, &n);
      }
   }
   return n;
}

void tg_l2_find(Bool fast_path)
{
   for (TgMmu* l = tg_mmus; l < tg_mmus + tg_n_mmus; l++) {
      if (!fast_path || tg_n_mmus == 1 || !is_simulated(l))
         continue;
      if (tg_mmu_is_plain(l))
         find_lazy_lrus(l);
      for (UInt t = 0; t < TG_N_TABLES; t++)
         find_common_outcome(l, t);
   }
   tg_n_miss_groups = find_miss_groups();
   tg_l2_bytes = VG_ROUNDUP(sizeof(tlb_lazy_lru_page) + tg_n_miss_groups * sizeof(ULong), LINE);
   tg_lines_count(tg_miss_groups_at() + tg_n_miss_groups + tg_n_mmus);
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

static void settle_miss_group(const TgMissGroup* s, TgTable table, ULong* misses)
{
   for (UInt i = 0; i < s->n; i++) {
      if (s->by[i].counted == 0)
         continue;
      ULong* count = misses + tg_miss_groups_at() + s->first + i;
      for (ULong bits = s->by[i].counted; bits != 0; bits &= bits - 1) {
         const TgMmu* mmu = &tg_mmus[__builtin_ctzll(bits)];
         ULong* cost = misses + mmu->number * TG_N_OF_A_MISS;
         cost[0] += *count;
         add(cost, &mmu->common[table].common, *count);
      }
      *count = 0;
   }
}

static void settle_walks(const TgMmu* mmu, TgTable table, ULong* misses)
{
   ULong* count = tg_counts_of_walks(misses) + mmu->number;
   add(misses + mmu->number * TG_N_OF_A_MISS, &mmu->common[table].walk, *count);
   *count = 0;
}

static void settle(ULong* misses, TgKind kind)
{
   const TgTable table = tg_table_of_kind(kind);
   for (UInt i = 0; i < tg_n_mmus; i++) {
      for (UInt side = 0; side < TG_N_SIDES; side++) {
         if (tg_table_of(side) == table)
            settle_miss_group(&tg_mmus[i].miss_group[side], table, misses);
      }
      settle_walks(&tg_mmus[i], table, misses);
   }
}

void tg_l2_settle(void)
{
   tg_lines_each(settle);
}

/* --- When that ends --- */

static void clear_out(TgMmu* mmu, const TgLazyLru* s)
{
   UInt way = 0;
   for (UInt i = 0; i < s->stop->n; i++) {
      tlb_array* a = &mmu->h.array[s->stop->array[i]];
      tlb_lazy_lru_move(s->lazy_lru, way, a, mmu->base_shift);
      way += a->g.ways;
   }
   if (mmu->h.walker.lazy_lru == s->lazy_lru)
      mmu->h.walker.lazy_lru = NULL;
   VG_(free)(s->lazy_lru->memory);
}

void tg_l2_part(void)
{
   tg_l2_settle();
   for (TgMmu* l = tg_mmus; l < tg_mmus + tg_n_mmus; l++) {
      for (UInt t = 0; t < TG_N_TABLES; t++) {
         if (l->lazy_lru[t] == NULL)
            continue;
         if (l->lazy_lru[t] == &l->own_lazy_lru[t])
            clear_out(l, l->lazy_lru[t]);
         l->lazy_lru[t] = NULL;
         tg_lazy_lrus[t][l->number] = NULL;
      }
      VG_(memset)(l->common, 0, sizeof l->common);
   }
   for (UInt t = 0; t < TG_N_TABLES; t++)
      tg_l2_last[t] = tg_l2_varies[t] = 0;
   find_miss_groups();
}
