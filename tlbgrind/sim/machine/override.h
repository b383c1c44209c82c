/* Changes lines of a machine, as "stlb.entries=2048,stlb.ways=16".

   The machine is printed as a machine file, lines are replaced in that text, and it is read again.
   So a changed machine is exactly that of a file with these lines, and what is allowed for a
   line is allowed here.

   Part of the simulator: plain C11, no libc, no Valgrind. */

#ifndef TLB_OVERRIDE_H
#define TLB_OVERRIDE_H

#include "sim/machine/machine_file.h"

enum {
   TLB_OVERRIDES = 32, /* of one machine */
   TLB_OVERRIDE_ROOM = 3 * TLB_MACHINE_TEXT_SIZE
};

/* Changes the machine. An override is [PART.]LINE=VALUE: PART, in capitals or not, is an array's
   name, `walk`, a walk step as 2M, a cache of tables as cache-L2, or `memory`; without PART the
   line is one of those about the machine as a whole. The machine gets a name that tells the
   changes, unless `name` is among them, and a note. `room`: TLB_OVERRIDE_ROOM bytes, used
   meanwhile. Returns 1; or 0 with the overrides to blame, and the reason: *m is then not to be
   used. */
int tlb_override(tlb_machine *m, const char *overrides, char *room, tlb_reason *blame,
                 tlb_reason *why);

#endif
