/* ahead.c -- loops that prefetch.
   Part of tlbgrind.  GPL-2.0-or-later; see COPYING.

   ahead array PAGES STEPS: sums up an array of so many pages of 4K in steps of 64 bytes, and
   prefetches what comes so many steps later. ahead list TIMES: goes through a list of one node so
   often, and prefetches what the node points to, which is address 0. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { PAGE = 4096, STEP = 64 };

static __attribute__((noinline)) void fill(char* array, long bytes)
{
   for (long i = 0; i < bytes; i += STEP)
      array[i] = 1;
}

static __attribute__((noinline)) long sum(const volatile char* array, long bytes, long steps)
{
   long s = 0;
   for (long i = 0; i < bytes; i += STEP) {
      s += array[i];
      __builtin_prefetch((const char*)array + i + steps * STEP);
   }
   return s;
}

typedef struct node {
   struct node* next;
   long value;
} node;

static volatile node list = { NULL, 1 };

static __attribute__((noinline, noclone)) long walk(const volatile node* first, long times)
{
   long s = 0;
   for (long i = 0; i < times; i++) {
      for (const volatile node* n = first; n != NULL; n = n->next) {
         __builtin_prefetch(n->next);
         s += n->value;
      }
   }
   return s;
}

int main(int argc, char** argv)
{
   if (argc == 3 && strcmp(argv[1], "list") == 0) {
      printf("%ld\n", walk(&list, atol(argv[2])));
      return 0;
   }
   if (argc != 4)
      return 2;
   const long bytes = atol(argv[2]) * PAGE;
   /* nothing lies behind it */
   char* array = mmap(NULL, (size_t)(bytes + PAGE), PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
   if (array == MAP_FAILED || mprotect(array + bytes, PAGE, PROT_NONE) != 0)
      return 1;
   fill(array, bytes);
   printf("%ld\n", sum(array, bytes, atol(argv[3])));
   return 0;
}
