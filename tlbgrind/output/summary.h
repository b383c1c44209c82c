/* Prints the summary on stderr, in the format of cachegrind's. */

#ifndef TG_SUMMARY_H
#define TG_SUMMARY_H

#include "output/results.h"

/* Prints the simulated machines, before the program starts. */
void tg_summary_machines(const TgResults* results);

/* Prints the results but for what output/answer.h has. `out_file` is not used. */
void tg_summary_results(const TgResults* results, const HChar* out_file);

/* Prints the counts of page faults. `log`: the fault log's name; NULL: not written. */
void tg_summary_faults(const TgResults* results, const HChar* log);

#endif
