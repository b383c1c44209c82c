/* A process beside the program's that the tool feeds through a pipe, and that answers through
   another one.

   It is no child of the program's process: the program, which may wait for all of its children, has
   none more. If it ends, the tool is told at its next call, and the program is not sent a SIGPIPE.
   If the program's process ends in any way, the process comes to the end of its input. */

#ifndef TG_FED_PROCESS_H
#define TG_FED_PROCESS_H

#include "pub_tool_basics.h"

typedef struct _TgFedProcess TgFedProcess;

/* Starts a program, by its path, with its input and output as the two pipes, and with the error
   output of the run. NULL: no process, or no pipe. To be called before the program starts. */
TgFedProcess* tg_fed_start(const HChar* file, const HChar** argv);

/* Hands it so many bytes. False: it has ended, or does not listen. */
Bool tg_fed_write(TgFedProcess* p, const UChar* bytes, SizeT n);

/* Waits for so many bytes of its output, once all that it needs has been written. False: it has
   ended. */
Bool tg_fed_read(TgFedProcess* p, void* bytes, SizeT n);

/* Closes the pipes, and frees p. Also for a forked child, which lets go of its parent's. */
void tg_fed_close(TgFedProcess* p);

#endif
