/* Code that comes and goes; the first argument says how.
   Part of tlbgrind.  GPL-2.0-or-later; see COPYING. */

#define _GNU_SOURCE
#include "run_work.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* What has no symbols: one function, ???. */
static long made_ir, made_calls;

static void run(unsigned char *code)
{
   ((void (*)(void))code)();
   made_calls++;
}

/* n instructions and a return. */
static void make(unsigned char *code, int n)
{
   for (int i = 0; i < n; i++) {
      *code++ = 0x85; /* test %eax, %eax */
      *code++ = 0xc0;
   }
   *code = 0xc3;
}

static void expect_made(void)
{
   expect("?""?""?", made_ir + made_calls, made_calls, 0);
}

static unsigned char *new_code(size_t bytes)
{
   return mmap(NULL, bytes, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1,
               0);
}

/* Rewritten at the same place, across a page's end. */
static void jit(unsigned char *code)
{
   for (int round = 0; round < 200; round++) {
      const int n = 1 + round % 7 * 30;
      make(code, n);
      for (int i = 0; i < 3; i++) {
         run(code);
         made_ir += n;
      }
   }
}

static void on_stack(void)
{
   unsigned char room[4 * 4096];
   unsigned char *page = (unsigned char *)(((long)room + 4095) & ~4095L);
   if (mprotect(page, 8192, PROT_READ | PROT_WRITE | PROT_EXEC) != 0)
      exit(9);
   jit(page + 4096 - 50);
}

static void mapped(int rounds)
{
   for (int round = 0; round < rounds; round++) {
      unsigned char *code = new_code(4096 * (size_t)(1 + round % 3));
      if (round % 4 == 0) {
         const int n = 1 + round / 4 % 5;
         make(code, n);
         run(code);
         made_ir += n;
      }
      munmap(code, 4096 * (size_t)(1 + round % 3));
   }
}

/* Code that a file is mapped over when it has been run. */
static void under(int n)
{
   unsigned char *code = new_code(4096);
   const int file = memfd_create("over", 0);
   make(code, n);
   run(code);
   made_ir += n;
   if (file < 0 || ftruncate(file, 4096) != 0
       || mmap(code, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_FIXED, file, 0) != code)
      exit(9);
}

/* The plugins' function is called `plugin`, exported, with a name of its own each behind it. */
static void load(const char *path, int rounds)
{
   void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
   if (library == NULL)
      exit(9);
   int (*plugin)(int) = (int (*)(int))dlsym(library, "plugin");
   for (int i = 0; i < rounds; i++)
      plugin(i);
   dprintf(1, "plugin %s %lx\n", path, (long)plugin);
   dlclose(library);
}

int main(int argc, char **argv)
{
   const char *what = argc > 1 ? argv[1] : "";
   if (strcmp(what, "jit") == 0) {
      jit(new_code(8192) + 4096 - 50);
   } else if (strcmp(what, "stack") == 0) {
      on_stack();
   } else if (strcmp(what, "map") == 0) {
      mapped(20000);
   } else if (strcmp(what, "under") == 0) {
      under(500);
   } else if (strcmp(what, "load") == 0 && argc == 5) {
      for (int i = 0; i < atoi(argv[4]); i++) {
         load(argv[2], 3);
         load(argv[3], 5);
      }
      return 0;
   } else {
      return 2;
   }
   expect_made();
   return 0;
}
