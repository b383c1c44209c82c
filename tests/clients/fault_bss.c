/* Memory that the linker gives a segment of its own, apart from all other data, for it
   has to begin on a multiple of more than a page. Prints how many faults writing to it
   takes. */

#include <stdio.h>
#include <sys/resource.h>

enum { PAGE = 4096, PAGES = 2048 };

static volatile char apart[PAGES * PAGE] __attribute__((aligned(2 * PAGE)));

static long faults(void)
{
   struct rusage usage;
   getrusage(RUSAGE_SELF, &usage);
   return usage.ru_minflt;
}

int main(void)
{
   const long before = faults();
   for (int i = 0; i < PAGES; i++)
      apart[i * PAGE] = 1;
   printf("%ld\n", faults() - before);
   return 0;
}
