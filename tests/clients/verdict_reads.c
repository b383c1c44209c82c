/* Reads words at random places, and computes after each: for verdicts that follow from how much of
   either there is.
   verdict_reads MIB READS WORK: after each read WORK steps of arithmetic, a multiplication each.
   The memory begins and ends at multiples of 2M; of a MIB of 0 it is one page of 4K.
   Part of tlbgrind.  GPL-2.0-or-later; see COPYING. */

#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#define HUGE ((size_t)2 << 20)

static uint64_t read_all(const uint64_t *words, size_t n, size_t reads, size_t work)
{
   uint64_t state = 88172645463325252u, sum = 0;
   for (size_t i = 0; i < reads; i++) {
      state ^= state << 13;
      state ^= state >> 7;
      state ^= state << 17;
      uint64_t value = words[state % n];
      for (size_t k = 0; k < work; k++)
         value = value * 3 + k;
      sum += value;
   }
   return sum;
}

int main(int argc, char **argv)
{
   if (argc != 4)
      return 2;
   const size_t size = strtoul(argv[1], NULL, 10) << 20;
   char *const map = mmap(NULL, size + HUGE, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
   if (map == MAP_FAILED)
      return 1;
   char *const begin = map + (HUGE - (uintptr_t)map % HUGE) % HUGE;
   for (size_t i = 0; i < size; i += 4096)
      begin[i] = 1;
   const size_t n = (size == 0 ? 4096 : size) / sizeof(uint64_t);
   const uint64_t sum = read_all((const uint64_t *)begin, n, strtoul(argv[2], NULL, 10),
                                 strtoul(argv[3], NULL, 10));
   printf("%llu\n", (unsigned long long)sum);
   return 0;
}
