/* A heap of 30 MB in small pieces. Prints how far the break has grown. */

#define _DEFAULT_SOURCE

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PIECES = 6000, BYTES = 5000 };

int main(void)
{
   const char *const start = sbrk(0);
   for (int i = 0; i < PIECES; i++)
      memset(malloc(BYTES), i, BYTES);
   printf("%ld\n", (long)((const char *)sbrk(0) - start));
   return 0;
}
