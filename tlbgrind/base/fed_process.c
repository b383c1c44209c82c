/* A process that the tool feeds. See base/fed_process.h. */

#include "pub_tool_basics.h"

#include "pub_tool_libcassert.h"
#include "pub_tool_libcbase.h"
#include "pub_tool_libcfile.h"
#include "pub_tool_libcproc.h"
#include "pub_tool_libcsignal.h"
#include "pub_tool_mallocfree.h"
#include "pub_tool_vki.h"

#include "base/fed_process.h"

/* The core's, without a header for tools. */
extern Int VG_(safe_fd)(Int oldfd);
extern Int VG_(fcntl)(Int fd, Int cmd, Addr arg);

struct _TgFedProcess {
   Int to, from;
   Int other_end; /* of `to`: while it is open, a write to a process that has ended does not send a
                     signal */
   SizeT at, n;   /* of what has been read */
   UChar buffer[64 * 1024];
};

/* Linux's; not all of Valgrind's headers have them. */
enum { POLLS_FOR_ROOM = 4 };

/* Nothing that is meant for the program, as Ctrl-C on a terminal is, ends the process. */
static void block_signals(void)
{
   vki_sigset_t all;
   VG_(memset)(&all, 0xff, sizeof all);
   VG_(sigprocmask)(VKI_SIG_SETMASK, &all, NULL);
}

/* In the new process. */
static void become(const HChar* file, const HChar** argv, Int in, Int out)
{
   enum { MANY = 4096 };
   VG_(dup2)(in, 0);
   VG_(dup2)(out, 1);
   for (Int fd = 3; fd < MANY; fd++)
      VG_(close)(fd);
   block_signals();
   VG_(execv)(file, argv);
   VG_(exit)(127);
}

/* A pipe whose ends the program does not use. */
static Bool open_pipe(Int ends[2])
{
   if (VG_(pipe)(ends) != 0)
      return False;
   ends[0] = VG_(safe_fd)(ends[0]);
   ends[1] = VG_(safe_fd)(ends[1]);
   return ends[0] >= 0 && ends[1] >= 0;
}

TgFedProcess* tg_fed_start(const HChar* file, const HChar** argv)
{
   Int data[2], answers[2], unused;
   if (!open_pipe(data) || !open_pipe(answers))
      return NULL;
   /* The process between us and it ends at once, so that it is no child of ours. */
   const Int pid = VG_(fork)();
   if (pid == 0) {
      if (VG_(fork)() == 0)
         become(file, argv, data[0], answers[1]);
      VG_(exit)(0);
   }
   if (pid > 0)
      VG_(waitpid)(pid, &unused, 0);
   VG_(close)(answers[1]);
   VG_(fcntl)(data[1], VKI_F_SETFL, VKI_O_WRONLY | VKI_O_NONBLOCK);
   TgFedProcess* p = VG_(malloc)("tg.fed", sizeof *p);
   p->to = data[1];
   p->other_end = data[0];
   p->from = answers[0];
   p->at = p->n = 0;
   return p;
}

/* Waits until something can be written. False: the process has ended, and with it all that could
   write its answers. */
static Bool await_room(TgFedProcess* p)
{
   struct vki_pollfd fds[2] = { { .fd = p->to, .events = POLLS_FOR_ROOM }, { .fd = p->from } };
   for (;;) {
      const SysRes r = VG_(poll)(fds, 2, -1);
      if (sr_isError(r) && sr_Err(r) != VKI_EINTR)
         return False;
      if (sr_isError(r))
         continue;
      if (fds[1].revents != 0)
         return False;
      if (fds[0].revents != 0)
         return (fds[0].revents & POLLS_FOR_ROOM) != 0;
   }
}

Bool tg_fed_write(TgFedProcess* p, const UChar* bytes, SizeT n)
{
   while (n > 0) {
      if (!await_room(p))
         return False;
      const Int done = VG_(write)(p->to, bytes, (Int)n);
      if (done == -VKI_EINTR || done == -VKI_EAGAIN)
         continue;
      if (done <= 0)
         return False;
      bytes += done;
      n -= (SizeT)done;
   }
   return True;
}

static Bool fill(TgFedProcess* p)
{
   Int n;
   do
      n = VG_(read)(p->from, p->buffer, sizeof p->buffer);
   while (n == -VKI_EINTR);
   p->at = 0;
   p->n = n > 0 ? (SizeT)n : 0;
   return n > 0;
}

Bool tg_fed_read(TgFedProcess* p, void* bytes, SizeT n)
{
   UChar* to = bytes;
   while (n > 0) {
      if (p->at == p->n && !fill(p))
         return False;
      const SizeT there = p->n - p->at;
      const SizeT piece = n < there ? n : there;
      VG_(memcpy)(to, p->buffer + p->at, piece);
      p->at += piece;
      to += piece;
      n -= piece;
   }
   return True;
}

void tg_fed_close(TgFedProcess* p)
{
   VG_(close)(p->to);
   VG_(close)(p->other_end);
   VG_(close)(p->from);
   VG_(free)(p);
}
