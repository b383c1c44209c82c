/* Bytes through pipes: all of them, or none.
   Part of tlbgrind.  GPL-2.0-or-later; see COPYING. */

#ifndef TG_SIMULATE_BYTES_H
#define TG_SIMULATE_BYTES_H

#include <stdbool.h>
#include <stddef.h>

/* False: the other end is closed, or it failed. */
bool tg_write_bytes(int fd, const void *bytes, size_t n);
bool tg_read_bytes(int fd, void *bytes, size_t n);

#endif
