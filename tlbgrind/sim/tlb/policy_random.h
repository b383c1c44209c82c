/* The generator behind random replacement.

   Part of the simulator: plain C11, no libc, no Valgrind. */

#ifndef TLB_POLICY_RANDOM_H
#define TLB_POLICY_RANDOM_H

#include <stdint.h>

/* A linear congruential one with Knuth's MMIX constants: the state moves on, the upper 31 bits
   modulo `ways` are the way. Written down so that other programs can repeat the choice. */
static inline uint32_t tlb_random_next(uint64_t *state, uint32_t ways)
{
   *state = *state * UINT64_C(6364136223846793005)
            + UINT64_C(1442695040888963407);
   return (uint32_t)(*state >> 33) % ways;
}

#endif
