/* Prints the summary on stderr. */

#ifndef TG_SUMMARY_H
#define TG_SUMMARY_H

#include "output/results.h"

/* What is simulated, said before the program starts. */
void tg_summary_machines(const TgResults* results);

/* What came of it. `out_file`: where the details can be read, with several
   machines each one's label behind it; NULL: nowhere. */
void tg_summary_results(const TgResults* results, const HChar* out_file);

/* Only where the details can be read. */
void tg_summary_details(const TgResults* results, const HChar* out_file);

/* Page faults, and where the log of them is; NULL: nowhere. */
void tg_summary_faults(const TgResults* results, const HChar* log);

#endif
