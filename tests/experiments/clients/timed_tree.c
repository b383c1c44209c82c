/* timed_tree.c -- looks up keys in a B-tree whose nodes lie in random order.
   Part of tlbgrind.  GPL-2.0-or-later; see COPYING.

   timed_tree KEYS LOOKUPS: nodes of 256 bytes with 15 keys and 16 children; all are full. */

#include "timed.h"

enum { CHILDREN = 16, KEYS = CHILDREN - 1 };

struct node {
   uint64_t     keys[KEYS];
   uint64_t     leaf;
   struct node* children[CHILDREN];
};

struct builder {
   struct node* nodes;
   uint32_t*    order; /* which node is the next one to be used */
   size_t       used;
   uint64_t     next_key;
};

static struct node* build(struct builder* b, int height)
{
   struct node* const node = &b->nodes[b->order[b->used++]];
   node->leaf = height == 0;
   for (int i = 0; i < CHILDREN; i++) {
      node->children[i] = height ? build(b, height - 1) : NULL;
      if (i < KEYS)
         node->keys[i] = b->next_key++;
   }
   return node;
}

static MEASURED uint64_t measured(const struct node* root, uint64_t keys, size_t lookups)
{
   uint64_t state = 88172645463325252u;
   uint64_t sum = 0;
   for (size_t i = 0; i < lookups; i++) {
      const uint64_t key = below(next_random(&state), keys);
      const struct node* at = root;
      for (;;) {
         int child = 0;
         while (child < KEYS && at->keys[child] < key)
            child++;
         if (child < KEYS && at->keys[child] == key) {
            sum += (uint64_t)child;
            break;
         }
         if (at->leaf)
            break;
         at = at->children[child];
      }
   }
   return sum;
}

int main(int argc, char** argv)
{
   const size_t wanted = argument(argc, argv, 1);
   const size_t lookups = argument(argc, argv, 2);
   int height = 0;
   size_t nodes = 1;
   for (size_t row = 1; nodes * KEYS < wanted; height++) {
      row *= CHILDREN;
      nodes += row;
   }
   struct builder b = {memory(nodes * sizeof *b.nodes), memory(nodes * sizeof *b.order), 0, 0};
   for (size_t i = 0; i < nodes; i++)
      b.order[i] = (uint32_t)i;
   uint64_t state = 1442695040888963407u;
   for (size_t i = nodes - 1; i > 0; i--) {
      const size_t j = below(next_random(&state), i + 1);
      const uint32_t other = b.order[i];
      b.order[i] = b.order[j];
      b.order[j] = other;
   }
   const struct node* const root = build(&b, height);
   const double start = processor_seconds();
   const uint64_t sum = measured(root, b.next_key, lookups);
   tell(processor_seconds() - start, sum);
   return 0;
}
