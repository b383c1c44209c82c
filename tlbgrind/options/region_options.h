/* The options for a measured region: --instr-at-start=, --toggle-collect= and --progress=. */

#ifndef TG_REGION_OPTIONS_H
#define TG_REGION_OPTIONS_H

#include "pub_tool_basics.h"

typedef struct {
   Bool instr_at_start; /* --instr-at-start=yes: trace/instrumentation.h */
   const HChar** toggle_collect; /* patterns of --toggle-collect=, NULL behind the last: see
                                    calls/collection.h; NULL: none is given */
   Long progress;       /* --progress=SECONDS: tool/progress.h; 0: not given */
} TgRegionOptions;

/* Reads --toggle-collect=, which may be given several times. */
void tg_region_options_finish(TgRegionOptions* out);

#endif
