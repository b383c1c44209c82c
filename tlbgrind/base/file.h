/* Writes output files, each one whole or not at all.

   The text goes to a temporary file in the same folder, which is renamed at the end if every byte
   was written. A stream (base/streams.h) and the target of a symbolic link are written
   directly.

   The last line of each is a comment, "# checksum: " and the Adler-32 (RFC 1950) of all bytes
   before it, in eight hexadecimal digits: what has been changed since is found by the readers
   (tgreport/base/command.py). */

#ifndef TG_FILE_H
#define TG_FILE_H

#include "pub_tool_basics.h"

typedef struct _TgFile TgFile;

/* Whether the name is a link, device, pipe or folder. Such a file is never replaced or removed. */
Bool tg_file_is_special(const HChar* name);

/* A text for an error number of open() or write(). */
const HChar* tg_file_why(UWord error);

/* Why a file of that name cannot be written, as far as that can be found out without making one:
   its folder is looked at. NULL: nothing is against it. */
const HChar* tg_file_obstacle(const HChar* name);

/* Opens a file for writing, mode 0600. NULL: that failed, with the reason in *why. */
TgFile* tg_file_open(const HChar* name, const HChar** why);

/* What is printed goes to `put`, piece by piece, and no checksum behind it. */
typedef void TgFilePut(void* opaque, const HChar* text, SizeT n);
TgFile* tg_file_to(TgFilePut* put, void* opaque);

/* Makes a new file, mode 0600, in place of that of the name, and opens it for writing with a
   descriptor that the program does not use: for files that have to be there from the beginning.
   -1: that failed, with the reason. */
Int tg_file_create(const HChar* name, const HChar** why);

void tg_file_print(TgFile* f, const HChar* format, ...) PRINTF_CHECK(2, 3);

/* The same as tg_file_print(f, "%llu%c", n, after), but fast: out-files have millions of
   numbers. */
void tg_file_number(TgFile* f, ULong n, HChar after);

/* Writes the text with '?' for each control character, so that it stays on one line. */
void tg_file_text(TgFile* f, const HChar* text);

/* Writes the client's name and arguments, separated by spaces. */
void tg_file_command(TgFile* f);

/* Closes the file. NULL: it is complete under its final name. Otherwise returns the reason, and a
   regular file of that name is as before. */
const HChar* tg_file_close(TgFile* f);

#endif
