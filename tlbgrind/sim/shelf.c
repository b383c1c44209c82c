/* Arrays whose pages say themselves that they are in it. See shelf.h. */

#include "shelf.h"

void tlb_shelf_init(tlb_shelf *s, uint32_t sets, uint32_t ways, void *memory)
{
   *s = (tlb_shelf){ .entry = memory, .sets = sets, .ways = ways,
                      .set_mask = tlb_set_mask(sets) };
   for (size_t i = 0; i < (size_t)sets * ways; i++)
      s->entry[i] = (tlb_shelf_entry){ 0, 0 };
}

/* --- What is there --- */

/* Keys of context 0, and addresses of what a program has, lie below. */
static const uint64_t is_key = UINT64_C(1) << 63;

static tlb_shelf_page *page_of(const tlb_shelf_entry *e)
{
   return (tlb_shelf_page *)(uintptr_t)e->what;
}

static int is_page(const tlb_shelf_entry *e)
{
   return e->bound != 0 && (e->what & is_key) == 0;
}

/* When the entry was asked for last, which is not before its bound. */
static uint64_t last_time(const tlb_shelf *s, const tlb_shelf_entry *e)
{
   uint64_t last = e->bound;
   if (!is_page(e) || page_of(e)->last == last)
      return last;
   const uint64_t *const time = page_of(e)->time;
   for (uint32_t span = 0; span < TLB_SHELF_SPANS; span++) {
      for (uint32_t i = s->from[span]; i < s->to[span]; i++)
         last = time[i] > last ? time[i] : last;
   }
   return last;
}

/* --- Who comes and goes --- */

static tlb_shelf_entry *oldest_by_bound(const tlb_shelf *s, tlb_shelf_entry *set)
{
   tlb_shelf_entry *oldest = set;
   uint64_t bound = set->bound;
   for (tlb_shelf_entry *e = set + 1; e < set + s->ways; e++) {
      const uint64_t b = e->bound;
      oldest = b < bound ? e : oldest;
      bound = b < bound ? b : bound;
   }
   return oldest;
}

/* Puts it in the place of the oldest of the set; `oldest` is that by its bound. */
static void put(const tlb_shelf *s, tlb_shelf_entry *set, tlb_shelf_entry *oldest,
                uint64_t what, uint64_t now)
{
   for (;; oldest = oldest_by_bound(s, set)) {
      const uint64_t time = last_time(s, oldest);
      if (time != oldest->bound) {
         oldest->bound = time;
         continue;
      }
      if (is_page(oldest)) {
         for (uint32_t side = 0; side < TLB_SHELF_SIDES; side++)
            page_of(oldest)->held[side] &= ~s->bit[side];
      }
      *oldest = (tlb_shelf_entry){ now, what };
      return;
   }
}

tlb_shelf_entry *tlb_shelf_ahead(const tlb_shelf *s, const tlb_shelf_page *p)
{
   tlb_shelf_entry *const oldest = oldest_by_bound(s, tlb_shelf_set(s, p->number));
   __builtin_prefetch((const void *)(uintptr_t)oldest->what, 1);
   return oldest;
}

void tlb_shelf_fill(tlb_shelf *s, tlb_shelf_page *p, tlb_shelf_entry *oldest,
                    uint64_t now)
{
   put(s, tlb_shelf_set(s, p->number), oldest, (uintptr_t)p, now);
   for (uint32_t side = 0; side < TLB_SHELF_SIDES; side++)
      p->held[side] |= s->bit[side];
}

int tlb_shelf_find(tlb_shelf *s, tlb_key key, uint64_t now)
{
   tlb_shelf_entry *const set = tlb_shelf_set(s, tlb_key_page(key));
   for (tlb_shelf_entry *e = set; e < set + s->ways; e++) {
      if (e->what == (key | is_key)) {
         e->bound = now;
         return 1;
      }
   }
   return 0;
}

void tlb_shelf_fill_key(tlb_shelf *s, tlb_key key, uint64_t now)
{
   tlb_shelf_entry *const set = tlb_shelf_set(s, tlb_key_page(key));
   put(s, set, oldest_by_bound(s, set), key | is_key, now);
}

void tlb_shelf_move(const tlb_shelf *s, uint32_t way, tlb_array *a, unsigned shift)
{
   for (uint32_t i = 0; i < a->g.entries; i++) {
      const tlb_shelf_entry *const e = s->entry + (size_t)(i / a->g.ways) * s->ways
                                       + way + i % a->g.ways;
      if (e->bound != 0)
         tlb_array_fill(a, is_page(e) ? tlb_key_of(page_of(e)->number, shift, 0)
                                      : e->what & ~is_key, last_time(s, e));
   }
}
