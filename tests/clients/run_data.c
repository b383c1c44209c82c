/* run_data -- objects of data with known references, TLB misses, walks and page faults.
   Part of tlbgrind.  GPL-2.0-or-later; see COPYING.

   Prints what it expects of each object, one a line:

      KIND NAME Dr Dw D1tm DLtm PF PAGES TOUCHED

   NAME is a variable's, or the function that allocates; a dash stands for a number that depends on
   more than this program. For a data TLB of 16 entries, fully associative, LRU, and a second level
   that holds everything.

   run_data [threads|fork|live N] */

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline, noclone))
#define BARRIER __asm__ volatile("" ::: "memory")

typedef volatile unsigned long Word;

enum { PAGE = 4096, PAGES = 64, ROUNDS = 5, NODES = 1000, W = sizeof(Word), WORDS = PAGE / W };

/* All of this program's variables, so that the counts of each are its own. */
static Word table[PAGES * WORDS] __attribute__((aligned(4096)));
static Word small[8 * WORDS] __attribute__((aligned(4096)));
static volatile int32_t left_half, right_half; /* of one word, perhaps */
static volatile char letter;

/* A write to each page, and then so many reads of each: with 16 entries every one misses. */
static NOINLINE void sweep(Word* a, int pages, int rounds)
{
   for (int i = 0; i < pages; i++)
      a[i * WORDS] = 1;
   for (int r = 0; r < rounds; r++)
      for (int i = 0; i < pages; i++)
         (void)a[i * WORDS];
}

static void expect_swept(const char* kind, const char* name, int pages, int rounds)
{
   const int refs = pages * rounds;
   printf("%s %s %d %d %d %d %d %d %d\n", kind, name, refs, pages, refs + pages, pages, pages,
          pages, pages * W);
}

/* --- Lists: blocks of one group among those of others --- */

typedef struct node {
   struct node* volatile next;
   Word value;
} Node;

static NOINLINE Node* odd_node(Node* next)
{
   Node* n = malloc(sizeof *n);
   n->next = next;
   n->value = 1;
   BARRIER;
   return n;
}

static NOINLINE Node* even_node(Node* next)
{
   Node* n = malloc(sizeof *n + 40);
   n->next = next;
   BARRIER;
   return n;
}

static NOINLINE unsigned long walk(Node* n)
{
   unsigned long sum = 0;
   for (; n != NULL; n = n->next)
      sum += n->value;
   return sum;
}

static NOINLINE int length(Node* n)
{
   int count = 0;
   for (; n != NULL; n = n->next)
      count++;
   return count;
}

static void lists(void)
{
   Node* odd = NULL;
   Node* even = NULL;
   for (int i = 0; i < NODES; i++) {
      odd = odd_node(odd);
      even = even_node(even);
   }
   for (int i = 0; i < 7; i++)
      (void)walk(odd);
   for (int i = 0; i < 3; i++)
      (void)length(even);
   printf("heap odd_node %d %d - - - - %d\n", 7 * 2 * NODES, 2 * NODES, 2 * W * NODES);
   printf("heap even_node %d %d - - - - %d\n", 3 * NODES, NODES, W * NODES);
}

/* --- One place after the other --- */

static NOINLINE Word* first_owner(void)
{
   Word* a = malloc(1000);
   BARRIER;
   return a;
}

static NOINLINE Word* second_owner(void)
{
   Word* a = malloc(1000);
   BARRIER;
   return a;
}

static NOINLINE void release(Word* a)
{
   free((void*)(uintptr_t)a);
   BARRIER;
}

static NOINLINE void use(Word* a, int reads, int writes)
{
   for (int i = 0; i < reads; i++)
      (void)a[i % 8];
   for (int i = 0; i < writes; i++)
      a[i % 8] = 1;
}

static void reused(void)
{
   for (int i = 0; i < 3; i++) {
      Word* a = first_owner();
      use(a, 11, 5);
      release(a);
      Word* b = second_owner();
      use(b, 17, 3);
      release(b);
   }
   printf("heap first_owner %d %d - - - - %d\n", 3 * 11, 3 * 5, 8 * W);
   printf("heap second_owner %d %d - - - - %d\n", 3 * 17, 3 * 3, 8 * W);
}

static NOINLINE Word* small_block(void)
{
   Word* a = malloc(64);
   BARRIER;
   return a;
}

static NOINLINE Word* grown_block(Word* a)
{
   Word* b = realloc((void*)(uintptr_t)a, 6000);
   BARRIER;
   return b;
}

static NOINLINE Word* failed_block(Word* a)
{
   volatile size_t too_much = SIZE_MAX / 2;
   Word* b = realloc((void*)(uintptr_t)a, too_much);
   BARRIER;
   return b;
}

/* The C library reads what it copies, so only the writes are this program's own. */
static void reallocated(void)
{
   Word* a = small_block();
   use(a, 0, 4);
   if (failed_block(a) != NULL)
      abort();
   use(a, 0, 5);
   Word* in_the_way = first_owner();
   Word* b = grown_block(a);
   use(b, 21, 13);
   release(b);
   release(in_the_way);
   printf("heap small_block - 9 - - - - -\n");
   printf("heap grown_block 21 13 - - - - %d\n", 8 * W);
}

/* --- Other ways to get memory --- */

static NOINLINE Word* aligned_array(void)
{
   Word* a = aligned_alloc(PAGE, PAGES * PAGE);
   BARRIER;
   return a;
}

static NOINLINE Word* posix_array(void)
{
   void* a;
   if (posix_memalign(&a, PAGE, PAGES * PAGE) != 0)
      abort();
   BARRIER;
   return a;
}

static NOINLINE Word* zeroed(void)
{
   Word* a = calloc(25, 40);
   BARRIER;
   return a;
}

static NOINLINE Word* upper_mapping(void)
{
   Word* a = mmap(NULL, PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
   BARRIER;
   return a;
}

static NOINLINE Word* lower_mapping(void)
{
   Word* a = mmap(NULL, PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
   BARRIER;
   return a;
}

static void arrays(void)
{
   sweep(table, PAGES, ROUNDS);
   expect_swept("variable", "table", PAGES, ROUNDS);
   sweep(aligned_array(), PAGES, 4);
   printf("heap aligned_array %d %d %d - - %d %d\n", 4 * PAGES, PAGES, 5 * PAGES, PAGES, W * PAGES);
   sweep(posix_array(), PAGES, 3);
   printf("heap posix_array %d %d %d - - %d %d\n", 3 * PAGES, PAGES, 4 * PAGES, PAGES, W * PAGES);
   use(zeroed(), 9, 2);
   printf("heap zeroed 9 2 - - - - %d\n", 8 * W);
   sweep(upper_mapping(), PAGES, 2);
   expect_swept("mapping", "upper_mapping", PAGES, 2);
   sweep(lower_mapping(), PAGES, 1);
   expect_swept("mapping", "lower_mapping", PAGES, 1);
   sweep(small, 8, 0);
   for (int i = 0; i < 100; i++)
      (void)small[(i % 8) * WORDS];
   printf("variable small 100 8 8 8 8 8 %d\n", 8 * W);
   for (int i = 0; i < 31; i++) {
      left_half = i;
      (void)right_half;
      letter = 'a';
   }
   printf("variable left_half 0 31 - - - 1 4\n");
   printf("variable right_half 31 0 - - - 1 4\n");
   printf("variable letter 0 31 - - - 1 1\n");
}

/* --- Threads --- */

static NOINLINE Word* of_thread(void)
{
   Word* a = malloc(64);
   BARRIER;
   return a;
}

static void* run(void* opaque)
{
   Word on_stack[64];
   Word* a = of_thread();
   const int n = (int)(intptr_t)opaque;
   for (int i = 0; i < n; i++) {
      on_stack[i % 64] = 1;
      a[i % 8] = on_stack[i % 64];
   }
   return NULL;
}

static void threads(void)
{
   enum { N = 4, TIMES = 1000 };
   pthread_t thread[N];
   for (int i = 0; i < N; i++)
      if (pthread_create(&thread[i], NULL, run, (void*)(intptr_t)TIMES) != 0)
         abort();
   for (int i = 0; i < N; i++)
      pthread_join(thread[i], NULL);
   printf("heap of_thread 0 %d - - - - %d\n", N * TIMES, N * 8 * W);
}

/* --- A child: what it does counts in its own file --- */

static void forks(void)
{
   Word* a = first_owner();
   use(a, 8, 8);
   sweep(small, 8, 2);
   fflush(stdout);
   const pid_t child = fork();
   if (child == 0) {
      use(a, 3, 1);
      sweep(small, 4, 1);
      printf("child heap first_owner 3 1 - - - - %d\n", 3 * W);
      printf("child variable small 4 4 - - - 4 %d\n", 4 * W);
      fflush(stdout);
      _exit(0);
   }
   waitpid(child, NULL, 0);
   use(a, 2, 0);
   printf("heap first_owner 10 8 - - - - %d\n", 8 * W);
   printf("variable small 16 8 - - - 8 %d\n", 8 * W);
}

/* --- Many live blocks --- */

static NOINLINE Node* live_node(Node* next)
{
   Node* n = malloc(sizeof *n);
   n->next = next;
   BARRIER;
   return n;
}

static void live(long n)
{
   Node* list = NULL;
   for (long i = 0; i < n; i++)
      list = live_node(list);
   (void)length(list);
   printf("heap live_node %ld %ld - - - - %ld\n", n, n, W * n);
}

int main(int argc, char** argv)
{
   const char* what = argc > 1 ? argv[1] : "";
   static char buffer[4096];
   setvbuf(stdout, buffer, _IOFBF, sizeof buffer);
   if (strcmp(what, "threads") == 0) {
      threads();
   } else if (strcmp(what, "fork") == 0) {
      forks();
   } else if (strcmp(what, "live") == 0) {
      live(atol(argv[2]));
   } else {
      arrays();
      lists();
      reused();
      reallocated();
   }
   return 0;
}
