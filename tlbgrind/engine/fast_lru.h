/* The short way: the common miss of the common run, written out once more. One
   machine, base pages only, no reach, one array that each kind of reference
   asks first. tg_go_fast_path() is for any such array; shortest of all is
   tg_fast_lru(), for pages of 4K, an LRU level of a few ways, all of which is
   known, over another, the last. (For other levels all of which is known see
   engine/fast_any.h.) tg_translate() does the same for any machines; what counts here is
   every instruction. */

#ifndef TG_FAST_LRU_H
#define TG_FAST_LRU_H

#include "pub_tool_basics.h"

#include "trace/superblocks.h"
#include "trace/run_mmus.h"
#include "trace/segment_pages.h"
#include "trace/segment_run.h"

/* By kind of reference. What a miss reads of the arrays stands here once more,
   lest it goes from one to the other. */
typedef struct {
   tlb_array* first; /* NULL: there is no short way */
   Bool plain;       /* it is (see sim/tlb/array.h), and has 2^n sets */
   Bool tree;        /* it is LRU of many ways, one set */
   Bool other;       /* it is not, but has 2^n sets, and loads and stores are not told
                        apart: see engine/fast_any.h */
   Bool few_watched; /* it is NRU of 4 ways */
   UInt known;       /* how many entries have short cuts if all have that can */
   /* Where it is shortest so many entries have short cuts as there are; elsewhere
      never. */
   const uint32_t* n_attached;
   UInt entries;
   UInt ways;
   UInt set_mask;
   tlb_key* key;
   uint64_t** short_cut;
   tlb_key size; /* what tells a base page's key from its number */
   tlb_array* second; /* NULL: what lies behind is not that simple */
   tlb_key* second_key;
   uint64_t* second_time;
   ULong hit_cycles;  /* of the second */
} TgFastPath;

extern TgFastPath tg_fast_path[TLB_N_USERS];
/* Any of them may be shortest, see tg_fast_lru(). */
extern Bool tg_fast_path_is_lru;

/* Once the MMUs are there, and whenever a machine begins to ask what backs its
   pages, see engine/setup.c. */
void tg_fast_path_find(Bool fast_path);

/* Simulates a reference of that kind to page p, which is not known, as part of r.
   Returns False, and has done nothing, if it is not that simple. */
Bool tg_go_fast_path(tlb_user kind, TgRef* r, tlb_page* p, ULong now);

/* A way with its time in one number, so that the earliest is found without noting
   whose it is. (The clock has room for 2^51 instructions.) */
static inline uint64_t tg_timed(uint64_t* const* time, UInt way)
{
   return *time[way] << 3 | way;
}

static inline uint64_t tg_earlier(uint64_t a, uint64_t b)
{
   return a < b ? a : b;
}

/* The earliest of four ways, from `way` on. */
static inline uint64_t tg_earliest_of_4(uint64_t* const* time, UInt way)
{
   return tg_earlier(tg_earlier(tg_timed(time, way), tg_timed(time, way + 1)),
                     tg_earlier(tg_timed(time, way + 2), tg_timed(time, way + 3)));
}

/* Who is evicted: as tlb_plain_oldest(), for times that stand in one place. */
static inline __attribute__((always_inline))
UInt tg_fast_path_oldest(const TgFastPath* w, UInt set)
{
   const UInt ways = w->ways;
   const UInt first = set * ways;
   uint64_t* const* time = w->short_cut + first;
   if (LIKELY(ways == 4))
      return first + (UInt)(tg_earliest_of_4(time, 0) & 7);
   if (LIKELY(ways == 8))
      return first + (UInt)(tg_earlier(tg_earliest_of_4(time, 0),
                                       tg_earliest_of_4(time, 4)) & 7);
   UInt oldest = 0;
   uint64_t oldest_time = *time[0];
   for (UInt way = 1; way < ways; way++) {
      const uint64_t t = *time[way];
      oldest = t < oldest_time ? way : oldest;
      oldest_time = t < oldest_time ? t : oldest_time;
   }
   return first + oldest;
}

/* Page p is known from now on, and the victim is not any more, to references of
   that kind; what these are looked up by stands `probe_at` bytes behind both. */
static inline __attribute__((always_inline))
void tg_fast_exchange(tlb_page* p, tlb_page* victim, UWord probe_at, tlb_user kind,
                       UInt shift, Bool code, Bool writes, Bool split)
{
   tlb_page* probe = tlb_probe(p, probe_at);
   *tg_observers_of(victim, kind, split) |= 1;
   *tg_observers_of(p, kind, split) = 0;
   if (code) {
      tlb_code_unknown(victim, shift);
      p->tag = 0;
      return;
   }
   tlb_data_unknown(tlb_probe(victim, probe_at), shift);
   probe->tag = tlb_data_other_tag(probe, shift);
   if (writes && !split) {
      tlb_data_unknown(tlb_writes(victim), shift);
      if (tlb_rest(p)->write_observers == 0)
         tlb_data_known(tlb_writes(p), shift);
   }
}

/* What a miss of the first level comes to behind it, if the second does not have
   the page where it was last. */
void tg_fast_path_second(tlb_user kind, TgRef* r, tlb_page* p, tlb_key key,
                         ULong now);

/* Books a miss of the first level and asks the second, first where the page was
   last. */
static inline __attribute__((always_inline))
void tg_fast_path_missed(const TgFastPath* w, tlb_user kind, TgRef* r, tlb_page* p,
                         tlb_key key, ULong now)
{
   uint64_t* const misses = r->misses;
   const UInt last_place = tlb_rest(p)->place;
   misses[0]++;
   if (LIKELY(w->second != NULL && w->second_key[last_place] == key)) {
      w->second_time[last_place] = now;
      misses[TG_CYCLES - TG_MISS_1] += w->hit_cycles;
   } else {
      tg_fast_path_second(kind, r, p, key, now);
   }
}

/* The same for a reference that perhaps has never missed before. */
void tg_fast_missed(tlb_user kind, TgRef* r, tlb_page* p, tlb_key key, ULong now);

/* --- Shortest of all --- */

enum { TG_4K_SHIFT = 12 };

/* The page p of the segment is not known to references of that kind, the first of
   which is r at the time `then`. (No array that is asked first holds code and data,
   see tlb_base_array().) `alone`: all others of the segment's are known, and
   their times are noted as well. Returns False, and has done nothing, if it is not
   that simple. All but `w` to `then` are constants. The last thing that it does is
   at most a call: so the function that it is part of need not save registers. */
static inline __attribute__((always_inline))
Bool tg_fast_lru_miss(const TgFastPath* w, tlb_user kind, TgRef* r, tlb_page* p,
                         const TgSegment* s, ULong then, Bool alone,
                         UInt n_groups, Bool code, Bool writes, Bool split)
{
   if (UNLIKELY(*w->n_attached != w->entries || r->misses == NULL
                || *tg_observers_of(p, kind, split) != 1))
      return False;
   const UWord probe_at = split ? tlb_probe_at(kind) : 0;
   tlb_page* const probe = tlb_probe(p, probe_at);
   const UWord number = code ? tlb_code_page_number(p, TG_4K_SHIFT)
                             : probe->tag >> TG_4K_SHIFT ^ TLB_DATA_UNKNOWN;
   const tlb_key key = number | w->size;
   const UInt entry = tg_fast_path_oldest(w, (UInt)number & w->set_mask);
   tlb_page* victim = tg_page_of_time(w->short_cut[entry], probe_at);
   if (UNLIKELY(!code && tg_is_among(victim, tg_segment_page, n_groups)))
      return False;
   w->key[entry] = key;
   w->short_cut[entry] = &probe->time;
   tg_fast_exchange(p, victim, probe_at, kind, TG_4K_SHIFT, code, writes,
                     split);
   if (alone)
      tg_note_times(s, n_groups, split);
   else
      probe->time = then;
   tg_fast_path_missed(w, kind, r, p, key, then);
   return True;
}

/* tg_fast_lru() for a segment of which several data pages are unknown, where
   reads and writes ask the same arrays. If it is not that simple for one of them,
   that one and those behind it are still unknown. */
Bool tg_fast_lru_several(const TgSegment* s, UInt n_groups, Bool writes);

/* Simulates a segment of which only code or only data is unknown; `differs`: see
   tg_replay(). All arguments but these are constants, and the segment has one fetch
   at most. Returns False if it is not that simple; then what is still to be done is
   still unknown. */
static inline __attribute__((always_inline))
Bool tg_fast_lru(const TgSegment* s, UWord differs, UInt n_groups, Bool writes,
                    Bool split)
{
   tlb_page* const* page = tg_segment_page;
   TgRef* const ref = (TgRef*)(Addr)(s->group + n_groups);
   /* No time may become less than the simulator has seen it. */
   const ULong then = tg_clock - n_groups;
   if (differs == TLB_CODE_UNKNOWN)
      return LIKELY(ref->kind == TLB_FETCH)
             && tg_fast_lru_miss(&tg_fast_path[TLB_FETCH], TLB_FETCH, ref,
                                    s->fetch, s, then, True, n_groups, True,
                                    writes, split);
   if (n_groups == 0 || differs != TLB_DATA_UNKNOWN)
      return False;
   UInt unknown;
   const UInt n_unknown = tg_count_unknown(s, n_groups, writes, &unknown);
   if (n_groups > 1 && n_unknown > 1)
      return !split && tg_fast_lru_several(s, n_groups, writes);
   const TgGroup* g = &s->group[unknown];
   TgRef* r = &ref[g->oldest];
   tlb_page* p = page[unknown];
   if (split) {
      const tlb_user kind = tg_group_writes(g) ? TLB_STORE : TLB_LOAD;
      return tg_fast_lru_miss(&tg_fast_path[kind], kind, r, p, s, then, True,
                                 n_groups, False, writes, split);
   }
   if (writes && tg_write_is_observed(g, p))
      return False;
   return tg_fast_lru_miss(&tg_fast_path[TLB_LOAD], r->kind, r, p, s, then, True,
                              n_groups, False, writes, split);
}

#endif
