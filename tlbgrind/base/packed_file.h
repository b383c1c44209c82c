/* Files that grow during the run, compressed by zstd where that is installed.

   The compressor is a process of its own, outside of the tool's memory, which is no child of the
   program's process: the program, which may wait for all of its children, has none more. */

#ifndef TG_PACKED_FILE_H
#define TG_PACKED_FILE_H

#include "pub_tool_basics.h"

typedef struct _TgPackedFile TgPackedFile;

/* Makes the file, in place of one that is there. NULL: that failed, with the reason. */
TgPackedFile* tg_packed_open(const HChar* name, const HChar** why);

/* After a failure nothing more is written. */
void tg_packed_write(TgPackedFile* f, const UChar* bytes, SizeT n);

/* Closes the file, once the compressor has ended. NULL: it is complete; else the reason. */
const HChar* tg_packed_close(TgPackedFile* f);

/* In a forked child: lets go of the parent's file. */
void tg_packed_forget(TgPackedFile* f);

#endif
