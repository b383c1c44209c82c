/* The formats of traces by their names.
   Part of tlbgrind.  GPL-2.0-or-later; see COPYING. */

#ifndef TG_SIMULATE_TRACE_FORMATS_H
#define TG_SIMULATE_TRACE_FORMATS_H

#include "simulate/trace.h"

/* The format of that name, or NULL. */
const TgTraceFormat *tg_trace_format(const char *name);

#endif
