/* measure.c -- run a program, write its CPU time and peak memory.
   Part of tlbgrind.  GPL-2.0-or-later; see COPYING.

   measure RESULT PROGRAM ARGUMENTS: RESULT gets one line, "status user system wall maxrss", times
   in microseconds, memory in bytes.  The status is that of the shell: 128 + N for a program that
   signal N ended.

   The kernel counts what a process was before exec towards its peak memory.  A child of Python
   begins with Python's own megabytes; a child of this program begins with next to nothing. */

#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static long long microseconds(struct timeval t)
{
   return t.tv_sec * 1000000LL + t.tv_usec;
}

static long long now(void)
{
   struct timespec t;
   clock_gettime(CLOCK_MONOTONIC, &t);
   return t.tv_sec * 1000000LL + t.tv_nsec / 1000;
}

int main(int argc, char** argv)
{
   if (argc < 3) {
      fprintf(stderr, "usage: measure RESULT PROGRAM [ARGUMENTS]\n");
      return 2;
   }
   FILE* result = fopen(argv[1], "we");
   if (!result) {
      perror(argv[1]);
      return 2;
   }
   long long start = now();
   pid_t pid = fork();
   if (pid < 0) {
      perror("fork");
      return 2;
   }
   if (pid == 0) {
      execv(argv[2], argv + 2);
      perror(argv[2]);
      _exit(127);
   }
   int status;
   struct rusage used;
   if (wait4(pid, &status, 0, &used) != pid) {
      perror("wait4");
      return 2;
   }
   long long wall = now() - start;
   fprintf(result, "%d %lld %lld %lld %lld\n",
           WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status),
           microseconds(used.ru_utime), microseconds(used.ru_stime), wall, used.ru_maxrss * 1024LL);
   return fclose(result) == 0 ? 0 : 2;
}
