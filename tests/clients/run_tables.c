/* run_tables.c -- takes pages away in ways that free page tables, and in ways that do not.
   Part of tlbgrind.  GPL-2.0-or-later; see COPYING.

   run_tables WAY ROUNDS: one of the ways below, so many times.
   run_tables large ROUNDS: allocates and frees 33 MB, refers to a table of 400 pages in between.

   All of the first lies far from other mappings, at a fixed address, so that this file decides what
   shares a page table (2M), a table of tables (1G) and the next (512G). */

#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define PAGE 4096L
#define BLOCK (512 * PAGE)
#define REGION (512 * BLOCK)
#define BASE ((char*)0x200000000000L)

static void must(int is_true, const char* what)
{
   if (!is_true) {
      perror(what);
      exit(1);
   }
}

static char* map(char* at, long bytes, int flags)
{
   char* p = mmap(at, (size_t)bytes, PROT_READ | PROT_WRITE,
                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | flags, -1, 0);
   must(p == at, "mmap");
   must(madvise(p, (size_t)bytes, MADV_NOHUGEPAGE) == 0, "madvise");
   return p;
}

static void touch(char* at, long pages)
{
   for (long i = 0; i < pages; i++)
      *(volatile char*)(at + i * PAGE) = 1;
}

/* Maps so many pages and touches some, in the middle of the mapping. */
static char* map_some(char* at, long pages, long from, long touched)
{
   map(at, pages * PAGE, 0);
   touch(at + from * PAGE, touched);
   return at;
}

static void drop(char* at, long pages)
{
   must(munmap(at, (size_t)(pages * PAGE)) == 0, "munmap");
}

/* The block's only mapping, 256 pages behind its beginning. */
static void __attribute__((noinline)) alone(char* block)
{
   drop(map_some(block + BLOCK / 2, 128, 0, 4), 128);
}

/* The table's beginning is near. */
static void __attribute__((noinline)) near_beginning(char* block)
{
   drop(map_some(block, 128, 16, 4), 128);
}

/* A mapping in front of it needs the table. */
static void __attribute__((noinline)) beside(char* block)
{
   map_some(block, 1, 0, 1);
   drop(map_some(block + BLOCK / 2, 128, 0, 4), 128);
}

/* One behind it needs it, which was never touched. */
static void __attribute__((noinline)) before(char* block)
{
   map_some(block + BLOCK - PAGE, 1, 0, 0);
   drop(map_some(block + BLOCK / 2, 128, 0, 4), 128);
}

/* Two tables go. */
static void __attribute__((noinline)) across(char* block)
{
   drop(map_some(block + BLOCK - 4 * PAGE, 8, 0, 8), 8);
}

/* Of two tables the first goes. */
static void __attribute__((noinline)) across_kept(char* block)
{
   map_some(block + BLOCK + 64 * PAGE, 1, 0, 1);
   drop(map_some(block + BLOCK - 4 * PAGE, 8, 0, 8), 8);
}

/* Nothing was touched: there is no table. */
static void __attribute__((noinline)) untouched(char* block)
{
   drop(map_some(block + BLOCK / 2, 128, 0, 0), 128);
}

/* A mapping in the place of another. */
static void __attribute__((noinline)) replaced(char* block)
{
   map_some(block + BLOCK / 2, 128, 0, 4);
   map(block + BLOCK / 2, 128 * PAGE, 0);
}

/* A part goes, and the rest needs the table. */
static void __attribute__((noinline)) part(char* block)
{
   map_some(block + BLOCK / 2, 128, 0, 4);
   drop(block + BLOCK / 2, 64);
}

/* The only mapping of 1G, at its end. */
static void __attribute__((noinline)) alone_in_region(char* region)
{
   drop(map_some(region + REGION - BLOCK, 128, 0, 4), 128);
}

/* The pages of a whole block are given back. */
static void __attribute__((noinline)) discarded(char* block)
{
   touch(block + BLOCK / 2, 4);
   must(madvise(block, BLOCK, MADV_DONTNEED) == 0, "MADV_DONTNEED");
}

/* The same of all but one page. */
static void __attribute__((noinline)) discarded_part(char* block)
{
   touch(block + BLOCK / 2, 4);
   must(madvise(block, BLOCK - PAGE, MADV_DONTNEED) == 0, "MADV_DONTNEED");
}

enum { TABLE = 400 };

static __attribute__((noinline)) void frees(char* block)
{
   free(block);
}

static __attribute__((noinline)) long refers(const volatile char* table)
{
   long sum = 0;
   for (long i = 0; i < TABLE; i++)
      sum += table[i * PAGE];
   return sum;
}

static void large(int rounds)
{
   char* table = aligned_alloc(PAGE, TABLE * PAGE);
   must(table != NULL, "aligned_alloc");
   touch(table, TABLE);
   for (int round = 0; round < rounds; round++) {
      char* block = malloc(33 << 20);
      must(block != NULL, "malloc");
      touch(block, 4);
      refers(table);
      frees(block);
   }
}

static const struct {
   const char* name;
   void (*go)(char* at);
   int in_region; /* of its own */
   int is_mapped; /* before the first round */
} ways[] = {
   { "alone", alone, 0, 0 },
   { "near_beginning", near_beginning, 0, 0 },
   { "beside", beside, 0, 0 },
   { "before", before, 0, 0 },
   { "across", across, 0, 0 },
   { "across_kept", across_kept, 0, 0 },
   { "untouched", untouched, 0, 0 },
   { "replaced", replaced, 0, 0 },
   { "part", part, 0, 0 },
   { "alone_in_region", alone_in_region, 1, 0 },
   { "discarded", discarded, 0, 1 },
   { "discarded_part", discarded_part, 0, 1 },
};

int main(int argc, char** argv)
{
   must(argc == 3, "usage: run_tables WAY ROUNDS");
   const int rounds = atoi(argv[2]);
   if (strcmp(argv[1], "large") == 0) {
      large(rounds);
      return 0;
   }
   /* Keeps the tables of tables that the blocks need. */
   map_some(BASE, 1, 0, 1);
   for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++) {
      char* at = BASE + (ways[i].in_region ? 3 * REGION : 16 * BLOCK);
      if (strcmp(argv[1], ways[i].name) != 0)
         continue;
      if (ways[i].is_mapped)
         map(at, BLOCK, 0);
      for (int round = 0; round < rounds; round++)
         ways[i].go(at);
      return 0;
   }
   must(0, argv[1]);
}
