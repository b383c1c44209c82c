/* Parses the options for a measured region. See options/region_options.h. */

#include "pub_tool_basics.h"

#include "pub_tool_libcbase.h"
#include "pub_tool_libcprint.h"
#include "pub_tool_options.h"

#include "options/region_options.h"

Bool tg_region_options_take(const HChar* arg, TgRegionOptions* out)
{
   return VG_BOOL_CLO(arg, "--instr-at-start", out->instr_at_start);
}

void tg_region_options_print_usage(void)
{
   VG_(printf)(
"    --instr-at-start=yes|no          no: simulate nothing until TLBGRIND_START of\n"
"                                     tlbgrind.h, or `vgdb start' [yes]\n");
}
