/* The mappings of one address space, in order of their addresses.

   They are kept as Linux keeps its own (VMAs): a new mapping takes the place of what was
   there, a change to a part cuts a mapping in pieces, and equal neighbours become one.

   Part of the simulator: plain C11, no libc, no Valgrind. */

#ifndef TLB_MAPPINGS_H
#define TLB_MAPPINGS_H

#include <stddef.h>
#include <stdint.h>

#include "sim/base/api.h"
#include "sim/base/memory.h"

TLB_API_BEGIN

/* What may be done with the bytes: any of these together. */
enum { TLB_MAY_READ = 1, TLB_MAY_WRITE = 2, TLB_MAY_EXECUTE = 4 };

typedef enum {
   TLB_ANON,         /* anonymous memory of the program's own making */
   TLB_HEAP,         /* between the start of the heap and the break */
   TLB_STACK,        /* of the first thread */
   TLB_THREAD_STACK, /* of another thread (MAP_STACK) */
   TLB_BSS,          /* behind the data of a program or library */
   TLB_IMAGE,        /* from the file of a program or library */
   TLB_FILE,         /* from another file */
   TLB_SHM,          /* a System V segment */
   TLB_N_KINDS
} tlb_kind;

/* What else is to be said of a mapping: any of these together. */
enum {
   TLB_MAP_SHARED = 1,        /* MAP_SHARED, or a System V segment */
   TLB_MAP_MAIN = 2,          /* of the program itself, not of a library */
   TLB_MAP_FOREIGN = 4,       /* not the program's: Valgrind put it there */
   TLB_MAP_HUGETLB = 8,       /* requested in pages of 2^huge_shift bytes */
   TLB_MAP_HUGEPAGE = 16,     /* MADV_HUGEPAGE */
   TLB_MAP_NOHUGEPAGE = 32,   /* MADV_NOHUGEPAGE */
   TLB_MAP_LOCKED = 64,       /* mlock() or MAP_LOCKED */
   TLB_MAP_NO_FORK = 128,     /* MADV_DONTFORK: a child does not have it */
   TLB_MAP_WIPE_ON_FORK = 256, /* MADV_WIPEONFORK: a child has zeroes */
   /* (512 to 2048 are the fault model's.) */
   TLB_MAP_RANDOM = 4096,      /* MADV_RANDOM */
   TLB_MAP_SEQUENTIAL = 8192,  /* MADV_SEQUENTIAL */
   TLB_MAP_NO_DUMP = 16384,    /* MADV_DONTDUMP; like the two before, it parts a
                                  mapping from its neighbours */
   TLB_MAP_ON_FAULT = 32768,   /* with TLB_MAP_LOCKED: pages are brought in when they
                                  are touched, not before (MLOCK_ONFAULT) */
   TLB_MAP_MERGEABLE = 65536   /* MADV_MERGEABLE; parts a mapping, too */
};

/* Which memory the kernel gives transparent huge pages: none, what has MADV_HUGEPAGE, all
   but what has MADV_NOHUGEPAGE. */
typedef enum { TLB_THP_NEVER, TLB_THP_MADVISE, TLB_THP_ALWAYS } tlb_thp_mode;

/* What a process has set for transparent huge pages (PR_SET_THP_DISABLE). */
typedef enum {
   TLB_THP_ALLOWED,
   TLB_THP_ADVISED_ONLY, /* but for what has MADV_HUGEPAGE */
   TLB_THP_DISABLED
} tlb_thp_consent;

typedef struct {
   uint64_t start;   /* the mapping is [start, end) */
   uint64_t end;
   uint64_t device;  /* which file, 0 and 0: none */
   uint64_t inode;
   uint64_t offset;  /* of `start` in the file */
   const char *name; /* of the file, or NULL. Not copied: it must stay. */
   uint64_t serial;  /* which of the calls that make mappings made it, from 1;
                        pieces of a mapping share it, and of two that become
                        one the smaller stays */
   uint32_t flags;   /* TLB_MAP_SHARED and so on */
   uint8_t prot;     /* TLB_MAY_READ and so on */
   uint8_t kind;     /* a tlb_kind */
   uint8_t huge_shift; /* with TLB_MAP_HUGETLB, else 0 */
   uint8_t number;     /* of a large mapping, for the rules that name one by it: large.h. 0
                          in a list of mappings: neighbours of two numbers become one */
} tlb_mapping;

typedef struct {
   tlb_mapping **at; /* by address, none overlaps another */
   size_t count;
   size_t room;
   tlb_mapping *last; /* the last that was found, or NULL */
   tlb_memory memory;
} tlb_mappings;

/* memory->take() must not return NULL here. */
void tlb_mappings_init(tlb_mappings *s, const tlb_memory *memory);
void tlb_mappings_free(tlb_mappings *s);

/* The mapping that has the byte at `address`, or NULL. It stays true until
   the next change. */
const tlb_mapping *tlb_mappings_find(tlb_mappings *s, uint64_t address);

/* The number of the first mapping that ends above `address`: `at[number]`, or
   `count` if there is none. */
size_t tlb_mappings_above(const tlb_mappings *s, uint64_t address);

/* Whether any mapping has a byte of [start, end). */
int tlb_mappings_overlap(const tlb_mappings *s, uint64_t start, uint64_t end);

/* The first piece of a mapping in [start, end), as if it were a mapping of its own: *piece.
   Returns 0 if nothing is mapped there. A loop that goes on at piece->end sees all
   pieces, and may change what is mapped meanwhile. */
int tlb_mappings_piece(const tlb_mappings *s, uint64_t start, uint64_t end,
                       tlb_mapping *piece);

/* Adds a copy of *m, in the place of whatever is in [start, end). */
void tlb_mappings_add(tlb_mappings *s, const tlb_mapping *m);

/* Removes what is mapped in [start, end); pieces outside stay. */
void tlb_mappings_remove(tlb_mappings *s, uint64_t start, uint64_t end);

/* Changes whatever is mapped in [start, end), piece by piece. `change` may
   alter anything but start, end and offset. */
typedef void tlb_mapping_change(tlb_mapping *m, void *opaque);
void tlb_mappings_change(tlb_mappings *s, uint64_t start, uint64_t end,
                         tlb_mapping_change *change, void *opaque);

static inline int tlb_thp_given(tlb_thp_mode mode, const tlb_mapping *m)
{
   return mode != TLB_THP_NEVER && (m->flags & TLB_MAP_NOHUGEPAGE) == 0
          && (mode == TLB_THP_ALWAYS || (m->flags & TLB_MAP_HUGEPAGE) != 0);
}

static inline int tlb_thp_consented(tlb_thp_consent consent,
                                    const tlb_mapping *m)
{
   return consent == TLB_THP_ALLOWED
          || (consent == TLB_THP_ADVISED_ONLY
              && (m->flags & TLB_MAP_HUGEPAGE) != 0);
}

TLB_API_END

#endif
