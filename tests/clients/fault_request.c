/* Prints whether it runs under Valgrind, as it is told, and what other requests answer. */

#include <stdio.h>

#include <valgrind/valgrind.h>

int main(void)
{
   int asked = 0;
   for (int i = 0; i < 1000; i++)
      asked += RUNNING_ON_VALGRIND;
   printf("%d %u\n", asked, (unsigned)VALGRIND_COUNT_ERRORS);
   VALGRIND_PRINTF("a message\n");
   return 0;
}
