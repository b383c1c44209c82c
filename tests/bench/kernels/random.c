/* random.c -- reads and writes at random places.
   Part of tlbgrind.  GPL-2.0-or-later; see COPYING.

   random MIB COUNT: COUNT updates of 8 bytes in an array of MIB megabytes, a power of two. */

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char** argv)
{
   if (argc != 3)
      return 2;
   size_t words = strtoul(argv[1], NULL, 10) * 1024 * 1024 / sizeof(uint64_t);
   long count = atol(argv[2]);
   uint64_t* array = calloc(words, sizeof *array);
   if (!array || (words & (words - 1)) != 0)
      return 1;
   uint64_t x = 88172645463325252u;
   for (long i = 0; i < count; i++) {
      x ^= x << 13;
      x ^= x >> 7;
      x ^= x << 17;
      array[x & (words - 1)] += x;
   }
   uint64_t sum = 0;
   for (size_t i = 0; i < words; i += 512)
      sum += array[i];
   printf("%llu\n", (unsigned long long)sum);
   return 0;
}
