/* An input as a trace of another program, for the fuzzers of its formats.
   Part of tlbgrind.  GPL-2.0-or-later; see COPYING. */

#ifndef TRACE_CASE_H
#define TRACE_CASE_H

#include "simulate/trace.h"

void fuzz_trace(const TgTraceFormat *format, const char *data, size_t size);

#endif
