/* Compressed files. See simulate/unpacked.h.
   Part of tlbgrind.  GPL-2.0-or-later; see COPYING. */

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "command/load_machine.h"
#include "simulate/unpacked.h"

enum { MOST_MAGIC = 6, MISSING = 127 };

typedef struct {
   const char *magic; /* what such a file begins with */
   const char *program;
   const char *package; /* of Debian */
   const char *arguments[4]; /* the file is its standard input */
} packing;

/* unzip has to be told a name. */
static const packing packings[] = {
   { "\x1f\x8b", "gzip", "gzip", { "-d", "-c", "-q" } },
   { "\xfd" "7zXZ", "xz", "xz-utils", { "-d", "-c", "-q" } },
   { "\x28\xb5\x2f\xfd", "zstd", "zstd", { "-d", "-c", "-q" } },
   { "PK\x03\x04", "unzip", "unzip", { "-p", "-q", "/proc/self/fd/0" } },
};

struct TgUnpacked {
   const char *name;
   int fd;
   int file; /* the same, or what the program reads: both have one position */
   const packing *by; /* NULL: the file is not compressed */
   pid_t pid;         /* 0: has ended */
   int status;
};

static const packing *packing_of(const uint8_t *first, size_t n)
{
   for (unsigned i = 0; i < sizeof packings / sizeof *packings; i++) {
      const size_t length = strlen(packings[i].magic);
      if (n >= length && memcmp(first, packings[i].magic, length) == 0)
         return &packings[i];
   }
   return NULL;
}

static _Noreturn void run(const packing *by, int in, int out)
{
   const char *argument[6] = { by->program };
   memcpy(argument + 1, by->arguments, sizeof by->arguments);
   const int null = open("/dev/null", O_WRONLY);
   if (dup2(in, 0) != 0 || dup2(out, 1) != 1 || null < 0 || dup2(null, 2) != 2)
      _exit(126);
   for (int fd = 3; fd < 64; fd++)
      close(fd);
   execvp(by->program, (char *const *)argument);
   _exit(MISSING);
}

/* From now on what the program makes of the file is read. */
static void unpack(TgUnpacked *u)
{
   int ends[2];
   if (pipe(ends) != 0 || (u->pid = fork()) < 0)
      tg_load_refuse("%s: %s cannot be started: %s", u->name, u->by->program, strerror(errno));
   if (u->pid == 0)
      run(u->by, u->fd, ends[1]);
   close(ends[1]);
   u->fd = ends[0];
}

TgUnpacked *tg_unpacked_open(const char *name)
{
   uint8_t first[MOST_MAGIC];
   struct stat s;
   TgUnpacked *const u = calloc(1, sizeof *u);
   if (u == NULL)
      tg_load_refuse("no memory");
   u->name = name;
   if (strcmp(name, "-") == 0)
      return u;
   u->fd = open(name, O_RDONLY | O_NONBLOCK);
   if (u->fd < 0)
      tg_load_refuse("%s: the file cannot be opened: %s", name, strerror(errno));
   if (fstat(u->fd, &s) != 0 || !S_ISREG(s.st_mode))
      tg_load_refuse("%s: it is no regular file", name);
   u->file = u->fd;
   const ssize_t n = pread(u->fd, first, sizeof first, 0);
   u->by = n > 0 ? packing_of(first, (size_t)n) : NULL;
   if (u->by != NULL)
      unpack(u);
   return u;
}

size_t tg_unpacked_get(void *opaque, uint8_t *bytes, size_t n)
{
   TgUnpacked *const u = opaque;
   size_t done = 0;
   while (done < n) {
      const ssize_t piece = read(u->fd, bytes + done, n - done);
      if (piece < 0 && errno == EINTR)
         continue;
      if (piece < 0)
         tg_load_refuse("%s: the file cannot be read: %s", u->name, strerror(errno));
      if (piece == 0)
         break;
      done += (size_t)piece;
   }
   return done;
}

static void await(TgUnpacked *u)
{
   while (u->pid > 0 && waitpid(u->pid, &u->status, 0) < 0 && errno == EINTR)
      ;
   u->pid = 0;
}

bool tg_unpacked_is_whole(TgUnpacked *u, const char **program)
{
   if (u->by == NULL)
      return true;
   *program = u->by->program;
   await(u);
   if (WIFEXITED(u->status) && WEXITSTATUS(u->status) == MISSING)
      tg_load_refuse("%s: the file is compressed, and %s, which unpacks it, is not installed "
                     "(Debian package: %s)", u->name, u->by->program, u->by->package);
   return WIFEXITED(u->status) && WEXITSTATUS(u->status) == 0;
}

double tg_unpacked_done(const TgUnpacked *u)
{
   struct stat s;
   const off_t at = lseek(u->file, 0, SEEK_CUR);
   return at < 0 || fstat(u->file, &s) != 0 || s.st_size <= 0
             ? -1.0 : (double)at / (double)s.st_size;
}

void tg_unpacked_close(TgUnpacked *u)
{
   if (u->fd > 0)
      close(u->fd);
   if (u->file != u->fd)
      close(u->file);
   await(u);
   free(u);
}
