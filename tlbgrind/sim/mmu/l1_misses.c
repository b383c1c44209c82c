/* First-level misses. See l1_misses.h. */

#include "sim/mmu/l1_misses.h"

#include "sim/mmu/l1_sharing.h"
#include "sim/mmu/large_pages.h"
#include "sim/mmu/miss_counts.h"
#include "sim/mmu/traits.h"
#include "sim/tlb/oldest.h"
#include "sim/tlb/policy_lru.h"
#include "sim/tlb/policy_plru.h"

/* How the entry to evict is found: by looking at so many ways, ..., or of two arrays side
   by side. NOT_YET: not all that the array has is known. */
typedef enum {
   OF_4, OF_6, OF_8, OF_16, BY_SCAN, BY_TREE, PLRU_16, PLRU_32, BY_POLICY, OF_TWO, NOT_YET
} search;

/* --- The entry to evict --- */

/* `ways`: a constant, 4, 6, 8 or 16. */
static inline __attribute__((always_inline))
unsigned earliest_of(const tlb_l1_arrays *f, unsigned set, unsigned ways)
{
   return set * ways + tlb_oldest_way(f->short_cut + set * ways, f->other, ways);
}

/* Of any LRU array, all of whose entries have short cuts to one page each. */
static inline unsigned oldest_by_scan(const tlb_array *a, tlb_key key)
{
   const unsigned first = tlb_array_set(a, key) * a->g.ways;
   return first + tlb_oldest_attached(a->short_cut + first, a->second_time, a->g.ways);
}

static inline __attribute__((always_inline))
unsigned entry_to_evict(const tlb_l1_arrays *f, tlb_key key)
{
   const unsigned set = (unsigned)key & f->set_mask;
   switch ((search)f->how) {
   case OF_4:
      return earliest_of(f, set, 4);
   case OF_6:
      return earliest_of(f, set, 6);
   case OF_8:
      return earliest_of(f, set, 8);
   case OF_16:
      return earliest_of(f, set, 16);
   case BY_SCAN:
      return oldest_by_scan(f->array, key);
   case BY_TREE:
      return tlb_lru_oldest_known(f->array, 0);
   case PLRU_16:
      return set * 16 + tlb_plru_16(f->array, set);
   case PLRU_32:
      return set * 32 + tlb_plru_32(f->array, set);
   case BY_POLICY:
   case OF_TWO:
   case NOT_YET:
      break;
   }
   return tlb_array_place(f->array, key);
}

/* Whether all that the array has is known, also now that more may have come. */
static bool has_all(const tlb_array *a, bool large)
{
   return a->n_attached == a->g.entries
          && a->n_ranges == (large ? a->g.entries : 0);
}

static uint64_t oldest_time(const tlb_l1_arrays *f, tlb_key key)
{
   const uint64_t *time = f->short_cut[entry_to_evict(f, key)];
   return time[0] > time[f->other] ? time[0] : time[f->other];
}

/* Of two arrays side by side the one with the older page takes a new one. */
static __attribute__((noinline))
const tlb_l1_arrays *older_side(const tlb_l1_arrays *two, tlb_key key)
{
   return oldest_time(&two[1], key) < oldest_time(&two[0], key) ? &two[1] : &two[0];
}

/* Of arrays that are OF_TWO or NOT_YET the one to evict from; NULL: it is still not full. */
static __attribute__((noinline))
const tlb_l1_arrays *found_l1(tlb_mmus *all, tlb_user user, unsigned number, tlb_key key,
                              bool large)
{
   tlb_l1_arrays *f = &all->l1.arrays[user][number];
   const tlb_l1_arrays *side = all->l1.side[user][number];
   if (f->how == NOT_YET) {
      const bool full = f->how_if_full == OF_TWO
                           ? has_all(side[0].array, false) && has_all(side[1].array, false)
                           : has_all(f->array, large);
      if (!full)
         return NULL;
      f->how = f->how_if_full;
   }
   return f->how == OF_TWO ? older_side(side, key) : f;
}

static tlb_page *first_of_entry(tlb_mmus *all, const tlb_l1_arrays *f, unsigned entry,
                                tlb_side table, unsigned large)
{
   return tlb_page_of(all, table, (tlb_page_number)tlb_key_page(f->key[entry]) << large);
}

/* --- What becomes of it --- */

/* Without a branch: whether it was known is a matter of chance. */
static inline void forget(tlb_page *p, uintptr_t tag)
{
   p->tag ^= tag & ((p->tag & 1) - 1);
}

static inline __attribute__((always_inline))
void observe(tlb_mmus *all, const tlb_l1_arrays *f, tlb_page *p, bool code)
{
   tlb_page_rest *rest = tlb_rest(p);
   rest->observers |= f->loads;
   if (code) {
      tlb_code_unknown(p, all->traits.page_shift);
   } else {
      rest->write_observers |= f->stores;
      forget(p, f->tag);
      forget(tlb_writes(p), f->stores_tag);
   }
}

/* Arrays of so few ways have none: all of a set are looked at. */
static inline bool has_index(const tlb_l1_arrays *f)
{
   return f->how != OF_4 && f->how != OF_6 && f->how != OF_8;
}

/* Page p goes where `evicted` was. Of large pages the first. */
static inline __attribute__((always_inline))
void exchange(tlb_mmus *all, const tlb_l1_arrays *f, unsigned entry, tlb_page *evicted,
              tlb_key key, tlb_page *p, bool code, unsigned large, uint64_t now)
{
   if (large > 0) {
      tlb_large_goes(all, tlb_large_of_page(all, evicted, large), code ? TLB_CODE : TLB_DATA,
                     evicted, f->loads, f->stores);
      tlb_array_replace(f->array, entry, key, now, &tlb_range);
      return;
   }
   observe(all, f, evicted, code);
   f->key[entry] = key;
   f->short_cut[entry] = (uint64_t *)((uintptr_t)p + f->time_at);
   if (has_index(f))
      tlb_array_replaced(f->array);
   if (f->how == BY_TREE)
      tlb_lru_bound(f->array, 0, entry, now);
}

/* --- A miss --- */

/* For tlb_l1_group_miss(). p: of a large page the first; number: of the page itself. Whether
   `large` is 0, and `kind` fetches, is constant. */
static inline __attribute__((always_inline))
uint64_t miss_all(tlb_mmus *all, uint64_t *counts, tlb_page *p, tlb_page_number number,
                  tlb_user user, uint64_t observers, uint64_t now, unsigned large)
{
   const bool code = user == TLB_FETCH;
   const tlb_key key = tlb_key_of(number >> large, all->traits.page_shift + large, 0);
   const tlb_side table = code ? TLB_CODE : TLB_DATA;
   const tlb_l1_arrays *of_kind = all->l1.arrays[user];
   tlb_lazy_lru_page *l2 = all->n_mmus > 1 ? tlb_l2_of_page(all, table, p, large) : NULL;
   uint64_t *const groups = counts + tlb_miss_groups_at(all);
   tlb_missed missed = { 0, 0, 0 };
   uint64_t left = 0;
   for (uint64_t bits = observers; bits != 0; bits &= bits - 1) {
      const unsigned mmu = (unsigned)__builtin_ctzll(bits);
      const tlb_l1_arrays *f = &of_kind[mmu];
      if (TLB_UNLIKELY(f->how >= OF_TWO)) {
         f = found_l1(all, user, mmu, key, large > 0);
         if (f == NULL) {
            left |= UINT64_C(1) << mmu;
            continue;
         }
      }
      const unsigned entry = entry_to_evict(f, key);
      tlb_page *evicted = large > 0 ? first_of_entry(all, f, entry, table, large)
                                  : (tlb_page *)((uintptr_t)f->short_cut[entry] - f->time_at);
      exchange(all, f, entry, evicted, key, p, code, large, now);
      const tlb_miss_group *s = f->miss_group;
      tlb_missed_group(&missed, groups, l2, s,
                       tlb_sizes_missed(all, s, l2, evicted), now);
   }
   observers &= ~left;
   if (observers == 0)
      return left;
   const uint64_t loads = observers & all->l1.by_loads[user];
   const uint64_t stores = observers & all->l1.by_stores[user];
   if (large > 0) {
      tlb_large_comes(tlb_large_of_page(all, p, large), loads, stores);
   } else {
      tlb_rest(p)->observers &= ~loads;
      tlb_rest(p)->write_observers &= ~stores;
   }
   if (!tlb_missed_is_common(all, &missed, table, l2, now)) {
      const uint8_t shift = (uint8_t)all->traits.page_shift;
      const tlb_reference ref = { .page = number, .now = now, .user = (uint8_t)user,
                                  .page_shift = (uint8_t)(shift + large),
                                  .block_shift = shift };
      tlb_missed_ask(all, counts, &missed, table, l2, &ref);
   }
   return left;
}

/* Of larger base pages. */
static __attribute__((noinline))
uint64_t miss_large(tlb_mmus *all, uint64_t *counts, tlb_page *p, tlb_page_number number,
                    tlb_user user, uint64_t observers, uint64_t now, unsigned large)
{
   tlb_page *first = tlb_first_page(p, number, large);
   tlb_large_page *l = tlb_large_of_page(all, first, large);
   uint64_t left = observers & tlb_large_absent(all, l, user);
   if (left != 0)
      left = user == TLB_FETCH
                ? miss_all(all, counts, first, number, TLB_FETCH, left, now, large)
                : miss_all(all, counts, first, number, user, left, now, large);
   tlb_large_tell(all, l, tlb_side_of_user(user), first, number, large);
   return left;
}

uint64_t tlb_l1_group_miss(tlb_mmus *all, const tlb_l1_group *which, uint64_t *counts,
                           tlb_page *p, tlb_page_number number, tlb_user user,
                           uint64_t observers, uint64_t now)
{
   if (which->large > 0)
      return miss_large(all, counts, p, number, user, observers, now, which->large);
   return user == TLB_FETCH ? miss_all(all, counts, p, number, TLB_FETCH, observers, now, 0)
                           : miss_all(all, counts, p, number, user, observers, now, 0);
}

bool tlb_l1_one_miss(tlb_mmus *all, tlb_page *p, tlb_page_number number, tlb_user user,
                     uint64_t now)
{
   const tlb_key key = tlb_key_of(number, all->traits.page_shift, 0);
   const tlb_l1_arrays *f = &all->l1.arrays[user][0];
   if (TLB_UNLIKELY(f->how >= OF_TWO)) {
      f = found_l1(all, user, 0, key, false);
      if (f == NULL)
         return false;
   }
   const unsigned entry = entry_to_evict(f, key);
   tlb_page *const evicted = (tlb_page *)((uintptr_t)f->short_cut[entry] - f->time_at);
   exchange(all, f, entry, evicted, key, p, user == TLB_FETCH, 0, now);
   tlb_rest(p)->observers &= ~f->loads;
   tlb_rest(p)->write_observers &= ~f->stores;
   return true;
}

/* --- Which machines are of a group --- */

static search search_of(const tlb_array *a)
{
   if (a->tree != NULL && a->sets == 1)
      return BY_TREE;
   const bool bits = a->policy->by == TLB_BY_TREE && a->set_mask != TLB_NO_MASK;
   if (bits && (a->g.ways == 16 || a->g.ways == 32))
      return a->g.ways == 16 ? PLRU_16 : PLRU_32;
   if (a->policy->by != TLB_BY_OLDEST || a->tree != NULL)
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

static tlb_l1_arrays l1_of(tlb_mmus *all, tlb_mmu *mmu, tlb_user user, tlb_array *a)
{
   const tlb_port *port = a->opaque;
   const uintptr_t unknown = 1 | (uintptr_t)TLB_DATA_UNKNOWN << all->traits.page_shift;
   const uint64_t loads = tlb_loads_of(all, port, tlb_side_of_user(user));
   const uint64_t stores = tlb_stores_of(all, port);
   return (tlb_l1_arrays){
      .array = a, .key = a->key, .short_cut = a->short_cut,
      .miss_group = &mmu->miss_group[tlb_mmu_side(mmu, user)],
      .loads = loads, .stores = stores, .tag = loads != 0 ? unknown : 0,
      .stores_tag = (all->traits.split ? stores : loads) != 0 ? unknown : 0,
      .set_mask = a->set_mask,
      .how = NOT_YET,
      .how_if_full = (uint8_t)(mmu->large > 0 ? BY_POLICY : search_of(a)),
      .time_at = (uint8_t)port->time_at,
      .other = (uint8_t)a->second_time };
}

/* Those of machines with base pages of that size. */
static tlb_l1_group *l1s_of(tlb_mmus *all, unsigned large)
{
   unsigned i = 0;
   while (i < all->l1.n_groups && all->l1.group[i].large != large)
      i++;
   if (i == all->l1.n_groups)
      all->l1.group[all->l1.n_groups++] = (tlb_l1_group){ .large = large };
   return &all->l1.group[i];
}

static void find(tlb_mmus *all, tlb_mmu *mmu, tlb_user user)
{
   tlb_array *a[TLB_MAX_BASE_ARRAYS];
   const unsigned n = mmu->alone ? 0 : tlb_base_arrays(mmu, user, a);
   for (unsigned i = 0; i < n; i++) {
      if (a[i]->also_behind || !tlb_policy_goes_by_times(a[i]->policy)
          || (n > 1 && a[i]->policy->by != TLB_BY_OLDEST))
         return;
   }
   if (n == 0)
      return;
   tlb_l1_arrays *f = &all->l1.arrays[user][mmu->number];
   *f = l1_of(all, mmu, user, a[0]);
   if (n > 1) {
      for (unsigned i = 0; i < n; i++) {
         tlb_l1_arrays *side = &all->l1.side[user][mmu->number][i];
         *side = l1_of(all, mmu, user, a[i]);
         side->how = side->how_if_full;
         /* Else what is known depends on which of them takes the page. */
         if (side->loads != f->loads || side->stores != f->stores)
            return;
      }
      f->how_if_full = OF_TWO;
   }
   all->l1.by_loads[user] |= f->loads;
   all->l1.by_stores[user] |= f->stores;
   l1s_of(all, mmu->large)->mmus[user] |= mmu->bit;
}

void tlb_l1_groups_find(tlb_mmus *all)
{
   all->l1.group[0] = (tlb_l1_group){ .large = 0 };
   all->l1.n_groups = 1;
   for (unsigned user = 0; user < TLB_N_USERS; user++) {
      all->l1.by_loads[user] = all->l1.by_stores[user] = 0;
      for (unsigned i = 0; all->fast_path && i < all->n_mmus; i++)
         find(all, &all->mmu[i], user);
   }
}

void tlb_l1_groups_refill(tlb_mmus *all, uint64_t mmus)
{
   for (unsigned user = 0; user < TLB_N_USERS; user++) {
      for (uint64_t bits = mmus; bits != 0; bits &= bits - 1)
         all->l1.arrays[user][__builtin_ctzll(bits)].how = NOT_YET;
   }
}
