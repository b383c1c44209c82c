/* The user's file about the machine at hand, which tlbgrind takes costs from.
   Part of tlbgrind.  GPL-2.0-or-later; see COPYING. */

#ifndef TG_MEASURE_HOME_H
#define TG_MEASURE_HOME_H

#include <stdbool.h>
#include <stddef.h>

/* Its path: $XDG_CONFIG_HOME/tlbgrind/host.machine, or below $HOME/.config. False: neither variable
   is an absolute path, or it is too long. */
bool tg_home_file(char *out, size_t size);

/* Makes the folders above such a path. False: errno says why. */
bool tg_home_make_folders(const char *path);

#endif
