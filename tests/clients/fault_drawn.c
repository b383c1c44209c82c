/* fault_drawn.c -- maps memory at addresses that it draws at random, as node and Go do.
   Part of tlbgrind.  GPL-2.0-or-later; see COPYING.

   Three regions at random places: the first has every third page written, the second two pages read
   and then written, the third its last page read. */
#define _GNU_SOURCE
#include <stdint.h>
#include <sys/mman.h>
#include <sys/random.h>

#define PAGE 4096
#define PAGES 64

static volatile char *draw(void)
{
   for (;;) {
      uint64_t at;
      if (getrandom(&at, sizeof at, 0) != sizeof at)
         continue;
      /* Between 1 TiB and 65 TiB, where neither a kernel nor Valgrind places anything by itself. */
      at = (at & 0x3fffffffff00000) % 0x400000000000 + 0x10000000000;
      void *got = mmap((void *) (uintptr_t) at, PAGES * PAGE, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
      if (got != MAP_FAILED)
         return got;
   }
}

int main(void)
{
   volatile char *first = draw(), *second = draw(), *third = draw();
   for (int page = 0; page < PAGES; page += 3)
      first[page * PAGE] = 1;
   for (int page = 7; page < 9; page++) {
      int seen = second[page * PAGE];
      second[page * PAGE] = (char) (seen + 1);
   }
   return third[(PAGES - 1) * PAGE];
}
