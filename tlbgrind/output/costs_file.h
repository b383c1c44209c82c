/* Writes the out-file: costs by source line, in callgrind's format (docs/internals/formats.md). */

#ifndef TG_COSTS_FILE_H
#define TG_COSTS_FILE_H

#include "base/file.h"
#include "output/results.h"

/* Writes the out-file of one machine, with the costs of `lines`, to the file `name`. False: that
   failed, and a message has been printed. */
Bool tg_costs_file_write(const TgResults* results, const TgResult* result, XArray* lines,
                  const HChar* name);

/* Prints what all machines' out-files have in common, for a recording: where they differ stands a
   line that begins with '@', and of each line of source one that begins with ':'. The format:
   docs/internals/formats.md. */
void tg_costs_file_record(const TgResults* results, XArray* lines, TgFile* f);

#endif
