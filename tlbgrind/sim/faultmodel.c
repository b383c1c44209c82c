/* The fault model: what page faults Linux would take. See faultmodel.h.

   The state of the pages is kept in chunks of 512, in planes: one for each
   view, and one for each phase but the first, which is the warm view's. All
   planes go through the same code; a plane's rules say what differs. */

#include "faultmodel.h"

/* What a page-table entry says; 0: there is none. */
enum {
   PRESENT = 1,
   WRITABLE = 2,
   OWNED = 4, /* a page of this process alone, or shared since a fork */
   ZERO = 8,  /* the zero page */
   HUGE = 16  /* part of a mapping by a page-table entry of a higher level */
};

enum {
   CHUNK_SHIFT = 9,
   CHUNK_PAGES = 1 << CHUNK_SHIFT,
   N_PLANES = TLB_N_VIEWS + TLB_N_PHASES - 1
};

struct tlb_fault_chunk {
   tlb_fault_chunk *next;
   uint64_t number;             /* page number >> CHUNK_SHIFT */
   uint8_t table[TLB_N_VIEWS];  /* there has been a page table */
   uint8_t *phases;             /* NULL until a file's page is touched */
   uint8_t views[TLB_N_VIEWS * CHUNK_PAGES];
};

/* What the page cache has of a file's page; from bit ORDER_SHIFT on, the order
   of the folio that the page is in. A folio is MARKED as a whole. */
enum { CACHED = 1, MARKED = 2, ORDER_SHIFT = 4 };

/* MMAP_LOTSAMISS: so many more faults that read than such that found their page
   there, and read-ahead is given up. */
enum { MANY_MISSES = 100, MOST_MISSES = 10 * MANY_MISSES };

struct tlb_fault_file {
   tlb_fault_file *next;
   uint64_t device;
   uint64_t inode;
   uint64_t pages;   /* UINT64_MAX: no end is known */
   int is_tmpfs;
   uint8_t *cache;   /* by page */
   uint64_t n_cache; /* pages that `cache` has room for */
   uint64_t ahead_start; /* the last read-ahead: pages [start, start + size) */
   uint64_t ahead_size;
   uint64_t ahead_async; /* it goes on when the page so far before its end is
                            touched */
   unsigned ahead_order; /* of its folios */
   unsigned misses;      /* mmap_miss of the kernel */
};

/* How a plane differs from the others. */
typedef struct {
   unsigned plane;
   unsigned shift; /* everything lies so many pages higher */
   int around;
   int large;
   int cold;
} rules;

static const rules view_rules[TLB_N_VIEWS] = {
   [TLB_VIEW_4K] = { .plane = TLB_VIEW_4K },
   [TLB_VIEW_WARM] = { .plane = TLB_VIEW_WARM, .around = 1, .large = 1 },
   [TLB_VIEW_COLD] = { .plane = TLB_VIEW_COLD, .around = 1, .large = 1,
                       .cold = 1 },
};

static void set_bytes(uint8_t *to, uint8_t value, size_t n)
{
   for (size_t i = 0; i < n; i++)
      to[i] = value;
}

static uint64_t min(uint64_t a, uint64_t b)
{
   return a < b ? a : b;
}

static uint64_t max(uint64_t a, uint64_t b)
{
   return a > b ? a : b;
}

static void *take(const tlb_fault_model *m, size_t bytes)
{
   uint8_t *p = m->memory.take(bytes, m->memory.opaque);
   set_bytes(p, 0, bytes);
   return p;
}

static void give(const tlb_fault_model *m, void *p)
{
   if (p != NULL)
      m->memory.give(p, m->memory.opaque);
}

/* --- Chunks --- */

enum { FIRST_SLOTS = 256 };

static tlb_fault_chunk **slot_of(const tlb_fault_model *m, uint64_t number)
{
   const uint64_t mixed = number * 0x9e3779b97f4a7c15u;
   return &m->chunk[(mixed >> 32) & (m->chunk_slots - 1)];
}

static tlb_fault_chunk *find_chunk(tlb_fault_model *m, uint64_t number)
{
   tlb_fault_chunk *c = m->last;
   if (c != NULL && c->number == number)
      return c;
   for (c = *slot_of(m, number); c != NULL; c = c->next) {
      if (c->number == number) {
         m->last = c;
         return c;
      }
   }
   return NULL;
}

static void more_slots(tlb_fault_model *m)
{
   tlb_fault_chunk **const old = m->chunk;
   const size_t n_old = m->chunk_slots;
   m->chunk_slots *= 4;
   m->chunk = take(m, m->chunk_slots * sizeof *m->chunk);
   for (size_t i = 0; i < n_old; i++) {
      while (old[i] != NULL) {
         tlb_fault_chunk *c = old[i];
         old[i] = c->next;
         tlb_fault_chunk **const slot = slot_of(m, c->number);
         c->next = *slot;
         *slot = c;
      }
   }
   give(m, old);
}

static tlb_fault_chunk *need_chunk(tlb_fault_model *m, uint64_t number)
{
   tlb_fault_chunk *c = find_chunk(m, number);
   if (c != NULL)
      return c;
   if (m->n_chunks >= m->chunk_slots)
      more_slots(m);
   c = take(m, sizeof *c);
   c->number = number;
   tlb_fault_chunk **const slot = slot_of(m, number);
   c->next = *slot;
   *slot = c;
   m->n_chunks++;
   m->last = c;
   return c;
}

static void free_chunk(tlb_fault_model *m, tlb_fault_chunk *c)
{
   tlb_fault_chunk **link = slot_of(m, c->number);
   while (*link != c)
      link = &(*link)->next;
   *link = c->next;
   give(m, c->phases);
   give(m, c);
   m->n_chunks--;
   m->last = NULL;
}

/* The states of the chunk's pages in a plane. */
static uint8_t *plane_of(const tlb_fault_model *m, tlb_fault_chunk *c,
                         unsigned plane)
{
   if (plane < TLB_N_VIEWS)
      return c->views + plane * CHUNK_PAGES;
   if (c->phases == NULL)
      c->phases = take(m, (N_PLANES - TLB_N_VIEWS) * CHUNK_PAGES);
   return c->phases + (plane - TLB_N_VIEWS) * CHUNK_PAGES;
}

static uint8_t *state_of(tlb_fault_model *m, unsigned plane, uint64_t page)
{
   return plane_of(m, need_chunk(m, page >> CHUNK_SHIFT), plane)
          + (page & (CHUNK_PAGES - 1));
}

static uint8_t state(tlb_fault_model *m, unsigned plane, uint64_t page)
{
   tlb_fault_chunk *c = find_chunk(m, page >> CHUNK_SHIFT);
   if (c == NULL || (plane >= TLB_N_VIEWS && c->phases == NULL))
      return 0;
   return plane_of(m, c, plane)[page & (CHUNK_PAGES - 1)];
}

/* Calls `each` for every chunk that has pages of [first, end), with these
   pages' numbers within the chunk. */
typedef void chunk_pages(tlb_fault_model *m, tlb_fault_chunk *c, size_t from,
                         size_t to, const void *opaque);

static void in_chunk(tlb_fault_model *m, tlb_fault_chunk *c, uint64_t first,
                     uint64_t end, chunk_pages *each, const void *opaque)
{
   const uint64_t low = c->number << CHUNK_SHIFT;
   if (low >= end || low + CHUNK_PAGES <= first)
      return;
   each(m, c, (size_t)(max(first, low) - low),
        (size_t)(min(end, low + CHUNK_PAGES) - low), opaque);
}

static void each_chunk(tlb_fault_model *m, uint64_t first, uint64_t end,
                       chunk_pages *each, const void *opaque)
{
   if (first >= end)
      return;
   const uint64_t low = first >> CHUNK_SHIFT;
   const uint64_t high = (end - 1) >> CHUNK_SHIFT;
   if (high - low < m->n_chunks) {
      for (uint64_t n = low; n <= high; n++) {
         tlb_fault_chunk *c = find_chunk(m, n);
         if (c != NULL)
            in_chunk(m, c, first, end, each, opaque);
      }
      return;
   }
   for (size_t i = 0; i < m->chunk_slots; i++) {
      tlb_fault_chunk *next;
      for (tlb_fault_chunk *c = m->chunk[i]; c != NULL; c = next) {
         next = c->next; /* `each` may free the chunk */
         in_chunk(m, c, first, end, each, opaque);
      }
   }
}

/* --- Life --- */

void tlb_fault_init(tlb_fault_model *m, const tlb_fault_settings *settings,
                    const tlb_memory *memory)
{
   set_bytes((uint8_t *)m, 0, sizeof *m);
   m->settings = *settings;
   m->memory = *memory;
   m->chunk_slots = FIRST_SLOTS;
   m->chunk = take(m, m->chunk_slots * sizeof *m->chunk);
   tlb_mappings_init(&m->maps, memory);
   tlb_mappings_init(&m->anon, memory);
}

void tlb_fault_free(tlb_fault_model *m)
{
   for (size_t i = 0; i < m->chunk_slots; i++) {
      while (m->chunk[i] != NULL)
         free_chunk(m, m->chunk[i]);
   }
   while (m->files != NULL) {
      tlb_fault_file *f = m->files;
      m->files = f->next;
      give(m, f->cache);
      give(m, f);
   }
   give(m, m->chunk);
   tlb_mappings_free(&m->maps);
   tlb_mappings_free(&m->anon);
}

void tlb_fault_zero(tlb_fault_model *m)
{
   set_bytes((uint8_t *)m->counts, 0, sizeof m->counts);
   set_bytes((uint8_t *)m->phase, 0, sizeof m->phase);
}

/* --- Files and the page cache --- */

static int is_file(const tlb_mapping *v)
{
   return v->inode != 0 || v->device != 0;
}

static tlb_fault_file *need_file(tlb_fault_model *m, uint64_t device,
                                 uint64_t inode)
{
   tlb_fault_file **link = &m->files;
   while (*link != NULL && ((*link)->device != device
                            || (*link)->inode != inode))
      link = &(*link)->next;
   tlb_fault_file *f = *link;
   if (f == NULL) {
      f = take(m, sizeof *f);
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
   tlb_fault_file *f = need_file(m, device, inode);
   const uint64_t page = (uint64_t)1 << m->settings.page_shift;
   f->pages = bytes / page + (bytes % page != 0);
   f->is_tmpfs = is_tmpfs;
}

/* Files larger than that are taken to be in the cache: it is not worth the
   memory to know better. */
static const uint64_t most_cache_pages = (uint64_t)1 << 24;

static void cache_room(tlb_fault_model *m, tlb_fault_file *f, uint64_t pages)
{
   if (pages <= f->n_cache || pages > most_cache_pages)
      return;
   const uint64_t n = max(pages, f->n_cache * 2);
   uint8_t *cache = take(m, (size_t)n);
   for (uint64_t i = 0; i < f->n_cache; i++)
      cache[i] = f->cache[i];
   give(m, f->cache);
   f->cache = cache;
   f->n_cache = n;
}

static unsigned cached(const tlb_fault_file *f, uint64_t page)
{
   if (page >= most_cache_pages)
      return CACHED;
   return page < f->n_cache ? f->cache[page] : 0u;
}

/* Reads pages [start, start + size) into the cache, those that it has not, one
   by one; the page `async` before the end is marked, if it is new, to go on from
   there: do_page_cache_ra(). */
static void read_single(tlb_fault_file *f, uint64_t start, uint64_t size,
                        uint64_t async)
{
   const uint64_t n = start < f->pages ? min(size, f->pages - start) : 0;
   const uint64_t mark = start + n - async;
   for (uint64_t i = start; i < start + n && i < f->n_cache; i++) {
      if (f->cache[i] == 0)
         f->cache[i] = async != 0 && i == mark ? CACHED | MARKED : CACHED;
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

/* Reads the window that the file's read-ahead has come to, in folios as large
   as its order says, up to the first that is partly there, and single pages from
   there on: page_cache_ra_order(). Returns where it ends. */
static uint64_t read_window(tlb_fault_model *m, tlb_fault_file *f)
{
   const uint64_t start = f->ahead_start;
   const uint64_t end = min(start + f->ahead_size, f->pages);
   const uint64_t mark = start + f->ahead_size - f->ahead_async;
   cache_room(m, f, end);
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
         read_single(f, i, start + f->ahead_size - i, f->ahead_async);
         break;
      }
      const unsigned marked = (mark & ~(pages - 1)) == i ? MARKED : 0u;
      set_bytes(f->cache + i, (uint8_t)(CACHED | marked | order << ORDER_SHIFT),
                (size_t)pages);
      i += pages;
   }
   return end;
}

void tlb_fault_file_read(tlb_fault_model *m, uint64_t device, uint64_t inode,
                         uint64_t offset, uint64_t bytes)
{
   tlb_fault_file *f = need_file(m, device, inode);
   const unsigned shift = m->settings.page_shift;
   const uint64_t first = offset >> shift;
   const uint64_t end = min((offset + bytes + (1u << shift) - 1) >> shift,
                            f->pages);
   cache_room(m, f, end);
   for (uint64_t i = first; i < end && i < f->n_cache; i++)
      f->cache[i] |= CACHED;
}

static void read_to(tlb_fault *out, uint64_t page, uint64_t start, uint64_t end)
{
   out->major = 1;
   out->read.from = (int64_t)(start - page);
   out->read.to = (int64_t)(max(end, page + 1) - 1 - page);
}

static uint64_t ahead_pages(const tlb_fault_model *m)
{
   return m->settings.read_ahead >> m->settings.page_shift;
}

/* Up to where MADV_SEQUENTIAL reads: page_cache_sync_ra(), of which only the
   start of the file begins a window that goes on. */
static uint64_t read_sequence(tlb_fault_model *m, tlb_fault_file *f,
                              uint64_t page)
{
   const uint64_t pages = ahead_pages(m);
   if (page == 0) {
      f->ahead_start = 0;
      f->ahead_size = pages;
      f->ahead_async = pages / 2;
      f->ahead_order = 0;
      return read_window(m, f);
   }
   cache_room(m, f, min(page + pages, f->pages));
   read_single(f, page, pages, 0);
   return min(page + pages, f->pages);
}

/* The first window of a file that is read from its begin: get_init_ra_size() for
   one page. */
void tlb_fault_file_header(tlb_fault_model *m, uint64_t device, uint64_t inode)
{
   tlb_fault_file *f = need_file(m, device, inode);
   const uint64_t most = ahead_pages(m);
   if (cached(f, 0) != 0)
      return;
   f->ahead_start = 0;
   f->ahead_size = most >= 32 ? 4 : most >= 4 ? 2 : max(most, 1);
   f->ahead_async = f->ahead_size > 1 ? f->ahead_size - 1 : 0;
   f->ahead_order = 0;
   read_window(m, f);
}

/* A fault on a page that the cache has not: do_sync_mmap_readahead(). Read is
   around the page in general, and from it on, to the mapping's end at most, where
   the mapping may be executed. */
static void read_in(tlb_fault_model *m, const tlb_mapping *v,
                    tlb_fault_file *f, uint64_t page, tlb_fault *out)
{
   const uint64_t pages = ahead_pages(m);
   const unsigned shift = m->settings.page_shift;
   const int executes = (v->prot & TLB_MAY_EXECUTE) != 0;
   const int random = (v->flags & TLB_MAP_RANDOM) != 0 && !executes;
   uint64_t start = page, end = page + 1;
   if (!random && pages > 0 && (v->flags & TLB_MAP_SEQUENTIAL) != 0) {
      read_to(out, page, start, read_sequence(m, f, page));
      return;
   }
   if (!random && pages > 0 && f->misses < MOST_MISSES)
      f->misses++;
   if (random || pages == 0 || f->misses > MANY_MISSES) {
      cache_room(m, f, end);
      read_single(f, page, 1, 0);
   } else {
      const uint64_t last = (v->offset >> shift)
                            + ((v->end - v->start) >> shift);
      start = executes ? page : page - min(page, pages / 2);
      f->ahead_start = start;
      f->ahead_size = executes ? min(pages, last - page) : pages;
      f->ahead_async = executes ? 0 : pages / 4;
      f->ahead_order = 0;
      end = read_window(m, f);
   }
   read_to(out, page, start, end);
}

/* get_next_ra_size(): a window that goes on grows. */
static uint64_t grown(uint64_t pages, uint64_t most)
{
   return pages < most / 16 ? pages * 4 : pages <= most / 2 ? pages * 2 : most;
}

static uint64_t folio_start(const tlb_fault_file *f, uint64_t page)
{
   return page >> (cached(f, page) >> ORDER_SHIFT)
          << (cached(f, page) >> ORDER_SHIFT);
}

/* page_cache_next_miss(): where the cache has nothing, from page `first` on, and
   at most so far. The kernel's cursor has a page number and a place in a node of
   64 slots. If it begins inside of a folio, the place is that of the folio's
   start, and the number is ahead of it until the node ends. */
static uint64_t next_miss(const tlb_fault_file *f, uint64_t first,
                          uint64_t most)
{
   enum { NODE = 64 };
   uint64_t number = first, place = folio_start(f, first);
   for (uint64_t n = 0; n < most; n++) {
      if (cached(f, place) == 0)
         return number;
      if (place % NODE != NODE - 1) {
         number++;
         place++;
      } else {
         number += number % NODE == NODE - 1;
         place = folio_start(f, number);
      }
   }
   return first + most;
}

/* A touch of the marked folio reads on, while the program does. If another part
   of the file was read in between, what is still there behind the page says how
   much: page_cache_async_ra(). The folios become larger, and the window ends
   where such a one does. */
static void read_on(tlb_fault_model *m, tlb_fault_file *f, uint64_t page)
{
   const uint64_t most = ahead_pages(m);
   const uint64_t folio = (uint64_t)1 << (f->cache[page] >> ORDER_SHIFT);
   const uint64_t first = page & ~(folio - 1);
   for (uint64_t i = first; i < first + folio; i++)
      f->cache[i] &= (uint8_t)~MARKED;
   const uint64_t next = f->ahead_start + f->ahead_size;
   if (page == ((next - f->ahead_async) & ~(folio - 1))) {
      f->ahead_start = next;
      f->ahead_size = max(f->ahead_size, grown(f->ahead_size, most));
   } else {
      const uint64_t start = next_miss(f, page + 1, most);
      if (start - page > most)
         return;
      f->ahead_start = start;
      f->ahead_size = grown(start - page + most, most);
   }
   f->ahead_order += 2;
   unsigned order = 0;
   while (order < f->ahead_order && (most >> order & 1) == 0)
      order++;
   const uint64_t end = f->ahead_start + f->ahead_size;
   const uint64_t aligned = end >> order << order;
   if (aligned > f->ahead_start)
      f->ahead_size -= end - aligned;
   f->ahead_async = f->ahead_size;
   read_window(m, f);
}

/* A fault on a page that the cache has, and that did not come along with
   fault-around: do_async_mmap_readahead(). */
static void found_there(tlb_fault_model *m, const tlb_mapping *v,
                        tlb_fault_file *f, uint64_t page)
{
   if ((v->flags & TLB_MAP_RANDOM) != 0 || ahead_pages(m) == 0)
      return;
   f->misses -= f->misses > 0;
   if ((cached(f, page) & MARKED) != 0 && page < f->n_cache)
      read_on(m, f, page);
}

/* --- The address space --- */

static void clear_pages(tlb_fault_model *m, tlb_fault_chunk *c, size_t from,
                        size_t to, const void *opaque)
{
   (void)opaque;
   for (unsigned plane = 0; plane < TLB_N_VIEWS; plane++)
      set_bytes(plane_of(m, c, plane) + from, 0, to - from);
   for (unsigned plane = TLB_N_VIEWS; c->phases != NULL && plane < N_PLANES;
        plane++)
      set_bytes(plane_of(m, c, plane) + from, 0, to - from);
}

/* The same; page tables without any mapping go as well. */
static void unmap_pages(tlb_fault_model *m, tlb_fault_chunk *c, size_t from,
                        size_t to, const void *opaque)
{
   const uint64_t bytes = (uint64_t)CHUNK_PAGES << m->settings.page_shift;
   if (tlb_mappings_overlap(&m->maps, c->number * bytes,
                            (c->number + 1) * bytes))
      clear_pages(m, c, from, to, opaque);
   else
      free_chunk(m, c);
}

static uint64_t page_of(const tlb_fault_model *m, uint64_t address)
{
   return address >> m->settings.page_shift;
}

static void account(tlb_mapping *v)
{
   if ((v->prot & TLB_MAY_WRITE) != 0 && (v->flags & TLB_MAP_SHARED) == 0)
      v->flags |= TLB_MAP_ACCOUNTED;
}

void tlb_fault_map(tlb_fault_model *m, const tlb_mapping *mapping)
{
   tlb_mapping v = *mapping;
   account(&v);
   tlb_fault_unmap(m, v.start, v.end);
   tlb_mappings_add(&m->maps, &v);
}

void tlb_fault_unmap(tlb_fault_model *m, uint64_t start, uint64_t end)
{
   tlb_mappings_remove(&m->maps, start, end);
   tlb_mappings_remove(&m->anon, start, end);
   each_chunk(m, page_of(m, start), page_of(m, end), unmap_pages, NULL);
}

static void change_protection(tlb_mapping *v, void *opaque)
{
   v->prot = *(const uint8_t *)opaque;
   account(v);
}

/* What the pages are is not touched by it: one that was writable is so again
   when the mapping is. */
void tlb_fault_protect(tlb_fault_model *m, uint64_t start, uint64_t end,
                       unsigned prot)
{
   uint8_t new_prot = (uint8_t)prot;
   tlb_mappings_change(&m->maps, start, end, change_protection, &new_prot);
}

void tlb_fault_zap(tlb_fault_model *m, uint64_t start, uint64_t end)
{
   each_chunk(m, page_of(m, start), page_of(m, end), clear_pages, NULL);
}

typedef struct {
   uint16_t set;
   uint16_t clear;
} flag_change;

static void change_flags(tlb_mapping *v, void *opaque)
{
   const flag_change *c = opaque;
   v->flags = (uint16_t)((v->flags & ~c->clear) | c->set);
}

void tlb_fault_flag(tlb_fault_model *m, uint64_t start, uint64_t end,
                    unsigned set, unsigned clear)
{
   flag_change c = { (uint16_t)set, (uint16_t)clear };
   tlb_mappings_change(&m->maps, start, end, change_flags, &c);
}

/* Where the pages of a chunk move. */
typedef struct {
   uint64_t distance; /* pages, modulo 2^64 */
} page_move;

static void move_pages(tlb_fault_model *m, tlb_fault_chunk *c, size_t from,
                       size_t to, const void *opaque)
{
   const page_move *move = opaque;
   const unsigned planes = c->phases == NULL ? (unsigned)TLB_N_VIEWS
                                             : (unsigned)N_PLANES;
   for (unsigned plane = 0; plane < planes; plane++) {
      uint8_t *s = plane_of(m, c, plane);
      for (size_t i = from; i < to; i++) {
         const uint64_t page = (c->number << CHUNK_SHIFT) + i;
         if (s[i] != 0)
            *state_of(m, plane, page + move->distance) = s[i];
         s[i] = 0;
      }
   }
}

/* The mapping has a page of its own now, or had one before it was cut or
   joined. */
static void note_anon(tlb_fault_model *m, uint64_t start, uint64_t end)
{
   const tlb_mapping v = { .start = start, .end = end };
   if (!tlb_mappings_overlap(&m->anon, start, end))
      tlb_mappings_add(&m->anon, &v);
}

/* The mappings of [from, from + length) again, at `to`. */
static void copy_maps(tlb_fault_model *m, uint64_t from, uint64_t to,
                      uint64_t length)
{
   for (uint64_t at = from; at < from + length;) {
      const size_t i = tlb_mappings_above(&m->maps, at);
      if (i == m->maps.count || m->maps.at[i]->start >= from + length)
         return;
      tlb_mapping v = *m->maps.at[i];
      const uint64_t start = max(v.start, from);
      const uint64_t end = min(v.end, from + length);
      v.offset += start - v.start;
      v.start = to + (start - from);
      v.end = to + (end - from);
      tlb_fault_map(m, &v);
      if (tlb_mappings_overlap(&m->anon, start, end))
         note_anon(m, v.start, v.end);
      at = end;
   }
}

void tlb_fault_move(tlb_fault_model *m, uint64_t from, uint64_t to,
                    uint64_t length, int keep)
{
   const page_move move = { page_of(m, to) - page_of(m, from) };
   const uint64_t first = page_of(m, from);
   const uint64_t end = page_of(m, from + length);
   tlb_fault_unmap(m, to, to + length);
   copy_maps(m, from, to, length);
   /* Chunks come into being while the pages move: not through each_chunk(),
      which may go through all that there are. */
   for (uint64_t n = first >> CHUNK_SHIFT; n <= (end - 1) >> CHUNK_SHIFT; n++) {
      tlb_fault_chunk *c = find_chunk(m, n);
      if (c != NULL)
         in_chunk(m, c, first, end, move_pages, &move);
   }
   if (!keep)
      tlb_fault_unmap(m, from, from + length);
}

/* --- Making pages present --- */

/* Notes that pages [from, to] came along with `page`. */
static void add_run(tlb_fault *out, uint64_t page, uint64_t from, uint64_t to)
{
   if (out->n_brought == TLB_MAX_PAGE_RUNS)
      return;
   tlb_page_run *const run = &out->brought[out->n_brought++];
   run->from = (int64_t)(from - page);
   run->to = (int64_t)(to - page);
}

/* Makes present what is absent in [from, to] and satisfies `wanted`. */
typedef int page_test(const void *opaque, uint64_t page);

static void fill(tlb_fault_model *m, const rules *r, uint64_t from,
                 uint64_t to, uint8_t how, uint64_t page, page_test *wanted,
                 const void *opaque, tlb_fault *out)
{
   uint64_t n = 0, run_start = 0;
   int in_run = 0;
   for (uint64_t p = from; p <= to; p++) {
      uint8_t *s = state_of(m, r->plane, p);
      const int absent = (*s & PRESENT) == 0
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

/* Pages that one page table maps. */
static uint64_t table_pages(const tlb_fault_model *m)
{
   return (uint64_t)1 << (m->settings.page_shift - 3);
}

static int wants_thp(const tlb_fault_model *m, const tlb_mapping *v)
{
   if ((v->flags & TLB_MAP_NOHUGEPAGE) != 0
       || m->settings.thp == TLB_THP_NEVER)
      return 0;
   return m->settings.thp == TLB_THP_ALWAYS
          || (v->flags & TLB_MAP_HUGEPAGE) != 0;
}

/* The aligned block of 2^order pages around a page, if the mapping has all of
   it. */
static int block_in(const tlb_fault_model *m, const tlb_mapping *v,
                    uint64_t page, unsigned order, uint64_t *first)
{
   *first = page >> order << order;
   return *first >= page_of(m, v->start)
          && *first + ((uint64_t)1 << order) <= page_of(m, v->end);
}

/* Whether the block has neither pages nor, where that is asked, a page table. */
static int is_empty(tlb_fault_model *m, const rules *r, uint64_t first,
                    uint64_t pages, int no_table)
{
   for (uint64_t p = first; p < first + pages;) {
      tlb_fault_chunk *c = find_chunk(m, p >> CHUNK_SHIFT);
      const uint64_t end = min(first + pages,
                               ((p >> CHUNK_SHIFT) + 1) << CHUNK_SHIFT);
      if (c != NULL) {
         if (no_table && c->table[r->plane])
            return 0;
         const uint8_t *s = plane_of(m, c, r->plane);
         for (uint64_t i = p; i < end; i++) {
            if (s[i & (CHUNK_PAGES - 1)] != 0)
               return 0;
         }
      }
      p = end;
   }
   return 1;
}

static unsigned order_of(uint64_t pages)
{
   unsigned order = 0;
   while ((uint64_t)1 << order < pages)
      order++;
   return order;
}

/* Maps the aligned block around the page by one entry of a higher level, if
   that is possible. */
static int fill_huge(tlb_fault_model *m, const rules *r, const tlb_mapping *v,
                     uint64_t page, uint8_t how, tlb_fault *out)
{
   const uint64_t pages = table_pages(m);
   uint64_t first;
   if (!r->large || !wants_thp(m, v)
       || !block_in(m, v, page, order_of(pages), &first)
       || !is_empty(m, r, first, pages, 1))
      return 0;
   fill(m, r, first, first + pages - 1, how | HUGE, page, NULL, NULL, out);
   return 1;
}

/* The same with the largest folio of several pages that is in use and fits. */
static int fill_folio(tlb_fault_model *m, const rules *r, const tlb_mapping *v,
                      uint64_t page, uint8_t how, tlb_fault *out)
{
   uint32_t orders = m->settings.mthp_always;
   if ((v->flags & TLB_MAP_HUGEPAGE) != 0)
      orders |= m->settings.mthp_madvise;
   if (!r->large || (v->flags & TLB_MAP_NOHUGEPAGE) != 0)
      return 0;
   for (unsigned order = order_of(table_pages(m)) - 1; order > 0; order--) {
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
static int fill_hugetlb(tlb_fault_model *m, const rules *r,
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
      if (p != page && (state(m, r->plane, p) & PRESENT) != 0)
         *state_of(m, r->plane, p) = how;
   }
   fill(m, r, first, first + pages - 1, how, page, NULL, NULL, out);
   return 1;
}

static void note_table(tlb_fault_model *m, const rules *r, uint64_t page)
{
   if (r->plane < TLB_N_VIEWS)
      need_chunk(m, page >> CHUNK_SHIFT)->table[r->plane] = 1;
}

/* --- Faults --- */

/* What the page test of fault-around needs. */
typedef struct {
   tlb_fault_file *file;
   uint64_t to_file; /* add to a page number to have the file's */
   int by_cache;     /* only pages that the cache has */
} around;

static int comes_along(const void *opaque, uint64_t page)
{
   const around *a = opaque;
   const uint64_t n = page + a->to_file;
   return n < a->file->pages
          && (!a->by_cache || (cached(a->file, n) & (CACHED | MARKED)) == CACHED);
}

static int tries_around(const tlb_fault_model *m, const rules *r,
                        const tlb_mapping *v)
{
   return r->around && m->settings.fault_around >> m->settings.page_shift > 1
          && (v->flags & TLB_MAP_NO_AROUND) == 0;
}

/* do_fault_around(): the window is aligned by its place in the page table, and
   clamped to the mapping and to the page table. */
static void fault_around(tlb_fault_model *m, const rules *r,
                         const tlb_mapping *v, uint64_t page, const around *a,
                         uint8_t how, tlb_fault *out)
{
   const uint64_t pages = m->settings.fault_around >> m->settings.page_shift;
   if (!tries_around(m, r, v))
      return;
   const uint64_t in_table = (page + r->shift) & (table_pages(m) - 1);
   const uint64_t in_map = page - page_of(m, v->start);
   /* A mapping of small pages may end inside a larger base page. */
   const uint64_t left = page_of(m, v->end - 1) + 1 - page;
   const uint64_t from = max(in_table - in_table % pages,
                             in_table - min(in_table, in_map));
   const uint64_t to = min(min(from + pages, table_pages(m)),
                           in_table + left) - 1;
   const uint64_t low = page - in_table + from;
   const uint64_t high = page - in_table + to;
   for (uint64_t p = low; r->cold && p <= high; p++)
      a->file->misses -= a->file->misses > 0 && comes_along(a, p);
   fill(m, r, low, high, how, page, comes_along, a, out);
}

static int is_shared(const tlb_mapping *v)
{
   return (v->flags & TLB_MAP_SHARED) != 0;
}

/* A file's page must be there before it can be mapped. */
static void have_cached(tlb_fault_model *m, const rules *r,
                        const tlb_mapping *v, tlb_fault_file *f,
                        uint64_t file_page, int around_first, tlb_fault *out)
{
   if (f->is_tmpfs) {
      tlb_fault_file_read(m, f->device, f->inode,
                          file_page << m->settings.page_shift, 1);
      return;
   }
   if (!r->cold)
      return;
   const unsigned c = cached(f, file_page);
   if (c == 0)
      read_in(m, v, f, file_page, out);
   else if (!around_first || (c & MARKED) != 0)
      found_there(m, v, f, file_page);
}

static tlb_fault_kind absent(tlb_fault_model *m, const rules *r,
                             const tlb_mapping *v, uint64_t page,
                             tlb_touch touch, tlb_fault *out)
{
   const int writes = touch == TLB_TOUCH_WRITE;
   uint8_t *s;
   if (!is_file(v)) {
      const uint8_t how = writes ? PRESENT | WRITABLE | OWNED : PRESENT | ZERO;
      const uint8_t real = writes ? how : PRESENT | OWNED;
      if (fill_hugetlb(m, r, v, page, real, out)) {
      } else if (!fill_huge(m, r, v, page, how, out)
                 && !(writes && fill_folio(m, r, v, page, how, out))) {
         note_table(m, r, page);
         *state_of(m, r->plane, page) = how;
      }
      if (writes)
         return TLB_FAULT_WRITE;
      return touch == TLB_TOUCH_FETCH ? TLB_FAULT_CODE : TLB_FAULT_ZERO;
   }
   tlb_fault_file *f = need_file(m, v->device, v->inode);
   const uint64_t to_file = page_of(m, v->offset) - page_of(m, v->start);
   note_table(m, r, page);
   have_cached(m, r, v, f, page + to_file,
               !writes && tries_around(m, r, v), out);
   if (!writes) {
      const around a = { f, to_file, r->cold || f->is_tmpfs };
      const int no_tracking = is_shared(v) && f->is_tmpfs
                              && (v->prot & TLB_MAY_WRITE) != 0;
      const uint8_t how = no_tracking ? PRESENT | WRITABLE : PRESENT;
      if (!fill_hugetlb(m, r, v, page, how, out))
         fault_around(m, r, v, page, &a, how, out);
      s = state_of(m, r->plane, page);
      if (*s == 0)
         *s = how;
      return touch == TLB_TOUCH_FETCH ? TLB_FAULT_CODE : TLB_FAULT_READ;
   }
   s = state_of(m, r->plane, page);
   *s = is_shared(v) ? PRESENT | WRITABLE : PRESENT | WRITABLE | OWNED;
   fill_hugetlb(m, r, v, page, *s, out);
   return TLB_FAULT_WRITE;
}

/* A write to a page that is present, but may not be written to. */
static tlb_fault_kind protected(tlb_fault_model *m, const rules *r,
                                const tlb_mapping *v, uint64_t page,
                                tlb_fault *out)
{
   uint8_t *s = state_of(m, r->plane, page);
   if (is_shared(v)) {
      *s |= WRITABLE;
      return TLB_FAULT_DIRTY;
   }
   const uint8_t how = PRESENT | WRITABLE | OWNED;
   const uint64_t pages = table_pages(m);
   const uint64_t first = page & ~(pages - 1);
   if ((*s & (ZERO | HUGE)) == (ZERO | HUGE)) {
      for (uint64_t p = first; p < first + pages; p++)
         *state_of(m, r->plane, p) = how | HUGE;
   } else if (!fill_hugetlb(m, r, v, page, how, out)) {
      *s = how;
   }
   *state_of(m, r->plane, page) |= how;
   return TLB_FAULT_COPY;
}

static tlb_fault_kind touch_plane(tlb_fault_model *m, const rules *r,
                                  const tlb_mapping *v, uint64_t page,
                                  tlb_touch touch, tlb_fault *out)
{
   const uint8_t s = state(m, r->plane, page);
   out->major = 0;
   out->n_brought = 0;
   if ((s & PRESENT) == 0)
      out->kind = absent(m, r, v, page, touch, out);
   else if (touch == TLB_TOUCH_WRITE && (s & WRITABLE) == 0)
      out->kind = protected(m, r, v, page, out);
   else
      out->kind = TLB_NO_FAULT;
   return out->kind;
}

static tlb_fault_group group_of(const tlb_mapping *v)
{
   if (!is_file(v)
       || (v->flags & (TLB_MAP_NO_AROUND | TLB_MAP_FIXED_PHASE)) != 0)
      return TLB_GROUP_OTHER;
   return (v->flags & TLB_MAP_MAIN) != 0 ? TLB_GROUP_PROGRAM
                                         : TLB_GROUP_LIBRARIES;
}

/* What the touch would be if all lay 1 to 15 pages higher. */
static void touch_phases(tlb_fault_model *m, const tlb_mapping *v,
                         uint64_t page, tlb_touch touch, int is_fault,
                         int counts)
{
   const tlb_fault_group group = group_of(v);
   uint64_t *n = m->phase[group];
   if (!m->settings.phases)
      return;
   n[0] += (uint64_t)(is_fault && counts);
   for (unsigned k = 1; k < TLB_N_PHASES; k++) {
      if (group != TLB_GROUP_OTHER) {
         const rules r = { .plane = TLB_N_VIEWS + k - 1, .shift = k,
                           .around = 1, .large = 1 };
         tlb_fault ignored;
         is_fault = touch_plane(m, &r, v, page, touch, &ignored)
                    != TLB_NO_FAULT;
      }
      n[k] += (uint64_t)(is_fault && counts);
   }
}

static int may(const tlb_mapping *v, tlb_touch touch)
{
   switch (touch) {
   case TLB_TOUCH_WRITE: return (v->prot & TLB_MAY_WRITE) != 0;
   case TLB_TOUCH_FETCH: return (v->prot & TLB_MAY_EXECUTE) != 0;
   default: return v->prot != 0;
   }
}

static int touch_views(tlb_fault_model *m, uint64_t address, tlb_touch touch,
                       tlb_fault out[TLB_N_VIEWS], int counts)
{
   const tlb_mapping *v = tlb_mappings_find(&m->maps, address);
   int any = 0;
   for (unsigned view = 0; view < TLB_N_VIEWS; view++)
      out[view].kind = TLB_NO_FAULT;
   if (v == NULL || !may(v, touch))
      return 0;
   const uint64_t page = page_of(m, address);
   /* What is there without help is there with help. */
   const uint8_t enough = touch == TLB_TOUCH_WRITE ? PRESENT | WRITABLE
                                                   : PRESENT;
   if ((state(m, TLB_VIEW_4K, page) & enough) == enough)
      return 0;
   for (unsigned view = 0; view < TLB_N_VIEWS; view++) {
      tlb_fault *f = &out[view];
      tlb_fault_counts *n = &m->counts[view];
      if (touch_plane(m, &view_rules[view], v, page, touch, f) == TLB_NO_FAULT)
         continue;
      any = 1;
      n->populated += (uint64_t)!counts;
      n->faults += (uint64_t)counts;
      n->major += (uint64_t)(counts && f->major);
      n->kind[f->kind] += (uint64_t)counts;
   }
   touch_phases(m, v, page, touch, out[TLB_VIEW_WARM].kind != TLB_NO_FAULT,
                counts);
   if (touch == TLB_TOUCH_WRITE && any && !is_shared(v))
      note_anon(m, v->start, v->end);
   return any;
}

int tlb_fault_touch(tlb_fault_model *m, uint64_t address, tlb_touch touch,
                    tlb_fault out[TLB_N_VIEWS])
{
   return touch_views(m, address, touch, out, 1);
}

int tlb_fault_is_present(tlb_fault_model *m, uint64_t address,
                         tlb_fault_view view)
{
   return (state(m, view, page_of(m, address)) & PRESENT) != 0;
}

void tlb_fault_settle(tlb_fault_model *m, uint64_t address, tlb_touch touch)
{
   tlb_fault ignored[TLB_N_VIEWS];
   touch_views(m, address, touch, ignored, 0);
}

void tlb_fault_populate(tlb_fault_model *m, uint64_t start, uint64_t end,
                        tlb_touch touch)
{
   const uint64_t step = (uint64_t)1 << m->settings.page_shift;
   for (uint64_t a = start; a < end; a += step)
      tlb_fault_settle(m, a, touch);
}

void tlb_fault_lock(tlb_fault_model *m, uint64_t start, uint64_t end)
{
   for (uint64_t at = start; at < end;) {
      const tlb_mapping *v = tlb_mappings_find(&m->maps, at);
      if (v == NULL) {
         const size_t i = tlb_mappings_above(&m->maps, at);
         if (i == m->maps.count)
            return;
         at = m->maps.at[i]->start;
         continue;
      }
      const int writes = (v->prot & TLB_MAY_WRITE) != 0 && !is_shared(v);
      const uint64_t to = min(v->end, end);
      tlb_fault_populate(m, at, to,
                         writes ? TLB_TOUCH_WRITE : TLB_TOUCH_READ);
      at = to;
   }
}

void tlb_fault_collapse(tlb_fault_model *m, uint64_t start, uint64_t end)
{
   const uint64_t pages = table_pages(m);
   const uint64_t bytes = pages << m->settings.page_shift;
   for (uint64_t a = (start + bytes - 1) & ~(bytes - 1); a + bytes <= end;
        a += bytes) {
      const tlb_mapping *v = tlb_mappings_find(&m->maps, a);
      if (v == NULL || is_file(v) || is_shared(v) || v->end < a + bytes)
         continue;
      for (unsigned view = TLB_VIEW_WARM; view < TLB_N_VIEWS; view++) {
         for (uint64_t i = 0; i < pages; i++)
            *state_of(m, view, page_of(m, a) + i)
               = PRESENT | WRITABLE | OWNED | HUGE;
      }
   }
}

/* --- fork() --- */

/* Pages of this process alone are shared with the other one from now on. */
static void share_pages(tlb_fault_model *m, tlb_fault_chunk *c, size_t from,
                        size_t to, const void *opaque)
{
   (void)opaque;
   const unsigned planes = c->phases == NULL ? (unsigned)TLB_N_VIEWS
                                             : (unsigned)N_PLANES;
   for (unsigned plane = 0; plane < planes; plane++) {
      uint8_t *s = plane_of(m, c, plane);
      for (size_t i = from; i < to; i++)
         s[i] &= (uint8_t)~(WRITABLE | HUGE);
   }
}

void tlb_fault_fork(tlb_fault_model *m, int is_child)
{
   for (size_t i = 0; i < m->maps.count; i++) {
      const tlb_mapping v = *m->maps.at[i];
      const uint64_t first = page_of(m, v.start);
      const uint64_t end = page_of(m, v.end);
      if (is_child && (v.flags & TLB_MAP_NO_FORK) != 0) {
         tlb_fault_unmap(m, v.start, v.end);
         i--;
         continue;
      }
      /* The kernel copies the page tables only of what can not be had
         again. */
      const int copied = tlb_mappings_overlap(&m->anon, v.start, v.end)
                         && !is_shared(&v)
                         && (v.flags & TLB_MAP_WIPE_ON_FORK) == 0;
      if (copied && (v.flags & TLB_MAP_NO_FORK) == 0)
         each_chunk(m, first, end, share_pages, NULL);
      else if (is_child)
         each_chunk(m, first, end, clear_pages, NULL);
   }
}
