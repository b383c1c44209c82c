/* An LRU stack: fully associative LRU arrays of several sizes, simulated as one.

   (Or the sets of arrays that differ in their ways.) All arrays see the same references, so a
   larger one holds all that a smaller one holds: the pages that were referenced last (Mattson,
   Gecsei, Slutz and Traiger, "Evaluation techniques for storage hierarchies", IBM Systems
   Journal 9, 1970). Only the smallest is simulated as an array (array.h).

   A page that the smallest evicts goes onto the stack, to the size of the next larger array;
   what no longer fits there goes to the next size; what fits on none is in none of the arrays.
   The pages of a size stand in the order in which they came, which is the order of their last
   references: a reference to one of them takes it off.

   Part of the simulator: plain C11, no libc, no Valgrind. */

#ifndef TLB_LRU_STACK_H
#define TLB_LRU_STACK_H

#include <stddef.h>
#include <stdint.h>

#include "sim/base/api.h"

TLB_API_BEGIN

enum { TLB_LRU_STACK_MAX_SIZES = 16 };

typedef struct {
   void *page;    /* NULL: the place is free */
   uint32_t newer, older;
   uint32_t size;
} tlb_lru_stack_node;

typedef struct {
   uint32_t entries; /* of the array, in entries */
   uint32_t n;      /* pages on it; none on size 0 */
   uint32_t oldest; /* of them, if there are any */
} tlb_lru_stack_size;

/* Places are numbered from 1, the newest page's first; place 0 stands at both
   ends. Few sizes are one line of the processor's cache, for there can be many LRU stacks. */
typedef struct {
   uint32_t n_sizes __attribute__((aligned(64)));
   uint32_t room;    /* for so many pages, on all sizes */
   uint32_t free;    /* the first free place, chained by `older` */
   tlb_lru_stack_node *node;
   tlb_lru_stack_size size[TLB_LRU_STACK_MAX_SIZES];
} tlb_lru_stack;

/* Bytes of memory for arrays of these sizes. */
size_t tlb_lru_stack_bytes(const uint32_t *sizes, uint32_t n);

/* An empty LRU stack for n arrays (2 to TLB_LRU_STACK_MAX_SIZES) of these sizes, which grow
   from one to the next, inside `memory`, aligned for a pointer. */
void tlb_lru_stack_init(tlb_lru_stack *l, const uint32_t *sizes, uint32_t n,
                     void *memory);

/* The smallest array missed the page, which had that place when it was last on the
   LRU stack; 0 if it never was. And it evicted another for it, which comes onto the
   LRU stack at *evicted_place; NULL: it still had an empty entry, so the LRU stack is empty.
   Returns how many of the arrays miss the page, the smallest first: 1 to n. */
uint32_t tlb_lru_stack_miss(tlb_lru_stack *l, const void *page, uint32_t node,
                         void *evicted, uint32_t *evicted_place);

/* Whether its parts agree with each other: NULL, or what is wrong. */
const char *tlb_lru_stack_check(const tlb_lru_stack *l);

TLB_API_END

#endif
