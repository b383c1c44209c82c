/* MMUs: the machines of a run. See mmu/mmu.h. */

#include "pub_tool_basics.h"

#include "pub_tool_libcassert.h"
#include "pub_tool_libcbase.h"
#include "pub_tool_mallocfree.h"

#include "space/aspace.h"
#include "mmu/l2_presence.h"
#include "mmu/l1_misses.h"
#include "mmu/mmu.h"
#include "mmu/large_pages.h"
#include "mmu/l1_sharing.h"
#include "engine/fast_lru.h"
#include "mmu/traits.h"

TgMmu* tg_mmus;
UInt tg_n_mmus;
TgPage* tg_evicted;

static UInt page_shift;
static Bool fast_path;

static TgPage* page_of_time(const TgPort* port, uint64_t* time)
{
   return (TgPage*)(void*)((UChar*)time - port->time_at);
}

static TgTable table_of(const TgPort* port)
{
   return port->code ? TG_CODE : TG_DATA;
}

static Bool is_of_table(const TgPort* port, TgTable table)
{
   return table == TG_CODE ? port->code : port->reads || port->writes;
}

/* Whether the array's pages have two records each. */
static Bool has_code_and_data(const TgPort* port)
{
   return is_of_table(port, TG_CODE) && is_of_table(port, TG_DATA);
}

/* --- Answers about what backs a page --- */

/* One is kept in a byte: how much larger the page is than the base page, and
   the block, which has up to 64K. */
enum { BLOCK_BITS = 3 };

static UChar pack(tlb_backing b)
{
   const UInt block = b.block_shift < page_shift ? 0
                                                 : b.block_shift - page_shift;
   return (UChar)((b.page_shift - page_shift) << BLOCK_BITS | block);
}

/* A machine whose own base page is larger has no smaller ones. */
static void unpack(const TgMmu* mmu, UChar answer, tlb_reference* r)
{
   const UInt page = page_shift + (answer >> BLOCK_BITS);
   const UInt block = page_shift + (answer & ((1 << BLOCK_BITS) - 1));
   r->page_shift = (uint8_t)(page > mmu->base_shift ? page
                                                     : mmu->base_shift);
   r->block_shift = (uint8_t)block;
}

/* --- Entries that cover more than a base page --- */

static UWord first_page(tlb_key key)
{
   return (UWord)tlb_key_page(key) << (tlb_key_shift(key) - page_shift);
}

static UWord n_pages(tlb_key key)
{
   return (UWord)1 << (tlb_key_shift(key) - page_shift);
}

/* Goes through those pages of a table that an entry covers and may know. */
static void pages_of_table(TgTable table, tlb_key key,
                           void (*each)(TgPage* p, void* opaque), void* opaque)
{
   tg_pages_listed(table, first_page(key), n_pages(key), each, opaque);
}

typedef struct {
   const TgPort* port;
   TgTable table;
   UInt shift;   /* of the entry */
   UChar answer; /* what backs the page looked at last: mostly that of the next, too */
   Bool here;    /* and whether such a page is in the entry */
   ULong time;
} Search;

static Search search_of(const TgPort* port, TgTable table, tlb_key key)
{
   return (Search){ .port = port, .table = table, .shift = tlb_key_shift(key),
                    .answer = TG_NOT_ASKED };
}

static Bool leads_here(const Search* s, tlb_user user, UChar answer)
{
   const TgMmu* mmu = s->port->mmu;
   tlb_reference r = { .user = (uint8_t)user };
   unpack(mmu, answer, &r);
   const tlb_stop* stop = tlb_first_stop(&mmu->h, &r);
   for (UInt i = 0; i < stop->n; i++) {
      if (s->port == &mmu->port[stop->array[i]] && stop->shift[i] == s->shift)
         return True;
   }
   return False;
}

static Bool is_backed_so(const Search* s, UChar answer)
{
   if (answer == TG_NOT_ASKED)
      return False;
   if (s->table == TG_CODE)
      return leads_here(s, TLB_FETCH, answer);
   return (s->port->reads && leads_here(s, TLB_LOAD, answer))
          || (s->port->writes && leads_here(s, TLB_STORE, answer));
}

/* Whether a page that the entry covers is in it, if the machine knows the page. It can
   have been in it before, and be in another now: in one of its own, when a part of what
   the entry covers has been given back and has come again as pages of another size. */
static Bool is_here(Search* s, const TgPage* p)
{
   const TgMmu* mmu = s->port->mmu;
   const UChar answer = tg_rest(p)->backing[mmu->view];
   if (!mmu->asks)
      return True;
   if (answer != s->answer) {
      s->answer = answer;
      s->here = is_backed_so(s, answer);
   }
   return s->here;
}

/* A page that the machine wants has not been referenced since the entry came. */
static void find_time(ULong observers, ULong time, Search* s)
{
   if ((observers & s->port->mmu->bit) == 0 && time > s->time)
      s->time = time;
}

static void youngest(TgPage* p, void* opaque)
{
   Search* s = opaque;
   if (!is_here(s, p))
      return;
   if (tg_loads_of(s->port, s->table) != 0)
      find_time(tg_rest(p)->observers, p->time, s);
   if (tg_stores_of(s->port) != 0)
      find_time(tg_rest(p)->write_observers, tg_writes(p)->time, s);
}

/* Of those of the large page's base pages that have a bit. */
static uint64_t time_of_large(const TgPort* port, TgPage* first, ULong pages)
{
   uint64_t time = 0;
   for (; pages != 0; pages &= pages - 1) {
      TgPage* p = tg_page_at(first, __builtin_ctzll(pages));
      if (tg_loads_of(port, table_of(port)) != 0 && p->time > time)
         time = p->time;
      if (tg_stores_of(port) != 0 && tg_writes(p)->time > time)
         time = tg_writes(p)->time;
   }
   return time;
}

uint64_t tg_mmu_time(const tlb_array* a, tlb_key key)
{
   const TgPort* port = a->opaque;
   return time_of_large(port, tg_page(table_of(port), first_page(key)),
                        ~0ULL >> (64 - (1u << port->mmu->large)));
}

static uint64_t range_time(tlb_key key, void* opaque)
{
   const TgPort* port = opaque;
   const UInt large = port->mmu->large;
   if (large > 0) {
      TgPage* first = tg_page_of(table_of(port), first_page(key));
      return time_of_large(port, first, tg_large(first, large)->told);
   }
   uint64_t time = 0;
   for (UInt t = 0; t < TG_N_TABLES; t++) {
      Search s = search_of(port, t, key);
      if (is_of_table(port, t))
         pages_of_table(t, key, youngest, &s);
      if (s.time > time)
         time = s.time;
   }
   return time;
}

/* --- Knowledge that ends --- */

static void want(const TgPort* port, TgTable table, TgPage* p)
{
   tg_page_observe(table, p, port->reads, port->writes, port->mmu->bit);
}

static void want_each(TgPage* p, void* opaque)
{
   Search* s = opaque;
   if (is_here(s, p))
      want(s->port, s->table, p);
}

static void release(uint64_t* time, tlb_key key, void* opaque)
{
   const TgPort* port = opaque;
   if (time != &tlb_range) {
      tg_evicted = page_of_time(port, time);
      want(port, table_of(port), tg_evicted);
      return;
   }
   const UInt large = port->mmu->large;
   if (large > 0) {
      tg_evicted = tg_page_of(table_of(port), first_page(key));
      tg_large_goes(tg_large(tg_evicted, large), table_of(port), tg_evicted,
                    tg_loads_of(port, table_of(port)), tg_stores_of(port));
      return;
   }
   for (UInt t = 0; t < TG_N_TABLES; t++) {
      Search s = search_of(port, t, key);
      if (is_of_table(port, t))
         pages_of_table(t, key, want_each, &s);
   }
}

/* --- References --- */

/* Lets the page's record answer for the entry that it is in now. */
static void attach(TgPort* port, TgTable table, TgPage* p, UWord number,
                   UInt shift, UInt entry)
{
   tlb_array* a = port->array;
   const Bool attached = a->short_cut[entry] != NULL;
   if (shift == page_shift && !has_code_and_data(port)) {
      if (!attached)
         tlb_array_attach(a, entry,
                          (uint64_t*)(void*)((UChar*)p + port->time_at));
      return;
   }
   if (!attached)
      tlb_array_attach_range(a, entry);
   if (port->mmu->large == 0)
      tg_page_list(table, number);
}

static void known(TgPort* port, TgTable table, TgPage* p)
{
   tg_rest(p)->observers &= ~tg_loads_of(port, table);
   tg_rest(p)->write_observers &= ~tg_stores_of(port);
}

static void large_known(TgPort* port, TgTable table, TgPage* p, UWord number)
{
   const UInt large = port->mmu->large;
   TgPage* first = tg_first_page(p, number, large);
   TgLarge* l = tg_large(first, large);
   tg_large_comes(l, tg_loads_of(port, table), tg_stores_of(port));
   tg_large_tell(l, table, first, number, large);
}

/* Whether a base page that is wanted can not be there, since whatever is there
   is known. (NRU also wants to see pages that are there; and a page can be there as
   code, and be wanted as data.) */
static Bool is_absent(const TgMmu* mmu, const tlb_stop* stop)
{
   const tlb_array* a = &mmu->h.array[stop->array[0]];
   return fast_path && !mmu->asked_always && stop->n == 1
          && stop->shift[0] == page_shift && a->g.policy != TLB_NRU
          && !has_code_and_data(a->opaque)
          && tlb_array_all_attached(a);
}

/* Any other case, one array after the other as the route goes. */
static Bool refer_first_level(TgMmu* mmu, const tlb_reference* r, TgPage* p)
{
   const TgTable table = tg_table_of_kind(r->user);
   const tlb_stop* stop = tlb_first_stop(&mmu->h, r);
   UInt which = 0;
   UInt entry = TLB_MISS;
   const UInt n = is_absent(mmu, stop) ? 0 : stop->n;
   for (UInt i = 0; i < n && entry == TLB_MISS; i++) {
      which = i;
      entry = tlb_array_lookup(&mmu->h.array[stop->array[i]],
                               tlb_entry_key(&mmu->h, r, stop->shift[i]),
                               r->now);
   }
   const Bool missed = entry == TLB_MISS;
   if (missed) {
      which = tlb_roomier(&mmu->h, r, stop);
      tlb_array* a = &mmu->h.array[stop->array[which]];
      const tlb_key key = tlb_entry_key(&mmu->h, r, stop->shift[which]);
      entry = tlb_array_place(a, key);
      tlb_array_fill_entry(a, entry, key, r->now);
   }
   if (fast_path && !mmu->asked_always) {
      TgPort* port = &mmu->port[stop->array[which]];
      attach(port, table, p, (UWord)r->page, stop->shift[which], entry);
      if (mmu->large > 0)
         large_known(port, table, p, (UWord)r->page);
      else
         known(port, table, p);
   }
   return missed;
}

/* --- What backs a page --- */

/* What backs the page in the MMU's view. */
static void ask_backing(const TgMmu* mmu, TgPage* p, tlb_reference* r)
{
   UChar* answer = &tg_rest(p)->backing[mmu->view];
   if (!mmu->asks) {
      r->page_shift = (uint8_t)mmu->base_shift;
      return;
   }
   if (*answer == TG_NOT_ASKED)
      *answer = pack(tlb_pagemap_backing(tg_aspace_map(), mmu->view,
                                         r->page << page_shift));
   unpack(mmu, *answer, r);
}

/* The MMU's arrays are to be asked again for the pages in [start, end), and for others
   that an entry there covers: its time is not theirs any more. */
static void release_between(TgMmu* mmu, Addr start, Addr end)
{
   for (UInt j = 0; j < mmu->machine->m.n_arrays; j++) {
      tlb_array* a = &mmu->h.array[j];
      if (a->short_cut == NULL)
         continue;
      for (UInt i = 0; i < a->g.entries && a->n_attached > 0; i++) {
         const Addr from = first_page(a->key[i]) << page_shift;
         const Addr size = n_pages(a->key[i]) << page_shift;
         if (a->short_cut[i] != NULL && from < end && from + size > start)
            tlb_array_release(a, i);
      }
   }
}

/* Page sizes differ from what they were. Entries stay where they are, under
   their old size: nothing invalidates them here. */
static void changed(void* opaque, uint64_t start, uint64_t end)
{
   const UInt view = *(UInt*)opaque;
   const UWord first = (UWord)start >> page_shift;
   const UWord n = (UWord)((end - start) >> page_shift);
   ULong bits = 0;
   for (UInt i = 0; i < tg_n_mmus; i++) {
      TgMmu* mmu = &tg_mmus[i];
      if (mmu->view != view || !mmu->asks)
         continue;
      bits |= mmu->bit;
      release_between(mmu, (Addr)start, (Addr)end);
   }
   for (UInt t = 0; t < TG_N_TABLES; t++)
      tg_pages_forget(t, first, n, bits, view);
}

Bool tg_mmu_refer(TgMmu* mmu, TgPage* p, UWord number, TgKind kind, ULong now,
                   tlb_reference* out)
{
   *out = (tlb_reference){ .page = number, .now = now, .user = (uint8_t)kind,
                           .page_shift = (uint8_t)page_shift,
                           .block_shift = (uint8_t)page_shift };
   if (!mmu->base_pages)
      ask_backing(mmu, p, out);
   return refer_first_level(mmu, out, p);
}

/* --- Start --- */

static void init_port(TgMmu* mmu, UInt i)
{
   TgPort* port = &mmu->port[i];
   port->mmu = mmu;
   port->array = &mmu->h.array[i];
   port->code = tlb_asks_first(&mmu->h, TLB_FETCH, i) != 0;
   port->reads = tlb_asks_first(&mmu->h, TLB_LOAD, i) != 0;
   port->writes = tlb_asks_first(&mmu->h, TLB_STORE, i) != 0;
   const Bool stores_only = port->writes && !port->reads && !port->code;
   port->time_at = tg_run_traits.split && stores_only
                      ? offsetof(TgRecord, write.time)
                      : offsetof(TgRecord, page.time);
   port->array->opaque = port;
   if (tg_run_traits.split && port->reads && port->writes)
      port->array->second_time = TG_SECOND_TIME;
}

/* The number of the MMU's view: that of an MMU before it, or a new one. */
static UInt view_of(const TgMmu* mmu)
{
   static UInt numbers[TG_MAX_VIEWS];
   tlb_pagemap* map = tg_aspace_map();
   for (const TgMmu* l = tg_mmus; l < mmu; l++) {
      if (tg_machines_share_view(l->machine, mmu->machine))
         return l->view;
   }
   tl_assert(map->n_views < TG_MAX_VIEWS);
   const UInt n = map->n_views;
   numbers[n] = tlb_pagemap_add_view(map, mmu->base_shift, &mmu->machine->pages,
                                     changed, &numbers[n]);
   return n;
}

/* The program has asked for huge pages: from now on what backs a page has to be
   asked of the map, also of those that are known. */
static void listen(void* opaque, const TgSpaceEvent* e)
{
   (void)opaque;
   enum { LINUX_MADV_HUGEPAGE = 14, LINUX_MADV_COLLAPSE = 25 };
   const Bool maps = e->mapping != NULL
                     && (e->mapping->flags & TLB_MAP_HUGETLB) != 0;
   const Bool advises = e->what == TG_SPACE_ADVISE
                        && (e->advice == LINUX_MADV_HUGEPAGE
                            || e->advice == LINUX_MADV_COLLAPSE);
   Bool news = False;
   for (UInt i = 0; i < tg_n_mmus; i++)
      news |= !tg_mmus[i].asks;
   if (!news || (!maps && !advises))
      return;
   ULong bits = 0;
   tg_shared_part();
   tg_l2_part();
   for (UInt i = 0; i < tg_n_mmus; i++) {
      TgMmu* mmu = &tg_mmus[i];
      if (mmu->asks)
         continue;
      bits |= mmu->bit;
      release_between(mmu, 0, ~(Addr)0);
      mmu->base_pages = False;
      mmu->large = 0;
      mmu->asks = True;
   }
   tg_run_traits.wide |= bits;
   for (UInt t = 0; t < TG_N_TABLES; t++)
      tg_pages_forget(t, 0, ~(UWord)0, bits, TG_NO_VIEW);
   tg_fast_path_find(fast_path);
   tg_l1_groups_find(fast_path);
}

static void init_mmu(TgMmu* mmu, UInt number, const TgMachine* machine,
                      Bool nested)
{
   mmu->number = mmu->counts = number;
   mmu->bit = 1ULL << number;
   mmu->machine = machine;
   mmu->base_shift = machine->m.base_page_shift;
   mmu->asks = tg_machine_asks(machine);
   mmu->base_pages = !mmu->asks && mmu->base_shift == page_shift;
   mmu->view = view_of(mmu);
   tlb_hierarchy_init(&mmu->h, &machine->m, page_shift, nested,
                      VG_(malloc)("tg.lanes.arrays",
                                  tlb_hierarchy_bytes(&machine->m)),
                      release, range_time, NULL);
   mmu->tells_apart = tg_tells_apart(mmu);
   mmu->asked_always = tg_has_doubles(mmu);
   mmu->large = fast_path ? tg_large_of(mmu) : 0;
}

void tg_mmus_init(const TgOptions* options)
{
   const UInt n = options->n_machines;
   page_shift = options->page_shift;
   fast_path = options->fast_path;
   tl_assert(n > 0 && n <= TG_MAX_MMUS);
   tg_mmus = VG_(calloc)("tg.lanes", n, sizeof *tg_mmus);
   tg_n_mmus = n;

   tg_aspace_listen(listen, NULL);
   TgRunTraits k = { .page_shift = page_shift };
   for (UInt i = 0; i < n; i++) {
      init_mmu(&tg_mmus[i], i, &options->machine[i], options->nested);
   }
   if (fast_path)
      tg_shared_find();
   for (UInt i = 0; i < n; i++) {
      if (tg_mmus[i].counts != i)
         continue;
      for (UInt kind = 0; kind < TG_N_KINDS; kind++) {
         if (!tg_mmus[i].follows[tg_side_of(&tg_mmus[i], kind)])
            *tg_first_observers(&k, kind) |= tg_mmus[i].bit;
      }
      k.apart |= tg_mmus[i].tells_apart ? tg_mmus[i].bit : 0;
      k.mixed |= tg_is_mixed(&tg_mmus[i]);
      k.own_times |= tg_has_also_behind(&tg_mmus[i])
                     || tg_clears_used_bits(&tg_mmus[i]);
      k.code_behind |= tg_has_code_behind(&tg_mmus[i]);
      if (!tg_mmu_is_plain(&tg_mmus[i]) || tg_is_mixed(&tg_mmus[i]))
         k.wide |= tg_mmus[i].bit;
   }
   for (UInt kind = 0; kind < TG_N_KINDS; kind++)
      *tg_first_observers(&k, kind) |= options->reach ? TG_OBSERVER_REACH : 0;
   k.split = k.apart != 0;
   if (!k.split)
      k.write_observers = 0;
   k.writes = k.split || options->faults.on;
   if (options->faults.on) {
      k.observers[TG_DATA] |= TG_OBSERVER_FAULTS;
      k.observers[TG_CODE] |= TG_OBSERVER_FAULTS;
      k.write_observers |= TG_OBSERVER_FAULTS;
   }
   tg_known_init(&k);
   for (UInt i = 0; i < n; i++) {
      for (UInt j = 0; j < tg_mmus[i].machine->m.n_arrays; j++)
         init_port(&tg_mmus[i], j);
   }
   tg_l2_find(fast_path);
}
