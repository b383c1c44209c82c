/* Opens outputs that are no regular files: devices, pipes, open descriptors.

   An example is /dev/stdout. Several outputs of a run to the same stream are appended to each
   other; existing content is neither removed nor truncated. */

#ifndef TG_STREAMS_H
#define TG_STREAMS_H

#include "pub_tool_basics.h"

/* The name after following symbolic links; the file need not exist. To be freed. */
HChar* tg_streams_target(const HChar* name);

/* Whether the name is a stream. A folder counts as one, too, but cannot be opened for writing. */
Bool tg_streams_has(const HChar* name);

/* If the name is one of the process's open files, duplicates its descriptor: many programs close
   their standard output at their end. */
void tg_streams_keep(const HChar* name);

/* Opens a stream. It stays open until the process ends, because the reader of a named pipe sees its
   end when it is closed. Returns the descriptor, or -1 with the error. */
Int tg_streams_open(const HChar* name, UWord* error);

#endif
