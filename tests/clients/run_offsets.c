/* run_offsets -- records whose words have known references, TLB misses and page walks.
   Part of tlbgrind.  GPL-2.0-or-later; see COPYING.

   Prints what it expects of each offset, one a line:

      KIND NAME RECORD HOW OFFSET Dr Dw D1tm DLtm

   OFFSET is a number, or a dash for what is at none; a dash stands for a number that depends on
   more than this program. For a data TLB of 16 entries, fully associative, LRU, and a second level
   that holds everything. To be run with --data-stride=table:40,grown:24,pool:48 */

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "tlbgrind.h"

#define NOINLINE __attribute__((noinline, noclone))
#define BARRIER __asm__ volatile("" ::: "memory")

typedef volatile unsigned long Word;

enum { PAGE = 4096, PAGES = 64, W = sizeof(Word) };

typedef struct {
   Word word[5];
} Record; /* of the table */

static Record table[8 * PAGE / W] __attribute__((aligned(4096)));
static struct { Word first, second, third; } small;

static void expect(const char* kind, const char* name, const char* record, int word, int reads,
                   int writes)
{
   printf("%s %s %s %d %d %d - -\n", kind, name, record, word * W, reads, writes);
}

/* --- Blocks of one size --- */

typedef struct node {
   struct node* volatile next;
   Word key, value, unused;
} Node;

static NOINLINE Node* new_node(Node* next)
{
   Node* n = malloc(sizeof *n);
   n->next = next;
   n->value = 2;
   BARRIER;
   return n;
}

static void nodes(void)
{
   enum { N = 3000 };
   Node* list = NULL;
   unsigned long sum = 0;
   char record[32];
   for (int i = 0; i < N; i++)
      list = new_node(list);
   for (Node* n = list; n != NULL; n = n->next)
      sum += n->key;
   for (Node* n = list; n != NULL; n = n->next)
      ((volatile char*)&n->value)[3] = 1; /* within the word */
   __asm__ volatile("" : : "r"(sum));
   snprintf(record, sizeof record, "%d block", (int)sizeof(Node));
   expect("heap", "new_node", record, 0, 2 * N, N);
   expect("heap", "new_node", record, 1, N, 0);
   expect("heap", "new_node", record, 2, 0, 2 * N);
}

/* --- Arrays --- */

static NOINLINE Word* elements(void)
{
   Word* a = calloc(5000, 3 * W);
   BARRIER;
   return a;
}

static NOINLINE Word* grown(Word* old, size_t n)
{
   Word* a = realloc((void*)(uintptr_t)old, n * 3 * W);
   BARRIER;
   return a;
}

/* Elements of three numbers of 4 bytes, so that every second one begins within a word. */
static NOINLINE volatile int32_t* triples(void)
{
   volatile int32_t* a = calloc(2000, 12);
   BARRIER;
   return a;
}

static void arrays(void)
{
   Word* a = elements();
   for (int i = 0; i < 5000; i++) {
      a[3 * i] = 1;
      if (i % 2 == 0)
         (void)a[3 * i + 2];
   }
   char record[32];
   snprintf(record, sizeof record, "%d calloc", 3 * W);
   expect("heap", "elements", record, 0, 0, 5000);
   expect("heap", "elements", record, 2, 2500, 0);
   Word* g = NULL;
   for (int n = 100; n <= 800; n *= 2) {
      g = grown(g, (size_t)n);
      for (int i = 0; i < n; i++)
         g[3 * i + 1] = 1;
   }
   /* realloc() reads what it copies, so only the writes are this program's own. */
   printf("heap grown %d given %d - %d - -\n", 3 * W, W, 100 + 200 + 400 + 800);
   volatile int32_t* t = triples();
   for (int i = 0; i < 2000; i++) {
      t[3 * i] = i;
      t[3 * i + 2] = i;
      t[3 * i + 2] = i;
   }
   printf("heap triples 12 calloc 0 0 2000 - -\n");
   printf("heap triples 12 calloc 8 0 4000 - -\n");
}

/* --- Variables and named memory --- */

static NOINLINE void variables(void)
{
   enum { N = sizeof table / sizeof table[0] };
   for (int i = 0; i < N; i++) {
      table[i].word[1] = 1;
      (void)table[i].word[4];
   }
   char record[32];
   snprintf(record, sizeof record, "%d given", 5 * W);
   expect("variable", "table", record, 1, 0, N);
   expect("variable", "table", record, 4, N, 0);
   for (int i = 0; i < 7; i++) {
      small.second = 1;
      (void)small.third;
   }
   snprintf(record, sizeof record, "%d variable", 3 * W);
   expect("variable", "small", record, 1, 0, 7);
   expect("variable", "small", record, 2, 7, 0);
   char* m = mmap(NULL, 100 * 48, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
   TLBGRIND_NAME(m + 16, 99 * 48, "pool");
   TLBGRIND_UNNAME(m + 16, 10 * 48 + 8); /* where records begin does not change */
   for (int i = 0; i < 99; i++)
      *(Word*)(void*)(m + 16 + i * 48 + 40) = 1;
   printf("named pool 48 given 40 0 89 - -\n");
   printf("mapping variables 0 none - - 10 - -\n");
}

/* --- Misses: a page each, and then so many reads; with 16 entries every one misses --- */

static NOINLINE char* page_block(void)
{
   char* a = malloc(PAGE - 16);
   BARRIER;
   return a;
}

static void misses(void)
{
   static char* block[PAGES];
   for (int i = 0; i < PAGES; i++)
      block[i] = page_block();
   for (int i = 0; i < PAGES; i++)
      *(Word*)(void*)(block[i] + 2048) = 1;
   for (int r = 0; r < 3; r++)
      for (int i = 0; i < PAGES; i++)
         (void)*(Word*)(void*)(block[i] + 2048);
   unsigned long sum = 0;
   for (int i = 0; i < PAGES; i++)
      sum += *(Word*)(void*)(block[i] + 2056 + (i < PAGES / 2 ? 0 : W));
   __asm__ volatile("" : : "r"(sum));
   printf("heap page_block %d block 2048 %d %d %d -\n", PAGE - 16, 3 * PAGES, PAGES, 4 * PAGES);
   printf("heap page_block %d block 2056 %d 0 %d 0\n", PAGE - 16, PAGES / 2, PAGES / 2);
   printf("heap page_block %d block %d %d 0 %d 0\n", PAGE - 16, 2056 + W, PAGES / 2, PAGES / 2);
}

int main(void)
{
   static char buffer[4096];
   setvbuf(stdout, buffer, _IOFBF, sizeof buffer);
   nodes();
   arrays();
   variables();
   misses();
   return 0;
}
