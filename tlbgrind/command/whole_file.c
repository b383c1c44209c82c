/* Files that are written as a whole or not at all. See command/whole_file.h.
   Part of tlbgrind.  GPL-2.0-or-later; see COPYING. */

#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "command/whole_file.h"

enum { ACCESS = 0666, MOST_BYTES = 64 << 20 };

/* A pipe or a device cannot be replaced by a file. */
static bool is_special(const char *name)
{
   struct stat s;
   return stat(name, &s) == 0 && !S_ISREG(s.st_mode);
}

/* A new file beside the one of that name, with a name that nobody can guess: another container's
   process may have this pid, and another user could have put something there. -1 with errno; else
   *other is to be freed. */
static int open_beside(const char *name, char **other)
{
   if (asprintf(other, "%s.XXXXXX", name) < 0)
      return -1;
   const int fd = mkostemp(*other, O_CLOEXEC);
   if (fd >= 0) {
      const mode_t mask = umask(0);
      umask(mask);
      if (fchmod(fd, ACCESS & ~mask) == 0)
         return fd;
   }
   const int error = errno;
   if (fd >= 0) {
      close(fd);
      unlink(*other);
   }
   free(*other);
   errno = error;
   return -1;
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
   char *other;
   const int fd = open_beside(name, &other);
   if (fd < 0)
      return false;
   const bool good = write_to(fd, text, length) && rename(other, name) == 0;
   if (!good) {
      const int error = errno;
      unlink(other);
      errno = error;
   }
   free(other);
   return good;
}

int tg_open_unnamed(const char *beside)
{
   char *other;
   const int fd = open_beside(is_special(beside) ? "/tmp/tlbgrind" : beside, &other);
   if (fd < 0)
      return -1;
   unlink(other);
   free(other);
   return fd;
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
   char *other;
   const int fd = open_beside(name, &other);
   if (fd < 0)
      return false;
   close(fd);
   unlink(other);
   free(other);
   return true;
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
         char *const more = n > MOST_BYTES ? NULL : realloc(text, room);
         if (more == NULL) {
            errno = n > MOST_BYTES ? EFBIG : ENOMEM;
            break;
         }
         text = more;
      }
      got = fread(text + n, 1, room - n - 1, f);
      n += got;
   }
   if (got > 0 || ferror(f) || n > MOST_BYTES) {
      const int error = n > MOST_BYTES ? EFBIG : errno;
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

long tg_read_begin(void *opaque, const char *path, char *text, size_t size)
{
   (void)opaque;
   FILE *const f = fopen(path, "r");
   if (f == NULL)
      return -1;
   const size_t n = fread(text, 1, size, f);
   fclose(f);
   return (long)n;
}
