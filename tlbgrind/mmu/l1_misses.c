/* First levels, all at once. See mmu/l1_misses.h. */

#include "pub_tool_basics.h"

#include "pub_tool_libcbase.h"

#include "sim/tlb/policy.h"
#include "sim/tlb/times2.h"

#include "mmu/l2_presence.h"
#include "mmu/l1_misses.h"
#include "mmu/mmu.h"
#include "mmu/large_pages.h"
#include "mmu/miss_counts.h"
#include "mmu/l1_sharing.h"
#include "mmu/traits.h"

/* How it is found who is evicted: by looking at so many ways, ..., or of two arrays side
   by side. NOT_YET: not all that the array has is known. */
typedef enum {
   OF_4, OF_6, OF_8, OF_16, BY_SCAN, BY_TREE, PLRU_16, PLRU_32, BY_POLICY, OF_TWO, NOT_YET
} Search;

/* What most need fills a line of the cache. */
typedef struct {
   tlb_key* key;
   uint64_t** short_cut;
   const TgMissGroup* miss_group;
   /* The machine's bit, if references of that kind ask the array, else 0. If stores
      are not told apart, they ask what loads do. */
   ULong loads; /* or fetches */
   ULong stores;
   /* In which bits the tags of a page that is evicted change, if it was known: what is
      looked up for loads or fetches, and for stores. */
   UWord tag, stores_tag;
   UInt set_mask;
   UChar how;     /* Search */
   UChar time_at; /* where the time stands in a page's record */
   UChar other;   /* its other time, counted from there in times; 0: there is none */
   UChar how_if_full; /* what becomes of NOT_YET, for good */
   tlb_array* array; /* unless it is OF_TWO */
} __attribute__((aligned(64))) L1Arrays;

static L1Arrays l1s[TG_N_KINDS][TG_MAX_MMUS];
static L1Arrays sides[TG_N_KINDS][TG_MAX_MMUS][2]; /* where it is OF_TWO */
/* The machines whose fronts have `loads`, and `stores`. */
static ULong by_loads[TG_N_KINDS], by_stores[TG_N_KINDS];
TgL1Group tg_l1_groups[TG_CHUNK_BITS + 1];
UInt tg_n_l1_groups;

/* --- Whom they evict --- */

/* The times of a way and the next, each with the number of its way in one number: see
   tg_timed(). (With doubles the clock has room for 2^50 instructions.) */
static inline tlb_times2 timed(uint64_t* const* time, UInt other, UInt way)
{
   const uint64_t* a = time[way];
   const uint64_t* b = time[way + 1];
   const tlb_times2 t = tlb_later2(tlb_times2_at(a, b), tlb_times2_at(a + other, b + other));
   return (tlb_times2)((tlb_numbers2)t << 3 | (tlb_numbers2){ way, way + 1 });
}

/* `ways`: a constant, 4, 6 or 8. */
static inline __attribute__((always_inline))
uint64_t earliest(uint64_t* const* time, UInt other, UInt ways)
{
   tlb_times2 found = timed(time, other, 0);
   #pragma GCC unroll 4
   for (UInt way = 2; way < ways; way += 2)
      found = tlb_earlier2(timed(time, other, way), found);
   const tlb_numbers2 n = (tlb_numbers2)tlb_earlier2(found, tlb_swapped2(found));
   return (uint64_t)n[0];
}

static inline __attribute__((always_inline))
UInt earliest_of(const L1Arrays* f, UInt set, UInt ways)
{
   return set * ways + (UInt)(earliest(f->short_cut + set * ways, f->other, ways) & 7);
}

static inline UInt earliest_of_16(const L1Arrays* f, UInt set)
{
   const uint64_t a = earliest(f->short_cut + set * 16, f->other, 8);
   const uint64_t b = earliest(f->short_cut + set * 16 + 8, f->other, 8);
   return set * 16 + (a < b ? (UInt)(a & 7) : 8 + (UInt)(b & 7));
}

static inline __attribute__((always_inline))
UInt entry_to_evict(const L1Arrays* f, tlb_key key)
{
   const UInt set = (UInt)key & f->set_mask;
   switch ((Search)f->how) {
   case OF_4:
      return earliest_of(f, set, 4);
   case OF_6:
      return earliest_of(f, set, 6);
   case OF_8:
      return earliest_of(f, set, 8);
   case OF_16:
      return earliest_of_16(f, set);
   case BY_SCAN:
      return tlb_plain_oldest(f->array, key);
   case BY_TREE:
      return tlb_policy_oldest_known(f->array, 0);
   case PLRU_16:
      return set * 16 + tlb_policy_plru_16(f->array, set);
   case PLRU_32:
      return set * 32 + tlb_policy_plru_32(f->array, set);
   case BY_POLICY:
   case OF_TWO:
   case NOT_YET:
      break;
   }
   return tlb_array_place(f->array, key);
}

/* Whether all that the array has is known, also now that more may have come. */
static Bool has_all(const tlb_array* a, Bool large)
{
   return a->n_attached == a->g.entries
          && a->n_ranges == (large ? a->g.entries : 0);
}

static uint64_t oldest_time(const L1Arrays* f, tlb_key key)
{
   const uint64_t* time = f->short_cut[entry_to_evict(f, key)];
   return time[0] > time[f->other] ? time[0] : time[f->other];
}

/* Of two arrays side by side the one with the older page takes a new one. */
static __attribute__((noinline))
const L1Arrays* older_side(const L1Arrays* two, tlb_key key)
{
   return oldest_time(&two[1], key) < oldest_time(&two[0], key) ? &two[1] : &two[0];
}

/* Of a front that is OF_TWO or NOT_YET the one to evict from; NULL: it is still not full. */
static __attribute__((noinline))
const L1Arrays* found_l1(TgKind kind, UInt number, tlb_key key, Bool large)
{
   L1Arrays* f = &l1s[kind][number];
   const L1Arrays* side = sides[kind][number];
   if (f->how == NOT_YET) {
      const Bool full = f->how_if_full == OF_TWO
                           ? has_all(side[0].array, False) && has_all(side[1].array, False)
                           : has_all(f->array, large);
      if (!full)
         return NULL;
      f->how = f->how_if_full;
   }
   return f->how == OF_TWO ? older_side(side, key) : f;
}

static TgPage* first_of_entry(const L1Arrays* f, UInt entry, TgTable table, UInt large)
{
   return tg_page_of(table, (UWord)tlb_key_page(f->key[entry]) << large);
}

/* --- What becomes of it --- */

/* Without a branch: whether it was known is a matter of chance. */
static inline void forget(TgPage* p, UWord tag)
{
   p->tag ^= tag & ((p->tag & 1) - 1);
}

static inline __attribute__((always_inline))
void want(const L1Arrays* f, TgPage* p, Bool code)
{
   TgRest* rest = tg_rest(p);
   rest->observers |= f->loads;
   if (code) {
      tg_code_unknown(p, tg_run_traits.page_shift);
   } else {
      rest->write_observers |= f->stores;
      forget(p, f->tag);
      forget(tg_writes(p), f->stores_tag);
   }
}

/* Page p goes where `evicted` was. Of large pages the first. */
static inline __attribute__((always_inline))
void exchange(const L1Arrays* f, UInt entry, TgPage* evicted, tlb_key key, TgPage* p,
              Bool code, UInt large, ULong now)
{
   if (large > 0) {
      tg_large_goes(tg_large(evicted, large), code ? TG_CODE : TG_DATA, evicted,
                    f->loads, f->stores);
      tlb_array_replace(f->array, entry, key, now, &tlb_range);
      return;
   }
   want(f, evicted, code);
   f->key[entry] = key;
   f->short_cut[entry] = (uint64_t*)((Addr)p + f->time_at);
   if (f->how >= OF_16)
      tlb_array_replaced(f->array);
   if (f->how == BY_TREE)
      tlb_policy_bound(f->array, 0, entry, now);
}

/* --- A miss --- */

/* For tg_l1_group_miss(). p: of a large page the first; number: of the page itself. Whether
   `large` is 0, and `kind` fetches, is constant. */
static inline __attribute__((always_inline))
ULong miss_all(TgRef* r, TgPage* p, UWord number, TgKind kind, ULong observers, ULong now,
               UInt large)
{
   const Bool code = kind == TG_FETCH;
   const tlb_key key = tlb_key_of(number >> large, tg_run_traits.page_shift + large, 0);
   const TgTable table = code ? TG_CODE : TG_DATA;
   const L1Arrays* of_kind = l1s[kind];
   tlb_lazy_lru_page* l2 = tg_n_mmus > 1 ? tg_l2_of_page(table, p, large) : NULL;
   ULong* counts = tg_ref_misses(r) + tg_miss_groups_at();
   TgMissed missed = { 0, 0, 0 };
   ULong left = 0;
   for (ULong mmus = observers; mmus != 0; mmus &= mmus - 1) {
      const UInt mmu = (UInt)__builtin_ctzll(mmus);
      const L1Arrays* f = &of_kind[mmu];
      if (UNLIKELY(f->how >= OF_TWO)) {
         f = found_l1(kind, mmu, key, large > 0);
         if (f == NULL) {
            left |= 1ULL << mmu;
            continue;
         }
      }
      const UInt entry = entry_to_evict(f, key);
      TgPage* evicted = large > 0 ? first_of_entry(f, entry, table, large)
                                  : (TgPage*)((Addr)f->short_cut[entry] - f->time_at);
      exchange(f, entry, evicted, key, p, code, large, now);
      const TgMissGroup* s = f->miss_group;
      tg_missed_group(&missed, counts, l2, s,
                       tg_sizes_missed(s, l2, evicted), now);
   }
   observers &= ~left;
   if (observers == 0)
      return left;
   const ULong loads = observers & by_loads[kind], stores = observers & by_stores[kind];
   if (large > 0) {
      tg_large_comes(tg_large(p, large), loads, stores);
   } else {
      tg_rest(p)->observers &= ~loads;
      tg_rest(p)->write_observers &= ~stores;
   }
   if (!tg_missed_is_common(&missed, table, l2, now)) {
      const UChar shift = (UChar)tg_run_traits.page_shift;
      const tlb_reference ref = { .page = number, .now = now, .user = (uint8_t)kind,
                                  .page_shift = (UChar)(shift + large),
                                  .block_shift = shift };
      tg_missed_ask(r, &missed, table, l2, &ref);
   }
   return left;
}

/* Of larger base pages. */
static __attribute__((noinline))
ULong miss_large(TgRef* r, TgPage* p, UWord number, TgKind kind, ULong observers, ULong now,
                 UInt large)
{
   TgPage* first = tg_first_page(p, number, large);
   TgLarge* l = tg_large(first, large);
   ULong left = observers & tg_large_absent(l, kind);
   if (left != 0)
      left = kind == TG_FETCH
                ? miss_all(r, first, number, TG_FETCH, left, now, large)
                : miss_all(r, first, number, kind, left, now, large);
   tg_large_tell(l, tg_table_of_kind(kind), first, number, large);
   return left;
}

ULong tg_l1_group_miss(const TgL1Group* which, TgRef* r, TgPage* p, UWord number, TgKind kind,
                     ULong observers, ULong now)
{
   if (which->large > 0)
      return miss_large(r, p, number, kind, observers, now, which->large);
   return kind == TG_FETCH ? miss_all(r, p, number, TG_FETCH, observers, now, 0)
                           : miss_all(r, p, number, kind, observers, now, 0);
}

/* --- Who has one --- */

static Search search_of(const tlb_array* a)
{
   if (a->tree != NULL && a->sets == 1)
      return BY_TREE;
   if (a->g.policy == TLB_PLRU && a->set_mask != TLB_NO_MASK && a->g.ways == 16)
      return PLRU_16;
   if (a->g.policy == TLB_PLRU && a->set_mask != TLB_NO_MASK && a->g.ways == 32)
      return PLRU_32;
   if (a->g.policy != TLB_LRU || a->tree != NULL)
      return BY_POLICY;
   if (a->set_mask == TLB_NO_MASK)
      return BY_SCAN;
   switch (a->g.ways) {
   case 4: return OF_4;
   case 6: return OF_6;
   case 8: return OF_8;
   case 16: return OF_16;
   default: return BY_SCAN;
   }
}

static L1Arrays l1_of(TgMmu* mmu, TgKind kind, tlb_array* a)
{
   const TgPort* port = a->opaque;
   const UWord unknown = 1 | (UWord)TG_DATA_UNKNOWN << tg_run_traits.page_shift;
   const ULong loads = tg_loads_of(port, tg_table_of_kind(kind));
   const ULong stores = tg_stores_of(port);
   return (L1Arrays){
      .array = a, .key = a->key, .short_cut = a->short_cut,
      .miss_group = &mmu->miss_group[tg_side_of(mmu, kind)],
      .loads = loads, .stores = stores, .tag = loads != 0 ? unknown : 0,
      .stores_tag = (tg_run_traits.split ? stores : loads) != 0 ? unknown : 0,
      .set_mask = a->set_mask,
      .how = NOT_YET,
      .how_if_full = (UChar)(mmu->large > 0 ? BY_POLICY : search_of(a)),
      .time_at = (UChar)port->time_at,
      .other = (UChar)a->second_time };
}

/* Those of machines with base pages of that size. */
static TgL1Group* l1s_of(UInt large)
{
   UInt i = 0;
   while (i < tg_n_l1_groups && tg_l1_groups[i].large != large)
      i++;
   if (i == tg_n_l1_groups)
      tg_l1_groups[tg_n_l1_groups++] = (TgL1Group){ .large = large };
   return &tg_l1_groups[i];
}

static void find(TgMmu* mmu, TgKind kind)
{
   tlb_array* a[TG_MAX_BASE_ARRAYS];
   const UInt n = tg_base_arrays(mmu, kind, a);
   for (UInt i = 0; i < n; i++) {
      if (a[i]->also_behind
          || (a[i]->g.policy != TLB_LRU && (a[i]->g.policy != TLB_PLRU || n > 1)))
         return;
   }
   if (n == 0)
      return;
   L1Arrays* f = &l1s[kind][mmu->number];
   *f = l1_of(mmu, kind, a[0]);
   if (n > 1) {
      for (UInt i = 0; i < n; i++) {
         L1Arrays* side = &sides[kind][mmu->number][i];
         *side = l1_of(mmu, kind, a[i]);
         side->how = side->how_if_full;
         /* Else what is known depends on which of them takes the page. */
         if (side->loads != f->loads || side->stores != f->stores)
            return;
      }
      f->how_if_full = OF_TWO;
   }
   by_loads[kind] |= f->loads;
   by_stores[kind] |= f->stores;
   l1s_of(mmu->large)->mmus[kind] |= mmu->bit;
}

void tg_l1_groups_find(Bool fast_path)
{
   tg_l1_groups[0] = (TgL1Group){ .large = 0 };
   tg_n_l1_groups = 1;
   for (UInt kind = 0; kind < TG_N_KINDS; kind++) {
      by_loads[kind] = by_stores[kind] = 0;
      for (UInt i = 0; fast_path && i < tg_n_mmus; i++)
         find(&tg_mmus[i], kind);
   }
}
