/* Misses of one machine: evicts from its first level, looks up its second, books the miss.

   This is the fast path of a miss, for a run of one machine with base pages only, without
   reach, in which each kind of reference looks up one array first, and all of that array has
   short cuts. There every instruction counts, so what a reference to an unknown page does is
   written here once more. engine/translate.h does the same for any machines. */

#ifndef TG_FAST_PATH_H
#define TG_FAST_PATH_H

#include "pub_tool_basics.h"

#include "sim/tlb/array.h"
#include "sim/tlb/oldest.h"
#include "sim/tlb/policy_lru.h"
#include "sim/tlb/policy_plru.h"

#include "trace/run_mmus.h"
#include "trace/segment_pages.h"
#include "trace/superblocks.h"

/* How the entry to evict is found. */
typedef enum {
   TG_FAST_NONE,
   TG_FAST_LRU,   /* by the times at the pages: LRU of a few ways */
   TG_FAST_TREE,  /* by bounds of these times in a tree: LRU of many ways */
   TG_FAST_POLICY /* by tlb_array_refer_known(): all others */
} TgFastSearch;

/* By kind of reference. What a miss reads of the arrays is repeated here, so that it
   reads few lines of the processor's cache. */
typedef struct {
   TgFastSearch search;
   UInt plru_ways;   /* of PLRU that has 4 or 8, else 0 */
   UInt ways;
   UInt set_mask;
   UInt entries;
   tlb_array* first;
   const uint32_t* n_attached; /* how many entries have short cuts */
   tlb_key* key;
   uint64_t** short_cut;
   tlb_key size;     /* what tells a base page's key from its number */
   tlb_array* second; /* NULL: tlb_translate_behind() has to be asked */
   tlb_key* second_key;
   uint64_t* second_time;
   ULong hit_cycles; /* of the second */
} TgFastPath;

extern TgFastPath tg_fast_path[TLB_N_USERS];

/* Once the MMUs are there, and whenever a machine begins to ask what backs its
   pages, see engine/setup.c. */
void tg_fast_path_find(void);

/* --- The first level --- */

/* Whether the fast path can simulate a reference of that kind to page p, which is not
   known: the machine is its only observer, and all of the array is known, so that p is not
   there. */
static inline Bool tg_fast_path_is_open(const TgFastPath* w, tlb_user kind, tlb_page* p,
                                        Bool split)
{
   return *w->n_attached == w->entries && *tlb_observers_of(p, kind, split) == 1;
}

/* The key of page p, which is not known. */
static inline tlb_key tg_fast_key(const TgFastPath* w, const tlb_page* p, UWord probe_at,
                                  UInt shift, Bool code)
{
   return w->size | (code ? tlb_code_page_number(p, shift)
                          : tlb_probe(p, probe_at)->tag >> shift ^ TLB_DATA_UNKNOWN);
}

/* The entry to evict from the set of that key; `search`: one of the two for LRU. */
static inline __attribute__((always_inline))
UInt tg_fast_lru_oldest(TgFastSearch search, const TgFastPath* w, tlb_key key)
{
   const UInt set = (UInt)key & w->set_mask;
   const UInt first = set * w->ways;
   return first + (search == TG_FAST_TREE ? tlb_lru_oldest_known(w->first, set)
                                          : tlb_oldest_of_one_time(w->short_cut + first, w->ways));
}

/* The same of PLRU with 4 or 8 ways. */
static inline __attribute__((always_inline))
UInt tg_fast_plru_victim(const TgFastPath* w, tlb_key key)
{
   const UInt set = (UInt)key & w->set_mask;
   return set * w->ways + (w->plru_ways == 4 ? tlb_plru_few(w->first, set, 4, 0)
                                             : tlb_plru_few(w->first, set, 8, 0));
}

/* Puts the key, whose page has that time, into the entry, where the times of the array's pages
   are all that its policy goes by. */
static inline uint64_t* tg_fast_replace(const TgFastPath* w, UInt entry, tlb_key key,
                                        uint64_t* time)
{
   uint64_t* lost = w->short_cut[entry];
   w->key[entry] = key;
   w->short_cut[entry] = time;
   return lost;
}

/* The same for LRU; `now`: at or before that time. */
static inline __attribute__((always_inline))
uint64_t* tg_fast_lru_replace(TgFastSearch search, const TgFastPath* w, UInt entry, tlb_key key,
                              ULong now, uint64_t* time)
{
   if (search == TG_FAST_TREE) {
      tlb_array_replaced(w->first);
      tlb_lru_bound(w->first, (UInt)key & w->set_mask, entry, now);
   }
   return tg_fast_replace(w, entry, key, time);
}

/* References page p, of that key, by the policy. Returns the time of the page that is
   not known from now on. */
static inline __attribute__((always_inline))
uint64_t* tg_fast_policy_refer(const TgFastPath* w, tlb_key key, ULong now, uint64_t* time)
{
   if (w->plru_ways != 0) {
      *time = now;
      return tg_fast_replace(w, tg_fast_plru_victim(w, key), key, time);
   }
   return tlb_array_refer_known(w->first, (UInt)key & w->set_mask, key, now, time);
}

/* Page p is known from now on, and the one that is lost is not any more, to references
   of that kind; what these are looked up by stands `probe_at` bytes behind both. */
static inline __attribute__((always_inline))
void tg_fast_exchange(tlb_page* p, tlb_page* lost, UWord probe_at, tlb_user kind,
                      UInt shift, Bool code, Bool writes, Bool split)
{
   tlb_page* probe = tlb_probe(p, probe_at);
   *tlb_observers_of(lost, kind, split) |= 1;
   *tlb_observers_of(p, kind, split) = 0;
   if (code) {
      tlb_code_unknown(lost, shift);
      p->tag = 0;
      return;
   }
   tlb_data_unknown(tlb_probe(lost, probe_at), shift);
   probe->tag = tlb_data_other_tag(probe, shift);
   if (writes && !split) {
      tlb_data_unknown(tlb_writes(lost), shift);
      if (tlb_rest(p)->write_observers == 0)
         tlb_data_known(tlb_writes(p), shift);
   }
}

/* --- The second level --- */

/* Looks up the second level, walks if it misses, and books that, where the second level does
   not have the page where it was last. */
void tg_fast_path_second(tlb_user kind, TgRef* r, tlb_page* p, tlb_key key,
                         ULong now);

/* Books a miss of the first level and looks up the second, first where the page was last. */
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

/* --- Both --- */

/* Simulates a reference of that kind to page p, which is not known, as part of r, at the
   time `now`; all times before have been noted. Returns False, and has done nothing, if
   the fast path can not. */
Bool tg_fast_path_refer(tlb_user kind, TgRef* r, tlb_page* p, ULong now);

#endif
