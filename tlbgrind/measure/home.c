/* Where the file about the machine at hand is. See measure/home.h.
   Part of tlbgrind.  GPL-2.0-or-later; see COPYING. */

#define _GNU_SOURCE
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "measure/home.h"
#include "sim/machine/measured_costs.h"

bool tg_home_file(char *out, size_t size)
{
   return tlb_measured_file(getenv("XDG_CONFIG_HOME"), getenv("HOME"), out, size) != 0;
}

bool tg_home_make_folders(const char *path)
{
   enum { OWN_FOLDER = 0700 };
   char folder[PATH_MAX];
   if (strlen(path) >= sizeof folder) {
      errno = ENAMETOOLONG;
      return false;
   }
   strcpy(folder, path);
   for (char *slash = strchr(folder + 1, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
      *slash = '\0';
      /* As the XDG specification wants it: a folder of configuration is the user's alone. */
      if (mkdir(folder, OWN_FOLDER) != 0 && errno != EEXIST)
         return false;
      *slash = '/';
   }
   return true;
}
