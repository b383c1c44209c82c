/* The list of machines in --machine=, and what changes them on the command line. */

#ifndef TG_MACHINE_ARGS_H
#define TG_MACHINE_ARGS_H

#include "pub_tool_basics.h"

#include "sim/machine/machine.h"

/* The list with a machine for each value of a range, to be freed: sim/machine/machine_argument.h.
   NULL, with the reason: a range is wrong, or the machines are too many. */
HChar* tg_machine_args_expand(const HChar* list, tlb_reason* why);

/* Calls f for each machine of the list; false: f was false for one. */
Bool tg_machine_args_each(const HChar* list, Bool (*f)(const HChar* machine, void* opaque),
                          void* opaque);

/* What a machine consists of, NAME[:OVERRIDES][@RULES], each to be freed; NULL: not there. */
typedef struct {
   HChar* name;
   HChar* overrides;
   HChar* rules;
} TgMachineParts;

TgMachineParts tg_machine_args_parts(const HChar* machine);

/* Changes the machine: sim/machine/override.h. False: that cannot be, with the reason, and with
   the overrides that are wrong and ": " in *where. */
Bool tg_machine_args_change(tlb_machine* m, const HChar* overrides, const HChar** where,
                            tlb_reason* why);

#endif
