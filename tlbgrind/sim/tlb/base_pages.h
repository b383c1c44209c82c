/* The base pages that machines have in a run, where these are not their own: those of an option,
   for all machines, or those of the kernel, for machines of its architecture.

   Part of the simulator: plain C11, no libc, no Valgrind. */

#ifndef TLB_BASE_PAGES_H
#define TLB_BASE_PAGES_H

#include <stddef.h>

#include "sim/machine/machine.h"

typedef struct {
   unsigned shift; /* of 2^shift bytes; 0: each machine has its own, and the rest is nothing */
   char isa[16];   /* the architecture of the kernel, whose machines have them; "": all have them */
} tlb_base_pages;

enum { TLB_MOST_BASE_NOTES = 2 };

/* Gives the machine these pages, if they are for it. If its first level does not hold pages of that
   size, the arrays for the machine's own base pages hold them instead, unless another array of
   their level does. Returns how many notes there are of what is assumed. */
unsigned tlb_base_pages_take(const tlb_base_pages *b, tlb_machine *m,
                             tlb_reason note[TLB_MOST_BASE_NOTES]);

/* Reads "16 ppc64" or "14 all", of n bytes, as a recording has it. Returns whether it can be so. */
int tlb_base_pages_parse(const char *text, size_t n, tlb_base_pages *out);

#endif
