/* run_in_turn.c -- reads a byte of each of many pages, one after the other, again and again.
   Part of tlbgrind.  GPL-2.0-or-later; see COPYING.

   run_in_turn PAGES ROUNDS: the pages lie side by side from a multiple of 1G on, so this file
   decides which of them share a line of a page table. */

#define _GNU_SOURCE
#include <stdlib.h>
#include <sys/mman.h>

#define PAGE 4096L
#define BASE ((volatile char*)0x200000000000L)

__attribute__((noinline)) static void read_in_turn(long pages, long rounds)
{
   for (; rounds > 0; rounds--)
      for (volatile char* p = BASE; p < BASE + pages * PAGE; p += PAGE)
         (void)*p;
}

int main(int argc, char** argv)
{
   if (argc != 3)
      return 1;
   const long pages = atol(argv[1]);
   void* const at = (void*)BASE;
   if (mmap(at, (size_t)(pages * PAGE), PROT_READ | PROT_WRITE,
            MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) != at
       || madvise(at, (size_t)(pages * PAGE), MADV_NOHUGEPAGE) != 0)
      return 1;
   read_in_turn(pages, atol(argv[2]));
   return 0;
}
