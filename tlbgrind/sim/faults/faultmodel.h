/* The fault model: the page faults that Linux would take.

   The caller reports an address space, laid out as the kernel would (layout.h), and the
   touches of its pages. Each touch is a fault or none, of one kind, and other pages can become
   present along with it. The model follows mm/memory.c, mm/filemap.c and mm/huge_memory.c of
   Linux 6.18; of other versions, kernel_rules.h has what is done with files. Of each page it keeps
   what a page-table entry holds: whether there is one, whether it may be written to, and what it
   maps.

   Several views of the same run are kept side by side: tlb_fault_view.

   Part of the simulator: plain C11, no libc, no Valgrind. */

#ifndef TLB_FAULTMODEL_H
#define TLB_FAULTMODEL_H

#include <stddef.h>
#include <stdint.h>

#include "sim/base/api.h"
#include "sim/faults/kernel_rules.h"
#include "sim/pages/mappings.h"

TLB_API_BEGIN

typedef enum {
   TLB_TOUCH_READ,
   TLB_TOUCH_WRITE, /* a read-modify-write, too */
   TLB_TOUCH_FETCH
} tlb_touch;

typedef enum {
   TLB_NO_FAULT,
   TLB_FAULT_CODE,  /* fetch of a page that is not present */
   TLB_FAULT_READ,  /* read of one of a file or of shared memory */
   TLB_FAULT_ZERO,  /* read of an anonymous one: the zero page is mapped */
   TLB_FAULT_WRITE, /* write to one that is not present */
   TLB_FAULT_COPY,  /* write to a private page that is mapped read-only */
   TLB_FAULT_DIRTY, /* write to a clean page of a shared file mapping */
   TLB_N_FAULT_KINDS
} tlb_fault_kind;

typedef enum {
   TLB_VIEW_4K,   /* every base page for itself */
   TLB_VIEW_WARM, /* Linux, all files in the page cache */
   TLB_VIEW_COLD, /* Linux, no file in the page cache */
   TLB_N_VIEWS
} tlb_fault_view;

/* Address randomisation moves mappings by whole base pages. What fault-around
   makes of it repeats after this many of them, for fault-around of up to 16
   pages. */
enum { TLB_N_PHASES = 16 };

/* The kernel moves these by distances of their own. */
typedef enum {
   TLB_GROUP_PROGRAM,
   TLB_GROUP_LIBRARIES, /* all that mmap places */
   TLB_GROUP_OTHER,     /* what does not depend on where it lies */
   TLB_N_GROUPS
} tlb_fault_group;

/* Which large pages anonymous memory can have, as in the settings below. */
typedef struct {
   tlb_thp_mode thp;
   uint32_t mthp_always;
   uint32_t mthp_madvise;
} tlb_fault_folios;

enum { TLB_MAX_TRIALS = 4 };

typedef struct {
   unsigned page_shift;       /* of the base page, 12 to 16 */
   unsigned huge_shift;       /* of a transparent huge page: what one page table maps; 0: as much as
                                 entries of 8 bytes in a base page */
   uint64_t fault_around;     /* bytes, a power of two; at most a base page:
                                 none */
   uint64_t read_ahead;       /* bytes that a major fault reads */
   const tlb_kernel_rules *kernel; /* NULL: tlb_kernel_usual() */
   unsigned code_folio_shift; /* of what code is read in where the kernel has code_ahead, as on
                                 arm64; up to the base page's: in base pages */
   tlb_thp_mode thp;
   uint32_t mthp_always;      /* bit n: anonymous folios of 2^n pages are in use
                                 everywhere */
   uint32_t mthp_madvise;     /* in memory with MADV_HUGEPAGE */
   tlb_fault_folios trial[TLB_MAX_TRIALS]; /* others: the faults of the warm view with these, and
                                              all else as it is, are counted beside the views */
   unsigned n_trials;
   int phases;                /* whether the phases are counted */
} tlb_fault_settings;

/* Mappings of the model have flags of its own beside those of mappings.h. */
enum {
   TLB_MAP_NO_AROUND = 512,    /* the kernel's own pages: no fault-around */
   TLB_MAP_FIXED_PHASE = 1024, /* address randomisation keeps its place in a page
                                  table */
   TLB_MAP_ACCOUNTED = 2048    /* private and writable, or was once; set by the
                                  model. It never becomes one with what was not:
                                  VM_ACCOUNT of the kernel */
};

/* Pages from `from` to `to`, as distances from the page that faulted. */
typedef struct {
   int64_t from;
   int64_t to;
} tlb_page_run;

enum { TLB_MAX_PAGE_RUNS = 258 };

typedef struct {
   tlb_fault_kind kind;
   int major;
   int breaks;          /* a transparent huge page, shared since a fork, into small ones */
   int came_late;       /* the page had come along with an earlier fault, as is known only now; so
                           have those that are brought then, without a fault, too */
   unsigned n_brought;  /* runs of other pages that became present */
   tlb_page_run brought[TLB_MAX_PAGE_RUNS];
   tlb_page_run read;   /* major: what was read from the disk, by distance */
} tlb_fault;

typedef struct {
   uint64_t faults;
   uint64_t major;
   uint64_t kind[TLB_N_FAULT_KINDS];
   uint64_t brought;   /* pages that came along */
   uint64_t populated; /* faults that the kernel took for the program in mlock(),
                          MAP_POPULATE and MADV_POPULATE_*: getrusage() counts
                          them, no event is raised */
} tlb_fault_counts;

typedef struct tlb_fault_chunk tlb_fault_chunk;
typedef struct tlb_fault_file tlb_fault_file;

typedef struct {
   tlb_fault_settings settings;
   tlb_memory memory;
   tlb_mappings maps;        /* to be looked at, not to be changed */
   tlb_mappings anon;        /* mappings of which a page has been copied or made:
                                the kernel's anon_vma */
   tlb_fault_chunk **chunk;  /* by number, hashed */
   size_t chunk_slots;
   size_t n_chunks;
   tlb_fault_chunk *last;
   tlb_fault_file *files;
   tlb_fault_counts counts[TLB_N_VIEWS];
   uint64_t phase[TLB_N_GROUPS][TLB_N_PHASES]; /* faults of the warm view */
   uint32_t trial_faults;    /* bit n: the last touch was a fault in trial n */
   tlb_thp_consent thp;      /* beside the settings */
   uint64_t stack_low;       /* the first thread's stack begins at this page so far;
                                0: nothing of it has been touched */
   /* Whether another process still has pages that a fork shared; NULL: it has. */
   int (*is_still_shared)(void *opaque);
   void *opaque;
} tlb_fault_model;

/* Makes a model with an empty address space. memory->take() must not return NULL. */
void tlb_fault_init(tlb_fault_model *m, const tlb_fault_settings *settings,
                    const tlb_memory *memory);
void tlb_fault_free(tlb_fault_model *m);

/* What a forked child begins with: counts of zero. */
void tlb_fault_zero(tlb_fault_model *m);

/* --- What happens to the address space: bytes, whole base pages --- */

/* A file has `bytes` bytes; with is_tmpfs: its pages exist once they are touched, are
   never read from a disk, and there is no fault when they become dirty. Files
   that are never reported are taken to have no end. (Shared anonymous memory is
   a file of tmpfs, each a file of its own.) */
void tlb_fault_file_is(tlb_fault_model *m, uint64_t device, uint64_t inode,
                       uint64_t bytes, int is_tmpfs);

/* Whether the mapping is of such a file of tmpfs. */
int tlb_fault_is_tmpfs(tlb_fault_model *m, const tlb_mapping *v);

/* A part of the file came into the page cache by other means than faults. */
void tlb_fault_file_read(tlb_fault_model *m, uint64_t device, uint64_t inode,
                         uint64_t offset, uint64_t bytes);

/* The program has written a part of a file that may be mapped, and so many bytes it has
   now: what was written is in the page cache. Other files are of no interest. */
void tlb_fault_file_written(tlb_fault_model *m, uint64_t device, uint64_t inode,
                            uint64_t offset, uint64_t bytes, uint64_t size);

/* What is mapped there of files of tmpfs is taken out of them (MADV_REMOVE). */
void tlb_fault_file_removed(tlb_fault_model *m, uint64_t start, uint64_t end);

/* What is mapped there of files on a disk, or, with `inode`, whatever is mapped of that one,
   is written back: the next write to a page makes it dirty again (msync, fsync). */
void tlb_fault_written_back(tlb_fault_model *m, uint64_t start, uint64_t end,
                            uint64_t device, uint64_t inode);

/* The first bytes of the file have been read, as loaders of programs do: some pages more
   came with them. */
void tlb_fault_file_header(tlb_fault_model *m, uint64_t device,
                           uint64_t inode);

/* A new mapping in the place of whatever was there. */
void tlb_fault_map(tlb_fault_model *m, const tlb_mapping *mapping);
/* Removes what is mapped there, with its pages. */
void tlb_fault_unmap(tlb_fault_model *m, uint64_t start, uint64_t end);
/* prot: TLB_MAY_READ and so on. */
void tlb_fault_protect(tlb_fault_model *m, uint64_t start, uint64_t end,
                       unsigned prot);

/* mremap(): the pages of [from, from + length) go to `to`; `keep`: the old
   mapping stays, without pages (MREMAP_DONTUNMAP). */
void tlb_fault_move(tlb_fault_model *m, uint64_t from, uint64_t to,
                    uint64_t length, int keep);

/* The pages go, the mapping stays: MADV_REMOVE and its like. */
void tlb_fault_zap(tlb_fault_model *m, uint64_t start, uint64_t end);

/* The same for MADV_DONTNEED. Page tables that are covered as a whole go as well: Linux 6.14 and
   later on x86 (CONFIG_PT_RECLAIM). */
void tlb_fault_discard(tlb_fault_model *m, uint64_t start, uint64_t end);

/* MADV_PAGEOUT without swap: pages of files on a disk go, but for private copies; whatever else is
   there stays. */
void tlb_fault_page_out(tlb_fault_model *m, uint64_t start, uint64_t end);

/* Whether tlb_fault_discard() frees page tables. */
int tlb_fault_empties_tables(const tlb_fault_model *m);

/* Gives what is mapped there the flags in `set` and takes those in `clear`. */
void tlb_fault_flag(tlb_fault_model *m, uint64_t start, uint64_t end,
                    unsigned set, unsigned clear);

/* The kernel makes all pages present that are not, as by a touch of each, but
   takes no fault for it. */
void tlb_fault_populate(tlb_fault_model *m, uint64_t start, uint64_t end,
                        tlb_touch touch);

/* The same, for writing where that is allowed and the memory is private:
   mlock(), MAP_POPULATE. */
void tlb_fault_lock(tlb_fault_model *m, uint64_t start, uint64_t end);

/* The kernel maps shared pages of its own there when mmap() is called, writable:
   nobody counts a fault. */
void tlb_fault_insert(tlb_fault_model *m, uint64_t start, uint64_t end);

/* MADV_COLLAPSE: makes huge pages of all that can be ones. */
void tlb_fault_collapse(tlb_fault_model *m, uint64_t start, uint64_t end);

/* fork(): what it leaves to the parent, or what the child begins with. */
void tlb_fault_fork(tlb_fault_model *m, int is_child);

/* --- Touches --- */

/* The program or the kernel touches the page at `address`. Says what follows in
   each view. Returns whether it is a fault in any. */
int tlb_fault_touch(tlb_fault_model *m, uint64_t address, tlb_touch touch,
                    tlb_fault out[TLB_N_VIEWS]);

/* Whether the page is present in a view. */
int tlb_fault_is_present(tlb_fault_model *m, uint64_t address,
                         tlb_fault_view view);

/* The pages of [start, end) in the warm view whose page-table entries, as the processor sees them,
   a change of the protection to `prot` would change; with TLB_ALL_GO, that are present; with
   TLB_ALL_FREED or TLB_ALL_COOLED, those of MADV_FREE, accessed or written to since the last time,
   or of MADV_COLD, accessed. Returns 0 if there are none, else the first's and behind the last's
   address. */
enum { TLB_ALL_GO = -1, TLB_ALL_FREED = -2, TLB_ALL_COOLED = -3 };
int tlb_fault_concerned(tlb_fault_model *m, uint64_t start, uint64_t end, int prot,
                        uint64_t *from, uint64_t *to);

/* The pages are not accessed, and with TLB_ALL_FREED not written to, until they are touched
   again. */
void tlb_fault_age(tlb_fault_model *m, uint64_t start, uint64_t end, int prot);

/* Reports the pages that tlb_fault_written_back() with these arguments would clean. */
typedef void tlb_fault_page(uint64_t address, void *opaque);
void tlb_fault_each_dirty(tlb_fault_model *m, uint64_t start, uint64_t end, uint64_t device,
                          uint64_t inode, tlb_fault_page *each, void *opaque);

/* The pages of a file from byte `from` up to `to` are taken out of it, and out of the mappings of
   it; `copies`: private copies, too. `each` is called before for each mapping that has some, with
   their addresses. */
typedef void tlb_fault_range(uint64_t start, uint64_t end, void *opaque);
void tlb_fault_file_gone(tlb_fault_model *m, uint64_t device, uint64_t inode, uint64_t from,
                         uint64_t to, int copies, tlb_fault_range *each, void *opaque);

/* How many bytes the range has that the kernel flushes for tlb_fault_unmap() (`is_unmapped`) or
   tlb_fault_discard() of [start, end), before that is called: from the first to the last page that
   is present, and the beginnings of all page tables that are freed. 0: nothing is flushed. */
uint64_t tlb_fault_flushed(tlb_fault_model *m, uint64_t start, uint64_t end, int is_unmapped);

/* Makes this page present as by a touch, but alone, and without counting it: what the kernel does
   when it starts a program, whose stack has no large pages or folios until it is in its place. */
void tlb_fault_settle(tlb_fault_model *m, uint64_t address, tlb_touch touch);

TLB_API_END

#endif
