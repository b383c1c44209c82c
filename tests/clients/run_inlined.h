/* A table of pages whose functions are inlined wherever they are used.
   Part of tlbgrind.  GPL-2.0-or-later; see COPYING. */

#ifndef RUN_INLINED_H
#define RUN_INLINED_H

#define INLINED __attribute__((always_inline)) inline

enum { PAGE = 4096 };

/* Is called, never inlined; reads and writes one variable. */
__attribute__((noinline, noclone)) void note(int n);

template <int PAGES> struct Pages {
   volatile char bytes[PAGES * PAGE];
};

/* One read. */
static INLINED int first_of(const volatile char* page)
{
   return *page; /* the read */
}

/* Reads one byte of each page, and calls note() once. */
template <int PAGES> static INLINED int sum_of(const Pages<PAGES>& table)
{
   int sum = 0;
   for (int i = 0; i < PAGES; i++)
      sum += first_of(table.bytes + i * PAGE); /* of a page */
   note(sum);
   return sum;
}

#endif
