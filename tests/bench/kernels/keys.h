// Keys of a store, and random numbers that choose among them. They are the same in each run.
// Part of tlbgrind.  GPL-2.0-or-later; see COPYING.

#ifndef KEYS_H
#define KEYS_H

#include <cstdint>
#include <cstdio>
#include <string>

inline std::uint64_t number(std::uint64_t below)
{
   static std::uint64_t state = 1;
   state ^= state << 13;
   state ^= state >> 7;
   state ^= state << 17;
   return state % below;
}

inline std::string key(std::uint64_t n)
{
   char text[40];
   std::snprintf(text, sizeof text, "user:%012llu:name", static_cast<unsigned long long>(n));
   return text;
}

#endif
