/* Writes the out-file: costs by source line, in callgrind's format (docs/internals/formats.md). */

#ifndef TG_COSTS_FILE_H
#define TG_COSTS_FILE_H

#include "output/results.h"

/* Writes the out-file of one machine, with the costs of `lines`, to the file `name`. False: that
   failed, and a message has been printed. */
Bool tg_costs_file_write(const TgResults* results, const TgResult* result, XArray* lines,
                  const HChar* name);

/* Calls `each` for every array of the machine, with a description such as
   "level 1, data, 64 entries, 4-way, 16 sets, pages 4K, lru". */
void tg_costs_file_describe_arrays(const TgMachine* m,
                        void (*each)(const HChar* description, void* opaque),
                        void* opaque);

#endif
