/* timed_chains.c -- follows 1 to 8 chains of pointers through random places, by turns.
   Part of tlbgrind.  GPL-2.0-or-later; see COPYING.

   timed_chains MIB STEPS CHAINS: one circle through all nodes of a cache line in MIB megabytes
   (Sattolo's shuffle); each chain begins elsewhere on it and takes STEPS / CHAINS steps. */

#include "timed.h"

enum { MOST = 8 };

struct node {
   struct node* next;
   uint64_t     number;
   char         rest[48];
};

/* CHAINS is a constant where this is inlined, so that the chains' places stay in registers. */
static inline __attribute__((always_inline)) uint64_t
follow(struct node* const* at, size_t rounds, int chains)
{
   struct node* place[MOST];
   for (int c = 0; c < chains; c++)
      place[c] = at[c];
   for (size_t i = 0; i < rounds; i++)
#pragma GCC unroll 8
      for (int c = 0; c < chains; c++)
         place[c] = place[c]->next;
   uint64_t sum = 0;
   for (int c = 0; c < chains; c++)
      sum += place[c]->number;
   return sum;
}

static MEASURED uint64_t measured(struct node* const* at, size_t steps, int chains)
{
   switch (chains) {
   case 1: return follow(at, steps, 1);
   case 2: return follow(at, steps / 2, 2);
   case 4: return follow(at, steps / 4, 4);
   default: return follow(at, steps / MOST, MOST);
   }
}

int main(int argc, char** argv)
{
   const size_t n = argument(argc, argv, 1) * 1024 * 1024 / sizeof(struct node);
   const size_t steps = argument(argc, argv, 2);
   const int chains = (int)argument(argc, argv, 3);
   if (chains != 1 && chains != 2 && chains != 4 && chains != MOST)
      return 2;
   struct node* const nodes = memory(n * sizeof *nodes);
   uint32_t* const order = memory(n * sizeof *order);
   for (size_t i = 0; i < n; i++)
      order[i] = (uint32_t)i;
   uint64_t state = 88172645463325252u;
   for (size_t i = n - 1; i > 0; i--) {
      const size_t j = below(next_random(&state), i);
      const uint32_t other = order[i];
      order[i] = order[j];
      order[j] = other;
   }
   for (size_t i = 0; i < n; i++) {
      nodes[i].next = &nodes[order[i]];
      nodes[i].number = i;
   }
   struct node* at[MOST];
   for (int c = 0; c < chains; c++)
      at[c] = &nodes[n / (size_t)chains * (size_t)c];
   const double start = processor_seconds();
   const uint64_t sum = measured(at, steps, chains);
   tell(processor_seconds() - start, sum);
   return 0;
}
