/* A ladder: fully associative LRU arrays of several sizes that see the same
   references, all in the time that one takes. (Or one set of arrays with several ways.)

   What a smaller one holds a larger one holds, too: the pages that were
   referenced last (Mattson, Gecsei, Slutz and Traiger, "Evaluation techniques for
   storage hierarchies", IBM Systems Journal 9, 1970). So only the smallest has to
   be simulated (array.h). What it evicts goes onto the ladder, on the rung of the
   next larger array; what no longer fits there, on the next rung; what fits on
   none is in none of the arrays. The pages on a rung stand in the order in which
   they came there, which is that of their last references: a reference to one of
   them would have taken it off.

   Part of the simulator: plain C11, no libc, no Valgrind. */

#ifndef TLB_LRU_STACK_H
#define TLB_LRU_STACK_H

#include <stddef.h>
#include <stdint.h>

enum { TLB_MAX_RUNGS = 16 };

typedef struct {
   void *page;    /* NULL: nobody has this place */
   uint32_t newer, older;
   uint32_t rung;
} tlb_place;

typedef struct {
   uint32_t size;   /* of the array, in entries */
   uint32_t n;      /* pages on it; none on rung 0 */
   uint32_t oldest; /* of them, if there are any */
} tlb_rung;

/* Places are numbered from 1, the newest page's first; place 0 stands at both
   ends. Few rungs are one line of the processor's cache, for there can be many ladders. */
typedef struct {
   _Alignas(64) uint32_t rungs;
   uint32_t room;    /* for so many pages, on all rungs */
   uint32_t free;    /* a place that nobody has, chained by `older` */
   tlb_place *place;
   tlb_rung rung[TLB_MAX_RUNGS];
} tlb_ladder;

/* Bytes of memory for arrays of these sizes. */
size_t tlb_ladder_bytes(const uint32_t *sizes, uint32_t n);

/* An empty ladder for n arrays (2 to TLB_MAX_RUNGS) of these sizes, which grow
   from one to the next, inside `memory`, aligned for a pointer. */
void tlb_ladder_init(tlb_ladder *l, const uint32_t *sizes, uint32_t n,
                     void *memory);

/* The smallest array missed the page, which had that place when it was last on the
   ladder; 0 if it never was. And it evicted another for it, which comes onto the
   ladder at *evicted_place; NULL: it still had an empty entry, so the ladder is empty.
   Returns how many of the arrays miss the page, the smallest first: 1 to n. */
uint32_t tlb_ladder_miss(tlb_ladder *l, const void *page, uint32_t place,
                         void *evicted, uint32_t *evicted_place);

#endif
