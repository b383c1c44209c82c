/* run_strides -- arrays whose records nothing states but the references to them.
   Part of tlbgrind.  GPL-2.0-or-later; see COPYING.

   Prints what it expects of each offset, one a line, like run_offsets:

      KIND NAME RECORD HOW OFFSET Dr Dw - -

   OFFSET is a number, or a dash for what is at none. */

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define NOINLINE __attribute__((noinline, noclone))
#define BARRIER __asm__ volatile("" ::: "memory")

typedef volatile unsigned long Word;

enum { W = sizeof(Word), N = 3000 };

static NOINLINE void expect(const char* kind, const char* name, int record, int offset, int reads,
                            int writes)
{
   printf("%s %s %d %s %d %d %d - -\n", kind, name, record, "seen", offset, reads, writes);
}

static NOINLINE void expect_none(const char* kind, const char* name, int reads, int writes)
{
   printf("%s %s 0 none - %d %d - -\n", kind, name, reads, writes);
}

static unsigned long state = 1;

static int random_below(int n)
{
   state = state * 1103515245 + 12345;
   return (int)(state / 65536 % (unsigned long)n);
}

/* --- Records of seven words, all of which are written first --- */

typedef struct {
   Word first, second, third, fourth, fifth, sixth, last;
} Record;

static NOINLINE void write_record(Record* r)
{
   r->first = 1;
   r->second = 2;
   r->third = 3;
   r->fourth = 4;
   r->fifth = 5;
   r->sixth = 6;
   r->last = 7;
}

static NOINLINE Record* records(void)
{
   Record* r = malloc(N * sizeof *r);
   BARRIER;
   return r;
}

static NOINLINE Record* cleared_records(void)
{
   Record* r = malloc(N * sizeof *r);
   BARRIER;
   return r;
}

/* As memset() does it: more than a word at a time, with more than one instruction. */
typedef long Vector __attribute__((vector_size(16)));

static NOINLINE void clear(volatile Vector* v, size_t bytes)
{
   for (size_t i = 0; i < bytes / sizeof *v; i += 2) {
      v[i] = (Vector){ 0, 0 };
      v[i + 1] = (Vector){ 0, 0 };
   }
   BARRIER;
}

static NOINLINE void use_records(Record* r, const char* name)
{
   for (int i = 0; i < N; i++)
      write_record(&r[i]);
   for (int i = 0; i < 2 * N; i++)
      (void)r[random_below(N)].last;
   for (int i = 0; i < N; i++)
      r[i].second++; /* a read and a write */
   for (int w = 0; w < 7; w++)
      expect("heap", name, 7 * W, w * W, w == 6 ? 2 * N : w == 1 ? N : 0, w == 1 ? 2 * N : N);
}

/* --- Few, or small, or within words --- */

static Record few[200];
static Record too_few[200];
static struct { int32_t volatile a, b, c; } odd[2000];

static NOINLINE void variables(void)
{
   for (int i = 0; i < 200; i += 2) {
      few[i].third = 1;
      (void)few[i + 1].fourth;
   }
   /* every second one is referred to, so this is what can be seen */
   expect("variable", "few", 14 * W, 2 * W, 0, 100);
   expect("variable", "few", 14 * W, 10 * W, 100, 0);
   for (int i = 0; i < 20; i++)
      too_few[3 * i].first = 1;
   expect_none("variable", "too_few", 0, 20);
   for (int round = 0; round < 3; round++) {
      for (int i = 0; i < 2000; i++) {
         odd[i].a = 1;
         odd[i].c = 2;
      }
   }
   expect("variable", "odd", 12, 0, 0, 6000);
   expect("variable", "odd", 12, 8, 0, 6000);
}

/* --- An array that grows: at first it is a block of up to 4 KiB --- */

typedef struct {
   Word key, value, count;
} Pair;

static NOINLINE Pair* growing(Pair* old, int n)
{
   Pair* p = realloc((void*)(uintptr_t)old, (size_t)n * sizeof *p);
   BARRIER;
   return p;
}

static NOINLINE void grows(void)
{
   Pair* p = NULL;
   int writes = 0;
   for (int n = 10; n <= 20480; n *= 2) {
      p = growing(p, n);
      for (int i = n == 10 ? 0 : n / 2; i < n; i++) {
         p[i].key = 1;
         p[i].count = 2;
         writes++;
      }
   }
   printf("heap growing %d seen 0 - %d - -\n", 3 * W, writes);
   printf("heap growing %d seen %d - %d - -\n", 3 * W, 2 * W, writes);
}

/* --- What are no records --- */

static Word numbers[N];
static Word matrix[128][128];
static Word unrolled[4 * N];
static Word mixture[4 * N];

static NOINLINE void no_records(void)
{
   for (int round = 0; round < 3; round++) {
      for (int i = 0; i < N; i++)
         numbers[i] = 1;
   }
   for (int i = 0; i < 128; i++) {
      for (int j = 0; j < 128; j++)
         matrix[j][i] = 1;
   }
   for (int i = 0; i < 4 * N; i += 4) {
      unrolled[i] = 1, unrolled[i + 1] = 1, unrolled[i + 2] = 1, unrolled[i + 3] = 1;
   }
   for (int i = 0; i < 4 * N; i += 4)
      mixture[i] = 1;
   for (int i = 0; i < 4 * N; i += 3)
      (void)mixture[i];
   expect_none("variable", "numbers", 0, 3 * N);
   expect_none("variable", "matrix", 0, 128 * 128);
   expect_none("variable", "unrolled", 0, 4 * N);
   expect_none("variable", "mixture", 4 * N / 3, N);
}

int main(void)
{
   static char buffer[4096];
   setvbuf(stdout, buffer, _IOFBF, sizeof buffer);
   use_records(records(), "records");
   Record* r = cleared_records();
   clear((void*)(uintptr_t)r, N * sizeof *r);
   use_records(r, "cleared_records");
   variables();
   grows();
   no_records();
   return 0;
}
