/* What the machines of a run are called, in the summary and in the names of
   out-files. */

#ifndef TG_MACHINE_NAMES_H
#define TG_MACHINE_NAMES_H

#include "options/machines.h"

/* Gives each machine its name and its label, when all of them are known: one
   of a file is called as the file says, not by its path. No two have the same
   name or the same label. */
void tg_machines_name(TgMachine* machines, UInt n);

/* Whether the label is the name with "_" for each "-" and "." */
Bool tg_machine_is_labelled_by_name(const TgMachine* m);

#endif
