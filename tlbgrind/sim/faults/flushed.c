/* What the kernel flushes when page-table entries change.

   Addresses are those of the model. Of pages that go, the range that the kernel flushes begins with
   the pages that were present, and is widened to the beginning of each table that is freed:
   pte_free_tlb(), pmd_free_tlb() and pud_free_tlb() of Linux. So an unmapping of few pages can be a
   range of many. See faultmodel.h.

   Part of the simulator: plain C11, no libc, no Valgrind. */

#include "sim/faults/faultmodel_parts.h"

/* --- Pages --- */

/* Pages with all these bits in their entries, among those looked at. */
typedef struct {
   uint8_t bits;
   uint8_t spent; /* not those that have all of these; 0: no matter */
   uint64_t first, end;
} concerned;

static void look_at(tlb_fault_model *m, tlb_fault_chunk *c, size_t from, size_t to,
                    const void *opaque)
{
   concerned *const found = *(concerned *const *)opaque;
   const uint8_t *const pte = tlb_chunk_plane(m, c, TLB_VIEW_WARM);
   const uint64_t page = c->number << TLB_CHUNK_SHIFT;
   for (size_t i = from; i < to; i++) {
      if ((pte[i] & found->bits) != found->bits
          || (found->spent != 0 && (pte[i] & found->spent) == found->spent))
         continue;
      found->first = tlb_min(found->first, page + i);
      found->end = tlb_max(found->end, page + i + 1);
   }
}

/* Which entries of a mapping change; 0: none. Those without any access are not present to the
   processor, and it may execute what it may read, but for a bit of its own. */
static uint8_t changed_bits(unsigned from, unsigned to)
{
   const unsigned changed = from ^ to;
   if (from == 0 || changed == 0)
      return 0;
   return to == 0 || (changed & TLB_MAY_EXECUTE) != 0
             ? TLB_PTE_PRESENT
             : (changed & TLB_MAY_WRITE) != 0 ? TLB_PTE_PRESENT | TLB_PTE_WRITABLE : 0;
}

int tlb_fault_concerned(tlb_fault_model *m, uint64_t start, uint64_t end, int prot,
                        uint64_t *from, uint64_t *to)
{
   concerned found = { .spent = prot == TLB_ALL_FREED ? TLB_PTE_OLD | TLB_PTE_CLEAN
                                : prot == TLB_ALL_COOLED ? TLB_PTE_OLD : 0,
                       .first = UINT64_MAX, .end = 0 };
   const concerned *const opaque = &found;
   tlb_mapping v;
   for (uint64_t at = start; tlb_mappings_piece(&m->maps, at, end, &v); at = v.end) {
      found.bits = prot < 0 ? TLB_PTE_PRESENT : changed_bits(v.prot, (unsigned)prot);
      if (found.bits != 0)
         tlb_chunk_each(m, tlb_page_of(m, v.start), tlb_page_of(m, v.end), look_at, &opaque);
   }
   *from = found.first << m->settings.page_shift;
   *to = found.end << m->settings.page_shift;
   return found.end != 0;
}

static void age_pages(tlb_fault_model *m, tlb_fault_chunk *c, size_t from, size_t to,
                      const void *opaque)
{
   uint8_t *const pte = tlb_chunk_plane(m, c, TLB_VIEW_WARM);
   for (size_t i = from; i < to; i++) {
      if ((pte[i] & TLB_PTE_PRESENT) != 0)
         pte[i] |= *(const uint8_t *)opaque;
   }
}

void tlb_fault_age(tlb_fault_model *m, uint64_t start, uint64_t end, int prot)
{
   const uint8_t bits = prot == TLB_ALL_FREED ? TLB_PTE_OLD | TLB_PTE_CLEAN : TLB_PTE_OLD;
   const uint8_t *const opaque = &bits;
   tlb_chunk_each(m, tlb_page_of(m, start), tlb_page_of(m, end), age_pages, opaque);
}

/* Where dirty pages are reported. */
typedef struct {
   tlb_fault_page *each;
   void *opaque;
} dirty_pages;

static void report_dirty(tlb_fault_model *m, tlb_fault_chunk *c, size_t from, size_t to,
                         const void *opaque)
{
   const dirty_pages *const d = opaque;
   const uint8_t *const pte = tlb_chunk_plane(m, c, TLB_VIEW_WARM);
   for (size_t i = from; i < to; i++) {
      if ((pte[i] & TLB_PTE_SHARED) == TLB_PTE_SHARED)
         d->each(((c->number << TLB_CHUNK_SHIFT) + i) << m->settings.page_shift, d->opaque);
   }
}

void tlb_fault_each_dirty(tlb_fault_model *m, uint64_t start, uint64_t end, uint64_t device,
                          uint64_t inode, tlb_fault_page *each, void *opaque)
{
   const dirty_pages d = { each, opaque };
   tlb_mapping v;
   for (uint64_t at = start; tlb_mappings_piece(&m->maps, at, end, &v); at = v.end) {
      if (tlb_is_written_back(m, &v, device, inode))
         tlb_chunk_each(m, tlb_page_of(m, v.start), tlb_page_of(m, v.end), report_dirty, &d);
   }
}

/* --- Page tables --- */

/* Tables, tables of tables, and the tables of these. */
enum { N_LEVELS = 3 };

typedef struct {
   uint64_t low, high; /* a table within may be freed */
   unsigned levels;    /* of so many levels */
   uint64_t first, end; /* the range so far; first > end: there is none */
} freed;

/* The bits of an address that a table of the level stands for. Entries have 8 bytes, and tables a
   base page, but for POWER's pages of 64K: nine bits with radix tables, ten with hashed ones
   (Linux: asm/book3s/64/radix-64k.h, hash-64k.h). */
static unsigned shift_of(const tlb_fault_model *m, unsigned level)
{
   enum { RADIX_ORDER = 5, RADIX_BITS = 9, HASH_BITS = 10 };
   const unsigned order = tlb_table_order(m);
   const unsigned bits = order == m->settings.page_shift - 3 ? order
                         : order == RADIX_ORDER              ? RADIX_BITS
                                                             : HASH_BITS;
   return m->settings.page_shift + order + level * bits;
}

/* Whether the table of the page has entries, or did once; of a table larger than a chunk, in this
   one. */
static int has_table(const tlb_fault_model *m, tlb_fault_chunk *c, uint64_t page)
{
   const uint8_t *const pte = tlb_chunk_plane(m, c, TLB_VIEW_WARM);
   const size_t pages = (size_t)tlb_min(tlb_table_pages(m), TLB_CHUNK_PAGES);
   const size_t first = page & (TLB_CHUNK_PAGES - 1) & ~(pages - 1);
   if ((c->tables[TLB_VIEW_WARM] & tlb_table_bit(m, page)) != 0)
      return 1;
   for (size_t i = first; i < first + pages; i++) {
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

/* The page's table, and those above it. */
static void add_tables_of(tlb_fault_model *m, tlb_fault_chunk *c, uint64_t page, freed *f)
{
   const unsigned shift = m->settings.page_shift;
   for (unsigned level = 0; level < f->levels; level++) {
      const uint64_t bytes = (uint64_t)1 << shift_of(m, level);
      const uint64_t start = page << shift & ~(bytes - 1);
      if (start < f->low || start + bytes > f->high)
         return;
      if (level > 0 || has_table(m, c, page))
         add(f, start, (uint64_t)1 << shift);
   }
}

static void add_tables(tlb_fault_model *m, tlb_fault_chunk *c, size_t from, size_t to,
                       const void *opaque)
{
   const uint64_t first = c->number << TLB_CHUNK_SHIFT;
   const uint64_t pages = tlb_min(tlb_table_pages(m), TLB_CHUNK_PAGES);
   for (uint64_t page = (first + from) & ~(pages - 1); page < first + to; page += pages)
      add_tables_of(m, c, page, *(freed *const *)opaque);
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
