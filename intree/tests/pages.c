/* Writes to 1,000 pages once, so that each write misses. Part of tlbgrind. */

#include <sys/mman.h>

enum { PAGES = 1000, PAGE = 4096 };

int main(void)
{
   volatile char* memory = mmap(0, PAGES * PAGE, PROT_READ | PROT_WRITE,
                                MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
   if (memory == MAP_FAILED)
      return 1;
   for (int i = 0; i < PAGES; i++)
      memory[i * PAGE] = 1;
   return 0;
}
