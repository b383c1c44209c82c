/* Changes its mappings at random, and between two changes reads and writes at random what
   is mapped then: for what is known of pages that come, go, move and change.
   pages_change SEED STEPS
   Part of tlbgrind.  GPL-2.0-or-later; see COPYING. */

#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { PAGE = 4096, PAGES = 3072, ACCESSES = 300, NEAR = 24, RW = PROT_READ | PROT_WRITE };
#define ALIGNMENT ((uintptr_t)2 << 20)

static char *arena;
static unsigned char prot[PAGES];
static unsigned near[NEAR]; /* pages that most accesses go to */
static char *heap;
static size_t heap_pages;
static uint64_t state;

static unsigned draw(unsigned below)
{
   state ^= state << 13;
   state ^= state >> 7;
   state ^= state << 17;
   return (unsigned)(state >> 20) % below;
}

static void must(int done)
{
   if (!done) {
      perror("pages_change");
      exit(1);
   }
}

static char *at(unsigned page)
{
   return arena + (size_t)page * PAGE;
}

/* --- Changes --- */

static void map(unsigned first, unsigned n, int flags)
{
   must(mmap(at(first), (size_t)n * PAGE, RW,
             flags | MAP_FIXED | MAP_ANONYMOUS, -1, 0) != MAP_FAILED);
   memset(prot + first, RW, n);
}

static void unmap(unsigned first, unsigned n)
{
   must(munmap(at(first), (size_t)n * PAGE) == 0);
   memset(prot + first, 0, n);
}

/* A hole ends it. */
static unsigned mapped_from(unsigned first, unsigned n)
{
   unsigned i = 0;
   while (i < n && prot[first + i] != 0)
      i++;
   return i;
}

static void protect(unsigned first, unsigned n, unsigned char to)
{
   n = mapped_from(first, n);
   if (n == 0)
      return;
   must(mprotect(at(first), (size_t)n * PAGE, to) == 0);
   memset(prot + first, to, n);
}

/* One mapping at a time: others can not be moved at once. */
static void move(unsigned first, unsigned n)
{
   const unsigned to = draw(PAGES - n);
   if (to < first + n && first < to + n)
      return;
   map(first, n, MAP_PRIVATE);
   must(mremap(at(first), (size_t)n * PAGE, (size_t)n * PAGE,
               MREMAP_MAYMOVE | MREMAP_FIXED, at(to)) != MAP_FAILED);
   memset(prot + first, 0, n);
   memset(prot + to, RW, n);
}

static void grow_heap(unsigned n)
{
   heap_pages = draw(2) != 0 ? heap_pages + n : n < heap_pages ? heap_pages - n : heap_pages;
   must(brk(heap + heap_pages * PAGE) == 0);
}

static void change(void)
{
   static const int advice[] = { MADV_DONTNEED, MADV_HUGEPAGE, MADV_NOHUGEPAGE, MADV_FREE,
                                 MADV_DONTDUMP };
   const unsigned n = 1 + draw(draw(4) == 0 ? 1200 : 40);
   const unsigned first = draw(PAGES - n);
   switch (draw(10)) {
   case 0: case 1:
      map(first, n, MAP_PRIVATE);
      break;
   case 2:
      map(first, n, MAP_SHARED);
      break;
   case 3:
      unmap(first, n);
      break;
   case 4:
      protect(first, n, PROT_READ);
      break;
   case 5:
      protect(first, n, RW);
      break;
   case 6: case 7:
      (void)madvise(at(first), (size_t)n * PAGE, advice[draw(5)]);
      break;
   case 8:
      move(first, n);
      break;
   default:
      grow_heap(n);
   }
}

/* --- References --- */

static void reference(char *p, int writes)
{
   volatile uint64_t *const word = (volatile uint64_t *)(void *)p;
   if (!writes || draw(3) == 0)
      (void)*word;
   else if (draw(2) == 0)
      *word = state;
   else
      *word += 1;
}

static void references(void)
{
   for (unsigned i = 0; i < ACCESSES; i++) {
      unsigned *const one = &near[draw(NEAR)];
      if (draw(8) == 0)
         *one = draw(PAGES);
      if (heap_pages > 0 && draw(10) == 0)
         reference(heap + draw((unsigned)heap_pages) * PAGE, 1);
      if (prot[*one] == 0)
         continue;
      /* Some lie on two pages. */
      const int on_two = draw(16) == 0 && *one + 1 < PAGES && prot[*one + 1] != 0;
      const int writes = prot[*one] == RW && (!on_two || prot[*one + 1] == RW);
      reference(at(*one) + (on_two ? PAGE - 4 : 8 * draw(PAGE / 8)), writes);
   }
}

int main(int argc, char **argv)
{
   must(argc == 3);
   state = (uint64_t)atoi(argv[1]) * 2654435761u + 88172645463325252u;
   char *const room = mmap(NULL, (size_t)PAGES * PAGE + ALIGNMENT, PROT_NONE,
                           MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
   must(room != MAP_FAILED);
   arena = room + (ALIGNMENT - (uintptr_t)room % ALIGNMENT) % ALIGNMENT;
   heap = sbrk(0);
   heap += (PAGE - (uintptr_t)heap % PAGE) % PAGE;
   for (int step = 0; step < atoi(argv[2]); step++) {
      change();
      references();
   }
   return 0;
}
