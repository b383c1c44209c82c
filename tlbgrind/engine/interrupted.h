/* Segments that a fault cuts short: translated code counts a segment at its end, so of
   one that a fault left before, what was run is booked when the thread stops. */

#ifndef TG_INTERRUPTED_H
#define TG_INTERRUPTED_H

#include "pub_tool_basics.h"

/* A thread starts or stops running client code. */
void tg_interrupted_start(ThreadId tid);
void tg_interrupted_stop(ThreadId tid);

/* The core's event: a signal is about to be delivered. */
void tg_interrupted_signal(ThreadId tid, Int signal, Bool alternate_stack);

#endif
