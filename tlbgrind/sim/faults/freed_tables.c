/* Which page tables the kernel frees with the pages that go, and what it flushes for it.

   Addresses are those of the model. The range that the kernel flushes begins with the pages that
   were present, and is widened to the beginning of each table that is freed: pte_free_tlb(),
   pmd_free_tlb() and pud_free_tlb() of Linux. So an unmapping of few pages can be a range of many.
   See faultmodel.h.

   Part of the simulator: plain C11, no libc, no Valgrind. */

#include "sim/faults/faultmodel_parts.h"

/* Tables, tables of tables, and the tables of these. */
enum { N_LEVELS = 3 };

typedef struct {
   uint64_t low, high; /* a table within may be freed */
   unsigned levels;    /* of so many levels */
   uint64_t first, end; /* the range so far; first > end: there is none */
} freed;

/* The bits of an address that one entry of a table of the level stands for, all of its entries
   together. Entries have 8 bytes. */
static unsigned shift_of(const tlb_fault_model *m, unsigned level)
{
   return m->settings.page_shift + (level + 1) * (m->settings.page_shift - 3);
}

static int has_table(const tlb_fault_model *m, tlb_fault_chunk *c)
{
   const uint8_t *const pte = tlb_chunk_plane(m, c, TLB_VIEW_WARM);
   if (c->table[TLB_VIEW_WARM])
      return 1;
   for (size_t i = 0; i < TLB_CHUNK_PAGES; i++) {
      if ((pte[i] & (TLB_PTE_PRESENT | TLB_PTE_HUGE)) == TLB_PTE_PRESENT)
         return 1;
   }
   return 0;
}

static void add(freed *f, uint64_t start, uint64_t bytes)
{
   f->first = tlb_min(f->first, start);
   f->end = tlb_max(f->end, start + bytes);
}

static void add_tables(tlb_fault_model *m, tlb_fault_chunk *c, size_t from, size_t to,
                       const void *opaque)
{
   freed *const f = *(freed *const *)opaque;
   const unsigned shift = m->settings.page_shift;
   const uint64_t at = c->number << (TLB_CHUNK_SHIFT + shift);
   (void)from;
   (void)to;
   for (unsigned level = 0; level < f->levels; level++) {
      const uint64_t bytes = (uint64_t)1 << shift_of(m, level);
      const uint64_t start = at & ~(bytes - 1);
      if (start < f->low || start + bytes > f->high)
         return;
      if (level > 0 || has_table(m, c))
         add(f, start, (uint64_t)1 << shift);
   }
}

/* Between what is mapped before and behind. */
static freed between_neighbours(const tlb_fault_model *m, uint64_t start, uint64_t end)
{
   const tlb_mappings *const maps = &m->maps;
   const size_t from = tlb_mappings_above(maps, start);
   const size_t behind = tlb_mappings_above(maps, end);
   freed f = { .low = 0, .high = UINT64_MAX, .levels = N_LEVELS };
   if (from < maps->count && maps->at[from]->start < start)
      f.low = start;
   else if (from > 0)
      f.low = maps->at[from - 1]->end;
   if (behind < maps->count)
      f.high = tlb_max(maps->at[behind]->start, end);
   return f;
}

uint64_t tlb_fault_flushed(tlb_fault_model *m, uint64_t start, uint64_t end, int is_unmapped)
{
   const uint64_t table = (uint64_t)1 << shift_of(m, 0);
   freed f = is_unmapped ? between_neighbours(m, start, end)
                         : (freed){ .low = start, .high = end, .levels = 1 };
   freed *const opaque = &f;
   uint64_t from, to;
   f.first = UINT64_MAX;
   f.end = 0;
   if (tlb_fault_concerned(m, start, end, TLB_ALL_GO, &from, &to))
      add(&f, from, to - from);
   if (is_unmapped || tlb_fault_empties_tables(m))
      tlb_chunk_each(m, tlb_page_of(m, start & ~(table - 1)),
                     tlb_page_of(m, (end + table - 1) & ~(table - 1)), add_tables, &opaque);
   return f.end == 0 ? 0 : f.end - f.first;
}
