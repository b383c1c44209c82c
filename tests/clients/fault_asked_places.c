/* Maps memory at addresses of its own choice all over the address space, as runtimes do that
   compress pointers; touches the first page of each and says where it is.
   Part of tlbgrind.  GPL-2.0-or-later; see COPYING. */

#define _GNU_SOURCE
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>

enum { BYTES = 8 * 4096 };

__attribute__((noinline)) static void touch(volatile char* p)
{
   *p = 1;
}

int main(void)
{
   static const uint64_t asked[] = {
      0x100000000, 0x300000000, 0x500000000, 0x555000000, 0x600000000, 0x687400000, 0x7ffc00000,
      0x800000000, 0xa00000000, 0x2000000000, 0x100000000000, 0x600000000000,
   };
   enum { N = sizeof asked / sizeof asked[0] };
   char* piece[N];
   for (int i = 0; i < N; i++) {
      piece[i] = mmap((void*)(uintptr_t)asked[i], BYTES, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
      if (piece[i] != (char*)(uintptr_t)asked[i])
         return 1;
      touch(piece[i]);
   }
   for (int i = 0; i < N; i++)
      printf("%td\n", (ptrdiff_t)piece[i]);
   return 0;
}
