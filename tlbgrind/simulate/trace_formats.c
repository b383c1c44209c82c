/* The formats of traces. See simulate/trace_formats.h.
   Part of tlbgrind.  GPL-2.0-or-later; see COPYING. */

#include <string.h>

#include "simulate/trace_formats.h"

const TgTraceFormat *tg_trace_format(const char *name)
{
   static const TgTraceFormat *const all[] = { &tg_input_champsim, &tg_input_drmemtrace,
                                               &tg_input_lackey };
   for (unsigned i = 0; i < sizeof all / sizeof *all; i++) {
      if (strcmp(all[i]->name, name) == 0)
         return all[i];
   }
   return NULL;
}
