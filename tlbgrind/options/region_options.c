/* Parses the options for a measured region. See options/region_options.h. */

#include "pub_tool_basics.h"

#include "pub_tool_libcbase.h"
#include "pub_tool_libcprint.h"
#include "pub_tool_options.h"

#include "options/region_options.h"

enum { MAX_SECONDS = 1000000 };

Bool tg_region_options_take(const HChar* arg, TgRegionOptions* out)
{
   return VG_BOOL_CLO(arg, "--instr-at-start", out->instr_at_start)
          || VG_BINT_CLO(arg, "--progress", out->progress, 0, MAX_SECONDS);
}

void tg_region_options_print_usage(void)
{
   VG_(printf)(
"    --instr-at-start=yes|no          no: simulate nothing until TLBGRIND_START of\n"
"                                     tlbgrind.h, or `vgdb start' [yes]\n"
"    --progress=SECONDS               print instructions and misses so far, and per\n"
"                                     second, every so many seconds [0: never]\n");
}
