/* How close a mistyped name is to one that is known, for "did you mean".

   Part of the simulator: plain C11, no libc, no Valgrind. */

#ifndef TLB_CLOSENESS_H
#define TLB_CLOSENESS_H

enum { TLB_FAR = 32 };

/* 0: the same but for capitals and separators; 1: the beginning of it, or almost the same; and so
   on; TLB_FAR: not close at all. */
unsigned tlb_distance(const char *name, const char *known);

#endif
