/* populate -- maps parts of a program and its libraries at once, before main().
   Part of tlbgrind.  GPL-2.0-or-later; see COPYING.

   RANGES has words, with blanks between: FILE:x code, FILE:r constants, FILE:w data that stays
   writable, without FILE of the program itself; heap:KIB, the first of the heap; stack:KIB, below
   this call. `tg_faults --what-if' names those that save page faults. It is linked to a program,

      gcc -O2 -fPIE -DRANGES='":x libc.so.6:x"' -c populate.c

   or preloaded, which takes faults of its own (of a program at fixed addresses it has no `:x'):

      gcc -O2 -fPIC -shared -DRANGES='":x libc.so.6:x"' -o populate.so populate.c

   The kernel needs Linux 5.14; what it refuses takes its faults as before. */

#define _GNU_SOURCE
#include <link.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#ifndef RANGES
#error "-DRANGES='\"...\"' says which ranges; tg_faults --what-if has them"
#endif

enum { PAGE = 4096, HEAP = 132 * 1024, FOR_READ = 22, FOR_WRITE = 23 /* MADV_POPULATE_* */ };

#ifdef __PIE__
extern const ElfW(Ehdr) __ehdr_start __attribute__((visibility("hidden")));
extern ElfW(Dyn) _DYNAMIC[] __attribute__((weak, visibility("hidden")));
#endif

/* Beside the code, on whose page it is when that runs. */
__asm__(".pushsection .text.startup,\"ax\"\ntlbgrind_ranges: .string \"" RANGES "\"\n.popsection");
extern const char tlbgrind_ranges[] __attribute__((visibility("hidden")));

static void populate(uintptr_t from, uintptr_t to, int how)
{
   const uintptr_t start = from & -(uintptr_t)PAGE;
   madvise((void *)start, ((to + PAGE - 1) & -(uintptr_t)PAGE) - start, how);
}

static void populate_file(uintptr_t base, const ElfW(Ehdr) *file, char part)
{
   const ElfW(Phdr) *segments = (const ElfW(Phdr) *)((uintptr_t)file + file->e_phoff);
   uintptr_t fixed = 0, code = 0; /* ends of what is read-only after relocation, and of code */
   for (int i = 0; i < file->e_phnum; i++) {
      const ElfW(Phdr) *one = &segments[i];
      if (one->p_type == PT_GNU_RELRO)
         fixed = (one->p_vaddr + one->p_memsz) & -(uintptr_t)PAGE;
      if (one->p_type == PT_LOAD && (one->p_flags & PF_X) != 0)
         code = one->p_vaddr + one->p_memsz;
   }
   for (int i = 0; i < file->e_phnum; i++) {
      const ElfW(Phdr) *one = &segments[i];
      if (one->p_type != PT_LOAD)
         continue;
      const uintptr_t end = one->p_vaddr + one->p_memsz;
      const char kind = (one->p_flags & PF_W) != 0 ? 'w' : one->p_vaddr < code ? 'x' : 'r';
      if (kind == part && kind == 'w')
         populate(base + (one->p_vaddr < fixed ? fixed : one->p_vaddr), base + end, FOR_WRITE);
      else if (kind == part)
         populate(base + one->p_vaddr, base + one->p_vaddr + one->p_filesz, FOR_READ);
   }
}

static int is_named(const char *path, const char *name, size_t length)
{
   const char *last = path;
   for (const char *at = path; *at != 0; at++)
      last = *at == '/' ? at + 1 : last;
   for (size_t i = 0; i < length; i++)
      if (last[i] != name[i])
         return 0;
   return last[length] == 0;
}

/* The list of what is loaded. A program has it where debuggers look for it, without a symbol. */
static const struct link_map *loaded(void)
{
#ifdef __PIE__
   for (const ElfW(Dyn) *one = _DYNAMIC; one != NULL && one->d_tag != DT_NULL; one++)
      if (one->d_tag == DT_DEBUG && one->d_un.d_ptr != 0)
         return ((const struct r_debug *)one->d_un.d_ptr)->r_map;
   return NULL;
#else
   return _r_debug.r_map;
#endif
}

static void populate_named(const char *name, size_t length, char part)
{
#ifdef __PIE__
   if (length == 0) {
      populate_file(__ehdr_start.e_type == ET_EXEC ? 0 : (uintptr_t)&__ehdr_start, &__ehdr_start,
                    part);
      return;
   }
#endif
   for (const struct link_map *one = loaded(); one != NULL; one = one->l_next)
      if (one->l_addr != 0 && is_named(one->l_name, name, length))
         populate_file(one->l_addr, (const ElfW(Ehdr) *)one->l_addr, part);
}

static void populate_memory(int is_heap, uintptr_t size)
{
   char here;
   if (!is_heap) {
      populate((uintptr_t)&here - size, (uintptr_t)&here, FOR_WRITE);
      return;
   }
   void *volatile first = malloc(1); /* there is one then */
   free(first);
   const uintptr_t start = (uintptr_t)sbrk(0) - HEAP;
   populate(start, start + size, FOR_WRITE);
}

/* Before the program's other constructors, which use libraries. */
__attribute__((constructor(101), section(".text.startup"))) static void populate_all(void)
{
   const char *at = tlbgrind_ranges;
   while (*at != 0) {
      const char *name = at;
      size_t length = 0;
      while (*at != 0 && *at != ':')
         at++, length++;
      if (*at == ':')
         at++;
      if (*at >= '0' && *at <= '9') {
         uintptr_t size = 0;
         while (*at >= '0' && *at <= '9')
            size = size * 10 + (uintptr_t)(*at++ - '0');
         populate_memory(*name == 'h', size * 1024);
      } else if (*at != 0) {
         populate_named(name, length, *at++);
      }
      while (*at == ' ')
         at++;
   }
}
