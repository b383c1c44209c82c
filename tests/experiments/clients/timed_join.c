/* timed_join.c -- joins a column of keys with a hash table: the table is probed for each key.
   Part of tlbgrind.  GPL-2.0-or-later; see COPYING.

   timed_join ROWS PROBES: ROWS rows of 32 bytes in a table by open addressing that is half full;
   the keys to look for lie one behind the other, half of them are found. */

#include "timed.h"

struct row {
   uint64_t key; /* 0: a free place */
   uint64_t price;
   uint64_t rest[2];
};

static inline size_t place_of(uint64_t key, size_t mask)
{
   return (size_t)((key * 0x9E3779B97F4A7C15u) >> 20) & mask;
}

static MEASURED uint64_t measured(const struct row* table, size_t mask, const uint64_t* keys,
                                  size_t probes)
{
   uint64_t sum = 0;
   for (size_t i = 0; i < probes; i++) {
      size_t at = place_of(keys[i], mask);
      while (table[at].key && table[at].key != keys[i])
         at = (at + 1) & mask;
      if (table[at].key)
         sum += table[at].price;
   }
   return sum;
}

int main(int argc, char** argv)
{
   const size_t rows = argument(argc, argv, 1);
   const size_t probes = argument(argc, argv, 2);
   size_t places = 2;
   while (places < 2 * rows)
      places *= 2;
   struct row* const table = memory(places * sizeof *table);
   for (size_t i = 0; i < places; i++)
      table[i].key = 0;
   for (size_t i = 0; i < rows; i++) {
      const uint64_t key = 2 * i + 2;
      size_t at = place_of(key, places - 1);
      while (table[at].key)
         at = (at + 1) & (places - 1);
      table[at].key = key;
      table[at].price = i % 100;
   }
   uint64_t* const keys = memory(probes * sizeof *keys);
   uint64_t state = 88172645463325252u;
   for (size_t i = 0; i < probes; i++)
      keys[i] = 1 + below(next_random(&state), 2 * rows);
   const double start = processor_seconds();
   const uint64_t sum = measured(table, places - 1, keys, probes);
   tell(processor_seconds() - start, sum);
   return 0;
}
