/* Which core a thread runs on: --cores=.

   Each core has TLBs of its own, which start empty, as those of a processor that was idle. */

#ifndef TG_THREAD_CORES_H
#define TG_THREAD_CORES_H

#include "pub_tool_basics.h"

#include "options/options.h"

void tg_cores_init(const TgOptions* options);

/* The thread goes on: its core is at hand from now on. */
void tg_cores_started(ThreadId tid);

/* The same, where tg_cores_add() has just been called. */
void tg_cores_go_to(ThreadId tid);

/* The thread ends. */
void tg_cores_thread_ends(ThreadId tid);

/* In a forked child, which has one thread. */
void tg_cores_forked(void);

/* Gives the thread at hand what has been counted since it went on; the lines have all of it. */
void tg_cores_add(void);

#endif
