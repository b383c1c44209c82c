/* Bytes through pipes. See simulate/bytes.h.
   Part of tlbgrind.  GPL-2.0-or-later; see COPYING. */

#include <errno.h>
#include <sys/types.h>
#include <unistd.h>

#include "simulate/bytes.h"

/* Adds what a call has moved, which is nothing if it was interrupted. False: there will be no
   more. */
static bool add(ssize_t moved, size_t *n)
{
   if (moved < 0 && errno == EINTR)
      return true;
   if (moved > 0)
      *n += (size_t)moved;
   return moved > 0;
}

bool tg_write_bytes(int fd, const void *bytes, size_t n)
{
   for (size_t done = 0; done < n;) {
      if (!add(write(fd, (const char *)bytes + done, n - done), &done))
         return false;
   }
   return true;
}

bool tg_read_bytes(int fd, void *bytes, size_t n)
{
   for (size_t done = 0; done < n;) {
      if (!add(read(fd, (char *)bytes + done, n - done), &done))
         return false;
   }
   return true;
}
