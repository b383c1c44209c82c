/* Writes the reach file (docs/internals/formats.md), and prints its table on stderr. */

#ifndef TG_REACH_FILE_H
#define TG_REACH_FILE_H

#include "output/results.h"

/* Writes the file. False: that failed, and a message has been printed. */
Bool tg_reach_file_write(const TgResults* results, const HChar* name);

/* Prints the table. `file`: the name of the file with all sizes; NULL: not written. */
void tg_reach_file_summary(const TgResults* results, const HChar* file);

#endif
