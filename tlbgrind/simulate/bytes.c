/* Bytes through pipes. See simulate/bytes.h.
   Part of tlbgrind.  GPL-2.0-or-later; see COPYING. */

#include <errno.h>
#include <unistd.h>

#include "simulate/bytes.h"

bool tg_write_bytes(int fd, const void *bytes, size_t n)
{
   const char *at = bytes;
   while (n > 0) {
      const ssize_t done = write(fd, at, n);
      if (done < 0 && errno == EINTR)
         continue;
      if (done <= 0)
         return false;
      at += done;
      n -= (size_t)done;
   }
   return true;
}

bool tg_read_bytes(int fd, void *bytes, size_t n)
{
   char *at = bytes;
   while (n > 0) {
      const ssize_t done = read(fd, at, n);
      if (done < 0 && errno == EINTR)
         continue;
      if (done <= 0)
         return false;
      at += done;
      n -= (size_t)done;
   }
   return true;
}
