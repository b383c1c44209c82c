/* Files that are written as a whole or not at all, and read as a whole.
   Part of tlbgrind.  GPL-2.0-or-later; see COPYING. */

#ifndef TG_WHOLE_FILE_H
#define TG_WHOLE_FILE_H

#include <stdbool.h>
#include <stddef.h>

/* Writes the text beside the file, and renames it when it is whole. Returns false with errno; then
   there is no file, or the old one. What is no regular file is written as it is. */
bool tg_write_whole(const char *name, const char *text, size_t length);

/* A new file without a name, for what is too large for the memory, on the disk of that file. -1
   with errno. */
int tg_open_unnamed(const char *beside);

/* Whether a whole file could be written, without touching it: so that nobody waits a minute in
   vain. Returns false with errno. */
bool tg_can_write(const char *name);

/* Reads a file, to be freed, with a NUL behind it. NULL with errno; EFBIG above 64M. */
char *tg_read_whole(const char *name, size_t *length);

/* Reads how a file begins, up to `size` bytes of it, as a tlb_file_begin. Returns how many; -1: it
   cannot be opened. */
long tg_read_begin(void *opaque, const char *path, char *text, size_t size);

#endif
