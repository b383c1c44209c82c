/* Puts the shards of a simulation together: reads the out-files that they have written, of all
   machines, for the table that one simulation of them would have printed.
   Part of tlbgrind.  GPL-2.0-or-later; see COPYING. */

#ifndef TG_SIMULATE_MERGE_H
#define TG_SIMULATE_MERGE_H

#include "simulate/table.h"

/* Returns the rows in the order of the machines, *n of them. What is wrong, such as a machine that
   is in no file, ends the program. */
TgRow *tg_merge(char *const *file, unsigned n_files, unsigned *n);

#endif
