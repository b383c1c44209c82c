/* Arrays whose pages say themselves that they are in it. See lazy_lru.h. */

#include "sim/tlb/lazy_lru.h"

/* Keys of context 0, and addresses of what a program has, lie below. With it, 0 stands
   for nothing. */
static const uint64_t is_key = UINT64_C(1) << 63;

enum { WAY_BITS = 4 };

_Static_assert(1 << WAY_BITS == TLB_LAZY_LRU_MAX_WAYS, "as many as have room");

static void empty(tlb_lazy_lru_set *set, uint32_t ways)
{
   set->order = 0;
   for (uint32_t way = 0; way < ways; way++) {
      set->order |= (uint64_t)way << WAY_BITS * way;
      set->entry[way] = (tlb_lazy_lru_entry){ 0, is_key };
   }
}

void tlb_lazy_lru_init(tlb_lazy_lru *s, uint32_t sets, uint32_t ways, uint32_t index_xor,
                       void *memory)
{
   *s = (tlb_lazy_lru){ .memory = memory, .sets = sets, .ways = ways,
                      .set_mask = tlb_set_mask(sets, index_xor), .index_xor = index_xor,
                      .set_bytes = tlb_lazy_lru_set_bytes(ways) };
   for (uint32_t set = 0; set < sets; set++)
      empty(tlb_lazy_lru_set_at(s, set), ways);
   s->note = (tlb_lazy_lru_note *)(void *)tlb_lazy_lru_set_at(s, sets);
   for (uint32_t i = 0; i < TLB_LAZY_LRU_NOTES; i++)
      s->note[i] = (tlb_lazy_lru_note){ 0, 0 };
}

/* --- What is there --- */

static tlb_lazy_lru_page *page_of(const tlb_lazy_lru_entry *e)
{
   return (tlb_lazy_lru_page *)(uintptr_t)e->what;
}

static int is_page(const tlb_lazy_lru_entry *e)
{
   return (e->what & is_key) == 0;
}

static tlb_lazy_lru_note *note_of(const tlb_lazy_lru *s, uint64_t what)
{
   return &s->note[what % TLB_LAZY_LRU_NOTES];
}

/* When the page of an entry was asked for last, which is not before its bound. */
static uint64_t last_time_of_page(const tlb_lazy_lru *s, const tlb_lazy_lru_entry *e)
{
   const uint64_t *const time = page_of(e)->time;
   uint64_t last = e->bound;
   for (uint32_t span = 0; span < TLB_LAZY_LRU_SPANS; span++) {
      for (uint32_t i = s->from[span]; i < s->to[span]; i++)
         last = time[i] > last ? time[i] : last;
   }
   return last;
}

static uint64_t last_time(const tlb_lazy_lru *s, const tlb_lazy_lru_entry *e)
{
   if (is_page(e))
      return page_of(e)->last == e->bound ? e->bound : last_time_of_page(s, e);
   const tlb_lazy_lru_note *const note = note_of(s, e->what);
   return note->what == e->what ? note->time : e->bound;
}

/* Whether the entry has been asked for since its bound; then that is corrected. */
static inline int is_younger(const tlb_lazy_lru *s, tlb_lazy_lru_entry *e)
{
   const uint64_t time = last_time(s, e);
   const int younger = time != e->bound;
   e->bound = time;
   return younger;
}

/* --- Pages that come and go --- */

static uint32_t way_at(uint64_t order, uint32_t place)
{
   return (uint32_t)(order >> WAY_BITS * place) & (TLB_LAZY_LRU_MAX_WAYS - 1);
}

/* The order once the way at place `from` has gone to place `to`, which is no lower. */
static inline uint64_t moved(uint64_t order, uint32_t from, uint32_t to)
{
   const uint64_t below = (UINT64_C(1) << WAY_BITS * from) - 1;
   const uint64_t up_to = UINT64_MAX >> WAY_BITS * (TLB_LAZY_LRU_MAX_WAYS - 1 - to);
   return (order & (~up_to | below)) | ((order & up_to) >> WAY_BITS & ~below)
          | (uint64_t)way_at(order, from) << WAY_BITS * to;
}

/* Whether the way at that place is to be evicted before way b, whose bound that is. Only
   what one walk keeps can have equal times; of these the lower way goes first, as in an
   array. */
static inline int is_before(const tlb_lazy_lru_set *set, uint32_t place, uint32_t b,
                            uint64_t bound)
{
   const uint32_t a = way_at(set->order, place);
   return set->entry[a].bound < bound + (a < b);
}

/* The oldest has that bound now: where it belongs. */
static uint32_t place_of(const tlb_lazy_lru *s, const tlb_lazy_lru_set *set, uint64_t bound)
{
   const uint32_t way = way_at(set->order, 0);
   uint32_t place = 0;
   while (place + 1 < s->ways && is_before(set, place + 1, way, bound))
      place++;
   return place;
}

/* The newest by order is a key. What one walk asks for has one time, which a load and a
   store of one instruction share: it goes down to where it belongs. */
static void sink(const tlb_lazy_lru *s, tlb_lazy_lru_set *set)
{
   for (uint32_t place = s->ways - 1; place > 0; place--) {
      const uint32_t way = way_at(set->order, place);
      if (is_before(set, place - 1, way, set->entry[way].bound))
         return;
      set->order = moved(set->order, place - 1, place);
   }
}

/* The oldest becomes the newest: moved() in fewer steps, for each fill waits for it. */
static inline uint64_t renewed(const tlb_lazy_lru *s, uint64_t order)
{
   return order >> WAY_BITS | (uint64_t)way_at(order, 0) << WAY_BITS * (s->ways - 1);
}

static void leaves(const tlb_lazy_lru *s, const tlb_lazy_lru_entry *e)
{
   if (is_page(e)) {
      for (uint32_t side = 0; side < TLB_LAZY_LRU_SIDES; side++)
         page_of(e)->held[side] &= ~s->bit[side];
   } else if (note_of(s, e->what)->what == e->what) {
      note_of(s, e->what)->what = 0;
   }
}

/* Puts it in the place of the oldest of the set. */
static inline void put(const tlb_lazy_lru *s, tlb_lazy_lru_set *set, uint64_t what,
                       uint64_t now)
{
   tlb_lazy_lru_entry *oldest;
   while (is_younger(s, oldest = tlb_lazy_lru_oldest(set)))
      set->order = moved(set->order, 0, place_of(s, set, oldest->bound));
   leaves(s, oldest);
   *oldest = (tlb_lazy_lru_entry){ now, what };
   set->order = renewed(s, set->order);
}

void tlb_lazy_lru_fill(tlb_lazy_lru *s, tlb_lazy_lru_page *p, uint64_t now)
{
   put(s, tlb_lazy_lru_set_of(s, p->number), (uintptr_t)p, now);
   for (uint32_t side = 0; side < TLB_LAZY_LRU_SIDES; side++)
      p->held[side] |= s->bit[side];
}

int tlb_lazy_lru_find(tlb_lazy_lru *s, tlb_key key, uint64_t now)
{
   const uint64_t what = key | is_key;
   tlb_lazy_lru_set *const set = tlb_lazy_lru_set_of(s, tlb_key_page(key));
   if (note_of(s, what)->what == what) {
      note_of(s, what)->time = now;
      return 1;
   }
   for (uint32_t place = 0; place < s->ways; place++) {
      tlb_lazy_lru_entry *const e = &set->entry[way_at(set->order, place)];
      if (e->what == what) {
         e->bound = now;
         set->order = moved(set->order, place, s->ways - 1);
         sink(s, set);
         return 1;
      }
   }
   return 0;
}

void tlb_lazy_lru_fill_key(tlb_lazy_lru *s, tlb_key key, uint64_t now)
{
   const uint64_t what = key | is_key;
   tlb_lazy_lru_set *const set = tlb_lazy_lru_set_of(s, tlb_key_page(key));
   put(s, set, what, now);
   sink(s, set);
   if (note_of(s, what)->what == 0)
      *note_of(s, what) = (tlb_lazy_lru_note){ what, now };
}

void tlb_lazy_lru_move(const tlb_lazy_lru *s, uint32_t way, tlb_array *a, unsigned shift)
{
   for (uint32_t i = 0; i < a->g.entries; i++) {
      const tlb_lazy_lru_set *const set = tlb_lazy_lru_set_at(s, i / a->g.ways);
      const tlb_lazy_lru_entry *const e = &set->entry[way + i % a->g.ways];
      if (e->bound != 0)
         tlb_array_fill(a, is_page(e) ? tlb_key_of(page_of(e)->number, shift, 0)
                                      : e->what & ~is_key, last_time(s, e));
   }
}

/* --- Checking --- */

int tlb_lazy_lru_has(const tlb_lazy_lru *s, const tlb_lazy_lru_page *p)
{
   const tlb_lazy_lru_set *const set = tlb_lazy_lru_set_of(s, p->number);
   for (uint32_t way = 0; way < s->ways; way++) {
      if (set->entry[way].what == (uintptr_t)p)
         return 1;
   }
   return 0;
}

static const char *check_entry(const tlb_lazy_lru *s, const tlb_lazy_lru_set *set,
                               const tlb_lazy_lru_entry *e)
{
   if (e->bound == 0 || !is_page(e))
      return NULL;
   if (tlb_lazy_lru_set_of(s, page_of(e)->number) != set)
      return "a page is in a set of a lazy LRU array that is not its own";
   for (uint32_t side = 0; side < TLB_LAZY_LRU_SIDES; side++) {
      if ((page_of(e)->held[side] & s->bit[side]) != s->bit[side])
         return "a page in a lazy LRU array has no bit that says so";
   }
   return e->bound > last_time(s, e) ? "a bound of a lazy LRU array is none" : NULL;
}

const char *tlb_lazy_lru_check(const tlb_lazy_lru *s)
{
   for (uint32_t i = 0; i < s->sets; i++) {
      const tlb_lazy_lru_set *const set = tlb_lazy_lru_set_at(s, i);
      uint32_t seen = 0;
      for (uint32_t place = 0; place < s->ways; place++) {
         const uint32_t way = way_at(set->order, place);
         if (way >= s->ways || (seen >> way & 1) != 0)
            return "a lazy LRU array's order is none";
         seen |= UINT32_C(1) << way;
         if (place > 0 && set->entry[way_at(set->order, place - 1)].bound
                             > set->entry[way].bound)
            return "a lazy LRU array's order is not that of its bounds";
         const char *const wrong = check_entry(s, set, &set->entry[way]);
         if (wrong != NULL)
            return wrong;
      }
   }
   return NULL;
}
