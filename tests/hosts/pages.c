/* A program for the comparison of tools: pages at random, calls, and a chain through all pages.
   Part of tlbgrind.  GPL-2.0-or-later; see COPYING.

   It prints nothing and has its own malloc(), for what is linked with it may take memory before
   main(): that of newer C libraries draws random numbers when it is first called, until one of them
   will do, so that with 32 bits one run of a hundred makes more instructions than the others. */

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

static _Alignas(16) unsigned char memory[1 << 20];
static size_t taken;

void* malloc(size_t size)
{
   const size_t rounded = (size + 15) & ~(size_t)15;
   if (rounded < size || rounded > sizeof memory - taken)
      return NULL;
   taken += rounded;
   return memory + taken - rounded;
}

void* calloc(size_t n, size_t size)
{
   /* Nothing is taken twice, so all is zero. */
   return size != 0 && n > sizeof memory / size ? NULL : malloc(n * size);
}

void* realloc(void* old, size_t size)
{
   const size_t before = taken;
   void* const new = malloc(size);
   if (old != NULL && new != NULL) {
      const size_t most = (size_t)(memory + before - (unsigned char*)old);
      memcpy(new, old, size < most ? size : most);
   }
   return new;
}

void free(void* old)
{
   (void)old;
}

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
