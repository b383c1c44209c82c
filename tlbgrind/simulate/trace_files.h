/* The files of a trace: one, or those of a folder, one for each thread.
   Part of tlbgrind.  GPL-2.0-or-later; see COPYING. */

#ifndef TG_SIMULATE_TRACE_FILES_H
#define TG_SIMULATE_TRACE_FILES_H

#include "simulate/physical.h"
#include "simulate/trace.h"

/* As many of a folder: each that is read has a buffer and perhaps a process that unpacks it. */
enum { TG_MOST_TRACE_FILES = 512 };

typedef struct {
   unsigned n;
   char **name; /* in order */
   bool is_folder;
} TgTraceFiles;

/* Of drmemtrace a folder may be named, or one that has it as `trace`. What is wrong ends the
   program. */
TgTraceFiles tg_trace_files(const char *name, const TgTraceFormat *format);

/* The v2p.textproto beside the files, or beside their folder `trace`. NULL: there is none. */
const char *tg_trace_v2p(const char *name);

/* What such a file has, which may be compressed. What is wrong ends the program. */
TgPhysical *tg_trace_read_v2p(const char *name, unsigned base_page_shift);

#endif
