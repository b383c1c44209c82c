/* run_names -- memory that the program names, with known references, misses, walks and faults.
   Part of tlbgrind.  GPL-2.0-or-later; see COPYING.

   Prints what it expects of each object, as run_data does. For a data TLB of 16 entries, fully
   associative, LRU, and a second level that holds everything.

   run_names [odd|threads|fork] */

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tlbgrind.h"

#define NOINLINE __attribute__((noinline, noclone))
#define BARRIER __asm__ volatile("" ::: "memory")

typedef volatile unsigned long Word;

enum { PAGE = 4096, PAGES = 64, W = sizeof(Word), WORDS = PAGE / W };

static Word table[8 * WORDS] __attribute__((aligned(4096)));
static volatile int32_t triple[3 * 500] __attribute__((aligned(64)));

/* A write to each page, and then so many reads of each: with 16 entries every one misses. */
static NOINLINE void sweep(Word* a, int pages, int rounds)
{
   for (int i = 0; i < pages; i++)
      a[i * WORDS] = 1;
   for (int r = 0; r < rounds; r++)
      for (int i = 0; i < pages; i++)
         (void)a[i * WORDS];
}

static NOINLINE void use(Word* a, int reads, int writes)
{
   for (int i = 0; i < reads; i++)
      (void)a[i % 8];
   for (int i = 0; i < writes; i++)
      a[i % 8] = 1;
}

static NOINLINE char* chunk(void)
{
   char* c = malloc(60000);
   BARRIER;
   return c;
}

static NOINLINE Word* small_block(void)
{
   Word* a = malloc(200);
   BARRIER;
   return a;
}

static NOINLINE Word* mapping(void)
{
   Word* a = mmap(NULL, PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
   BARRIER;
   return a;
}

static NOINLINE void again(Word* at, int pages)
{
   mmap((void*)(uintptr_t)at, (size_t)pages * PAGE, PROT_READ | PROT_WRITE,
        MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
}

static NOINLINE void release(volatile void* a)
{
   free((void*)(uintptr_t)a);
   BARRIER;
}

/* --- Two kinds of nodes from one chunk, side by side --- */

typedef struct node {
   struct node* volatile next;
   Word value, other;
} Node;

static void pools(void)
{
   enum { N = 1000 };
   char* c = chunk();
   Node* list[2] = { NULL, NULL };
   for (int i = 0; i < 2 * N; i++) {
      Node* n = (Node*)(void*)(c + (size_t)i * sizeof *n);
      TLBGRIND_NAME(n, sizeof *n, i % 2 == 0 ? "even nodes" : "odd, nodes\n");
      n->next = list[i % 2];
      list[i % 2] = n;
   }
   for (Node* n = list[0]; n != NULL; n = n->next)
      n->value = 1;
   unsigned long sum = 0;
   for (Node* n = list[1]; n != NULL; n = n->next)
      sum += n->value + n->other;
   __asm__ volatile("" : : "r"(sum));
   ((Word*)(void*)(c + 2 * N * sizeof(Node)))[1] = 5;
   printf("named even_nodes %d %d - - - - %d\n", N, 2 * N, 2 * W * N);
   printf("named odd,_nodes? %d %d - - - - %d\n", 3 * N, N, 3 * W * N);
   printf("heap chunk 0 1 - - - - %d\n", W);
}

/* --- A name, another one, none --- */

static void changes(void)
{
   Word* a = mapping();
   TLBGRIND_NAME(a, PAGES * PAGE, "first");
   sweep(a, PAGES, 5);
   printf("named first %d %d %d %d %d %d %d\n", 5 * PAGES, PAGES, 6 * PAGES, PAGES, PAGES, PAGES,
          W * PAGES);
   TLBGRIND_NAME(a + 20 * WORDS, 20 * PAGE, "second");
   TLBGRIND_UNNAME(a + 30 * WORDS, 5 * PAGE);
   TLBGRIND_UNNAME(a + 30 * WORDS, 0); /* nothing there */
   sweep(a + 20 * WORDS, 20, 2);
   printf("named second %d %d %d 0 0 15 %d\n", 2 * 15, 15, 3 * 15, W * 15);
   TLBGRIND_UNNAME(a + 40 * WORDS, 0); /* what is left of the first behind the second */
   sweep(a + 40 * WORDS, 24, 1);
   printf("mapping mapping %d %d %d 0 0 29 %d\n", 2 * 5 + 24, 5 + 24, 3 * 5 + 2 * 24, W * 29);
   /* Of names beneath a new mapping nothing is left. */
   again(a, 10);
   sweep(a, 10, 1);
   printf("mapping again 10 10 - 0 10 10 %d\n", W * 10);
}

static void blocks(void)
{
   Word* a = small_block();
   use(a, 8, 1);
   TLBGRIND_NAME(a, 200, "in a block");
   use(a, 3, 7);
   release(a);
   Word* b = small_block(); /* in the same place, of no name */
   if (a != b)
      abort();
   use(b, 2, 2);
   printf("named in_a_block 3 7 - - - 1 %d\n", 7 * W);
   Word* c = small_block();
   /* Of a part of one block and all of another: it stays when one is freed. */
   TLBGRIND_NAME(b + 10, (char*)(uintptr_t)c + 200 - (char*)(uintptr_t)(b + 10), "over blocks");
   use(c, 4, 4);
   release(b);
   use(c, 5, 1);
   b[12] = 4;
   TLBGRIND_UNNAME(c, 200);
   use(c, 1, 8);
   printf("named over_blocks 9 6 - - - 1 -\n");
   printf("heap small_block 11 11 - - - - -\n");
}

static void variables(void)
{
   TLBGRIND_NAME(table + 4 * WORDS, 2 * PAGE, "middle of the table");
   sweep(table, 8, 0);
   for (int i = 0; i < 100; i++)
      (void)table[(i % 8) * WORDS];
   printf("variable table 76 6 6 6 6 6 %d\n", 6 * W);
   printf("named middle_of_the_table 24 2 2 2 2 2 %d\n", 2 * W);
}

/* Ranges that begin and end within a word. */
static void halves(void)
{
   for (int i = 0; i < 500; i++)
      TLBGRIND_NAME(triple + 3 * i, 4, i % 2 == 0 ? "keys" : "other keys");
   for (int i = 0; i < 3 * 500; i++)
      triple[i] = i;
   int sum = 0;
   for (int i = 0; i < 500; i += 2)
      sum += triple[3 * i] + triple[3 * i + 2];
   __asm__ volatile("" : : "r"(sum));
   printf("named keys 250 250 - - - - -\n");
   printf("named other_keys 0 250 - - - - -\n");
   printf("variable triple 250 1000 - - - - -\n");
}

/* --- Names that are none --- */

static void odd(void)
{
   TLBGRIND_NAME(table, sizeof table, (const char*)16);
   TLBGRIND_NAME(table, sizeof table, "");
   TLBGRIND_NAME(table, UINTPTR_MAX, "too long");
   TLBGRIND_NAME(table, 0, "no bytes");
   TLBGRIND_NAME(table, sizeof table, NULL);
   TLBGRIND_UNNAME((void*)UINTPTR_MAX, UINTPTR_MAX);
   TLBGRIND_NAME(16, 4096, "nowhere");
   /* The last bytes of a page, with none behind it. */
   char* end = (char*)(uintptr_t)(mapping() + PAGES * WORDS);
   memset(end - 3, 'x', 3);
   munmap(end - PAGE, 0);
   TLBGRIND_NAME(table, PAGE, end - 3);
   table[0] = 1;
   table[2 * WORDS] = 1;
}

/* --- Threads and a child --- */

static void* run(void* opaque)
{
   use(opaque, 1000, 500);
   return NULL;
}

static void threads(void)
{
   enum { N = 4 };
   pthread_t thread[N];
   Word on_stack[64];
   Word* a = mapping();
   TLBGRIND_NAME(a, PAGE, "shared");
   TLBGRIND_NAME(on_stack, sizeof on_stack, "on the stack");
   for (int i = 0; i < N; i++)
      if (pthread_create(&thread[i], NULL, run, (void*)(uintptr_t)(i % 2 == 0 ? a : on_stack)) != 0)
         abort();
   for (int i = 0; i < N; i++)
      pthread_join(thread[i], NULL);
   TLBGRIND_UNNAME(on_stack, sizeof on_stack);
   printf("named shared 2000 1000 - - - 1 %d\n", 8 * W);
   printf("named on_the_stack 2000 1000 - - - - %d\n", 8 * W);
}

static void forks(void)
{
   TLBGRIND_NAME(table, PAGE, "of both");
   use(table, 8, 8);
   fflush(stdout);
   const pid_t child = fork();
   if (child == 0) {
      use(table, 3, 1);
      TLBGRIND_NAME(table, PAGE, "of the child");
      use(table, 4, 2);
      printf("child named of_both 3 1 - - - 1 %d\n", 3 * W);
      printf("child named of_the_child 4 2 - - - 1 %d\n", 4 * W);
      fflush(stdout);
      _exit(0);
   }
   waitpid(child, NULL, 0);
   use(table, 2, 0);
   printf("named of_both 10 8 - - - 1 %d\n", 8 * W);
}

int main(int argc, char** argv)
{
   const char* what = argc > 1 ? argv[1] : "";
   static char buffer[4096];
   setvbuf(stdout, buffer, _IOFBF, sizeof buffer);
   if (strcmp(what, "odd") == 0) {
      odd();
   } else if (strcmp(what, "threads") == 0) {
      threads();
   } else if (strcmp(what, "fork") == 0) {
      forks();
   } else {
      pools();
      changes();
      blocks();
      variables();
      halves();
   }
   return 0;
}
