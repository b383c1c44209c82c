/* chase.c -- follows a list whose nodes lie in random order.
   Part of tlbgrind.  GPL-2.0-or-later; see COPYING.

   chase MIB STEPS: a circle through all nodes of 64 bytes in MIB megabytes (Sattolo's shuffle),
   STEPS steps along it. */

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

struct node {
   struct node* next;
   uint64_t     number;
   char         rest[48];
};

int main(int argc, char** argv)
{
   if (argc != 3)
      return 2;
   size_t nodes = strtoul(argv[1], NULL, 10) * 1024 * 1024 / sizeof(struct node);
   long steps = atol(argv[2]);
   struct node* node = malloc(nodes * sizeof *node);
   uint32_t* order = malloc(nodes * sizeof *order);
   if (!node || !order || nodes < 2)
      return 1;
   for (size_t i = 0; i < nodes; i++)
      order[i] = (uint32_t)i;
   uint64_t x = 88172645463325252u;
   for (size_t i = nodes - 1; i > 0; i--) {
      x ^= x << 13;
      x ^= x >> 7;
      x ^= x << 17;
      size_t j = x % i;
      uint32_t other = order[i];
      order[i] = order[j];
      order[j] = other;
   }
   for (size_t i = 0; i < nodes; i++) {
      node[i].next = &node[order[i]];
      node[i].number = i;
   }
   uint64_t sum = 0;
   struct node* at = node;
   for (long i = 0; i < steps; i++) {
      sum += at->number;
      at = at->next;
   }
   printf("%llu\n", (unsigned long long)sum);
   return 0;
}
