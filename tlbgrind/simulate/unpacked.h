/* A file that may be compressed: its bytes, through the program that unpacks it.
   Part of tlbgrind.  GPL-2.0-or-later; see COPYING. */

#ifndef TG_SIMULATE_UNPACKED_H
#define TG_SIMULATE_UNPACKED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct TgUnpacked TgUnpacked;

/* Opens the file; "-" is the standard input, which is read as it is. What is wrong ends the
   program. */
TgUnpacked *tg_unpacked_open(const char *name);

/* Stores up to n bytes. Returns how many; fewer than n: there are no more. `opaque` is the file. */
size_t tg_unpacked_get(void *opaque, uint8_t *bytes, size_t n);

/* Where there are no more bytes: whether all of the file could be unpacked. If not, *program is
   what has failed. That it is missing ends this program. */
bool tg_unpacked_is_whole(TgUnpacked *u, const char **program);

/* How much of the file has been read, 0.0 to 1.0; -1.0: that is not known. */
double tg_unpacked_done(const TgUnpacked *u);

void tg_unpacked_close(TgUnpacked *u);

#endif
