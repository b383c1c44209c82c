/* boundary.c -- writes to each page of a mapping that begins below a boundary of large pages.
   Part of tlbgrind.  GPL-2.0-or-later; see COPYING.

   boundary START BYTES SMALL SMALLPAGE LARGEPAGE ROUNDS: a mapping of BYTES at START (hexadecimal).
   In each round one byte of each SMALLPAGE of the first SMALL bytes is written, and of each
   LARGEPAGE behind them. */

#define _GNU_SOURCE
#include <stdlib.h>
#include <sys/mman.h>

static __attribute__((noinline)) void steps(volatile char* at, const volatile char* end, long step)
{
   for (; at < end; at += step)
      *at = 1;
}

int main(int argc, char** argv)
{
   if (argc < 7)
      return 2;
   char* start = (char*)strtoul(argv[1], NULL, 16);
   const long bytes = atol(argv[2]), small = atol(argv[3]), rounds = atol(argv[6]);
   if (mmap(start, (size_t)bytes, PROT_READ | PROT_WRITE,
            MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0) != start)
      return 1;
   for (long k = 0; k < rounds; k++) {
      steps(start, start + small, atol(argv[4]));
      steps(start + small, start + bytes, atol(argv[5]));
   }
   return 0;
}
