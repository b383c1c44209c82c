/* Code on many pages, each of which writes to memory and goes to the next: so a copy on write
   stands between the fetch of a page that is used often and that of one that is not.
   Part of tlbgrind.  GPL-2.0-or-later; see COPYING. */

#define _GNU_SOURCE
#include <stdint.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PAGE = 4096, CODES = 64, STEPS = 1200, STEP = 512, ROUNDS = 2, OFTEN = 3 };

typedef struct next next;
typedef void code(volatile char *at, const next *list);
struct next {
   code *go;
};

static void end(volatile char *at, const next *list)
{
   (void)at; (void)list;
}

/* The call is a jump, as gcc -O2 makes it: there is no stack to be written to. */
#define CODE(n) \
   static __attribute__((aligned(PAGE), noinline)) \
   void code_##n(volatile char *at, const next *list) \
   { \
      *at = n; \
      list->go(at + STEP, list + 1); \
   }
#define CODES_8(n) CODE(n##0) CODE(n##1) CODE(n##2) CODE(n##3) CODE(n##4) CODE(n##5) \
                   CODE(n##6) CODE(n##7)
#define NAMES_8(n) code_##n##0, code_##n##1, code_##n##2, code_##n##3, code_##n##4, code_##n##5, \
                   code_##n##6, code_##n##7,

CODES_8(0) CODES_8(1) CODES_8(2) CODES_8(3) CODES_8(4) CODES_8(5) CODES_8(6) CODES_8(7)

static code *const all[CODES] = {
   NAMES_8(0) NAMES_8(1) NAMES_8(2) NAMES_8(3) NAMES_8(4) NAMES_8(5) NAMES_8(6) NAMES_8(7)
};

int main(void)
{
   static next list[STEPS + 1];
   uint32_t dice = 1;
   volatile char *const at = mmap(0, STEPS * STEP, PROT_READ | PROT_WRITE,
                                  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
   if (at == MAP_FAILED)
      return 1;
   for (int i = 0; i < STEPS * STEP; i += PAGE)
      at[i] = 1;
   for (int round = 0; round < ROUNDS; round++) {
      int ends[2];
      char c;
      if (pipe(ends) != 0)
         return 1;
      if (fork() == 0) { /* lives, and shares the memory, until the parent closes its end */
         close(ends[1]);
         _exit((int)read(ends[0], &c, 1));
      }
      for (int i = 0; i < STEPS; i++) {
         dice = dice * 1664525u + 1013904223u;
         list[i].go = all[(dice >> 8) % ((dice >> 28) < 10 ? OFTEN : CODES)];
      }
      list[STEPS].go = end;
      list[0].go(at, list + 1);
      close(ends[1]);
      wait(0);
   }
   return 0;
}
