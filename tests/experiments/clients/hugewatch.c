/* Runs a program without address space randomization and writes how much of its
   anonymous memory is in huge pages when it has most of it, and at its end:

      hugewatch FILE PROGRAM [ARGUMENTS]

   The kernel says it in /proc/PID/smaps_rollup, which is read before each call
   that can give memory back, and when the program ends, while all is still
   there. So no moment with more is missed. FILE gets, in kilobytes,

      peak ANONYMOUS HUGE
      end ANONYMOUS HUGE
      map START-END HUGE NAME         of each mapping with huge pages, at the peak

   Exit status: the program's; 125 if it could not be watched.
   Part of tlbgrind.  GPL-2.0-or-later; see COPYING. */

#define _GNU_SOURCE
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

typedef struct {
   unsigned long anonymous;
   unsigned long huge;
} Sums;

static pid_t program;
static uint64_t last_break;
static Sums peak, last;
static char *peak_maps; /* the lines of FILE */

static void must(int good, const char *what)
{
   if (good)
      return;
   fprintf(stderr, "hugewatch: %s: %s\n", what, strerror(errno));
   exit(125);
}

static FILE *open_proc(const char *name)
{
   char path[64];
   snprintf(path, sizeof path, "/proc/%d/%s", (int)program, name);
   return fopen(path, "r");
}

/* --- What the kernel says --- */

static void note_maps(void)
{
   char line[4096], range[64] = "", name[4096] = "";
   unsigned long huge;
   size_t size;
   FILE *const in = open_proc("smaps");
   if (in == NULL)
      return;
   free(peak_maps);
   FILE *const out = open_memstream(&peak_maps, &size);
   must(out != NULL, "memory");
   while (fgets(line, sizeof line, in) != NULL) {
      if (sscanf(line, "AnonHugePages: %lu kB", &huge) == 1) {
         if (huge != 0)
            fprintf(out, "map %s %lu %s\n", range, huge, name);
      } else if (strchr(line, '-') != NULL && strchr(line, '-') < strchr(line, ' ')) {
         name[0] = '\0';
         sscanf(line, "%63s %*s %*s %*s %*s %4095[^\n]", range, name);
      }
   }
   fclose(out);
   fclose(in);
}

static void look(void)
{
   char line[256];
   Sums now = { 0, 0 };
   FILE *const f = open_proc("smaps_rollup");
   if (f == NULL)
      return;
   while (fgets(line, sizeof line, f) != NULL) {
      sscanf(line, "Anonymous: %lu kB", &now.anonymous);
      sscanf(line, "AnonHugePages: %lu kB", &now.huge);
   }
   fclose(f);
   if (now.anonymous == 0)
      return; /* another thread has ended it all */
   last = now;
   if (now.anonymous > peak.anonymous) {
      peak = now;
      note_maps();
   }
}

/* --- The program --- */

/* These calls stop for the tracer, all others do not. */
static void stop_where_memory_goes(void)
{
#define AT(field) (unsigned)offsetof(struct seccomp_data, field)
#define STOP_FOR(number, to) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, to, 0)
   struct sock_filter code[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, AT(nr)),
      STOP_FOR(SYS_munmap, 6),
      STOP_FOR(SYS_madvise, 5),
      STOP_FOR(SYS_mremap, 4),
      STOP_FOR(SYS_brk, 3),
      STOP_FOR(SYS_exit_group, 2),
      STOP_FOR(SYS_mmap, 1), /* over what is there */
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRACE),
   };
   const struct sock_fprog filter = { sizeof code / sizeof code[0], code };
   must(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0, "PR_SET_NO_NEW_PRIVS");
   must(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0, "PR_SET_SECCOMP");
}

static void begin(char **command)
{
   must(personality(ADDR_NO_RANDOMIZE) != -1, "personality");
   must(ptrace(PTRACE_TRACEME, 0, NULL, NULL) == 0, "PTRACE_TRACEME");
   raise(SIGSTOP);
   stop_where_memory_goes();
   execv(command[0], command);
   must(0, command[0]);
}

/* Children are traced, too, for their calls stop as well, but not looked at. */
static const long options = PTRACE_O_TRACESECCOMP | PTRACE_O_TRACEEXIT | PTRACE_O_EXITKILL
                            | PTRACE_O_TRACECLONE | PTRACE_O_TRACEFORK
                            | PTRACE_O_TRACEVFORK | PTRACE_O_TRACEEXEC;

/* Whether the call that the thread stands before can give memory back. */
static int can_free(pid_t thread)
{
   struct __ptrace_syscall_info call;
   if (ptrace(PTRACE_GET_SYSCALL_INFO, thread, (void *)sizeof call, &call) <= 0
       || call.op != PTRACE_SYSCALL_INFO_SECCOMP)
      return 1;
   const uint64_t first = call.seccomp.args[0];
   if (call.seccomp.nr == SYS_mmap)
      return (call.seccomp.args[3] & MAP_FIXED) != 0;
   if (call.seccomp.nr != SYS_brk)
      return 1;
   const int shrinks = first < last_break;
   last_break = first;
   return shrinks;
}

static int is_of_program(pid_t thread)
{
   char path[64];
   snprintf(path, sizeof path, "/proc/%d/task/%d", (int)program, (int)thread);
   return access(path, F_OK) == 0;
}

/* Until the program has ended; returns its status. */
static int watch(void)
{
   int begun = 0;
   for (;;) {
      int status;
      const pid_t tid = waitpid(-1, &status, __WALL);
      must(tid > 0 || errno == EINTR, "waitpid");
      if (tid <= 0)
         continue;
      if (WIFEXITED(status) || WIFSIGNALED(status)) {
         if (tid == program)
            return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
         continue;
      }
      const int event = status >> 16;
      int signal = WSTOPSIG(status);
      if (event == PTRACE_EVENT_EXEC && tid == program)
         begun = 1;
      if (begun && is_of_program(tid)
          && (event == PTRACE_EVENT_EXIT
              || (event == PTRACE_EVENT_SECCOMP && can_free(tid))))
         look();
      /* Each new process or thread begins with a stop of its own. */
      if (event != 0 || signal == SIGSTOP || signal == SIGTRAP)
         signal = 0;
      ptrace(PTRACE_CONT, tid, NULL, (void *)(long)signal);
   }
}

int main(int argc, char **argv)
{
   if (argc < 3) {
      fprintf(stderr, "usage: hugewatch FILE PROGRAM [ARGUMENTS]\n");
      return 125;
   }
   program = fork();
   must(program >= 0, "fork");
   if (program == 0)
      begin(argv + 2);
   int status;
   must(waitpid(program, &status, 0) == program && WIFSTOPPED(status), argv[2]);
   must(ptrace(PTRACE_SETOPTIONS, program, NULL, (void *)options) == 0, "PTRACE_SETOPTIONS");
   ptrace(PTRACE_CONT, program, NULL, NULL);
   status = watch();
   FILE *const out = fopen(argv[1], "w");
   must(out != NULL, argv[1]);
   fprintf(out, "peak %lu %lu\nend %lu %lu\n%s", peak.anonymous, peak.huge, last.anonymous,
           last.huge, peak_maps == NULL ? "" : peak_maps);
   must(fclose(out) == 0, argv[1]);
   return status;
}
