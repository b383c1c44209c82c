/* Machines side by side: one row of the summary for each machine of a run. */

#ifndef TG_MACHINE_TABLE_H
#define TG_MACHINE_TABLE_H

#include "output/results.h"

/* Prints the table of a run with several machines, and what its columns mean. */
void tg_machine_table_print(const TgResults* results);

/* Prints the table of flushes, which a run with one machine has, too. */
void tg_machine_table_print_flushes(const TgResults* results);

/* The same of prefetches. */
void tg_machine_table_print_prefetches(const TgResults* results);

#endif
