/* The layout: where the kernel would place what the program maps.

   Under Valgrind everything lies elsewhere. But a fault depends on where a page lies in its
   page table, and on its neighbours. So mappings are laid out again: the program, its
   interpreter, the stack and the heap where Linux puts them without address randomization, the
   rest from the top down as mmap() does.

   An address of this run is called *here*, the one that it would have natively *there*.

   Part of the simulator: plain C11, no libc, no Valgrind. */

#ifndef TLB_LAYOUT_H
#define TLB_LAYOUT_H

#include "sim/base/api.h"
#include "sim/pages/mappings.h"

TLB_API_BEGIN

typedef struct {
   uint64_t mmap_base;  /* mmap() places below it */
   uint64_t lowest;     /* and not below that */
   uint64_t huge_bytes; /* of a huge page: what mmap() aligns to */
   int unaligned;       /* but not for transparent ones */
   uint64_t stack_gap;  /* bytes that stay free below a stack */
} tlb_layout_rules;

typedef struct {
   tlb_layout_rules rules;
   const tlb_mappings *there; /* the model's */
   tlb_mappings here;  /* `offset` is the address there, `device` the ID */
   /* No gap above `full_from` has `full_bytes` or more. */
   uint64_t full_from;
   uint64_t full_bytes;
} tlb_layout;

/* Makes an empty layout. `there`: the mappings of the fault model, which must stay. */
void tlb_layout_init(tlb_layout *l, const tlb_layout_rules *rules,
                     const tlb_mappings *there, const tlb_memory *memory);
void tlb_layout_free(tlb_layout *l);

/* [start, end) here is the memory with the ID, and would lie at `there`. */
void tlb_layout_add(tlb_layout *l, uint64_t start, uint64_t end, uint64_t there,
                    uint64_t id);
/* What is mapped here in [start, end) is gone. */
void tlb_layout_remove(tlb_layout *l, uint64_t start, uint64_t end);

/* What stands there changed: gaps may have come. */
void tlb_layout_freed(tlb_layout *l);

/* The piece that has the byte here; NULL: none. In it, `offset` is where its
   start would lie, `device` its ID. */
const tlb_mapping *tlb_layout_find(tlb_layout *l, uint64_t here);

/* Where mmap() without an address would put so many bytes (whole pages) of a
   file from `offset` on, or of none. What huge pages could back is aligned
   for them; *aligned says whether it is. 0: there is no room. */
typedef enum {
   TLB_PLACED_MEMORY, /* anonymous */
   TLB_PLACED_FILE,
   TLB_PLACED_SHARED, /* shared anonymous memory, files of tmpfs: never aligned, as long as
                         shmem_enabled says so */
   TLB_PLACED_HUGETLB /* in huge pages on request (MAP_HUGETLB): always aligned */
} tlb_placed;

uint64_t tlb_layout_place(tlb_layout *l, uint64_t bytes, tlb_placed what,
                          uint64_t offset, int *aligned);

TLB_API_END

#endif
