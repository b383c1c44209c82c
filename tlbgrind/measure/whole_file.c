/* Files that are written as a whole or not at all. See measure/whole_file.h.
   Part of tlbgrind.  GPL-2.0-or-later; see COPYING. */

#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "measure/whole_file.h"

enum { ACCESS = 0666, MOST_BYTES = 64 << 20 };

/* A pipe or a device cannot be replaced by a file. */
static bool is_special(const char *name)
{
   struct stat s;
   return stat(name, &s) == 0 && !S_ISREG(s.st_mode);
}

static char *beside(const char *name)
{
   char *text;
   return asprintf(&text, "%s.%ld.tmp", name, (long)getpid()) < 0 ? NULL : text;
}

static bool write_all(int fd, const char *text, size_t length)
{
   while (length > 0) {
      const ssize_t n = write(fd, text, length);
      if (n < 0 && errno == EINTR)
         continue;
      if (n < 0)
         return false;
      text += n;
      length -= (size_t)n;
   }
   return true;
}

/* Closes, keeping the first error. */
static bool write_to(int fd, const char *text, size_t length)
{
   const bool written = write_all(fd, text, length);
   const int error = errno;
   const bool closed = close(fd) == 0;
   if (!written)
      errno = error;
   return written && closed;
}

bool tg_write_whole(const char *name, const char *text, size_t length)
{
   if (is_special(name)) {
      const int fd = open(name, O_WRONLY | O_CLOEXEC);
      return fd >= 0 && write_to(fd, text, length);
   }
   char *const other = beside(name);
   if (other == NULL)
      return false;
   const int fd = open(other, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, ACCESS);
   bool good = fd >= 0 && write_to(fd, text, length) && rename(other, name) == 0;
   if (!good && fd >= 0) {
      const int error = errno;
      unlink(other);
      errno = error;
   }
   free(other);
   return good;
}

bool tg_can_write(const char *name)
{
   struct stat s;
   if (stat(name, &s) == 0 && S_ISDIR(s.st_mode)) {
      errno = EISDIR;
      return false;
   }
   if (is_special(name))
      return access(name, W_OK) == 0;
   char *const other = beside(name);
   if (other == NULL)
      return false;
   const int fd = open(other, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, ACCESS);
   const int error = errno;
   if (fd >= 0) {
      close(fd);
      unlink(other);
   }
   free(other);
   errno = error;
   return fd >= 0;
}

char *tg_read_whole(const char *name, size_t *length)
{
   FILE *const f = fopen(name, "rb");
   char *text = NULL;
   size_t room = 0, n = 0, got = 1;
   if (f == NULL)
      return NULL;
   while (got > 0) {
      if (n + 1 >= room) {
         room = room == 0 ? 65536 : room * 2;
         char *const more = n >= MOST_BYTES ? NULL : realloc(text, room);
         if (more == NULL) {
            errno = n >= MOST_BYTES ? EFBIG : ENOMEM;
            break;
         }
         text = more;
      }
      got = fread(text + n, 1, room - n - 1, f);
      n += got;
   }
   if (got > 0 || ferror(f)) {
      const int error = errno;
      free(text);
      fclose(f);
      errno = error;
      return NULL;
   }
   fclose(f);
   text[n] = '\0';
   *length = n;
   return text;
}
