/* What the hardware threads of a core have of each array.

   Part of the simulator: plain C11, no libc, no Valgrind. */

#ifndef TLB_SIBLINGS_H
#define TLB_SIBLINGS_H

#include <stdbool.h>

#include "sim/base/api.h"
#include "sim/machine/machine.h"

TLB_API_BEGIN

/* Whether each hardware thread of a core has entries of its own: copied, parted, or of one thread.
   An array of which that is unknown is shared. */
bool tlb_siblings_have_own(const tlb_machine_array *a);

/* Makes of each parted array the part that one of `threads` hardware threads has, while all of them
   run: of the sets, if they can be divided, else of the ways. Returns whether the machine can have
   so many; if not, says why not. */
bool tlb_siblings_divide(tlb_machine *m, unsigned threads, tlb_reason *why);

TLB_API_END

#endif
