/* A program for the comparison of tools: pages at random, calls, and a chain through all pages.
   Part of tlbgrind.  GPL-2.0-or-later; see COPYING.

   It prints nothing and takes no memory from malloc: newer C libraries start that with random
   numbers, and how many they need differs from run to run. */

enum { PAGES = 300, PAGE = 4096, ROUNDS = 4000 };

static unsigned char area[PAGES * PAGE];
static unsigned next[PAGES];

__attribute__((noinline)) static unsigned mix(unsigned seed, unsigned depth)
{
   seed = seed * 1103515245u + 12345u;
   return depth == 0 ? seed : mix(seed, depth - 1);
}

__attribute__((noinline)) static void scatter(unsigned seed)
{
   for (unsigned i = 0; i < ROUNDS; i++) {
      seed = mix(seed, i % 4);
      area[(seed >> 4) % sizeof area] = (unsigned char)seed;
   }
}

__attribute__((noinline)) static unsigned follow(void)
{
   unsigned sum = 0, page = 0;
   for (unsigned i = 0; i < PAGES; i++)
      next[i] = (i + 77) % PAGES;
   for (unsigned i = 0; i < 3 * PAGES; i++) {
      sum += area[page * PAGE + i];
      page = next[page];
   }
   return sum;
}

int main(void)
{
   scatter(7);
   return follow() == 0;
}
