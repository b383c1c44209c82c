/* Processes of the tool's own, which the program does not see.

   They send no signal when they end, and the program does not wait for them when it waits for any
   of its children. */

#ifndef TG_OWN_PROCESS_H
#define TG_OWN_PROCESS_H

#include "pub_tool_basics.h"

/* As fork(): 0 in the new process, negative if there is none. */
Int tg_own_fork(void);

/* Waits for its end. */
void tg_own_wait(Int pid);

#endif
