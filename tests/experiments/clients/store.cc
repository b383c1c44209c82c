// A store of keys and values, strings in a hash map: store MEGABYTES.
//
// Fills the map with about so many, replaces each eighth value by a longer one, takes
// out each sixteenth, and looks some up. Prints a sum that says whether all went well.
// Always the same.  Part of tlbgrind.  GPL-2.0-or-later; see COPYING.

#include "../../bench/kernels/keys.h"
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <unordered_map>
#include <utility>

enum { OVERHEAD = 150 }; // bytes: a node, two pieces of malloc(), a share of the table

int main(int argc, char **argv)
{
   const std::uint64_t wanted = (argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 8) << 20;
   std::unordered_map<std::string, std::string> store;
   std::uint64_t bytes = 0;
   std::uint64_t count = 0;
   while (bytes < wanted) {
      std::string value(100 + number(400), static_cast<char>('a' + count % 26));
      bytes += value.size() + OVERHEAD;
      store.emplace(key(count++), std::move(value));
   }
   for (std::uint64_t n = 0; n < count; n += 8)
      store[key(n)].append(200, '+');
   for (std::uint64_t n = 1; n < count; n += 16)
      store.erase(key(n));
   std::uint64_t sum = 0;
   for (int i = 0; i < 1000; i++) {
      const auto found = store.find(key(number(count)));
      if (found != store.end())
         sum += found->second.size();
   }
   std::printf("%llu entries, %llu\n", static_cast<unsigned long long>(store.size()),
               static_cast<unsigned long long>(sum));
   return 0;
}
