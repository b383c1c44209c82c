/* The option that a mistyped one resembles, for programs without Valgrind.
   Part of tlbgrind.  GPL-2.0-or-later; see COPYING. */

#ifndef TG_CLOSE_OPTION_H
#define TG_CLOSE_OPTION_H

#include <stddef.h>

/* `list`: options as --list-options prints them, one a line, with "=" and words behind those that have
   a value. Stores that which the argument resembles, with its "=", or "" if none does, in `out`. */
void tg_close_option(const char *argument, const char *list, char *out, size_t size);

#endif
