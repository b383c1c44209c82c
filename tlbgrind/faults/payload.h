/* What system calls write to a descriptor: how much of it the kernel reads.

   The core tells before a call of all that the call could read. A call that fails reads none of
   its payload, one that stops early only a part, and to /dev/null nothing is read at all. */

#ifndef TG_PAYLOAD_H
#define TG_PAYLOAD_H

#include "pub_tool_basics.h"

void tg_payload_init(void);

/* The thread begins the system call. */
void tg_payload_begin(ThreadId tid, UInt number, const UWord* args);

/* Whether [a, a + len), which the call could read, is payload: then it waits for the end. */
Bool tg_payload_keeps(ThreadId tid, Addr a, SizeT len);

/* The call has returned: calls `each` for what the kernel has read of what waited. */
void tg_payload_end(ThreadId tid, SysRes result, void (*each)(ThreadId tid, Addr a, SizeT len));

#endif
