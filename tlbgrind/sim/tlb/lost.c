/* Translations that a flush has thrown away without need. See lost.h. */

#include "sim/tlb/lost.h"

enum { FIRST_ROOM = 256 };

void tlb_lost_init(tlb_lost *l, const tlb_memory *memory)
{
   *l = (tlb_lost){ .memory = *memory };
}

void tlb_lost_free(tlb_lost *l)
{
   if (l->entry != NULL)
      l->memory.give(l->entry, l->memory.opaque);
   l->entry = NULL;
   l->room = l->n = 0;
}

static size_t home_of(const tlb_lost *l, tlb_key key)
{
   return (size_t)(key * UINT64_C(0x9E3779B97F4A7C15) >> 32) & (l->room - 1);
}

/* Where the key is, or would be. */
static size_t place_of(const tlb_lost *l, tlb_key key)
{
   size_t at = home_of(l, key);
   while (l->entry[at].key != TLB_NO_KEY && l->entry[at].key != key)
      at = (at + 1) & (l->room - 1);
   return at;
}

static void grow(tlb_lost *l)
{
   const tlb_lost old = *l;
   l->room = old.room == 0 ? FIRST_ROOM : 2 * old.room;
   l->entry = l->memory.take(l->room * sizeof *l->entry, l->memory.opaque);
   for (size_t i = 0; i < l->room; i++)
      l->entry[i].key = TLB_NO_KEY;
   for (size_t i = 0; i < old.room; i++) {
      if (old.entry[i].key != TLB_NO_KEY)
         l->entry[place_of(l, old.entry[i].key)] = old.entry[i];
   }
   if (old.entry != NULL)
      l->memory.give(old.entry, l->memory.opaque);
}

void tlb_lost_add(tlb_lost *l, tlb_key key, uint64_t *count)
{
   if (l->n >= l->room / 4 * 3)
      grow(l);
   const size_t at = place_of(l, key);
   l->n += l->entry[at].key == TLB_NO_KEY;
   l->entry[at] = (tlb_lost_entry){ key, count };
   l->sizes |= 1u << (tlb_key_shift(key) - TLB_MIN_PAGE_SHIFT);
}

/* Entries behind the one that goes move up, unless they would come before their home. */
static void take_out(tlb_lost *l, size_t at)
{
   const size_t mask = l->room - 1;
   l->n--;
   for (size_t next = (at + 1) & mask; l->entry[next].key != TLB_NO_KEY; next = (next + 1) & mask) {
      const size_t home = home_of(l, l->entry[next].key);
      if (((next - home) & mask) >= ((next - at) & mask)) {
         l->entry[at] = l->entry[next];
         at = next;
      }
   }
   l->entry[at].key = TLB_NO_KEY;
}

void tlb_lost_walked(tlb_lost *l, uint64_t page, unsigned base_shift, uint32_t context)
{
   if (l->n == 0)
      return;
   for (uint32_t sizes = l->sizes; sizes != 0; sizes &= sizes - 1) {
      const unsigned shift = TLB_MIN_PAGE_SHIFT + (unsigned)__builtin_ctz(sizes);
      const size_t at = place_of(l, tlb_key_of(page >> (shift - base_shift), shift, context));
      if (l->entry[at].key == TLB_NO_KEY)
         continue;
      ++*l->entry[at].count;
      take_out(l, at);
   }
}

static int is_within(tlb_key key, uint64_t first, uint64_t last, unsigned base_shift)
{
   const unsigned more = tlb_key_shift(key) - base_shift;
   const uint64_t begin = tlb_key_page(key) << more;
   return begin <= last && begin + ((UINT64_C(1) << more) - 1) >= first;
}

static void forget_by_page(tlb_lost *l, uint64_t first, uint64_t last, unsigned base_shift)
{
   for (uint32_t sizes = l->sizes; sizes != 0; sizes &= sizes - 1) {
      const unsigned shift = TLB_MIN_PAGE_SHIFT + (unsigned)__builtin_ctz(sizes);
      const unsigned more = shift - base_shift;
      for (uint64_t page = first >> more; page <= last >> more; page++) {
         const size_t at = place_of(l, tlb_key_of(page, shift, 0));
         if (l->entry[at].key != TLB_NO_KEY)
            take_out(l, at);
      }
   }
}

void tlb_lost_forget(tlb_lost *l, uint64_t first, uint64_t last, unsigned base_shift)
{
   if (l->n == 0)
      return;
   if (last - first < l->room) {
      forget_by_page(l, first, last, base_shift);
      return;
   }
   for (size_t i = 0; i < l->room;) {
      /* What moves up to this place is looked at next. */
      if (l->entry[i].key != TLB_NO_KEY && is_within(l->entry[i].key, first, last, base_shift))
         take_out(l, i);
      else
         i++;
   }
}

void tlb_lost_forget_all(tlb_lost *l)
{
   for (size_t i = 0; i < l->room && l->n > 0; i++)
      l->entry[i].key = TLB_NO_KEY;
   l->n = 0;
}
