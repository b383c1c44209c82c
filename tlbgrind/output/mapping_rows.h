/* Prints the mappings of a run with their costs into the out-file: --mappings=yes. */

#ifndef TG_MAPPING_ROWS_H
#define TG_MAPPING_ROWS_H

#include "pub_tool_basics.h"

#include "pub_tool_xarray.h"

#include "base/file.h"
#include "output/results.h"

/* Of one machine; `lines`: of tg_lines_sorted(). */
void tg_mapping_rows_print(TgFile* f, const TgResults* results, const TgResult* result,
                           XArray* lines, const TgEvent** events, UInt n_events);

#endif
