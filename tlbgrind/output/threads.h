/* What each thread has executed and missed, with --cores=per-thread or a number of cores. */

#ifndef TG_THREADS_H
#define TG_THREADS_H

#include "pub_tool_basics.h"

#include "base/file.h"
#include "output/results.h"

void tg_threads_init(const TgResults* results);

/* What has been counted since the last call is the thread's. The misses have been settled. */
void tg_threads_add(ThreadId tid);

/* Counts begin at 0. */
void tg_threads_zero(void);

/* Prints a row for each thread and machine, if there is more than one thread. */
void tg_threads_print(void);

/* The same for the out-file of a machine, by its index. */
void tg_threads_describe(TgFile* f, UInt machine);

#endif
