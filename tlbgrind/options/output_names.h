/* The output files of a run: their options and names.

   Each output has an option of its own for its name. A name is expanded (%p and the
   like) when the file is written, when the pid is the right one. */

#ifndef TG_OUTPUT_NAMES_H
#define TG_OUTPUT_NAMES_H

#include "pub_tool_basics.h"

#include "sim/machine/geometry.h"

#include "options/machines.h"

typedef enum {
   TG_COSTS_OUT,
   TG_REACH_OUT,
   TG_ENTRIES_OUT,
   TG_FAULTS_OUT,
   TG_N_OUTPUTS
} TgOutput;

/* Takes one command line argument. False: it names no output. */
Bool tg_output_option(const HChar* arg);

/* The argument that names the output; NULL: none did. */
const HChar* tg_output_arg(TgOutput output);

/* All options have been seen: what is wrong with a name should not come to light only
   at the end. `on`: what the run writes; the costs, once for each machine. Returns
   NULL, or the argument that can not be, with the reason; does not return where the
   core can not expand a name. */
const HChar* tg_outputs_check(const Bool on[TG_N_OUTPUTS], const TgMachine* machine,
                              UInt n_machines, tlb_reason* why);

/* The name, expanded; to be freed. */
HChar* tg_output_name(TgOutput output);

/* The file for one machine of several has its label at the end; a device or a pipe
   takes all of them. To be freed. */
HChar* tg_output_name_of(const HChar* name, const TgMachine* machine, UInt n_machines);

#endif
