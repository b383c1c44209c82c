/* Moves of the call stacks in a recording with calls.

   What a reference misses is the cost of the innermost frame, and of all others on its way out. So
   the recording has, before each reference, how the stacks have changed since the one before: which
   frames are gone, and which are new. Frames that have come and gone in between are in neither; and
   where nothing has changed there is nothing but the end of the moves.

   A move is one number. 0 ends the moves before a reference.

   Part of the simulator: plain C11, no libc, no Valgrind. */

#ifndef TLB_MOVES_H
#define TLB_MOVES_H

#include <stdint.h>

typedef enum {
   TLB_MOVE_STACK,  /* what follows is of stack number n, from 1 */
   TLB_MOVE_POP,    /* n frames are left, at least one */
   TLB_MOVE_PUSH,   /* a frame comes, whose costs are those of arc number n; 0: the first of a
                       thread or of a signal's handler, whose costs are no caller's */
   TLB_MOVE_RETURN, /* the innermost frame, which is such a first one, returns: what it has cost so
                       far is that of arc number n, too, but stays its own */
   TLB_N_MOVES
} tlb_move;

enum {
   TLB_MOST_STACKS = 1 << 16,
   TLB_MOST_ARCS = 1 << 26, /* arcs are numbered from 1 in the order in which they come first */
   TLB_MOST_FRAMES = 1 << 24 /* of a stack */
};

/* As a number, and back. */
static inline uint64_t tlb_move_number(tlb_move move, uint64_t n)
{
   return n << 2 | (uint64_t)move;
}

static inline tlb_move tlb_move_of(uint64_t number)
{
   return (tlb_move)(number & 3);
}

static inline uint64_t tlb_move_count(uint64_t number)
{
   return number >> 2;
}

#endif
