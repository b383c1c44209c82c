/* What misses cost on the machine at hand, where it was measured: from a machine file in the user's
   configuration folder.

   Part of the simulator: plain C11, no libc, no Valgrind. */

#ifndef TLB_MEASURED_COSTS_H
#define TLB_MEASURED_COSTS_H

#include <stddef.h>

#include "sim/machine/cpuid_answers.h"
#include "sim/machine/machine.h"

/* The path of that file, from the values of XDG_CONFIG_HOME and HOME, which may be NULL. Returns 0
   if neither is an absolute path, or there is no room. */
int tlb_measured_file(const char *config, const char *home, char *out, size_t size);

/* Whether the processor says who it is, so that a file can be told to be of another one. */
int tlb_measured_can_be_used(tlb_cpuid_ask *ask, void *opaque);

/* Takes the figures of cost that were measured, not assumed, out of the text of such a file, if its
   title is that of the machine: cycles and overlap of hits and walks, caches of tables, memory.
   Returns 1, with the notes of the machine rewritten; or 0 with the reason, and the machine is as
   it was. */
int tlb_measured_costs_take(const char *text, size_t length, tlb_machine *m, tlb_reason *why);

/* Notes in the machine that costs were taken from the file of that path, or, with `why`, why they
   were not. */
void tlb_measured_costs_note(tlb_machine *m, const char *path, const tlb_reason *why);

#endif
