/* Writes the reach file, and the table of it on stderr (docs/reach.md). */

#ifndef TG_REACH_FILE_H
#define TG_REACH_FILE_H

#include "output/results.h"

/* Writes the file (docs/reach.md). Returns whether it is there; if not, that has
   been said. */
Bool tg_reach_file_write(const TgResults* results, const HChar* name);

/* The table. `file`: where all sizes can be read, NULL: nowhere. */
void tg_reach_file_summary(const TgResults* results, const HChar* file);

#endif
