/* Checking: whether page records, first levels and what lies behind them agree with each
   other. See tlb_mmus_check() in mmu.h. */

#include "sim/mmu/mmu.h"

#include "sim/mmu/known_hits.h"
#include "sim/mmu/l1_lookup.h"
#include "sim/mmu/l2_presence.h"
#include "sim/mmu/large_pages.h"

typedef struct {
   tlb_side table;
   const char *wrong; /* what was found first, or NULL */
} finding;

static bool is_simulated(const tlb_mmu *mmu)
{
   return mmu->counts == mmu->number;
}

static tlb_page_number number_of(const tlb_mmus *all, tlb_side table, const tlb_page *p)
{
   const unsigned shift = all->traits.page_shift;
   return table == TLB_CODE ? tlb_code_page_number(p, shift)
                            : tlb_page_number_of_data(p, shift);
}

/* --- Page records --- */

/* A tag says that a page is known only if nothing observes it. */
static const char *check_tags(const tlb_mmus *all, tlb_side table, const tlb_page *p)
{
   const tlb_page_rest *const rest = tlb_rest(p);
   const bool reads_known = table == TLB_CODE ? p->tag == 0 : !tlb_is_data_unknown(p);
   if (reads_known && rest->observers != 0)
      return "the tag of an observed page says that it is known";
   /* Where writes are looked up as reads are, nothing keeps the tags for writes. */
   if (table == TLB_CODE || !all->traits.writes || tlb_is_data_unknown(tlb_writes(p)))
      return NULL;
   if (rest->write_observers != 0 || (!all->traits.split && rest->observers != 0))
      return "the tag of a page whose writes are observed says that they are known";
   if (tlb_page_number_of_data(tlb_writes(p), all->traits.page_shift)
       != number_of(all, table, p))
      return "the two tags of a page are not of one page";
   return NULL;
}

static bool has_entry(const tlb_array *a, tlb_key key, const uint64_t *time)
{
   const uint32_t first = tlb_array_set(a, key) * a->g.ways;
   for (uint32_t e = first; e < first + a->g.ways; e++) {
      if (a->key[e] == key)
         return a->short_cut[e] == time || a->short_cut[e] == &tlb_range;
   }
   return false;
}

/* Whether the page, which is known to the MMU, has a short cut in its first level for that
   kind of reference. */
static bool has_short_cut(tlb_mmu *mmu, tlb_user user, tlb_page *p, tlb_page_number number)
{
   tlb_reference r;
   if (!tlb_l1_reference(mmu, p, number, user, &r))
      return false;
   const tlb_stop *const stop = tlb_first_stop(&mmu->h, &r);
   for (unsigned i = 0; i < stop->n; i++) {
      const tlb_port *const port = &mmu->port[stop->array[i]];
      if (has_entry(port->array, tlb_entry_key(&mmu->h, &r, stop->shift[i]),
                    (uint64_t *)((uintptr_t)p + port->time_at)))
         return true;
   }
   return false;
}

/* Each page that is known to an MMU has a short cut in its first level. */
static const char *check_known(tlb_mmus *all, tlb_user user, tlb_page *p)
{
   const bool split = all->traits.split;
   const tlb_side table = tlb_side_of_user(user);
   const uint64_t mmus = (UINT64_C(1) << all->n_mmus) - 1;
   const uint64_t first = *tlb_first_observers(&all->traits, user) & mmus;
   uint64_t known = first & ~*tlb_observers_of(p, user, split);
   for (; known != 0; known &= known - 1) {
      tlb_mmu *const mmu = &all->mmu[__builtin_ctzll(known)];
      const tlb_page_number number = number_of(all, table, p);
      if (!has_short_cut(mmu, user, p, number))
         return "a page without observers has no short cut in a first level";
      if (mmu->large > 0) {
         const tlb_large_page *const l
            = tlb_large_of_page(all, tlb_first_page(p, number, mmu->large), mmu->large);
         if ((tlb_large_absent(all, l, user) & mmu->bit) != 0
             || (l->told >> tlb_nth_page(number, mmu->large) & 1) == 0)
            return "a page is known of a large page that is absent or does not list it";
      }
   }
   return NULL;
}

static void check_page(tlb_mmus *all, tlb_page *p, void *opaque)
{
   finding *const f = opaque;
   if (f->wrong == NULL)
      f->wrong = check_tags(all, f->table, p);
   if (f->wrong != NULL || !all->fast_path)
      return;
   if (f->table == TLB_CODE) {
      f->wrong = check_known(all, TLB_FETCH, p);
      return;
   }
   f->wrong = check_known(all, TLB_LOAD, p);
   if (f->wrong == NULL && all->traits.split)
      f->wrong = check_known(all, TLB_STORE, p);
}

/* --- First levels --- */

/* What has a short cut to one page is known, and is that page. */
static const char *check_port(const tlb_mmus *all, const tlb_port *port)
{
   const tlb_array *const a = port->array;
   const tlb_side table = port->code ? TLB_CODE : TLB_DATA;
   for (uint32_t e = 0; a->short_cut != NULL && e < a->g.entries; e++) {
      const uint64_t *const time = a->short_cut[e];
      if (time == NULL || time == &tlb_range)
         continue;
      const tlb_page *const p = (const tlb_page *)((uintptr_t)time - port->time_at);
      if (tlb_key_of(number_of(all, table, p), all->traits.page_shift, 0) != a->key[e])
         return "a short cut leads to another page";
      if ((tlb_rest(p)->observers & tlb_loads_of(all, port, table)) != 0
          || (tlb_rest(p)->write_observers & tlb_stores_of(all, port)) != 0)
         return "a page with a short cut in a first level is observed by its machine";
   }
   return NULL;
}

static const char *check_mmu(tlb_mmus *all, const tlb_mmu *mmu)
{
   const char *wrong = NULL;
   for (unsigned i = 0; wrong == NULL && i < mmu->machine->n_arrays; i++) {
      wrong = tlb_array_check(&mmu->h.array[i]);
      if (wrong == NULL)
         wrong = check_port(all, &mmu->port[i]);
   }
   for (unsigned table = 0; wrong == NULL && table < TLB_N_TABLES; table++) {
      if (mmu->lazy_lru[table] != NULL)
         wrong = tlb_lazy_lru_check(mmu->lazy_lru[table]->lazy_lru);
   }
   for (unsigned side = 0; wrong == NULL && side < TLB_N_SIDES; side++) {
      const tlb_lru_stack *const l = mmu->lru_stack[side];
      for (uint32_t set = 0; l != NULL && wrong == NULL && set < mmu->stacked[side]->sets;
           set++)
         wrong = tlb_lru_stack_check(&l[set]);
   }
   return wrong;
}

/* --- Second levels --- */

/* A page whose bits say so is in the lazy LRU arrays. */
static const char *check_held(const tlb_mmus *all, const tlb_lazy_lru_page *p)
{
   for (unsigned table = 0; table < TLB_N_TABLES; table++) {
      for (uint64_t bits = p->held[table]; bits != 0; bits &= bits - 1) {
         const tlb_lazy_lru *const s = all->l2.lazy_lru_of[table][__builtin_ctzll(bits)];
         if (s != NULL && !tlb_lazy_lru_has(s, p))
            return "a page's bits say that it is in a lazy LRU array, which is not so";
      }
   }
   return NULL;
}

const char *tlb_mmus_check(tlb_mmus *all)
{
   finding f = { TLB_DATA, NULL };
   for (unsigned i = 0; f.wrong == NULL && i < all->n_mmus; i++) {
      if (is_simulated(&all->mmu[i]))
         f.wrong = check_mmu(all, &all->mmu[i]);
   }
   for (unsigned n = 1; f.wrong == NULL && n <= all->l2.n_pages; n++)
      f.wrong = check_held(all, tlb_l2_page(all, n));
   tlb_pages_each(all, TLB_DATA, check_page, &f);
   f.table = TLB_CODE;
   tlb_pages_each(all, TLB_CODE, check_page, &f);
   return f.wrong;
}
