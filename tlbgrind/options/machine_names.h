/* Names the machines of a run, for the summary and the out-files. */

#ifndef TG_MACHINE_NAMES_H
#define TG_MACHINE_NAMES_H

#include "options/machines.h"

/* Gives each machine its name and its label, when all of them are known: one
   of a file is called as the file says, not by its path. No two have the same
   name or the same label. */
void tg_machine_names_give(TgMachine* machines, UInt n);

/* Whether the label is the name with "_" for each "-" and "." */
Bool tg_machine_names_is_label(const TgMachine* m);

#endif
