// A store that is all pointers: lookups ENTRIES LOOKUPS. Fills an ordered map of strings,
// whose nodes lie all over the heap, and looks entries up at random. Prints a sum.
// Part of tlbgrind.  GPL-2.0-or-later; see COPYING.

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>

namespace {

std::uint64_t state = 1;

std::uint64_t number(std::uint64_t below)
{
   state ^= state << 13;
   state ^= state >> 7;
   state ^= state << 17;
   return state % below;
}

std::string key(std::uint64_t n)
{
   char text[32];
   std::snprintf(text, sizeof text, "user:%016llx", static_cast<unsigned long long>(n * 0x9e3779b97f4a7c15U));
   return text;
}

} // namespace

int main(int argc, char **argv)
{
   if (argc != 3)
      return 2;
   const std::uint64_t entries = std::strtoull(argv[1], nullptr, 10);
   const std::uint64_t lookups = std::strtoull(argv[2], nullptr, 10);
   std::map<std::string, std::string> store;
   for (std::uint64_t n = 0; n < entries; n++)
      store.emplace(key(n), std::string(20 + n % 100, '+'));
   std::uint64_t sum = 0;
   for (std::uint64_t i = 0; i < lookups; i++)
      sum += store.find(key(number(entries)))->second.size();
   std::printf("%llu\n", static_cast<unsigned long long>(sum));
   return 0;
}
