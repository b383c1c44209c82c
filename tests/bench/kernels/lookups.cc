// A store that is all pointers: lookups ENTRIES LOOKUPS. Fills an ordered map of strings,
// whose nodes lie all over the heap, and looks entries up at random. Prints a sum.
// Part of tlbgrind.  GPL-2.0-or-later; see COPYING.

#include "keys.h"
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>

// Entries that come one after the other are not beside each other in the order of keys.
static std::string scattered(std::uint64_t n)
{
   return key(n * 0x9e3779b97f4a7c15U >> 24);
}

int main(int argc, char **argv)
{
   if (argc != 3)
      return 2;
   const std::uint64_t entries = std::strtoull(argv[1], nullptr, 10);
   const std::uint64_t lookups = std::strtoull(argv[2], nullptr, 10);
   std::map<std::string, std::string> store;
   for (std::uint64_t n = 0; n < entries; n++)
      store.emplace(scattered(n), std::string(20 + n % 100, '+'));
   std::uint64_t sum = 0;
   for (std::uint64_t i = 0; i < lookups; i++)
      sum += store.find(scattered(number(entries)))->second.size();
   std::printf("%llu\n", static_cast<unsigned long long>(sum));
   return 0;
}
