/* Address spaces that take turns on a core: how far apart their addresses stand.

   An address space is told from others by a number above the bits that addresses have. Sets
   are chosen by page numbers, so the numbers are such that one page of all spaces chooses one
   set in each array, as with tags of their own (PCID, ASID).

   Part of the simulator: plain C11, no libc, no Valgrind. */

#ifndef TLB_SPACES_H
#define TLB_SPACES_H

#include <stdbool.h>

#include "sim/base/api.h"
#include "sim/machine/machine.h"

TLB_API_BEGIN

enum {
   TLB_SPACE_SHIFT = 48, /* the bits of an address in its space */
   TLB_MAX_SPACES = 127
};

/* Makes of *step, at first 1, a multiple of it: numbers of spaces that differ by a multiple of
   that choose one set in all arrays of the machine, too. Returns whether `spaces` of them, up to
   TLB_MAX_SPACES, fit above the bits of an address; if not, says which array is against it. */
bool tlb_spaces_step(const tlb_machine *m, unsigned spaces, uint64_t *step, tlb_reason *why);

TLB_API_END

#endif
