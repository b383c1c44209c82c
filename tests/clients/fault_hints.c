/* Memory that is given back and asked for again at the place where it was, as
   the C library does with the arenas of threads; and memory that is moved to a
   place that was set aside for it. Says where that is. */

#define _GNU_SOURCE
#include <stddef.h>
#include <stdio.h>
#include <sys/mman.h>

enum { PAGE = 4096, PAGES = 32 };

static char* area(void* hint, size_t pages)
{
   return mmap(hint, pages * PAGE, PROT_READ | PROT_WRITE,
               MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

__attribute__((noinline)) static void touch(volatile char* p)
{
   for (int i = 0; i < PAGES; i++)
      p[i * PAGE] = 1;
}

int main(void)
{
   char* p = area(NULL, PAGES);
   if (p == MAP_FAILED)
      return 1;
   char* const above = p + PAGES / 2 * PAGE;
   munmap(above, PAGES / 2 * PAGE);
   if (area(above, PAGES / 2) != above)
      return 1;
   munmap(p, PAGES / 4 * PAGE);
   if (area(p, PAGES / 4) != p)
      return 1;
   touch(p);
   char* const room = area(NULL, 3 * PAGES);
   if (room == MAP_FAILED
       || mremap(p, PAGES * PAGE, 2 * PAGES * PAGE, MREMAP_MAYMOVE | MREMAP_FIXED,
                 room + PAGE) != room + PAGE)
      return 1;
   touch(room + PAGE + PAGES * PAGE);
   printf("%p\n", (void*)room);
   return 0;
}
