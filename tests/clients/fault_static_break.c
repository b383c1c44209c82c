/* A static, position-independent program that touches a page at its break and says where it is.
   Part of tlbgrind.  GPL-2.0-or-later; see COPYING. */

#define _GNU_SOURCE
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

enum { PAGE = 4096 };

__attribute__((noinline)) static void touch(volatile char* p)
{
   *p = 1;
}

int main(void)
{
   char* const heap = sbrk(2 * PAGE);
   if (heap == (char*)-1)
      return 1;
   char* const page = heap + PAGE - (uintptr_t)heap % PAGE;
   touch(page);
   printf("%td\n", (ptrdiff_t)page);
   return 0;
}
