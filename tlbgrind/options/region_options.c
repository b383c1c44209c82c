/* Parses the options for a measured region. See options/region_options.h. */

#include "pub_tool_basics.h"

#include "pub_tool_libcbase.h"
#include "pub_tool_libcprint.h"
#include "pub_tool_mallocfree.h"
#include "pub_tool_options.h"

#include "options/region_options.h"

enum { MAX_SECONDS = 1000000 };

static void add_function(const HChar* pattern, TgRegionOptions* out)
{
   UInt n = 0;
   while (out->toggle_collect != NULL && out->toggle_collect[n] != NULL)
      n++;
   out->toggle_collect = VG_(realloc)("tg.options.functions", out->toggle_collect,
                                      (n + 2) * sizeof *out->toggle_collect);
   out->toggle_collect[n] = pattern;
   out->toggle_collect[n + 1] = NULL;
}

Bool tg_region_options_take(const HChar* arg, TgRegionOptions* out)
{
   const HChar* pattern;
   if (VG_STR_CLO(arg, "--toggle-collect", pattern)) {
      add_function(pattern, out);
      return True;
   }
   return VG_BOOL_CLO(arg, "--instr-at-start", out->instr_at_start)
          || VG_BINT_CLO(arg, "--progress", out->progress, 0, MAX_SECONDS);
}

void tg_region_options_print_usage(void)
{
   VG_(printf)(
"    --instr-at-start=yes|no          no: simulate nothing until TLBGRIND_START of\n"
"                                     tlbgrind.h, or `vgdb start' [yes]\n"
"    --toggle-collect=FUNCTION        count only what FUNCTION does, and what it calls; * and ?\n"
"                                     stand for any characters; may be given several times\n"
"    --progress=SECONDS               print instructions and misses so far, and per\n"
"                                     second, every so many seconds [0: never]\n");
}
