/* The files of the fault model: what the page cache has of them, and what a
   fault on a page that is not there makes the kernel read. See faultmodel_parts.h. */

#include "sim/faults/faultmodel_parts.h"

/* What the page cache has of a file's page; from bit ORDER_SHIFT on, the order
   of the folio that the page is in. A folio is MARKED as a whole. What is read on is COMING until
   the fault that began it is over: the disk is not waited for. */
enum { CACHED = 1, MARKED = 2, COMING = 4, ORDER_SHIFT = 4 };

/* MMAP_LOTSAMISS: so many more faults that read than such that found their page
   there, and read-ahead is given up. */
enum { MANY_MISSES = 100, MOST_MISSES = 10 * MANY_MISSES };

tlb_fault_file *tlb_file_need(tlb_fault_model *m, uint64_t device,
                              uint64_t inode)
{
   tlb_fault_file **link = &m->files;
   while (*link != NULL && ((*link)->device != device
                            || (*link)->inode != inode))
      link = &(*link)->next;
   tlb_fault_file *f = *link;
   if (f == NULL) {
      f = tlb_take_zeroed(&m->memory, sizeof *f);
      f->device = device;
      f->inode = inode;
      f->pages = UINT64_MAX;
   } else {
      *link = f->next;
   }
   /* The one used last comes first: it is asked for again. */
   f->next = m->files;
   m->files = f;
   return f;
}

void tlb_fault_file_is(tlb_fault_model *m, uint64_t device, uint64_t inode,
                       uint64_t bytes, int is_tmpfs)
{
   tlb_fault_file *f = tlb_file_need(m, device, inode);
   const uint64_t page = (uint64_t)1 << m->settings.page_shift;
   f->pages = bytes / page + (bytes % page != 0);
   f->is_tmpfs = is_tmpfs;
}

int tlb_fault_is_tmpfs(tlb_fault_model *m, const tlb_mapping *v)
{
   return (v->inode != 0 || v->device != 0) && tlb_file_need(m, v->device, v->inode)->is_tmpfs;
}

/* Files larger than that are taken to be in the cache: it is not worth the
   memory to know better. */
static const uint64_t most_cache_pages = (uint64_t)1 << 24;

static void cache_room(tlb_fault_model *m, tlb_fault_file *f, uint64_t pages)
{
   if (pages <= f->n_cache || pages > most_cache_pages)
      return;
   const uint64_t n = tlb_max(pages, f->n_cache * 2);
   uint8_t *cache = tlb_take_zeroed(&m->memory, (size_t)n);
   for (uint64_t i = 0; i < f->n_cache; i++)
      cache[i] = f->cache[i];
   tlb_give(&m->memory, f->cache);
   f->cache = cache;
   f->n_cache = n;
}

static unsigned cached(const tlb_fault_file *f, uint64_t page)
{
   if (page >= most_cache_pages)
      return CACHED;
   return page < f->n_cache ? f->cache[page] : 0u;
}

/* Whether a window that is being read has a page to go on from, though it ends with its file. */
static int has_mark_at_end(const tlb_fault_model *m, const tlb_fault_file *f)
{
   const tlb_kernel_rules *const kernel = m->settings.kernel;
   return !kernel->no_mark_at_end || (kernel->next_keeps_mark && f->ahead_goes_on);
}

/* Reads pages [start, start + size) into the cache, those that it has not, one
   by one; the page `async` before the end is marked, if it is new, to go on from
   there: do_page_cache_ra(). */
static void read_single(const tlb_fault_model *m, tlb_fault_file *f, uint64_t start,
                        uint64_t size, uint64_t async)
{
   const uint64_t n = start < f->pages ? tlb_min(size, f->pages - start) : 0;
   const uint64_t mark = start + n - async;
   const int ends = start + size >= f->pages && !has_mark_at_end(m, f);
   const unsigned how = f->ahead_goes_on ? CACHED | COMING : CACHED;
   for (uint64_t i = start; i < start + n && i < f->n_cache; i++) {
      if (f->cache[i] == 0)
         f->cache[i] = (uint8_t)(async != 0 && i == mark && !ends ? how | MARKED : how);
   }
}

static int is_empty_there(const tlb_fault_file *f, uint64_t first,
                          uint64_t pages)
{
   for (uint64_t i = first; i < first + pages; i++) {
      if (f->cache[i] != 0)
         return 0;
   }
   return 1;
}

/* Of a folio: MAX_PAGECACHE_ORDER. */
static unsigned most_order(const tlb_fault_model *m)
{
   const unsigned of_table = tlb_table_order(m);
   return of_table < 11 ? of_table : 11;
}

/* Reads a window of the file's read-ahead, which begins at `start`, in folios as large as its order
   says, up to the first that is partly there, and single pages from there on:
   page_cache_ra_order(). Returns where it ends. */
static uint64_t read_window(tlb_fault_model *m, tlb_fault_file *f, uint64_t start)
{
   const uint64_t end = tlb_min(start + f->ahead_size, f->pages);
   const uint64_t mark = start + f->ahead_size - f->ahead_async;
   const int has_mark = start + f->ahead_size < f->pages || has_mark_at_end(m, f);
   cache_room(m, f, end);
   if (!m->settings.kernel->large_folios) {
      read_single(m, f, start, f->ahead_size, f->ahead_async);
      return end;
   }
   f->ahead_order = (unsigned)tlb_min(f->ahead_order, most_order(m));
   while (f->ahead_order > 0
          && (uint64_t)1 << f->ahead_order > f->ahead_size)
      f->ahead_order--;
   uint64_t i = start;
   while (i < end && i < f->n_cache) {
      unsigned order = f->ahead_order;
      while ((i & (((uint64_t)1 << order) - 1)) != 0
             || i + ((uint64_t)1 << order) > end)
         order--;
      const uint64_t pages = (uint64_t)1 << order;
      if (i + pages > f->n_cache || !is_empty_there(f, i, pages)) {
         read_single(m, f, i, start + f->ahead_size - i, f->ahead_async);
         break;
      }
      const unsigned marked = has_mark && (mark & ~(pages - 1)) == i ? MARKED : 0u;
      tlb_set_bytes(f->cache + i,
                    (uint8_t)(CACHED | (f->ahead_goes_on ? COMING : 0u) | marked
                              | order << ORDER_SHIFT),
                    (size_t)pages);
      i += pages;
   }
   return end;
}

void tlb_fault_file_read(tlb_fault_model *m, uint64_t device, uint64_t inode,
                         uint64_t offset, uint64_t bytes)
{
   tlb_fault_file *f = tlb_file_need(m, device, inode);
   const unsigned shift = m->settings.page_shift;
   const uint64_t first = offset >> shift;
   const uint64_t end = tlb_min((offset + bytes + (1u << shift) - 1) >> shift,
                            f->pages);
   cache_room(m, f, end);
   for (uint64_t i = first; i < end && i < f->n_cache; i++)
      f->cache[i] |= CACHED;
}

void tlb_fault_file_written(tlb_fault_model *m, uint64_t device, uint64_t inode,
                            uint64_t offset, uint64_t bytes, uint64_t size)
{
   tlb_fault_file *f = m->files;
   while (f != NULL && (f->device != device || f->inode != inode))
      f = f->next;
   if (f == NULL)
      return;
   if (f->pages != UINT64_MAX)
      tlb_fault_file_is(m, device, inode, size, f->is_tmpfs);
   tlb_fault_file_read(m, device, inode, offset, bytes);
}

void tlb_fault_file_removed(tlb_fault_model *m, uint64_t start, uint64_t end)
{
   tlb_mapping v;
   for (uint64_t at = start; tlb_mappings_piece(&m->maps, at, end, &v); at = v.end) {
      if (!tlb_fault_is_tmpfs(m, &v))
         continue;
      tlb_fault_file *f = tlb_file_need(m, v.device, v.inode);
      const uint64_t first = v.offset >> m->settings.page_shift;
      const uint64_t n = (v.end - v.start) >> m->settings.page_shift;
      for (uint64_t i = first; i < first + n && i < f->n_cache; i++)
         f->cache[i] = 0;
   }
}

/* Drops the pages of the file: those of the warm view's page cache. */
static void drop_cached(tlb_fault_model *m, tlb_fault_file *f, uint64_t from, uint64_t to)
{
   const unsigned shift = m->settings.page_shift;
   for (uint64_t i = from >> shift; i < to >> shift && i < f->n_cache; i++)
      f->cache[i] = 0;
}

void tlb_fault_file_gone(tlb_fault_model *m, uint64_t device, uint64_t inode, uint64_t from,
                         uint64_t to, int copies, tlb_fault_range *each, void *opaque)
{
   const uint64_t page = (uint64_t)1 << m->settings.page_shift;
   tlb_mapping v;
   from = (from + page - 1) & ~(page - 1);
   to &= ~(page - 1);
   if (from >= to)
      return;
   for (uint64_t at = 0; tlb_mappings_piece(&m->maps, at, UINT64_MAX, &v); at = v.end) {
      const uint64_t end = v.offset + (v.end - v.start);
      const uint64_t low = tlb_max(from, v.offset), high = tlb_min(to, end);
      if (v.device != device || v.inode != inode || low >= high
          || (!tlb_is_shared(&v) && !copies))
         continue;
      each(v.start + (low - v.offset), v.start + (high - v.offset), opaque);
      tlb_fault_zap(m, v.start + (low - v.offset), v.start + (high - v.offset));
   }
   if (tlb_file_need(m, device, inode)->is_tmpfs)
      drop_cached(m, tlb_file_need(m, device, inode), from, to);
}

static void read_to(tlb_fault *out, uint64_t page, uint64_t start, uint64_t end)
{
   out->major = 1;
   out->read.from = (int64_t)(start - page);
   out->read.to = (int64_t)(tlb_max(end, page + 1) - 1 - page);
}

static uint64_t ahead_pages(const tlb_fault_model *m)
{
   return m->settings.read_ahead >> m->settings.page_shift;
}

/* Whether a read of the page goes on with the window before it. */
static int follows(const tlb_fault_model *m, const tlb_fault_file *f, uint64_t page,
                   uint64_t folio)
{
   const uint64_t next = f->ahead_start + f->ahead_size;
   return page == ((next - f->ahead_async) & ~(folio - 1))
          || (m->settings.kernel->follows_behind && page == next);
}

/* get_next_ra_size(): a window that goes on grows. */
static uint64_t grown(uint64_t pages, uint64_t most)
{
   return pages < most / 16 ? pages * 4 : pages <= most / 2 ? pages * 2 : most;
}

/* The next window of the file, which a read of the page begins: its size. */
static void go_on(const tlb_fault_model *m, tlb_fault_file *f, uint64_t page)
{
   const uint64_t most = ahead_pages(m);
   f->ahead_start += f->ahead_size;
   f->ahead_size = tlb_max(f->ahead_size, grown(f->ahead_size, most));
   f->ahead_async = f->ahead_size;
   if (page == f->ahead_start && m->settings.kernel->follows_behind) {
      const uint64_t more = grown(f->ahead_size, most);
      f->ahead_async = f->ahead_size + more <= most ? more : most / 2;
      f->ahead_size = f->ahead_size + more <= most ? f->ahead_size + more : most;
   }
}

/* Up to where MADV_SEQUENTIAL reads: page_cache_sync_ra(), of which the start of the file begins a
   window that goes on. */
static uint64_t read_sequence(tlb_fault_model *m, tlb_fault_file *f,
                              uint64_t page)
{
   const uint64_t pages = ahead_pages(m);
   if (page == 0) {
      f->ahead_start = 0;
      f->ahead_size = pages;
      f->ahead_async = pages / 2;
      f->ahead_order = m->settings.kernel->first_order;
      return read_window(m, f, 0);
   }
   if (m->settings.kernel->follows_behind && follows(m, f, page, 1)) {
      go_on(m, f, page);
      const uint64_t end = read_window(m, f, f->ahead_start);
      if (cached(f, page) == 0) {
         cache_room(m, f, page + 1);
         read_single(m, f, page, 1, 0);
      }
      return end;
   }
   cache_room(m, f, tlb_min(page + pages, f->pages));
   read_single(m, f, page, pages, 0);
   return tlb_min(page + pages, f->pages);
}

/* The first window of a file that is read from its begin: get_init_ra_size() for
   one page. */
void tlb_fault_file_header(tlb_fault_model *m, uint64_t device, uint64_t inode)
{
   tlb_fault_file *f = tlb_file_need(m, device, inode);
   const uint64_t most = ahead_pages(m);
   if (cached(f, 0) != 0)
      return;
   f->ahead_start = 0;
   f->ahead_size = most >= 32 ? 4 : most >= 4 ? 2 : tlb_max(most, 1);
   f->ahead_async = f->ahead_size > 1 ? f->ahead_size - 1 : 0;
   f->ahead_order = m->settings.kernel->first_order;
   read_window(m, f, 0);
}

static int executes(const tlb_mapping *v)
{
   return (v->prot & TLB_MAY_EXECUTE) != 0;
}

int tlb_file_counts_misses(const tlb_fault_model *m, const tlb_mapping *v)
{
   return !m->settings.kernel->few_hits
          || (!executes(v) && (v->flags & TLB_MAP_SEQUENTIAL) == 0);
}

/* The order of the folios that MADV_HUGEPAGE asks for; 0: it has no effect. */
static unsigned huge_order(const tlb_fault_model *m, const tlb_mapping *v)
{
   enum { SHIFT_2M = 21 };
   const unsigned of_table = tlb_table_order(m);
   if ((v->flags & TLB_MAP_HUGEPAGE) == 0)
      return 0;
   if (m->settings.kernel->caps_huge)
      return (unsigned)tlb_min(SHIFT_2M - m->settings.page_shift, most_order(m));
   return of_table <= most_order(m) ? of_table : 0;
}

/* The folios around it, and the next, unless told to read at random. The window's begin is not
   noted. */
static uint64_t read_huge(tlb_fault_model *m, const tlb_mapping *v, tlb_fault_file *f,
                          uint64_t page, uint64_t *start)
{
   const uint64_t pages = (uint64_t)1 << huge_order(m, v);
   *start = page & ~(pages - 1);
   f->ahead_size = (v->flags & TLB_MAP_RANDOM) != 0 ? pages : 2 * pages;
   f->ahead_async = pages;
   f->ahead_order = huge_order(m, v);
   return read_window(m, f, *start);
}

/* Around the page, or of code from the page on, to the mapping's end at most. */
static uint64_t read_around(tlb_fault_model *m, const tlb_mapping *v, tlb_fault_file *f,
                            uint64_t page, uint64_t *start)
{
   const uint64_t pages = ahead_pages(m);
   const unsigned shift = m->settings.page_shift;
   if (m->settings.kernel->code_ahead && executes(v)) {
      const unsigned order = m->settings.code_folio_shift > shift
                                ? m->settings.code_folio_shift - shift : 0;
      const uint64_t first = v->offset >> shift;
      const uint64_t last = first + ((v->end - v->start) >> shift);
      const uint64_t folio = (uint64_t)1 << order;
      *start = tlb_max(page & ~(folio - 1), first);
      f->ahead_size = tlb_min((*start + pages + folio - 1) & ~(folio - 1), last) - *start;
      f->ahead_async = 0;
      f->ahead_order = order;
   } else {
      *start = page - tlb_min(page, pages / 2);
      f->ahead_size = pages;
      f->ahead_async = pages / 4;
      f->ahead_order = m->settings.kernel->first_order;
   }
   f->ahead_start = *start;
   return read_window(m, f, *start);
}

/* A fault on a page that the cache has not: do_sync_mmap_readahead(). */
static void read_in(tlb_fault_model *m, const tlb_mapping *v,
                    tlb_fault_file *f, uint64_t page, tlb_fault *out)
{
   const tlb_kernel_rules *const kernel = m->settings.kernel;
   const int is_huge = huge_order(m, v) > 0;
   const int random = (v->flags & TLB_MAP_RANDOM) != 0 && !(kernel->code_ahead && executes(v));
   const int reads_ahead = is_huge || (!random && ahead_pages(m) > 0);
   uint64_t start = page, end = page + 1;
   if (reads_ahead && !is_huge && (v->flags & TLB_MAP_SEQUENTIAL) != 0) {
      read_to(out, page, start, read_sequence(m, f, page));
      return;
   }
   const int counts = reads_ahead && tlb_file_counts_misses(m, v) && (!is_huge || kernel->few_hits);
   if (counts && f->misses < MOST_MISSES)
      f->misses++;
   if (!reads_ahead || (counts && f->misses > MANY_MISSES)) {
      cache_room(m, f, end);
      read_single(m, f, page, 1, 0);
   } else if (is_huge) {
      end = read_huge(m, v, f, page, &start);
   } else {
      end = read_around(m, v, f, page, &start);
   }
   read_to(out, page, start, end);
}

static uint64_t folio_start(const tlb_fault_file *f, uint64_t page)
{
   return page >> (cached(f, page) >> ORDER_SHIFT)
          << (cached(f, page) >> ORDER_SHIFT);
}

/* page_cache_next_miss(): where the cache has nothing, from page `first` on, and
   at most so far. The kernel's cursor has a page number and a place in a node of
   64 slots. If it begins inside of a folio, the place is that of the folio's
   start, and the number is ahead of it until the node ends. In the next node it
   goes on at the number's own place, so what is between is passed over. */
static uint64_t next_miss(const tlb_fault_model *m, const tlb_fault_file *f, uint64_t first,
                          uint64_t most)
{
   enum { NODE = 64 };
   uint64_t number = first, place = folio_start(f, first);
   for (uint64_t n = 0; n < most; n++) {
      if (cached(f, place) == 0)
         return number;
      number++;
      place = place % NODE != NODE - 1 ? place + 1 : number;
   }
   return first + most - (m->settings.kernel->scans_less != 0);
}

/* Reads the next window. */
static void read_next(tlb_fault_model *m, tlb_fault_file *f)
{
   f->is_coming = 1;
   f->ahead_goes_on = 1;
   read_window(m, f, f->ahead_start);
   f->ahead_goes_on = 0;
}

/* A touch of the marked folio reads on, while the program does. If another part
   of the file was read in between, what is still there behind the page says how
   much: page_cache_async_ra(). The folios become larger, and the window ends
   where such a one does. */
static void read_on(tlb_fault_model *m, tlb_fault_file *f, uint64_t page)
{
   const tlb_kernel_rules *const kernel = m->settings.kernel;
   const uint64_t most = ahead_pages(m);
   const unsigned folio_order = f->cache[page] >> ORDER_SHIFT;
   const uint64_t folio = (uint64_t)1 << folio_order;
   const uint64_t first = page & ~(folio - 1);
   for (uint64_t i = first; i < first + folio; i++)
      f->cache[i] &= (uint8_t)~MARKED;
   if (follows(m, f, page, folio)) {
      go_on(m, f, page);
   } else {
      const uint64_t start = next_miss(m, f, page + 1, most);
      if (start - page > most)
         return;
      f->ahead_start = start;
      f->ahead_size = grown(start - page + most, most);
      f->ahead_async = f->ahead_size;
   }
   f->ahead_order = (kernel->grows_by_folio ? folio_order : f->ahead_order) + 2;
   if (!kernel->large_folios || kernel->grows_by_folio) {
      read_next(m, f);
      return;
   }
   unsigned order = 0;
   while (order < f->ahead_order && (most >> order & 1) == 0)
      order++;
   const uint64_t end = f->ahead_start + f->ahead_size;
   const uint64_t aligned = end >> order << order;
   if (aligned > f->ahead_start)
      f->ahead_size -= end - aligned;
   f->ahead_async = f->ahead_size;
   read_next(m, f);
}

/* A fault on a page that the cache has, and that did not come along with
   fault-around: do_async_mmap_readahead(). */
static void found_there(tlb_fault_model *m, const tlb_mapping *v,
                        tlb_fault_file *f, uint64_t page, tlb_fault *out)
{
   if ((v->flags & TLB_MAP_RANDOM) != 0 || ahead_pages(m) == 0)
      return;
   f->misses -= tlb_file_counts_misses(m, v) && f->misses > 0;
   if ((cached(f, page) & MARKED) != 0 && page < f->n_cache) {
      read_on(m, f, page);
      if (m->settings.kernel->reading_on_waits)
         read_to(out, page, f->ahead_start, f->ahead_start + f->ahead_size);
   }
}

void tlb_file_have(tlb_fault_model *m, const tlb_fault_rules *r,
                   const tlb_mapping *v, tlb_fault_file *f, uint64_t file_page,
                   int around_first, tlb_fault *out)
{
   if (f->is_tmpfs) {
      tlb_fault_file_read(m, f->device, f->inode,
                          file_page << m->settings.page_shift, 1);
      return;
   }
   /* Pages of the kernel's own are not read from anywhere. */
   if (!r->cold || (v->flags & TLB_MAP_NO_AROUND) != 0)
      return;
   const unsigned c = cached(f, file_page);
   if (c == 0)
      read_in(m, v, f, file_page, out);
   else if (!around_first || (c & MARKED) != 0)
      found_there(m, v, f, file_page, out);
}

void tlb_file_arrives(tlb_fault_file *f)
{
   const uint64_t end = tlb_min(f->ahead_start + f->ahead_size, f->n_cache);
   for (uint64_t i = f->ahead_start; i < end && f->is_coming; i++)
      f->cache[i] &= (uint8_t)~COMING;
   f->is_coming = 0;
}

int tlb_file_has(const tlb_fault_file *f, uint64_t file_page)
{
   return cached(f, file_page) != 0;
}

unsigned tlb_file_order(const tlb_fault_file *f, uint64_t file_page)
{
   return cached(f, file_page) >> ORDER_SHIFT;
}

int tlb_file_gives(const tlb_fault_file *f, uint64_t file_page)
{
   return (cached(f, file_page) & (CACHED | MARKED | COMING)) == CACHED;
}

void tlb_files_free(tlb_fault_model *m)
{
   while (m->files != NULL) {
      tlb_fault_file *f = m->files;
      m->files = f->next;
      tlb_give(&m->memory, f->cache);
      tlb_give(&m->memory, f);
   }
}
