/* Processes that begin and end in every way; main() lists them.
   Part of tlbgrind.  GPL-2.0-or-later; see COPYING. */

#define _GNU_SOURCE
#include "run_work.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

WORK(before);
WORK(both);
WORK(in_parent);
WORK(in_child);
WORK(in_grandchild);
WORK(work);

static long memory[4096];
extern char **environ;

static int finish(pid_t child)
{
   int status;
   while (waitpid(child, &status, 0) < 0 && errno == EINTR)
      ;
   return status;
}

/* A child and a grandchild; the child leaves by exit() or _exit(). */
static int forks(int quick)
{
   before(1000, memory);
   const pid_t child = fork();
   both(200, memory);
   if (child == 0) {
      in_child(300, memory);
      const pid_t grandchild = fork();
      if (grandchild == 0) {
         in_grandchild(10, memory);
         expect_work("before", 0, 0);
         expect_work("both", 0, 0);
         expect_work("in_child", 0, 0);
         expect_work("in_grandchild", 10, 1);
         exit(3);
      }
      finish(grandchild);
      expect_work("before", 0, 0);
      expect_work("both", 200, 1);
      expect_work("in_child", 300, 1);
      expect_work("in_grandchild", 0, 0);
      if (quick)
         _exit(0);
      exit(0);
   }
   in_parent(50, memory);
   finish(child);
   expect_work("before", 1000, 1);
   expect_work("both", 200, 1);
   expect_work("in_parent", 50, 1);
   expect_work("in_child", 0, 0);
   return 0;
}

/* Children that become another program at once. */
static int spawns(char **argv)
{
   pid_t child;
   before(100, memory);
   child = vfork();
   if (child == 0) {
      execv(argv[0], argv);
      _exit(127);
   }
   finish(child);
   both(100, memory);
   if (posix_spawn(&child, argv[0], NULL, NULL, argv, environ) == 0)
      finish(child);
   in_parent(100, memory);
   expect_work("before", 100, 1);
   expect_work("both", 100, 1);
   expect_work("in_parent", 100, 1);
   return 0;
}

static int failing_exec(void)
{
   char *const argv[] = { "nothing", NULL };
   before(100, memory);
   execv("/nonexistent/nothing", argv);
   both(100, memory);
   execv("/etc/passwd", argv);
   in_parent(100, memory);
   execv("/", argv);
   expect_work("before", 100, 1);
   expect_work("both", 100, 1);
   expect_work("in_parent", 100, 1);
   return 4;
}

static void *exit_process(void *arg)
{
   work(500, memory);
   usleep(1000);
   exit((int)(long)arg);
}

static void *run_for_ever(void *arg)
{
   for (;;)
      ((volatile long *)arg)[2048]++;
   return NULL;
}

/* Does not return if it knows the way. */
static void ends(const char *how, const char *arg)
{
   pthread_t thread;
   if (strcmp(how, "exit") == 0) {
      work(1000, memory);
      expect_work("work", 1000, 1);
      exit(atoi(arg));
   } else if (strcmp(how, "_exit") == 0) {
      work(1000, memory);
      expect_work("work", 1000, 1);
      _exit(atoi(arg));
   } else if (strcmp(how, "kill") == 0) {
      work(1000, memory);
      expect_work("work", 1000, 1);
      kill(getpid(), atoi(arg));
      pause();
   } else if (strcmp(how, "abort") == 0) {
      work(1000, memory);
      expect_work("work", 1000, 1);
      abort();
   } else if (strcmp(how, "segv") == 0) {
      work(1000, memory);
      expect_work("work", 1000, 1);
      *(volatile int *)(long)atoi(arg) = 1;
   } else if (strcmp(how, "thread-exit") == 0) {
      work(1000, memory);
      expect_work("work", 1500, 2);
      pthread_create(&thread, NULL, run_for_ever, memory);
      pthread_create(&thread, NULL, exit_process, (void *)(long)atoi(arg));
      run_for_ever(memory + 1);
   } else if (strcmp(how, "main-ends") == 0) {
      work(1000, memory);
      expect_work("work", 1500, 2);
      pthread_create(&thread, NULL, exit_process, (void *)(long)atoi(arg));
      pthread_exit(NULL);
   }
}

static int surroundings(const char *what, const char *arg)
{
   struct rlimit limit;
   work(1000, memory);
   expect_work("work", 1000, 1);
   if (strcmp(what, "close-all") == 0) {
      for (int fd = 0; fd < 4096; fd++)
         close(fd);
   } else if (strcmp(what, "no-more-files") == 0) {
      getrlimit(RLIMIT_NOFILE, &limit);
      limit.rlim_cur = limit.rlim_max = 20;
      setrlimit(RLIMIT_NOFILE, &limit);
      while (open("/dev/null", O_RDONLY) >= 0)
         ;
   } else if (strcmp(what, "file-size") == 0) {
      limit.rlim_cur = limit.rlim_max = 0;
      setrlimit(RLIMIT_FSIZE, &limit);
   } else if (strcmp(what, "chdir") == 0) {
      if (chdir(arg) != 0)
         return 9;
   } else if (strcmp(what, "chroot") == 0) {
      if (chroot(arg) != 0 || chdir("/") != 0)
         return 9;
   } else if (strcmp(what, "filters") == 0) {
      /* One that allows everything. */
      struct sock_filter all = { .code = BPF_RET | BPF_K, .k = SECCOMP_RET_ALLOW };
      struct sock_fprog filter = { .len = 1, .filter = &all };
      if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0
          || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) != 0)
         return 9;
   } else if (strcmp(what, "umask") == 0) {
      umask(0777);
   }
   return 5;
}

/* Less address space than the tool has: the limit is the program's own, and there is memory within
   it. Returns the number of what is wrong, or 0. */
static int limits_addresses(void)
{
   struct rlimit limit = { 64 << 20, 96 << 20 }, now;
   long n = 0;
   if (setrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur != 64 << 20)
      return 1;
   if (getrlimit(RLIMIT_AS, &now) != 0 || now.rlim_cur != limit.rlim_cur
       || now.rlim_max != limit.rlim_max)
      return 2;
   for (int i = 0; i < 100; i++) {
      char *const block = malloc(200000);
      n += block != NULL;
      if (block != NULL)
         block[i] = 1;
   }
   if (n != 100)
      return 3;
   if (sizeof(long) == 8
       && mmap(NULL, (size_t)1 << 36, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) != MAP_FAILED)
      return 4;
   struct rlimit wrong = { 2, 1 };
   if (setrlimit(RLIMIT_AS, &wrong) == 0 || getrlimit(RLIMIT_AS, &now) != 0
       || now.rlim_cur != limit.rlim_cur)
      return 5;
   /* Set and asked for in one place. */
   now = limit;
   now.rlim_cur--;
   if (prlimit(0, RLIMIT_AS, &now, &now) != 0 || now.rlim_cur != limit.rlim_cur)
      return 7;
   /* Up to the hard limit, and above it, which depends on who it is. */
   limit.rlim_cur = limit.rlim_max;
   if (setrlimit(RLIMIT_AS, &limit) != 0)
      return 6;
   limit.rlim_cur = limit.rlim_max = 128 << 20;
   fprintf(stderr, "a hard limit is raised: %d\n", setrlimit(RLIMIT_AS, &limit));
   work(100, memory);
   expect_work("work", 100, 1);
   return 0;
}

int main(int argc, char **argv)
{
   const char *what = argc > 1 ? argv[1] : "";
   const char *arg = argc > 2 ? argv[2] : "";
   if (strcmp(what, "fork") == 0)
      return forks(0);
   if (strcmp(what, "fork-quick") == 0)
      return forks(1);
   if (strcmp(what, "spawn") == 0)
      return spawns(argv + 2);
   if (strcmp(what, "exec-fails") == 0)
      return failing_exec();
   if (strcmp(what, "limits-addresses") == 0)
      return limits_addresses();
   ends(what, arg);
   return surroundings(what, arg);
}
