/* Output files that are written whole or not at all.

   The text goes to a temporary file beside the final one, which is renamed at the end if every
   byte arrived. A stream (base/streams.h) and the target of a symbolic link are written
   directly. */

#ifndef TG_FILE_H
#define TG_FILE_H

#include "pub_tool_basics.h"

typedef struct _TgFile TgFile;

/* Whether the name stands for something else than a regular file: then it is
   never renamed over, nor removed. */
Bool tg_file_is_special(const HChar* name);

/* What an error number of open() or write() means. */
const HChar* tg_file_why(UWord error);

/* Where the last part of the name begins, behind the folder. */
const HChar* tg_file_in_folder(const HChar* name);

/* Opens for writing, mode 0600. Returns NULL, with the reason in *why, if that
   fails. */
TgFile* tg_file_open(const HChar* name, const HChar** why);

void tg_file_print(TgFile* f, const HChar* format, ...) PRINTF_CHECK(2, 3);

/* The same as tg_file_print(f, "%llu%c", n, after), but fast: out-files have millions of
   numbers. */
void tg_file_number(TgFile* f, ULong n, HChar after);

/* A text as it is, but control characters as '?', so that a line stays one. */
void tg_file_text(TgFile* f, const HChar* text);

/* The client's name and arguments, a space before each but the first. */
void tg_file_command(TgFile* f);

/* Closes. Returns NULL if everything is in place under the final name, else
   the reason; then nothing new is. */
const HChar* tg_file_close(TgFile* f);

#endif
