/* hugemaps.c -- for LD_PRELOAD: asks for huge pages for each large anonymous mapping.
   Part of tlbgrind.  GPL-2.0-or-later; see COPYING.

   For programs that call mmap themselves; for malloc there is GLIBC_TUNABLES. */

#define _GNU_SOURCE
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { HUGE = 2 << 20 };

void* mmap(void* wanted, size_t length, int protection, int flags, int file, off_t offset)
{
   void* const got = (void*)syscall(SYS_mmap, wanted, length, protection, flags, file, offset);
   if (got != MAP_FAILED && (flags & MAP_ANONYMOUS) && !(flags & MAP_STACK) && length >= HUGE)
      madvise(got, length, MADV_HUGEPAGE);
   return got;
}

void* mmap64(void* wanted, size_t length, int protection, int flags, int file, off_t offset)
{
   return mmap(wanted, length, protection, flags, file, offset);
}
