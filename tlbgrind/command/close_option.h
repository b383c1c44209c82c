/* The option that a mistyped one resembles, for programs without Valgrind.
   Part of tlbgrind.  GPL-2.0-or-later; see COPYING. */

#ifndef TG_CLOSE_OPTION_H
#define TG_CLOSE_OPTION_H

#include <stddef.h>

/* Says that there is no such option: with the one that it resembles, or where they are listed.
   `list`: options as --list-options prints them, one a line, with "=" and words behind those that
   have a value. */
void tg_no_such_option(const char *program, const char *argument, const char *list, char *out,
                       size_t size);

#endif
