/* Files that are compressed while they grow. See base/packed_file.h. */

#include "pub_tool_basics.h"

#include "pub_tool_libcassert.h"
#include "pub_tool_libcbase.h"
#include "pub_tool_libcfile.h"
#include "pub_tool_libcprint.h"
#include "pub_tool_libcproc.h"
#include "pub_tool_libcsignal.h"
#include "pub_tool_mallocfree.h"
#include "pub_tool_vki.h"

#include "base/file.h"
#include "base/own_process.h"
#include "base/packed_file.h"
#include "base/search_path.h"

/* The core's: see base/file.c. */
extern Int VG_(safe_fd)(Int oldfd);

struct _TgPackedFile {
   Int fd;               /* of the file, or of the pipe to the compressor */
   Int status;           /* from which the compressor's end is read; -1: there is none */
   const HChar* failure; /* the first one; NULL: none */
   SizeT used;
   UChar buffer[64 * 1024];
};

/* --- The compressor --- */

/* Nothing that is meant for the program, as Ctrl-C on a terminal is, ends the compressor. */
static void block_signals(void)
{
   vki_sigset_t all;
   VG_(memset)(&all, 0xff, sizeof all);
   VG_(sigprocmask)(VKI_SIG_SETMASK, &all, NULL);
}

/* All but two. In a forked child they are the program's, too: who waits for the end of a pipe would
   wait for the end of the run. */
static void close_others(Int one, Int other)
{
   enum { MANY = 4096 };
   for (Int fd = 0; fd < MANY; fd++) {
      if (fd != one && fd != other)
         VG_(close)(fd);
   }
}

static void close_from(Int first)
{
   enum { MANY = 4096 };
   for (Int fd = first; fd < MANY; fd++)
      VG_(close)(fd);
}

/* In a process of its own: from `in` to `out`. */
static void compress(const HChar* zstd, Int in, Int out)
{
   const HChar* argv[] = { zstd, "-q", "-c", NULL };
   const SysRes null = VG_(open)("/dev/null", VKI_O_WRONLY, 0);
   VG_(dup2)(in, 0);
   VG_(dup2)(out, 1);
   if (!sr_isError(null))
      VG_(dup2)((Int)sr_Res(null), 2);
   close_from(3);
   VG_(execv)(zstd, argv);
   VG_(exit)(1);
}

/* Reads to the end. */
static void drain(Int fd)
{
   UChar bytes[4096];
   Int n;
   do
      n = VG_(read)(fd, bytes, sizeof bytes);
   while (n > 0 || n == -VKI_EINTR);
}

/* Starts the compressor, waits for it, and tells how it ended, by one byte. If it ends before the
   run, as on a full disk, the pipe still has a reader: else the kernel would end the program with
   SIGPIPE. */
static void attend(const HChar* zstd, Int in, Int out, Int status)
{
   Int ended = 1;
   block_signals();
   const Int pid = VG_(fork)();
   if (pid == 0)
      compress(zstd, in, out);
   close_others(in, status);
   if (pid > 0)
      VG_(waitpid)(pid, &ended, 0);
   drain(in);
   const UChar byte = ended == 0 ? 0 : 1;
   VG_(write)(status, &byte, 1);
   VG_(exit)(0);
}

/* The process between us and the compressor's ends at once, so that this is no child of ours. */
static Bool start(TgPackedFile* f, const HChar* zstd)
{
   Int data[2], status[2];
   if (VG_(pipe)(data) != 0)
      return False;
   if (VG_(pipe)(status) != 0) {
      VG_(close)(data[0]);
      VG_(close)(data[1]);
      return False;
   }
   const Int pid = tg_own_fork();
   if (pid == 0) {
      VG_(close)(data[1]);
      VG_(close)(status[0]);
      if (VG_(fork)() == 0)
         attend(zstd, data[0], f->fd, status[1]);
      VG_(exit)(0);
   }
   if (pid > 0)
      tg_own_wait(pid);
   VG_(close)(data[0]);
   VG_(close)(status[1]);
   if (pid < 0) {
      VG_(close)(data[1]);
      VG_(close)(status[0]);
      return False;
   }
   VG_(close)(f->fd);
   f->fd = VG_(safe_fd)(data[1]);
   f->status = VG_(safe_fd)(status[0]);
   return True;
}

/* --- The file --- */

TgPackedFile* tg_packed_open(const HChar* name, const HChar** why)
{
   const Int fd = tg_file_create(name, why);
   if (fd < 0)
      return NULL;
   TgPackedFile* f = VG_(malloc)("tg.packed", sizeof *f);
   f->fd = fd;
   f->status = -1;
   f->failure = NULL;
   f->used = 0;
   HChar* zstd = tg_search_path("zstd");
   if (zstd != NULL)
      start(f, zstd);
   VG_(free)(zstd);
   return f;
}

static void flush(TgPackedFile* f)
{
   SizeT done = 0;
   while (done < f->used && f->failure == NULL) {
      const Int n = VG_(write)(f->fd, f->buffer + done, (Int)(f->used - done));
      if (n == -VKI_EINTR)
         continue;
      if (n <= 0)
         f->failure = n == 0 ? "nothing could be written" : tg_file_why((UWord)-n);
      else
         done += (SizeT)n;
   }
   f->used = 0;
}

void tg_packed_write(TgPackedFile* f, const UChar* bytes, SizeT n)
{
   while (n > 0) {
      const SizeT room = sizeof f->buffer - f->used;
      const SizeT piece = n < room ? n : room;
      VG_(memcpy)(f->buffer + f->used, bytes, piece);
      f->used += piece;
      bytes += piece;
      n -= piece;
      if (f->used == sizeof f->buffer)
         flush(f);
   }
}

/* How the compressor has ended, which it does once it has all. */
static const HChar* end_of_compressor(Int status)
{
   UChar byte = 1;
   Int n;
   do
      n = VG_(read)(status, &byte, 1);
   while (n == -VKI_EINTR);
   VG_(close)(status);
   return n == 1 && byte == 0 ? NULL : "zstd could not write all of it: is the disk full?";
}

const HChar* tg_packed_close(TgPackedFile* f)
{
   flush(f);
   VG_(close)(f->fd);
   const HChar* failure = f->failure;
   const HChar* end = f->status >= 0 ? end_of_compressor(f->status) : NULL;
   VG_(free)(f);
   return failure != NULL ? failure : end;
}

void tg_packed_forget(TgPackedFile* f)
{
   VG_(close)(f->fd);
   if (f->status >= 0)
      VG_(close)(f->status);
   VG_(free)(f);
}
