/* Parses the options for a measured region. See options/region_options.h. */

#include "pub_tool_basics.h"

#include "pub_tool_mallocfree.h"

#include "options/given.h"
#include "options/region_options.h"

void tg_region_options_finish(TgRegionOptions* out)
{
   const HChar* arg;
   for (UInt n = 0; (arg = tg_given_nth("--toggle-collect", n)) != NULL; n++) {
      out->toggle_collect = VG_(realloc)("tg.options.functions", out->toggle_collect,
                                         (n + 2) * sizeof *out->toggle_collect);
      out->toggle_collect[n] = tg_given_value(arg);
      out->toggle_collect[n + 1] = NULL;
   }
}
