/* Names the machines of a run, for the summary and the out-files. */

#ifndef TG_MACHINE_NAMES_H
#define TG_MACHINE_NAMES_H

#include "options/machines.h"

/* Sets the name and the label of all machines. A machine from a file has the name in the file, not
   its path. No two machines have the same name or the same label. */
void tg_machine_names_give(TgMachine* machines, UInt n);

/* Whether the machine's label is its name with "_" for each "-" and "." */
Bool tg_machine_names_is_label(const TgMachine* m);

#endif
