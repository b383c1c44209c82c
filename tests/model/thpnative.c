/* Compares the transparent huge pages of this kernel with those of the page map.
   It does the same things to real memory and to the map, and prints after each how many huge
   pages there are: "STEP KERNEL MAP". The kernel's number is from /proc/self/smaps.
   Part of tlbgrind.  GPL-2.0-or-later; see COPYING. */

#define _GNU_SOURCE
#include <sys/mman.h>

#define DRIVER "thpnative"
#include "../drive.h"

#include "sim/pages/pagemap.h"

#ifndef MADV_COLD
#define MADV_COLD 20
#define MADV_PAGEOUT 21
#endif

#define MIB ((size_t)1 << 20)
enum { PAGE = 4096, RW = PROT_READ | PROT_WRITE };

static tlb_pagemap map;
static char *arena; /* 64M, aligned */
#define ARENA (64 * MIB)

static uint64_t at(size_t offset)
{
   return (uint64_t)(uintptr_t)arena + offset;
}

static void must(int good, const char *what)
{
   if (good)
      return;
   perror(what);
   exit(2);
}

/* Huge pages in the arena. */
static unsigned long kernels(void)
{
   char line[512];
   unsigned long sum = 0, start = 0, end = 0, n, from, to;
   FILE *const f = fopen("/proc/self/smaps", "r");
   must(f != NULL, "/proc/self/smaps");
   while (fgets(line, sizeof line, f) != NULL) {
      if (sscanf(line, "AnonHugePages: %lu kB", &n) == 1) {
         if (start >= at(0) && end <= at(ARENA))
            sum += n >> 11;
      } else if (sscanf(line, "%lx-%lx ", &from, &to) == 2) {
         start = from;
         end = to;
      }
   }
   fclose(f);
   return sum;
}

static void say(const char *step)
{
   printf("%s %lu %lu\n", step, kernels(),
          (unsigned long)tlb_pagemap_counts(&map, 0)->now.pages[21]);
}

static void touch(size_t offset)
{
   *(volatile char *)(arena + offset) = 1;
   tlb_pagemap_backing(&map, 0, at(offset));
}

static void make(size_t offset, size_t size)
{
   const tlb_mapping m = { .start = at(offset), .end = at(offset + size),
                           .kind = TLB_ANON, .serial = 1,
                           .prot = TLB_MAY_READ | TLB_MAY_WRITE };
   must(mmap(arena + offset, size, RW, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED,
             -1, 0) == arena + offset, "mmap");
   tlb_pagemap_map(&map, &m);
}

static void remove_all(void)
{
   munmap(arena, ARENA);
   tlb_pagemap_unmap(&map, at(0), at(ARENA));
}

static void advise(size_t offset, size_t size, int advice)
{
   const unsigned flag = advice == MADV_HUGEPAGE ? TLB_MAP_HUGEPAGE
                                                 : TLB_MAP_NOHUGEPAGE;
   must(madvise(arena + offset, size, advice) == 0, "madvise");
   if (advice == MADV_DONTNEED)
      tlb_pagemap_zap(&map, at(offset), at(offset + size));
   else if (advice == MADV_FREE || advice == MADV_COLD || advice == MADV_PAGEOUT)
      tlb_pagemap_split(&map, at(offset), at(offset + size),
                        advice == MADV_PAGEOUT);
   else if (advice == MADV_RANDOM || advice == MADV_SEQUENTIAL
            || advice == MADV_DONTDUMP)
      tlb_pagemap_flag(&map, at(offset), at(offset + size),
                       advice == MADV_RANDOM       ? TLB_MAP_RANDOM
                       : advice == MADV_SEQUENTIAL ? TLB_MAP_SEQUENTIAL
                                                   : TLB_MAP_NO_DUMP,
                       0);
   else
      tlb_pagemap_flag(&map, at(offset), at(offset + size), flag,
                       flag ^ (TLB_MAP_HUGEPAGE | TLB_MAP_NOHUGEPAGE));
}

static void move(size_t from, size_t to, size_t size)
{
   must(mremap(arena + from, size, size, MREMAP_MAYMOVE | MREMAP_FIXED,
               arena + to) == arena + to, "mremap");
   tlb_pagemap_move(&map, at(from), at(to), size);
   tlb_pagemap_unmap(&map, at(from), at(from + size));
}

static void parts(void)
{
   make(0, 8 * MIB);
   advise(0, 8 * MIB, MADV_HUGEPAGE);
   for (size_t i = 0; i < 4; i++)
      touch(i * 2 * MIB + 17);
   say("four-touched");
   munmap(arena + MIB, PAGE);
   tlb_pagemap_unmap(&map, at(MIB), at(MIB + PAGE));
   say("a-part-unmapped");
   mprotect(arena + 3 * MIB, PAGE, PROT_READ);
   tlb_pagemap_protect(&map, at(3 * MIB), at(3 * MIB + PAGE), TLB_MAY_READ);
   say("a-part-protected");
   advise(5 * MIB, PAGE, MADV_DONTNEED);
   say("a-part-not-needed");
   advise(7 * MIB, PAGE, MADV_NOHUGEPAGE);
   say("a-part-advised");
   remove_all();
}

/* Advice that says nothing of huge pages, for a part of one and for all of one. */
static void other_advice(void)
{
   static const struct {
      int advice;
      const char *part;
      const char *whole;
   } all[] = {
      { MADV_FREE, "a-part-free", "all-free" },
      { MADV_COLD, "a-part-cold", "all-cold" },
      { MADV_PAGEOUT, "a-part-out", "all-out" },
      { MADV_RANDOM, "a-part-random", "all-random" },
      { MADV_SEQUENTIAL, "a-part-sequential", "all-sequential" },
      { MADV_DONTDUMP, "a-part-undumped", "all-undumped" },
   };
   for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
      make(0, 6 * MIB);
      advise(0, 6 * MIB, MADV_HUGEPAGE);
      touch(0);
      touch(2 * MIB);
      touch(4 * MIB);
      advise(5 * MIB, PAGE, all[i].advice);
      say(all[i].part);
      advise(2 * MIB, 2 * MIB, all[i].advice);
      say(all[i].whole);
      remove_all();
   }
}

static void growth(void)
{
   make(0, 3 * MIB);
   advise(0, 3 * MIB, MADV_HUGEPAGE);
   touch(2 * MIB);
   say("too-short");
   make(3 * MIB, 5 * MIB);
   advise(3 * MIB, 5 * MIB, MADV_HUGEPAGE);
   touch(3 * MIB);
   say("grown-too-late");
   touch(4 * MIB);
   say("next-block");
   advise(4 * MIB, 2 * MIB, MADV_DONTNEED);
   say("all-not-needed");
   touch(5 * MIB);
   say("touched-again");
   remove_all();
}

static void advice(void)
{
   make(0, 8 * MIB);
   touch(0);
   say("no-advice");
   advise(0, 8 * MIB, MADV_HUGEPAGE);
   touch(MIB);
   say("advice-too-late");
   touch(2 * MIB);
   say("advice-in-time");
   advise(4 * MIB, 2 * MIB, MADV_NOHUGEPAGE);
   touch(5 * MIB);
   say("advice-against");
   remove_all();
}

static void moves(void)
{
   make(0, 8 * MIB);
   advise(0, 8 * MIB, MADV_HUGEPAGE);
   touch(0);
   touch(2 * MIB);
   move(0, 16 * MIB, 2 * MIB);
   say("moved-by-16M");
   move(2 * MIB, 21 * MIB, 2 * MIB);
   say("moved-by-19M");
   remove_all();
}

static void replaced(void)
{
   make(0, 4 * MIB);
   advise(0, 4 * MIB, MADV_HUGEPAGE);
   touch(0);
   touch(2 * MIB);
   make(2 * MIB, 2 * MIB);
   say("one-replaced");
   make(MIB, PAGE);
   say("a-part-replaced");
   remove_all();
}

int main(void)
{
   const tlb_memory memory = all_memory();
   static const tlb_page_policy policy = { .thp = TLB_THP_MADVISE };
   tlb_pagemap_init(&map, &memory);
   tlb_pagemap_add_view(&map, 12, &policy, NULL, NULL);
   char *const room = mmap(NULL, ARENA + 2 * MIB, PROT_NONE,
                           MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
   must(room != MAP_FAILED, "mmap");
   arena = room + (2 * MIB - (uintptr_t)room % (2 * MIB)) % (2 * MIB);
   munmap(room, ARENA + 2 * MIB);
   parts();
   other_advice();
   growth();
   advice();
   moves();
   replaced();
   tlb_pagemap_free(&map);
   return 0;
}
