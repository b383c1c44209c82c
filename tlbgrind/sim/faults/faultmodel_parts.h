/* What the parts of the fault model share. Private; faultmodel.h is public.

   page_tables.c keeps the page tables; page_cache.c keeps the page cache and reads files
   ahead; fault_around.c makes pages present that come along with a fault; faultmodel.c has
   the public functions.

   Part of the simulator: plain C11, no libc, no Valgrind. */

#ifndef TLB_FAULTMODEL_PARTS_H
#define TLB_FAULTMODEL_PARTS_H

#include "sim/faults/faultmodel.h"

/* --- page_tables.c: page tables ---

   The state of the pages is kept in chunks of 512, in planes: one for each
   view, one for each phase but the first, which is the warm view's, and one for
   each trial. All planes go through the same code; a plane's rules say what
   differs. */

/* What a page-table entry says; 0: there is none. */
enum {
   TLB_PTE_PRESENT = 1,
   TLB_PTE_WRITABLE = 2,
   TLB_PTE_OWNED = 4, /* a page of this process alone, or shared since a fork */
   TLB_PTE_ZERO = 8,  /* the zero page */
   TLB_PTE_HUGE = 16, /* part of a mapping by an entry of a higher level */
   TLB_PTE_OLD = 32,   /* not accessed, and */
   TLB_PTE_CLEAN = 64, /* not written to since MADV_FREE or MADV_COLD; in the warm view */
   TLB_PTE_EDGE = 128, /* fault-around ended at this page of a file before it was known in which
                          folio a start with no file cached leaves it: tlb_fill_late() */

   TLB_PTE_SHARED = TLB_PTE_PRESENT | TLB_PTE_WRITABLE,
   TLB_PTE_PRIVATE = TLB_PTE_PRESENT | TLB_PTE_WRITABLE | TLB_PTE_OWNED
};

enum {
   TLB_CHUNK_SHIFT = 9,
   TLB_CHUNK_PAGES = 1 << TLB_CHUNK_SHIFT,
   TLB_FIRST_TRIAL = TLB_N_VIEWS + TLB_N_PHASES - 1, /* plane */
   TLB_FAULT_PLANES = TLB_FIRST_TRIAL + TLB_MAX_TRIALS
};

struct tlb_fault_chunk {
   tlb_fault_chunk *next;
   uint64_t number;             /* page number >> TLB_CHUNK_SHIFT */
   uint16_t tables[TLB_N_VIEWS + TLB_MAX_TRIALS]; /* there has been a page table: a bit for each, if
                                                     there are several */
   uint8_t *phases;             /* NULL until a file's page is touched */
   uint8_t *trials;             /* NULL until a page is touched in one */
   uint8_t views[TLB_N_VIEWS * TLB_CHUNK_PAGES];
};

/* How a plane differs from the others. */
typedef struct {
   unsigned plane;
   unsigned shift; /* everything lies so many pages higher */
   int around;
   int large;
   int cold;
   const tlb_fault_folios *folios; /* NULL: those of the settings */
} tlb_fault_rules;

void tlb_chunks_init(tlb_fault_model *m);
void tlb_chunks_free(tlb_fault_model *m);

tlb_fault_chunk *tlb_chunk_find(tlb_fault_model *m, uint64_t number);
tlb_fault_chunk *tlb_chunk_need(tlb_fault_model *m, uint64_t number);
void tlb_chunk_free(tlb_fault_model *m, tlb_fault_chunk *c);

/* The states of the chunk's pages in a plane, which is made if it is not there. */
uint8_t *tlb_chunk_plane(const tlb_fault_model *m, tlb_fault_chunk *c,
                         unsigned plane);

static inline int tlb_chunk_has_plane(const tlb_fault_chunk *c, unsigned plane)
{
   return plane < TLB_N_VIEWS
          || (plane < TLB_FIRST_TRIAL ? c->phases : c->trials) != NULL;
}

/* Where the page tables of a plane are noted; NULL: they are not, of a phase. */
static inline uint16_t *tlb_chunk_tables(tlb_fault_chunk *c, unsigned plane)
{
   if (plane < TLB_N_VIEWS)
      return &c->tables[plane];
   return plane < TLB_FIRST_TRIAL ? NULL : &c->tables[TLB_N_VIEWS + plane - TLB_FIRST_TRIAL];
}

/* The state of a page: to be changed, or to be looked at. */
uint8_t *tlb_pte_at(tlb_fault_model *m, unsigned plane, uint64_t page);
uint8_t tlb_pte(tlb_fault_model *m, unsigned plane, uint64_t page);

/* Calls `each` for every chunk that has pages of [first, end), with these
   pages' numbers within the chunk, which it may free; or for one chunk, if it
   has any. */
typedef void tlb_chunk_do(tlb_fault_model *m, tlb_fault_chunk *c, size_t from,
                          size_t to, const void *opaque);
void tlb_chunk_each(tlb_fault_model *m, uint64_t first, uint64_t end,
                    tlb_chunk_do *each, const void *opaque);
void tlb_chunk_within(tlb_fault_model *m, tlb_fault_chunk *c, uint64_t first,
                      uint64_t end, tlb_chunk_do *each, const void *opaque);

/* --- page_cache.c: the page cache --- */

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
   int ahead_goes_on;    /* a window is being read that follows another */
   int is_coming;        /* it is still being read */
   unsigned misses;      /* mmap_miss of the kernel */
};

void tlb_files_free(tlb_fault_model *m);

tlb_fault_file *tlb_file_need(tlb_fault_model *m, uint64_t device,
                              uint64_t inode);

/* A file's page must be there before it can be mapped. `around_first`: the
   kernel looks around before it looks for the page. */
void tlb_file_have(tlb_fault_model *m, const tlb_fault_rules *r,
                   const tlb_mapping *v, tlb_fault_file *f, uint64_t file_page,
                   int around_first, tlb_fault *out);

/* Whether the cache has the page in such a way that fault-around takes it
   along. */
int tlb_file_gives(const tlb_fault_file *f, uint64_t file_page);

/* Whether faults on the file through the mapping count as misses, with which read-ahead ends, and
   as hits. */
int tlb_file_counts_misses(const tlb_fault_model *m, const tlb_mapping *v);

/* The fault is over, and what it has made the kernel read on is there from now on. */
void tlb_file_arrives(tlb_fault_file *f);

/* Whether the cache has the page, which then stays in its folio. */
int tlb_file_has(const tlb_fault_file *f, uint64_t file_page);

/* The order of the folio that the page is in. */
unsigned tlb_file_order(const tlb_fault_file *f, uint64_t file_page);

/* --- fault_around.c: what comes along --- */

/* Pages that one page table maps, and their logarithm. */
uint64_t tlb_table_pages(const tlb_fault_model *m);
unsigned tlb_table_order(const tlb_fault_model *m);

/* The page's table in chunk.tables. */
uint16_t tlb_table_bit(const tlb_fault_model *m, uint64_t page);

/* These make present what belongs together with `page`, each entry being `how`,
   and return whether they did: a huge page and a folio of several pages, of
   anonymous memory; a page of hugetlbfs. */
int tlb_fill_huge(tlb_fault_model *m, const tlb_fault_rules *r,
                  const tlb_mapping *v, uint64_t page, uint8_t how,
                  tlb_fault *out);
int tlb_fill_folio(tlb_fault_model *m, const tlb_fault_rules *r,
                   const tlb_mapping *v, uint64_t page, uint8_t how,
                   tlb_fault *out);
int tlb_fill_hugetlb(tlb_fault_model *m, const tlb_fault_rules *r,
                     const tlb_mapping *v, uint64_t page, uint8_t how,
                     tlb_fault *out);

/* The same of a file, if a folio of the page cache fills a page table that is not there yet. */
int tlb_fill_huge_file(tlb_fault_model *m, const tlb_fault_rules *r, const tlb_mapping *v,
                       uint64_t page, tlb_fault_file *f, uint8_t how, tlb_fault *out);

/* The pages of a file around `page`; `by_cache`: only what the cache has. The first try, before
   the page itself is looked for, is only for the count of misses: what it maps, the second does,
   too. */
int tlb_fill_tries_around(const tlb_fault_model *m, const tlb_fault_rules *r,
                          const tlb_mapping *v);
void tlb_fill_looks_around(tlb_fault_model *m, const tlb_fault_rules *r, const tlb_mapping *v,
                           uint64_t page, tlb_fault_file *f);
void tlb_fill_around(tlb_fault_model *m, const tlb_fault_rules *r,
                     const tlb_mapping *v, uint64_t page, tlb_fault_file *f,
                     int by_cache, uint8_t how, tlb_fault *out);

/* Whether views of which no touch waits for the disk find files in the folios in which a start with
   no file cached has read them, which is what the cold view has read so far. */
int tlb_folios_are_left(const tlb_fault_model *m);

/* A page of a file that is absent turns out to have come along with an earlier fault-around, now
   that its folio is known: it and what is absent of the folio become present. Returns whether it
   was so. */
int tlb_fill_late(tlb_fault_model *m, const tlb_fault_rules *r, const tlb_mapping *v,
                  uint64_t page, tlb_fault *out);

/* Pages [first, end) go: what ended there or near brings none of them back. */
void tlb_forget_edges(tlb_fault_model *m, uint64_t first, uint64_t end);

/* --- Common to all --- */

static inline uint64_t tlb_min(uint64_t a, uint64_t b)
{
   return a < b ? a : b;
}

static inline uint64_t tlb_max(uint64_t a, uint64_t b)
{
   return a > b ? a : b;
}

static inline void tlb_set_bytes(uint8_t *to, uint8_t value, size_t n)
{
   for (size_t i = 0; i < n; i++)
      to[i] = value;
}

static inline void *tlb_take_zeroed(const tlb_memory *memory, size_t bytes)
{
   uint8_t *p = memory->take(bytes, memory->opaque);
   tlb_set_bytes(p, 0, bytes);
   return p;
}

static inline void tlb_give(const tlb_memory *memory, void *p)
{
   if (p != NULL)
      memory->give(p, memory->opaque);
}

static inline uint64_t tlb_page_of(const tlb_fault_model *m, uint64_t address)
{
   return address >> m->settings.page_shift;
}

static inline int tlb_is_file(const tlb_mapping *v)
{
   return v->inode != 0 || v->device != 0;
}

/* Whether msync() of the mapping, or with `inode` fsync() of that file, cleans its pages. */
int tlb_is_written_back(tlb_fault_model *m, const tlb_mapping *v, uint64_t device,
                        uint64_t inode);

static inline int tlb_is_shared(const tlb_mapping *v)
{
   return (v->flags & TLB_MAP_SHARED) != 0;
}

/* The number of the page in the file that is mapped there. */
static inline uint64_t tlb_file_page(const tlb_fault_model *m,
                                     const tlb_mapping *v, uint64_t page)
{
   return page + (tlb_page_of(m, v->offset) - tlb_page_of(m, v->start));
}

#endif
