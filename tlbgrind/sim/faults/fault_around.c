/* What a fault makes present besides the page that was touched: large pages of
   anonymous memory, and fault-around. See faultmodel_parts.h. */

#include "sim/faults/faultmodel_parts.h"

/* Notes that pages [from, to] came along with `page`. */
static void add_run(tlb_fault *out, uint64_t page, uint64_t from, uint64_t to)
{
   if (out->n_brought == TLB_MAX_PAGE_RUNS)
      return;
   tlb_page_run *const run = &out->brought[out->n_brought++];
   run->from = (int64_t)(from - page);
   run->to = (int64_t)(to - page);
}

typedef int page_test(const void *opaque, uint64_t page);

/* Makes present what is absent in [from, to] and satisfies `wanted`. */
static void fill(tlb_fault_model *m, const tlb_fault_rules *r, uint64_t from,
                 uint64_t to, uint8_t how, uint64_t page, page_test *wanted,
                 const void *opaque, tlb_fault *out)
{
   uint64_t n = 0, run_start = 0;
   int in_run = 0;
   for (uint64_t p = from; p <= to; p++) {
      uint8_t *s = tlb_pte_at(m, r->plane, p);
      const int absent = (*s & TLB_PTE_PRESENT) == 0
                         && (wanted == NULL || wanted(opaque, p));
      if (absent)
         *s = how;
      const int comes = absent && p != page;
      if (comes && !in_run)
         run_start = p;
      if (!comes && in_run)
         add_run(out, page, run_start, p - 1);
      in_run = comes;
      n += (uint64_t)comes;
   }
   if (in_run)
      add_run(out, page, run_start, to);
   if (r->plane < TLB_N_VIEWS)
      m->counts[r->plane].brought += n;
}

/* --- Large pages of anonymous memory --- */

unsigned tlb_table_order(const tlb_fault_model *m)
{
   const tlb_fault_settings *s = &m->settings;
   return s->huge_shift != 0 ? s->huge_shift - s->page_shift : s->page_shift - 3;
}

uint64_t tlb_table_pages(const tlb_fault_model *m)
{
   return (uint64_t)1 << tlb_table_order(m);
}

uint16_t tlb_table_bit(const tlb_fault_model *m, uint64_t page)
{
   return (uint16_t)(1 << ((page & (TLB_CHUNK_PAGES - 1)) >> tlb_table_order(m)));
}

static tlb_fault_folios folios_of(const tlb_fault_model *m, const tlb_fault_rules *r)
{
   const tlb_fault_settings *const s = &m->settings;
   return r->folios != NULL ? *r->folios
                            : (tlb_fault_folios) { s->thp, s->mthp_always, s->mthp_madvise };
}

static int wants_thp(const tlb_fault_model *m, const tlb_fault_rules *r, const tlb_mapping *v)
{
   return tlb_thp_given(folios_of(m, r).thp, v) && tlb_thp_consented(m->thp, v);
}

/* The aligned block of 2^order pages around a page, if the mapping has all of
   it. */
static int block_in(const tlb_fault_model *m, const tlb_mapping *v,
                    uint64_t page, unsigned order, uint64_t *first)
{
   const uint64_t start = tlb_page_of(m, v->start);
   *first = page >> order << order;
   return *first >= (v->kind == TLB_STACK ? tlb_max(start, m->stack_low) : start)
          && *first + ((uint64_t)1 << order) <= tlb_page_of(m, v->end);
}

/* Whether the block has neither pages nor, where that is asked, a page table. */
static int is_empty(tlb_fault_model *m, const tlb_fault_rules *r,
                    uint64_t first, uint64_t pages, int no_table)
{
   for (uint64_t p = first; p < first + pages;) {
      tlb_fault_chunk *c = tlb_chunk_find(m, p >> TLB_CHUNK_SHIFT);
      const uint64_t end = tlb_min(first + pages,
                               ((p >> TLB_CHUNK_SHIFT) + 1) << TLB_CHUNK_SHIFT);
      if (c != NULL) {
         if (no_table && (*tlb_chunk_tables(c, r->plane) & tlb_table_bit(m, p)) != 0)
            return 0;
         const uint8_t *s = tlb_chunk_plane(m, c, r->plane);
         for (uint64_t i = p; i < end; i++) {
            if (s[i & (TLB_CHUNK_PAGES - 1)] != 0)
               return 0;
         }
      }
      p = end;
   }
   return 1;
}

/* Maps the aligned block around the page by one entry of a higher level, if
   that is possible. */
int tlb_fill_huge(tlb_fault_model *m, const tlb_fault_rules *r,
                  const tlb_mapping *v, uint64_t page, uint8_t how,
                  tlb_fault *out)
{
   const uint64_t pages = tlb_table_pages(m);
   uint64_t first;
   if (!r->large || !wants_thp(m, r, v)
       || !block_in(m, v, page, tlb_table_order(m), &first)
       || !is_empty(m, r, first, pages, 1))
      return 0;
   fill(m, r, first, first + pages - 1, how | TLB_PTE_HUGE, page, NULL, NULL,
        out);
   return 1;
}

/* The same with the largest folio of several pages that is in use and fits. */
int tlb_fill_folio(tlb_fault_model *m, const tlb_fault_rules *r,
                   const tlb_mapping *v, uint64_t page, uint8_t how,
                   tlb_fault *out)
{
   const tlb_fault_folios folios = folios_of(m, r);
   uint32_t orders = folios.mthp_always;
   if ((v->flags & TLB_MAP_HUGEPAGE) != 0)
      orders |= folios.mthp_madvise;
   if (!r->large || (v->flags & TLB_MAP_NOHUGEPAGE) != 0
       || !tlb_thp_consented(m->thp, v))
      return 0;
   for (unsigned order = tlb_table_order(m) - 1; order > 0; order--) {
      const uint64_t pages = (uint64_t)1 << order;
      uint64_t first;
      if ((orders >> order & 1) == 0 || !block_in(m, v, page, order, &first)
          || !is_empty(m, r, first, pages, 0))
         continue;
      fill(m, r, first, first + pages - 1, how, page, NULL, NULL, out);
      return 1;
   }
   return 0;
}

/* A page of hugetlbfs comes whole, in the views of the kernel. */
int tlb_fill_hugetlb(tlb_fault_model *m, const tlb_fault_rules *r,
                     const tlb_mapping *v, uint64_t page, uint8_t how,
                     tlb_fault *out)
{
   uint64_t first;
   if (!r->large || (v->flags & TLB_MAP_HUGETLB) == 0
       || v->huge_shift <= m->settings.page_shift
       || !block_in(m, v, page, v->huge_shift - m->settings.page_shift, &first))
      return 0;
   const uint64_t pages = (uint64_t)1 << (v->huge_shift
                                          - m->settings.page_shift);
   for (uint64_t p = first; p < first + pages; p++) {
      if (p != page && (tlb_pte(m, r->plane, p) & TLB_PTE_PRESENT) != 0)
         *tlb_pte_at(m, r->plane, p) = how;
   }
   fill(m, r, first, first + pages - 1, how, page, NULL, NULL, out);
   return 1;
}

/* --- Fault-around --- */

/* What the page test of fault-around needs. */
typedef struct {
   const tlb_fault_file *file;
   uint64_t to_file; /* add to a page number to have the file's */
   int by_cache;     /* only pages that the cache has */
} around;

static int comes_along(const void *opaque, uint64_t page)
{
   const around *a = opaque;
   const uint64_t n = page + a->to_file;
   return n < a->file->pages && (!a->by_cache || tlb_file_gives(a->file, n));
}

int tlb_fill_tries_around(const tlb_fault_model *m, const tlb_fault_rules *r,
                          const tlb_mapping *v)
{
   return r->around && m->settings.fault_around >> m->settings.page_shift > 1
          && (v->flags & TLB_MAP_NO_AROUND) == 0;
}

/* The first and the last page of the window of a fault: do_fault_around(). It is aligned by its
   place in the page table, and clamped to the mapping and to the page table. */
static void window_of(const tlb_fault_model *m, const tlb_fault_rules *r, const tlb_mapping *v,
                      uint64_t page, uint64_t *low, uint64_t *high)
{
   const uint64_t pages = m->settings.fault_around >> m->settings.page_shift;
   const uint64_t in_table = (page + r->shift) & (tlb_table_pages(m) - 1);
   const uint64_t in_map = page - tlb_page_of(m, v->start);
   /* A mapping of small pages may end inside a larger base page. */
   const uint64_t left = tlb_page_of(m, v->end - 1) + 1 - page;
   const uint64_t from = tlb_max(in_table - in_table % pages,
                                 in_table - tlb_min(in_table, in_map));
   const uint64_t to = tlb_min(tlb_min(from + pages, tlb_table_pages(m)),
                               in_table + left) - 1;
   *low = page - in_table + from;
   *high = page - in_table + to;
}

/* The pages of the folio that page `p` is in, if the file goes on behind it, and the mapping and
   one page table have all of it; else just the page. */
static void whole_folio(const tlb_fault_model *m, const tlb_fault_rules *r, const tlb_mapping *v,
                        const around *a, uint64_t p, uint64_t *first, uint64_t *last)
{
   const uint64_t n = (uint64_t)1 << tlb_file_order(a->file, p + a->to_file);
   const uint64_t start = p - ((p + a->to_file) & (n - 1));
   *first = *last = p;
   if (start >= tlb_page_of(m, v->start) && start + n <= tlb_page_of(m, v->end)
       && start + n + a->to_file < a->file->pages
       && (start + r->shift) / tlb_table_pages(m)
          == (start + n - 1 + r->shift) / tlb_table_pages(m)) {
      *first = start;
      *last = start + n - 1;
   }
}

int tlb_folios_are_left(const tlb_fault_model *m)
{
   return m->settings.kernel->whole_folios && m->settings.code_folio_shift > m->settings.page_shift;
}

static int finds_folios(const tlb_fault_model *m, const tlb_fault_rules *r)
{
   return r->cold || (r->around && tlb_folios_are_left(m));
}

/* What filemap_map_pages() maps, and how many of them it finds. */
static uint64_t reach_of(const tlb_fault_model *m, const tlb_fault_rules *r, const tlb_mapping *v,
                         const around *a, uint64_t page, uint64_t *low, uint64_t *high)
{
   uint64_t first, last, n = 0;
   window_of(m, r, v, page, low, high);
   if (m->settings.kernel->whole_folios && finds_folios(m, r)) {
      if (comes_along(a, *low)) {
         whole_folio(m, r, v, a, *low, &first, &last);
         *low = first;
      }
      if (comes_along(a, *high)) {
         whole_folio(m, r, v, a, *high, &first, &last);
         *high = last;
      }
   }
   for (uint64_t p = *low; r->cold && p <= *high; p++)
      n += (uint64_t)comes_along(a, p);
   return n;
}

int tlb_fill_huge_file(tlb_fault_model *m, const tlb_fault_rules *r, const tlb_mapping *v,
                       uint64_t page, tlb_fault_file *f, uint8_t how, tlb_fault *out)
{
   const around a = { f, tlb_file_page(m, v, 0), 0 };
   const uint64_t pages = tlb_table_pages(m);
   uint64_t first, last;
   if (!r->cold || !m->settings.kernel->large_folios)
      return 0;
   whole_folio(m, r, v, &a, page, &first, &last);
   if (last - first + 1 != pages || first % pages != 0 || !is_empty(m, r, first, pages, 1))
      return 0;
   fill(m, r, first, last, how | TLB_PTE_HUGE, page, NULL, NULL, out);
   return 1;
}

void tlb_fill_looks_around(tlb_fault_model *m, const tlb_fault_rules *r, const tlb_mapping *v,
                           uint64_t page, tlb_fault_file *f)
{
   const around a = { f, tlb_file_page(m, v, 0), 1 };
   uint64_t low, high;
   if (!r->cold || m->settings.kernel->few_hits || comes_along(&a, page))
      return;
   f->misses -= (unsigned)tlb_min(f->misses, reach_of(m, r, v, &a, page, &low, &high));
}

/* The page is the first or last of what fault-around has mapped. */
static void note_edge(tlb_fault_model *m, const tlb_fault_rules *r, const around *a, uint64_t page)
{
   if (comes_along(a, page) && !tlb_file_has(a->file, page + a->to_file))
      *tlb_pte_at(m, r->plane, page) |= TLB_PTE_EDGE;
}

void tlb_fill_around(tlb_fault_model *m, const tlb_fault_rules *r,
                     const tlb_mapping *v, uint64_t page, tlb_fault_file *f,
                     int by_cache, uint8_t how, tlb_fault *out)
{
   const around a = { f, tlb_file_page(m, v, 0), by_cache };
   uint64_t low, high;
   if (!tlb_fill_tries_around(m, r, v))
      return;
   const uint64_t found = reach_of(m, r, v, &a, page, &low, &high);
   const uint64_t hits = !m->settings.kernel->few_hits ? found
                         : (uint64_t)(!out->major && comes_along(&a, page));
   if (r->cold && tlb_file_counts_misses(m, v))
      f->misses -= (unsigned)tlb_min(f->misses, hits);
   fill(m, r, low, high, how, page, comes_along, &a, out);
   if (!r->cold && finds_folios(m, r) && !f->is_tmpfs) {
      note_edge(m, r, &a, low);
      note_edge(m, r, &a, high);
   }
}

int tlb_fill_late(tlb_fault_model *m, const tlb_fault_rules *r, const tlb_mapping *v,
                  uint64_t page, tlb_fault *out)
{
   if (r->cold || !finds_folios(m, r) || !tlb_is_file(v) || (v->flags & TLB_MAP_NO_AROUND) != 0)
      return 0;
   const around a = { tlb_file_need(m, v->device, v->inode), tlb_file_page(m, v, 0), 0 };
   uint64_t first, last;
   whole_folio(m, r, v, &a, page, &first, &last);
   for (uint64_t p = first; p <= last && first < last; p++) {
      if ((tlb_pte(m, r->plane, p) & TLB_PTE_EDGE) == 0)
         continue;
      fill(m, r, first, last, TLB_PTE_PRESENT, page, NULL, NULL, out);
      if (r->plane < TLB_N_VIEWS)
         m->counts[r->plane].brought++; /* the page itself */
      return 1;
   }
   return 0;
}

static void clear_edges(tlb_fault_model *m, tlb_fault_chunk *c, size_t from, size_t to,
                        const void *opaque)
{
   (void)opaque;
   for (unsigned plane = 0; plane < TLB_FAULT_PLANES; plane++) {
      if (!tlb_chunk_has_plane(c, plane))
         continue;
      uint8_t *const pte = tlb_chunk_plane(m, c, plane);
      for (size_t i = from; i < to; i++)
         pte[i] &= (uint8_t)~TLB_PTE_EDGE;
   }
}

void tlb_forget_edges(tlb_fault_model *m, uint64_t first, uint64_t end)
{
   const uint64_t near = tlb_min(m->settings.read_ahead >> m->settings.page_shift,
                                 TLB_CHUNK_PAGES);
   if (tlb_folios_are_left(m))
      tlb_chunk_each(m, first - tlb_min(first, near), end + near, clear_edges, NULL);
}
