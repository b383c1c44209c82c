/* The short way: the common miss of the common run, written out once more. One
   machine, base pages only, no reach, one array that each kind of reference
   asks first. Shortest of all for an LRU level, all of which is known, over
   another of a few ways, the last. tg_translate() does the same for any
   machines; what counts here is every instruction. */

#ifndef TG_SHORT_H
#define TG_SHORT_H

#include "pub_tool_basics.h"

#include "sim/policy.h"

#include "tg_blocks.h"
#include "tg_known.h"
#include "tg_lanes.h"
#include "tg_replay.h"

/* By kind of reference. */
typedef struct {
   tlb_array* first;  /* NULL: there is no short way */
   Bool plain;        /* of the first: see sim/array.h, and 2^n sets */
   Bool tree;         /* the same: LRU of many ways, one set */
   tlb_array* second; /* NULL: what lies behind is not that simple */
   tlb_key size;      /* what tells a base page's key from its number */
   ULong hit_cycles;  /* of the second */
} TgShortWay;

extern TgShortWay tg_short_way[TG_N_KINDS];

/* Once the lanes are there, and whenever a machine begins to ask what backs its
   pages, see tg_lanes.c. */
void tg_short_way_find(Bool fast_path);

/* What a miss of the first level comes to behind it, if the second does not have
   the page where it was last. */
void tg_short_way_behind(TgKind kind, TgRef* r, TgPage* p, tlb_key key,
                         ULong now);

typedef enum { TG_SHORT_DONE, TG_SHORT_NEEDED, TG_NOT_SHORT } TgShortEnd;

/* tg_go_short_way() for any other first level, which is not one for loads or
   stores alone. */
TgShortEnd tg_short_way_any(TgRef* r, TgPage* p, tlb_key key, ULong now,
                            TgPage* const* page, UInt n);

static inline Bool tg_is_among(const TgPage* p, TgPage* const* page, UInt n)
{
   Bool found = False;
   for (UInt i = 0; i < n; i++)
      found |= page[i] == p;
   return found;
}

/* Who is evicted: as tlb_plain_oldest(), for times that stand in one place. */
static inline UInt tg_short_way_oldest(const tlb_array* a, UInt first)
{
   uint64_t* const* time = a->short_cut + first;
   UInt oldest = 0;
   uint64_t oldest_time = *time[0];
   for (UInt way = 1; way < a->g.ways; way++) {
      const uint64_t t = *time[way];
      oldest = t < oldest_time ? way : oldest;
      oldest_time = t < oldest_time ? t : oldest_time;
   }
   return first + oldest;
}

/* The same by the tree of the only set. */
static inline UInt tg_short_way_root(tlb_array* a)
{
   const tlb_bound* root = tlb_array_root(a, 0);
   for (;;) {
      const uint64_t time = *a->short_cut[root->way];
      if (time == root->time)
         return root->way;
      tlb_policy_bound(a, 0, root->way, time);
   }
}

/* Books a miss of the first level and asks the others. */
static inline __attribute__((always_inline))
void tg_short_way_miss(TgKind kind, TgRef* r, TgPage* p, tlb_key key, ULong now)
{
   const TgShortWay* w = &tg_short_way[kind];
   const UInt last_place = tg_rest(p)->place;
   if (r->misses == NULL)
      r->misses = tg_line_misses(tg_site_line(r->site), r->kind);
   r->misses[0]++;
   if (UNLIKELY(w->second == NULL || w->second->key[last_place] != key)) {
      tg_short_way_behind(kind, r, p, key, now);
      return;
   }
   w->second->time[last_place] = now;
   r->misses[TG_CYCLES - TG_MISS_1] += w->hit_cycles;
}

/* Who wants to see references of that kind to the page. */
static inline ULong* tg_wanted(TgPage* p, TgKind kind, Bool split)
{
   return split && kind == TG_WRITE ? &tg_rest(p)->wanted_writes
                                    : &tg_rest(p)->wanted;
}

/* Simulates a reference of that kind to a page that is not known, as part of r.
   TG_SHORT_NEEDED, and nothing done, if the page to be evicted is one of the
   segment's, of which there are n; TG_NOT_SHORT if it is not that simple. `split`:
   see TgKnowledge. */
static inline __attribute__((always_inline))
TgShortEnd tg_go_short_way(TgKind kind, TgRef* r, TgPage* p, UWord number,
                           ULong now, TgPage* const* page, UInt n, Bool split)
{
   const TgShortWay* w = &tg_short_way[kind];
   tlb_array* a = w->first;
   if (a == NULL || *tg_wanted(p, kind, split) != 1)
      return TG_NOT_SHORT;
   const tlb_key key = number | w->size;
   const UInt set = (UInt)number & a->set_mask;
   if ((!w->plain && !w->tree) || a->filled[set] != a->g.ways
       || !tlb_array_all_attached(a))
      return split ? TG_NOT_SHORT : tg_short_way_any(r, p, key, now, page, n);
   const UInt entry = w->plain ? tg_short_way_oldest(a, set * a->g.ways)
                               : tg_short_way_root(a);
   /* What both are looked up by. */
   TgPage* probe = split ? tg_probe(p, tg_probe_at(kind)) : p;
   TgPage* victim_probe = (TgPage*)(void*)((UChar*)a->short_cut[entry]
                                           - offsetof(TgPage, time));
   TgPage* victim = victim_probe - (probe - p);
   if (tg_is_among(victim, page, n))
      return TG_SHORT_NEEDED;
   if (w->plain)
      tlb_plain_replace(a, entry, key, &probe->time);
   else
      tlb_array_replace(a, entry, key, now, &probe->time);
   *tg_wanted(victim, kind, split) |= 1;
   *tg_wanted(p, kind, split) = 0;
   probe->time = now;
   if (kind == TG_FETCH) {
      victim->tag = TG_UNKNOWN;
      p->tag = 0;
   } else {
      tg_data_unknown(victim_probe);
      tg_data_known(probe);
      if (tg_knowledge.writes && !split) {
         tg_data_unknown(tg_writes(victim));
         tg_data_settle(p);
      }
   }
   tg_short_way_miss(kind, r, p, key, now);
   return TG_SHORT_DONE;
}

/* Whether the segment has no data reference in a group before number nth. */
static inline Bool tg_is_first_group(const TgSegment* s, UInt n_groups, UInt nth)
{
   for (UInt i = 0; i < n_groups; i++) {
      if (s->group[i].oldest < nth)
         return False;
   }
   return True;
}

/* Simulates a segment of which one page is unknown. Returns False, and has done
   nothing, if it is not that simple. The check has left the groups' pages, as far
   as it knows them, in tg_segment_pages. Why it is exact to simulate only the
   first reference to the page and to note the times afterwards: see
   tg_replay.c; where times matter exactly, there must be none to note before
   it. */
static inline __attribute__((always_inline))
Bool tg_short_segment(const TgHot* hot, TgSegment* s, UInt n_groups, UInt shift,
                      Bool writes, Bool split)
{
   TgPage** const page = tg_segment_pages.page;
   TgPage* const fetch = s->fetch;
   UInt n_unknown = fetch->tag != 0;
   UInt nth = 0;
   UWord number = 0;
   TgPage* unknown = fetch;
   TgKind kind = TG_FETCH;
   #pragma GCC unroll 4
   for (UInt i = 0; i < n_groups; i++) {
      const TgGroup* g = &s->group[i];
      const Addr first = hot->base[g->base] + g->first;
      const UWord tag = (writes ? tg_probe(page[i], g->probe_at) : page[i])->tag;
      /* What is unknown differs from its tag by two pages, see tg_known.h; what
         crosses to the next page never does so with both ends. */
      const UWord differs = ((first ^ tag) | ((first + g->span) ^ tag)) >> shift;
      if (differs == 0)
         continue;
      if (differs != 2
          || (writes && !split && tg_group_writes(g)
              && tg_rest(page[i])->wanted_writes != 0))
         return False;
      n_unknown++;
      unknown = page[i];
      number = first >> shift;
      nth = g->oldest;
      kind = split && tg_group_writes(g) ? TG_WRITE : TG_READ;
   }
   if (n_unknown != 1)
      return False;
   TgRef* r = tg_segment_refs(s);
   if (unknown != fetch) {
      if (UNLIKELY(tg_knowledge.exact_times != 0)
          && !tg_is_first_group(s, n_groups, nth))
         return False;
      r += nth;
      kind = split ? kind : r->kind;
   } else {
      number = tg_code_page_number(fetch);
      while (r->kind != TG_FETCH)
         r++;
   }
   page[n_groups] = fetch;
   const ULong now = tg_clock;
   /* No time may become less than the simulator has seen it. */
   if (tg_go_short_way(kind, r, unknown, number, now - n_groups, page,
                       n_groups + 1, split) != TG_SHORT_DONE)
      return False;
   fetch->time = now;
   #pragma GCC unroll 4
   for (UInt i = 0; i < n_groups; i++)
      (split ? tg_probe(page[i], s->group[i].probe_at) : page[i])->time
         = now - (n_groups - 1 - i);
   return True;
}

#endif
