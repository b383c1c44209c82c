/* Outputs that are no regular files: devices, pipes, and files that are open already.

   /dev/stdout is one. Whatever a run writes there arrives, one output behind the other; what is
   there is neither removed nor cut off. */

#ifndef TG_STREAMS_H
#define TG_STREAMS_H

#include "pub_tool_basics.h"

/* The name that symbolic links lead to, whether there is a file or not; to be freed. */
HChar* tg_streams_target(const HChar* name);

/* Whether the name stands for such an output. (A folder counts as one, which can not
   be written to.) */
Bool tg_streams_has(const HChar* name);

/* If the name stands for an open file, keeps that open, whatever the program does to it:
   many close their standard output at their end. */
void tg_streams_keep(const HChar* name);

/* Opens such an output, which is to stay open: the reader of a named pipe sees its end only when
   the process ends. Returns its descriptor, or -1 with the error. */
Int tg_streams_open(const HChar* name, UWord* error);

#endif
