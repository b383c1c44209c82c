/* A reference in one machine's first level. See l1_lookup.h. */

#include "sim/mmu/l1_lookup.h"

#include "sim/mmu/known_hits.h"
#include "sim/mmu/large_pages.h"

static tlb_page *page_of_time(const tlb_port *port, uint64_t *time)
{
   return (tlb_page *)(void *)((uint8_t *)time - port->time_at);
}

static tlb_side table_of(const tlb_port *port)
{
   return port->code ? TLB_CODE : TLB_DATA;
}

/* --- Answers about what backs a page --- */

/* One is kept in a byte: how much larger the page is than the base page, and the block than the
   page. */
enum { BLOCK_BITS = 3 };

static uint8_t pack(tlb_backing b, unsigned page_shift)
{
   const unsigned most = TLB_MAX_BLOCK_BITS; /* no entry is of a larger block */
   unsigned block = b.block_shift < b.page_shift ? 0 : b.block_shift - b.page_shift;
   block = block > most ? most : block;
   return (uint8_t)((b.page_shift - page_shift) << BLOCK_BITS | block);
}

/* A machine whose own base page is larger has no smaller ones. */
static void unpack(const tlb_mmu *mmu, uint8_t answer, tlb_reference *r)
{
   const unsigned page_shift = mmu->h.base_shift;
   const unsigned page = page_shift + (answer >> BLOCK_BITS);
   r->page_shift = (uint8_t)(page > mmu->base_shift ? page : mmu->base_shift);
   r->block_shift = (uint8_t)(page + (answer & ((1 << BLOCK_BITS) - 1)));
}

/* --- Entries that cover more than a base page --- */

static tlb_page_number first_page(const tlb_port *port, tlb_key key)
{
   return (tlb_page_number)tlb_key_page(key)
          << (tlb_key_shift(key) - port->mmu->h.base_shift);
}

static tlb_page_number n_pages(const tlb_port *port, tlb_key key)
{
   return (tlb_page_number)1 << (tlb_key_shift(key) - port->mmu->h.base_shift);
}

/* Goes through those pages that an entry covers and that can be known. */
static void pages_of(const tlb_port *port, tlb_key key, tlb_each_page *each, void *opaque)
{
   tlb_pages_listed(port->mmu->all, table_of(port), first_page(port, key), n_pages(port, key),
                    each, opaque);
}

typedef struct {
   const tlb_port *port;
   unsigned shift;   /* of the entry */
   uint8_t answer; /* what backs the page looked at last: mostly that of the next, too */
   bool here;    /* and whether such a page is in the entry */
   uint64_t time;
} search;

static search search_of(const tlb_port *port, tlb_key key)
{
   return (search){ .port = port, .shift = tlb_key_shift(key), .answer = TLB_NOT_ASKED };
}

static bool leads_here(const search *s, tlb_user user, uint8_t answer)
{
   const tlb_mmu *mmu = s->port->mmu;
   tlb_reference r = { .user = (uint8_t)user };
   unpack(mmu, answer, &r);
   const tlb_stop *stop = tlb_first_stop(&mmu->h, &r);
   for (unsigned i = 0; i < stop->n; i++) {
      if (s->port == &mmu->port[stop->array[i]] && stop->shift[i] == s->shift)
         return true;
   }
   return false;
}

static bool is_backed_so(const search *s, uint8_t answer)
{
   if (answer == TLB_NOT_ASKED)
      return false;
   if (s->port->code)
      return leads_here(s, TLB_FETCH, answer);
   return (s->port->reads && leads_here(s, TLB_LOAD, answer))
          || (s->port->writes && leads_here(s, TLB_STORE, answer));
}

/* Whether a page that the entry covers is in it, if it is known to the machine. It can
   have been in it before, and be in another now: in one of its own, when a part of what
   the entry covers has been given back and has come again as pages of another size. */
static bool is_here(search *s, const tlb_page *p)
{
   const tlb_mmu *mmu = s->port->mmu;
   if (!mmu->asks)
      return true;
   const uint8_t answer = *tlb_backing_at(mmu->all, p, mmu->view);
   if (answer != s->answer) {
      s->answer = answer;
      s->here = is_backed_so(s, answer);
   }
   return s->here;
}

/* A page that the machine observes has not been referenced since the entry came. */
static void find_time(uint64_t observers, uint64_t time, search *s)
{
   if ((observers & s->port->mmu->bit) == 0 && time > s->time)
      s->time = time;
}

static void youngest(tlb_mmus *all, tlb_page *p, void *opaque)
{
   search *s = opaque;
   if (!is_here(s, p))
      return;
   if (tlb_loads_of(all, s->port, table_of(s->port)) != 0)
      find_time(tlb_rest(p)->observers, p->time, s);
   if (tlb_stores_of(all, s->port) != 0)
      find_time(tlb_rest(p)->write_observers, tlb_writes(p)->time, s);
}

/* Of those of the large page's base pages that have a bit. */
static uint64_t time_of_large(const tlb_port *port, const tlb_page *first, uint64_t pages)
{
   const tlb_mmus *const all = port->mmu->all;
   uint64_t time = 0;
   for (; pages != 0; pages &= pages - 1) {
      const tlb_page *const p = tlb_page_at((tlb_page *)(uintptr_t)first,
                                            __builtin_ctzll(pages));
      if (tlb_loads_of(all, port, table_of(port)) != 0 && p->time > time)
         time = p->time;
      if (tlb_stores_of(all, port) != 0 && tlb_writes(p)->time > time)
         time = tlb_writes(p)->time;
   }
   return time;
}

uint64_t tlb_l1_time(const tlb_array *a, tlb_key key)
{
   const tlb_port *port = a->opaque;
   const tlb_page *const first = tlb_record_of(port->mmu->all, table_of(port),
                                               first_page(port, key));
   return time_of_large(port, first, UINT64_MAX >> (64 - (1u << port->mmu->large)));
}

uint64_t tlb_l1_range_time(tlb_key key, void *opaque)
{
   const tlb_port *const port = opaque;
   tlb_mmus *const all = port->mmu->all;
   const unsigned large = port->mmu->large;
   if (large > 0) {
      tlb_page *first = tlb_page_of(all, table_of(port), first_page(port, key));
      return time_of_large(port, first, tlb_large_of_page(all, first, large)->told);
   }
   search s = search_of(port, key);
   pages_of(port, key, youngest, &s);
   return s.time;
}

/* --- Pages that are released --- */

static void observe(tlb_mmus *all, const tlb_port *port, tlb_side table, tlb_page *p)
{
   tlb_page_observe(all, table, p, port->reads, port->writes, port->mmu->bit);
}

static void observe_each(tlb_mmus *all, tlb_page *p, void *opaque)
{
   search *s = opaque;
   if (is_here(s, p))
      observe(all, s->port, table_of(s->port), p);
}

void tlb_l1_release(uint64_t *time, tlb_key key, void *opaque)
{
   const tlb_port *const port = opaque;
   tlb_mmus *const all = port->mmu->all;
   if (time != &tlb_range) {
      all->evicted = page_of_time(port, time);
      observe(all, port, table_of(port), all->evicted);
      return;
   }
   const unsigned large = port->mmu->large;
   if (large > 0) {
      all->evicted = tlb_page_of(all, table_of(port), first_page(port, key));
      tlb_large_goes(all, tlb_large_of_page(all, all->evicted, large), table_of(port),
                     all->evicted, tlb_loads_of(all, port, table_of(port)),
                     tlb_stores_of(all, port));
      return;
   }
   search s = search_of(port, key);
   pages_of(port, key, observe_each, &s);
}

/* --- References --- */

/* Lets the page's record answer for the entry that it is in now. */
static void attach(tlb_mmus *all, tlb_port *port, tlb_side table, tlb_page *p,
                   tlb_page_number number, unsigned shift, unsigned entry)
{
   tlb_array *a = port->array;
   const bool attached = a->short_cut[entry] != NULL;
   if (shift == all->traits.page_shift) {
      if (!attached)
         tlb_array_attach(a, entry,
                          (uint64_t *)(void *)((uint8_t *)p + port->time_at));
      return;
   }
   if (!attached)
      tlb_array_attach_range(a, entry);
   if (port->mmu->large == 0)
      tlb_page_list(all, table, number);
}

static void known(tlb_mmus *all, tlb_port *port, tlb_side table, tlb_page *p)
{
   tlb_rest(p)->observers &= ~tlb_loads_of(all, port, table);
   tlb_rest(p)->write_observers &= ~tlb_stores_of(all, port);
}

static void large_known(tlb_mmus *all, tlb_port *port, tlb_side table, tlb_page *p,
                        tlb_page_number number)
{
   const unsigned large = port->mmu->large;
   tlb_page *first = tlb_first_page(p, number, large);
   tlb_large_page *l = tlb_large_of_page(all, first, large);
   tlb_large_comes(l, tlb_loads_of(all, port, table), tlb_stores_of(all, port));
   tlb_large_tell(all, l, table, first, number, large);
}

/* Whether a base page that is observed can not be there, since whatever is there
   is known. */
static bool is_absent(const tlb_mmu *mmu, const tlb_stop *stop)
{
   const tlb_mmus *const all = mmu->all;
   const tlb_array *a = &mmu->h.array[stop->array[0]];
   return all->fast_path && !mmu->asked_always && stop->n == 1
          && stop->shift[0] == all->traits.page_shift && tlb_array_all_attached(a);
}

/* Any other case, one array after the other as the route goes. */
static bool refer_first_level(tlb_mmu *mmu, const tlb_reference *r, tlb_page *p)
{
   tlb_mmus *const all = mmu->all;
   const tlb_side table = tlb_side_of_user(r->user);
   const tlb_stop *stop = tlb_first_stop(&mmu->h, r);
   unsigned which = 0;
   unsigned entry = TLB_MISS;
   const unsigned n = is_absent(mmu, stop) ? 0 : stop->n;
   for (unsigned i = 0; i < n && entry == TLB_MISS; i++) {
      which = i;
      entry = tlb_array_lookup(&mmu->h.array[stop->array[i]],
                               tlb_entry_key(&mmu->h, r, stop->shift[i]),
                               r->now);
   }
   const bool missed = entry == TLB_MISS;
   if (missed) {
      which = tlb_roomier(&mmu->h, r, stop);
      tlb_array *a = &mmu->h.array[stop->array[which]];
      const tlb_key key = tlb_entry_key(&mmu->h, r, stop->shift[which]);
      entry = tlb_array_place(a, key);
      tlb_array_fill_entry(a, entry, key, r->now);
   }
   if (all->fast_path && !mmu->asked_always) {
      tlb_port *port = &mmu->port[stop->array[which]];
      attach(all, port, table, p, (tlb_page_number)r->page, stop->shift[which], entry);
      if (mmu->large > 0)
         large_known(all, port, table, p, (tlb_page_number)r->page);
      else
         known(all, port, table, p);
   }
   return missed;
}

/* --- What backs a page --- */

bool tlb_l1_reference(const tlb_mmu *mmu, const tlb_page *p, tlb_page_number number,
                      tlb_user user, tlb_reference *out)
{
   const uint8_t shift = (uint8_t)mmu->h.base_shift;
   *out = (tlb_reference){ .page = number, .user = (uint8_t)user, .page_shift = shift,
                           .block_shift = shift };
   if (mmu->base_pages)
      return true;
   if (!mmu->asks) {
      out->page_shift = (uint8_t)mmu->base_shift;
      return true;
   }
   const uint8_t answer = *tlb_backing_at(mmu->all, p, mmu->view);
   if (answer != TLB_NOT_ASKED)
      unpack(mmu, answer, out);
   return answer != TLB_NOT_ASKED;
}

void tlb_l1_ask(const tlb_mmu *mmu, const tlb_page *p, tlb_page_number number, tlb_user user,
                tlb_reference *out)
{
   const tlb_mmus_options *const o = &mmu->all->options;
   const unsigned shift = mmu->h.base_shift;
   if (!tlb_l1_reference(mmu, p, number, user, out)) {
      *tlb_backing_at(mmu->all, p, mmu->view)
         = pack(o->backing(o->opaque, mmu->view, (uint64_t)tlb_in_space(mmu->all, number) << shift),
                shift);
      tlb_l1_reference(mmu, p, number, user, out);
   }
}

bool tlb_l1_refer(tlb_mmu *mmu, tlb_page *p, tlb_page_number number, tlb_user user,
                  uint64_t now, tlb_reference *out)
{
   tlb_l1_ask(mmu, p, number, user, out);
   out->now = now;
   return refer_first_level(mmu, out, p);
}

/* --- Page sizes that change --- */

void tlb_l1_release_between(tlb_mmu *mmu, tlb_page_number first, tlb_page_number last)
{
   for (unsigned j = 0; j < mmu->machine->n_arrays; j++) {
      tlb_array *const a = &mmu->h.array[j];
      if (a->short_cut == NULL)
         continue;
      for (unsigned i = 0; i < a->g.entries && a->n_attached > 0; i++) {
         if (a->short_cut[i] == NULL)
            continue;
         const tlb_page_number from = tlb_in_space(mmu->all, first_page(a->opaque, a->key[i]));
         if (from <= last && from + (n_pages(a->opaque, a->key[i]) - 1) >= first)
            tlb_array_release(a, i);
      }
   }
}
