/* large_items.c -- has very many items of one kind, and works as often with each.
   Part of tlbgrind.  GPL-2.0-or-later; see COPYING.

   large_items touches GIB N            writes N pages of a mapping of GIB gigabytes, here and there
   large_items mappings N LIVE          makes N mappings of a page; the LIVE last ones are there
   large_items threads N LIVE           starts N threads, LIVE at once
   large_items libraries N LIVE FOLDER  loads FOLDER/0.so to N-1.so; the LIVE last ones are there
   large_items programs N LEFT          becomes itself, N times in all

   Prints what function `work' must be counted as. It has a page of its own in each call, which the
   first call that has it reads and then writes: two page faults. */

#define _GNU_SOURCE
#include "../clients/run_work.h"

#ifndef LARGE_STATIC
#include <dlfcn.h>
#endif
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

WORK(work);

enum { PAGE = 4096, TIMES = 10 };

static void die(const char *what)
{
   perror(what);
   exit(3);
}

static char *map(size_t size, int protection)
{
   char *memory = mmap(NULL, size, protection, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
   if (memory == MAP_FAILED)
      die("mmap");
   return memory;
}

static void touches(long gib, long n)
{
   const size_t pages = (size_t)gib << 18;
   char *memory = map(pages * PAGE, PROT_READ | PROT_WRITE);
   /* A prime number that no number of pages here is a multiple of, so that no page comes twice. */
   const size_t step = 1000003;
   size_t page = 0;
   for (long i = 0; i < n; i++, page = (page + step) % pages)
      work(TIMES, (long *)(memory + page * PAGE));
}

/* Neighbours have other rights, so nobody joins them. */
static void mappings(long n, long live)
{
   char **made = calloc((size_t)live, sizeof *made);
   for (long i = 0; i < n; i++) {
      char **place = &made[i % live];
      if (*place && munmap(*place, 2 * PAGE) != 0)
         die("munmap");
      *place = map(2 * PAGE, PROT_READ | PROT_WRITE);
      if (mprotect(*place + PAGE, PAGE, PROT_READ) != 0)
         die("mprotect");
      work(TIMES, (long *)*place);
   }
}

static pthread_barrier_t all_there;

static void *run(void *memory)
{
   work(TIMES, memory);
   pthread_barrier_wait(&all_there);
   return NULL;
}

static void threads(long n, long live)
{
   pthread_t *made = calloc((size_t)live, sizeof *made);
   char *memory = map((size_t)n * PAGE, PROT_READ | PROT_WRITE);
   pthread_attr_t small;
   pthread_attr_init(&small);
   pthread_attr_setstacksize(&small, 64 << 10);
   pthread_barrier_init(&all_there, NULL, (unsigned)live);
   for (long i = 0; i < n; i += live) {
      for (long k = 0; k < live; k++)
         if (pthread_create(&made[k], &small, run, memory + (i + k) * PAGE) != 0)
            die("pthread_create");
      for (long k = 0; k < live; k++)
         pthread_join(made[k], NULL);
   }
}

#ifdef LARGE_STATIC
/* A static program cannot load what was not there when it was linked. */
static void libraries(long n, long live, const char *folder)
{
   (void)n, (void)live, (void)folder;
   exit(2);
}
#else
static void libraries(long n, long live, const char *folder)
{
   void **made = calloc((size_t)live, sizeof *made);
   char *memory = map((size_t)n * PAGE, PROT_READ | PROT_WRITE);
   for (long i = 0; i < n; i++) {
      void **place = &made[i % live];
      if (*place)
         dlclose(*place);
      char name[4096];
      snprintf(name, sizeof name, "%s/%ld.so", folder, i);
      *place = dlopen(name, RTLD_NOW | RTLD_LOCAL);
      if (!*place) {
         fprintf(stderr, "%s\n", dlerror());
         exit(3);
      }
      void (*plugin)(long, long *) = (void (*)(long, long *))dlsym(*place, "work");
      plugin(TIMES, (long *)(memory + i * PAGE));
   }
}

#endif

static void programs(long left, char **argv)
{
   static char memory[PAGE] __attribute__((aligned(PAGE)));
   work(TIMES, (long *)memory);
   if (left <= 1)
      return;
   char text[20];
   snprintf(text, sizeof text, "%ld", left - 1);
   argv[3] = text;
   execv(argv[0], argv);
   die("execv");
}

int main(int argc, char **argv)
{
   if (argc < 4)
      return 2;
   const char *kind = argv[1];
   const long n = atol(argv[2]), more = atol(argv[3]);
   long works = n;
   if (strcmp(kind, "touches") == 0)
      touches(n, works = more);
   else if (strcmp(kind, "mappings") == 0)
      mappings(n, more);
   else if (strcmp(kind, "threads") == 0)
      threads(n, more);
   else if (strcmp(kind, "libraries") == 0 && argc == 5)
      libraries(n, more, argv[4]);
   else if (strcmp(kind, "programs") == 0) {
      programs(more, argv);
      works = 1;
   } else
      return 2;
   expect_work("work", TIMES * works, works);
   return 0;
}
