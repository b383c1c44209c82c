/* timed_main.c -- for LD_PRELOAD: times a whole program, whose memory is there before it begins.
   Part of tlbgrind.  GPL-2.0-or-later; see COPYING.

   What page faults cost, and what zeroed pages leave in the caches, is not what a TLB saves.  So
   the heap (of the size that GLIBC_TUNABLES' top_pad gives it) and an arena of TIMED_ARENA
   megabytes, from which large anonymous mappings are cut, are populated before main() runs; both
   in huge pages with TIMED_HUGE.  Nothing of the arena is given back.  The processor time of
   main() until the program ends goes to the file TIMED_FILE, in the words of timed.h's tell().
   main() runs within a function measured(), for --toggle-collect. */

#define _GNU_SOURCE
#include "timed.h"

#include <dlfcn.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

enum { MEGABYTE = 1 << 20, LEAST = 1 << 16, PAGE = 4096 };

typedef int program(int, char**, char**);
typedef int starts(program*, int, char**, void (*)(void), void (*)(void), void (*)(void), void*);

static program* its_main;
static double   start;
static char*    arena;
static size_t   arena_used, arena_size;

static void populate(char* begin, size_t bytes)
{
   if (madvise(begin, bytes, MADV_POPULATE_WRITE) != 0) {
      perror("timed_main: no memory before its first use");
      _exit(1);
   }
}

static void write_time(void)
{
   const double seconds = processor_seconds() - start;
   FILE* const file = fopen(getenv("TIMED_FILE"), "w");
   if (file) {
      fprintf(file, "seconds %.6f sum 0\n", seconds);
      fclose(file);
   }
}

static MEASURED int measured(int argc, char** argv, char** env)
{
   const int status = its_main(argc, argv, env);
   __asm__ volatile(""); /* no tail call: it would end the phase */
   return status;
}

static int prepared(int argc, char** argv, char** env)
{
   /* The heap is as large as its padding from the first block on. */
   char* const block = malloc(1);
   char* const end = sbrk(0);
   char* const begin = (char*)((uintptr_t)block / PAGE * PAGE);
   if (block && block < end)
      populate(begin, (size_t)(end - begin));
   free(block);
   if (getenv("TIMED_ARENA")) {
      const size_t bytes = strtoul(getenv("TIMED_ARENA"), NULL, 10) * MEGABYTE;
      arena = memory(bytes);
      populate(arena, bytes);
      arena_size = bytes;
   }
   if (getenv("TIMED_FILE"))
      atexit(write_time);
   start = processor_seconds();
   return measured(argc, argv, env);
}

int __libc_start_main(program* p, int argc, char** argv, void (*init)(void), void (*fini)(void),
                      void (*rtld_fini)(void), void* stack_end)
{
   its_main = p;
   starts* const next = (starts*)(uintptr_t)dlsym(RTLD_NEXT, "__libc_start_main");
   return next(prepared, argc, argv, init, fini, rtld_fini, stack_end);
}

void* mmap(void* wanted, size_t length, int protection, int flags, int file, off_t offset)
{
   const size_t whole = (length + PAGE - 1) / PAGE * PAGE;
   if (!wanted && (flags & MAP_ANONYMOUS) && !(flags & (MAP_STACK | MAP_SHARED)) &&
       protection == (PROT_READ | PROT_WRITE) && length >= LEAST &&
       whole <= arena_size - arena_used) {
      char* const got = arena + arena_used;
      arena_used += whole;
      return got;
   }
   return (void*)syscall(SYS_mmap, wanted, length, protection, flags, file, offset);
}

void* mmap64(void* wanted, size_t length, int protection, int flags, int file, off_t offset)
{
   return mmap(wanted, length, protection, flags, file, offset);
}

int munmap(void* begin, size_t length)
{
   if (arena && (char*)begin >= arena && (char*)begin < arena + arena_size)
      return 0;
   return (int)syscall(SYS_munmap, begin, length);
}
