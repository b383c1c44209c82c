/* Touched pages and their blocks. See touched.h. */

#include "sim/pages/touched.h"

static size_t slot_of(const tlb_page_table *t, uint64_t number)
{
   const uint64_t mixed = number * UINT64_C(0x9E3779B97F4A7C15);
   return (size_t)(mixed >> 32) & t->mask;
}

static tlb_touched *look_up(const tlb_page_table *t, uint64_t number)
{
   if (t->slot == NULL)
      return NULL;
   for (size_t i = slot_of(t, number); t->slot[i] != NULL;
        i = (i + 1) & t->mask) {
      tlb_touched *const r = t->slot[i];
      if (r->number == number)
         return r;
   }
   return NULL;
}

static void enter(tlb_page_table *t, tlb_touched *r)
{
   size_t i = slot_of(t, r->number);
   while (t->slot[i] != NULL)
      i = (i + 1) & t->mask;
   t->slot[i] = r;
   t->used++;
}

/* Makes room for one more, and throws the dead out on the way. */
static void grow(tlb_page_table *t, const tlb_memory *memory)
{
   const tlb_page_table old = *t;
   const size_t slots = old.slot == NULL ? 0 : old.mask + 1;
   size_t alive = 0;
   if ((old.used + 1) * 2 <= slots)
      return;
   for (size_t i = 0; i < slots; i++) {
      const tlb_touched *const r = old.slot[i];
      alive += r != NULL && r->touched != 0;
   }
   size_t room = 64;
   while (room < (alive + 1) * 4)
      room *= 2;
   t->slot = memory->take(room * sizeof *t->slot, memory->opaque);
   t->mask = room - 1;
   t->used = 0;
   for (size_t i = 0; i < room; i++)
      t->slot[i] = NULL;
   for (size_t i = 0; i < slots; i++) {
      tlb_touched *const r = old.slot[i];
      if (r == NULL)
         continue;
      if (r->touched != 0)
         enter(t, r);
      else
         memory->give(r, memory->opaque);
   }
   if (old.slot != NULL)
      memory->give(old.slot, memory->opaque);
}

void tlb_page_table_free(tlb_page_table *t, const tlb_memory *memory)
{
   for (size_t i = 0; t->slot != NULL && i <= t->mask; i++) {
      if (t->slot[i] != NULL)
         memory->give(t->slot[i], memory->opaque);
   }
   if (t->slot != NULL)
      memory->give(t->slot, memory->opaque);
}

tlb_chunk *tlb_chunk_at(const tlb_page_table *t, uint64_t number)
{
   return (tlb_chunk *)look_up(t, number);
}

tlb_chunk *tlb_chunk_for(tlb_page_table *t, const tlb_memory *memory,
                         uint64_t page)
{
   const uint64_t number = page >> TLB_CHUNK_SHIFT;
   tlb_chunk *c = tlb_chunk_at(t, number);
   if (c != NULL)
      return c;
   grow(t, memory);
   c = memory->take(sizeof *c, memory->opaque);
   c->r = (tlb_touched){ number, 0 };
   for (unsigned i = 0; i < TLB_CHUNK_PAGES; i++)
      c->wish[i] = 0;
   enter(t, &c->r);
   return c;
}

/* Blocks of different sizes stand in one table. No shift needs more than 6
   bits, and no address has its uppermost 6 bits and lowest 12 in use. */
static uint64_t block_number(uint64_t address, unsigned shift)
{
   return address >> shift << 6 | shift;
}

uint64_t tlb_block_address(const tlb_block *b)
{
   return b->r.number >> 6 << tlb_block_shift(b);
}

unsigned tlb_block_shift(const tlb_block *b)
{
   return b->r.number & 63;
}

tlb_block *tlb_block_at(const tlb_page_table *t, uint64_t address,
                        unsigned shift)
{
   return (tlb_block *)look_up(t, block_number(address, shift));
}

tlb_block *tlb_block_for(tlb_page_table *t, const tlb_memory *memory,
                         uint64_t address, unsigned shift)
{
   tlb_block *b = tlb_block_at(t, address, shift);
   if (b != NULL)
      return b;
   grow(t, memory);
   b = memory->take(sizeof *b, memory->opaque);
   *b = (tlb_block){ .r = { block_number(address, shift), 0 } };
   enter(t, &b->r);
   return b;
}
