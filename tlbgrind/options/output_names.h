/* The outputs of a run, each a file, with the options for their names.

   A name is expanded (%p and the like) when the file is written, because a fork changes the pid.

   A new output is a TgOutput here, a line of the table in options/output_names.c, a row for its
   option in options/option_table.c, and a line of the table in tool/outputs.c, with the function
   that writes it. */

#ifndef TG_OUTPUT_NAMES_H
#define TG_OUTPUT_NAMES_H

#include "pub_tool_basics.h"

#include "sim/machine/geometry.h"

#include "options/machines.h"

typedef enum {
   TG_COSTS_OUT,
   TG_REACH_OUT,
   TG_TIMELINE_OUT,
   TG_ENTRIES_OUT,
   TG_DATA_OUT,
   TG_FAULTS_OUT,
   TG_RECORDING_OUT, /* written while the program runs: engine/recording.h */
   TG_N_OUTPUTS
} TgOutput;

/* The whole argument with the output's name; NULL: not given. */
const HChar* tg_output_arg(TgOutput output);

/* Checks the names before the program starts, so that an error does not appear only at the end.
   `on`: the outputs that are written; the costs are one file for each machine. Returns NULL, or
   the invalid argument, with the reason. Ends the run if the core cannot expand a name. */
const HChar* tg_outputs_check(const Bool on[TG_N_OUTPUTS], const TgMachine* machine,
                              UInt n_machines, tlb_reason* why);

/* The name, expanded; to be freed. */
HChar* tg_output_name(TgOutput output);

/* The name of a machine's file: with several machines `name`, "_" and the label. A device or a pipe
   has one name for all machines. To be freed. */
HChar* tg_output_name_of(const HChar* name, const TgMachine* machine, UInt n_machines);

#endif
