/* Takes page faults of every kind that needs neither libc nor luck, at addresses
   that are the same on every machine.
   Part of tlbgrind.  GPL-2.0-or-later; see COPYING.

   There is no libc, no dynamic linker and no vDSO here; the linker script says
   where everything lies, memory is mapped at fixed places, and nothing depends
   on the processor. So the list of faults that Linux took of it once, in
   tests/faults/data/fixed.native, is the list everywhere. It must be recorded
   again (tests/faults/record.py) when this file or its script changes. */

typedef unsigned long word;

enum {
   PAGE = 4096,
   READ = 1, WRITE = 2, EXECUTE = 4,
   SHARED = 1, PRIVATE = 2, FIXED = 16, ANONYMOUS = 32, POPULATE = 0x8000,
   MAY_MOVE_FIXED = 3,
   DONTNEED = 4, POPULATE_READ = 22,
   SIGCHLD_ = 17
};

/* x86-64 */
enum {
   SYS_read, SYS_write, SYS_open, SYS_mmap = 9, SYS_mprotect, SYS_munmap,
   SYS_brk, SYS_pipe = 22, SYS_mremap = 25, SYS_madvise = 28, SYS_fork = 57,
   SYS_exit = 60, SYS_wait4, SYS_ftruncate = 77, SYS_getcwd = 79,
   SYS_memfd_create = 319
};

#define INLINE static inline __attribute__((always_inline))
#define PAGES(section_, n) __attribute__((section(section_), aligned(PAGE))) volatile char
#define FAR(name) \
   __asm__(".pushsection .far,\"ax\",@progbits\n.balign 4096\n" \
           #name ": ret\n.balign 4096\n.popsection\n"); \
   void name(void)

PAGES(".constants", 40) constants[40 * PAGE] = { 1 };
PAGES(".written", 20) written[20 * PAGE + 100] = { 1 };
PAGES(".zeros,\"aw\",@nobits#", 29) zeros[29 * PAGE];
/* Pages 16 to 42 of the code; the first and the last of them are called, and
   some between. */
FAR(far_0);
__asm__(".pushsection .far\n.fill 8 * 4096, 1, 0x90\n.popsection\n");
FAR(far_9);
__asm__(".pushsection .far\n.fill 16 * 4096, 1, 0x90\n.popsection\n");
FAR(far_26);

INLINE long call(long number, word a, word b, word c, word d, word e, word f)
{
   long result;
   register word r10 __asm__("r10") = d;
   register word r8 __asm__("r8") = e;
   register word r9 __asm__("r9") = f;
   __asm__ volatile("syscall"
                    : "=a"(result)
                    : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                    : "rcx", "r11", "memory");
   return result;
}

/* A call that must succeed: else the list would be of something else. */
INLINE word need(long number, word a, word b, word c, word d, word e, word f)
{
   const long result = call(number, a, b, c, d, e, f);
   if (result < 0 && result > -4096)
      call(SYS_exit, (word)number, 0, 0, 0, 0, 0);
   return (word)result;
}

INLINE volatile char* page(word area, word n)
{
   return (volatile char*)(area + n * PAGE);
}

INLINE void put(word area, word first, word end, word step)
{
   for (word n = first; n < end; n += step)
      *page(area, n) = 1;
}

/* Valgrind leaves out a load of what nobody uses before any tool sees it. */
INLINE void get(word area, word first, word end, word step)
{
   volatile char used;
   for (word n = first; n < end; n += step)
      used = *page(area, n);
   (void)used;
}

INLINE word map(word at, word pages, word prot, word flags, word fd, word first)
{
   return need(SYS_mmap, at, pages * PAGE, prot, flags | FIXED, fd, first * PAGE);
}

INLINE void own_image(void)
{
   const word c = (word)constants, w = (word)written, z = (word)zeros;
   get(c, 0, 1, 1);
   get(c, 17, 19, 1);
   get(c, 39, 40, 1);
   far_9();
   far_0();
   far_26();
   put(w, 0, 2, 1);
   put(w, 5, 6, 1);
   get(w, 10, 11, 1);
   put(w, 11, 12, 1);
   get(w, 19, 20, 1);
   get(z, 2, 3, 1);
   put(z, 2, 4, 1);
   get(z, 28, 29, 1);
}

INLINE void heap(void)
{
   const word start = (need(SYS_brk, 0, 0, 0, 0, 0, 0) + PAGE - 1) & -(word)PAGE;
   need(SYS_brk, start + 10 * PAGE, 0, 0, 0, 0, 0);
   for (word n = 10; n-- > 0;)
      put(start, n, n + 1, 1);
   need(SYS_brk, start + 4 * PAGE, 0, 0, 0, 0, 0);
   need(SYS_brk, start + 8 * PAGE, 0, 0, 0, 0, 0);
   put(start, 0, 8, 1);
}

INLINE void anonymous(void)
{
   const word a = 0x20000000, moved = 0x21000000, full = 0x22000000, zero = 0x23000000;
   map(a, 32, READ | WRITE, PRIVATE | ANONYMOUS, -1ul, 0);
   put(a, 0, 8, 1);
   get(a, 8, 16, 1);
   put(a, 8, 16, 2);
   need(SYS_madvise, a + 4 * PAGE, 6 * PAGE, DONTNEED, 0, 0, 0);
   get(a, 2, 6, 1);
   put(a, 2, 10, 1);
   need(SYS_mprotect, a + 16 * PAGE, 4 * PAGE, READ, 0, 0, 0);
   get(a, 15, 21, 1);
   need(SYS_mprotect, a + 16 * PAGE, 4 * PAGE, READ | WRITE, 0, 0, 0);
   put(a, 15, 21, 1);
   map(a + 2 * PAGE, 3, READ | WRITE, PRIVATE | ANONYMOUS, -1ul, 0);
   put(a, 0, 6, 1);
   need(SYS_munmap, a, 2 * PAGE, 0, 0, 0, 0);
   need(SYS_mremap, a + 4 * PAGE, 12 * PAGE, 16 * PAGE, MAY_MOVE_FIXED, moved, 0);
   put(moved, 0, 16, 1);
   map(full, 8, READ | WRITE, PRIVATE | ANONYMOUS | POPULATE, -1ul, 0);
   put(full, 0, 8, 1);
   map(zero, 8, READ | WRITE, PRIVATE | ANONYMOUS, -1ul, 0);
   need(SYS_madvise, zero, 8 * PAGE, POPULATE_READ, 0, 0, 0);
   get(zero, 0, 8, 1);
   put(zero, 0, 8, 3);
}

INLINE void files(word file)
{
   const word a = 0x30000000, b = 0x31000000, s = 0x32000000, m = 0x33000000;
   /* Off the alignment of fault-around at both ends. */
   map(a + 5 * PAGE, 50, READ | WRITE, PRIVATE, file, 20);
   get(a, 30, 31, 1);
   put(a, 28, 37, 4);
   get(a, 5, 55, 3);
   put(a, 5, 55, 7);
   need(SYS_madvise, a + 5 * PAGE, 50 * PAGE, DONTNEED, 0, 0, 0);
   need(SYS_mprotect, a + 20 * PAGE, 5 * PAGE, READ, 0, 0, 0);
   get(a, 22, 23, 1);
   get(a, 18, 30, 1);
   put(a, 25, 28, 1);
   /* Across the end of a page table. */
   map(b + 505 * PAGE, 20, READ, PRIVATE, file, 0);
   get(b, 510, 525, 1);
   map(s, 40, READ, SHARED, file, 10);
   for (word n = 40; n-- > 0;)
      get(s, n, n + 1, 1);
   const word memory = need(SYS_memfd_create, (word)constants, 0, 0, 0, 0, 0);
   need(SYS_ftruncate, memory, 32 * PAGE, 0, 0, 0, 0);
   map(m, 32, READ | WRITE, SHARED, memory, 0);
   put(m, 0, 8, 1);
   get(m, 8, 12, 1);
   put(m, 8, 16, 1);
   need(SYS_madvise, m, 16 * PAGE, DONTNEED, 0, 0, 0);
   get(m, 0, 16, 1);
   put(m, 0, 16, 1);
}

INLINE void kernel(word file)
{
   const word a = 0x40000000;
   int* const ends = (int*)(a + 31 * PAGE);
   map(a, 32, READ | WRITE, PRIVATE | ANONYMOUS, -1ul, 0);
   need(SYS_read, file, a + 100, 5 * PAGE, 0, 0, 0);
   need(SYS_getcwd, a + 8 * PAGE, 200, 0, 0, 0, 0);
   need(SYS_pipe, (word)ends, 0, 0, 0, 0, 0);
   need(SYS_write, (word)ends[1], a + 10 * PAGE + 4000, 200, 0, 0, 0);
   need(SYS_read, (word)ends[0], a + 12 * PAGE + 4000, 200, 0, 0, 0);
}

/* An instruction that changes page n in the way of its own. */
#define CHANGE(n, instruction) \
   __asm__ volatile(instruction : "+m"(*(volatile word*)page(a, n)) \
                    : : "rax", "rbx", "rcx", "rdx", "cc", "memory")

INLINE void crossing(void)
{
   const word a = 0x41000000;
   map(a, 32, READ | WRITE, PRIVATE | ANONYMOUS, -1ul, 0);
   *(volatile word*)(a + PAGE - 4) = 1;
   volatile word used = *(volatile word*)(a + 3 * PAGE - 4);
   (void)used;
   CHANGE(6, "mov $7, %%eax\n lock cmpxchg %%rdx, %0");
   CHANGE(7, "lock addl $0, %0");
   CHANGE(8, "lock xadd %%rax, %0");
   CHANGE(9, "xchg %%rax, %0");
   CHANGE(10, "lock orb $1, %0");
   CHANGE(11, "lock btsl $3, %0");
   CHANGE(12, "lock cmpxchg16b %0");
   CHANGE(13, "lock decq %0");
   CHANGE(14, "cmpxchg %%rdx, %0");
   CHANGE(15, "addq $1, %0");
   CHANGE(16, "mov $3, %%ecx\n shlq %%cl, %0");
   CHANGE(17, "notq %0");
   CHANGE(18, "adcw $3, %0");
   CHANGE(19, "setc %0");
   __asm__ volatile("prefetcht0 %0" : : "m"(*(volatile char*)page(a, 20)));
   put(a, 20, 21, 1);
   /* A swap that fails is a write, also of a page that is there to be read. */
   get(a, 21, 22, 1);
   CHANGE(21, "mov $7, %%eax\n lock cmpxchg %%rdx, %0");
   get(a, 22, 23, 1);
   CHANGE(22, "lock addl $0, %0");
}

/* Twenty pages of the stack, from the top down. */
INLINE void deep(void)
{
   word n = 20;
   __asm__ volatile("mov %%rsp, %%rbx\n"
                    "and $-4096, %%rsp\n"
                    "1: sub $4096, %%rsp\n"
                    "movb $1, (%%rsp)\n"
                    "dec %0\n"
                    "jnz 1b\n"
                    "mov %%rbx, %%rsp\n"
                    : "+r"(n)
                    :
                    : "rbx", "memory");
}

INLINE void family(void)
{
   const word w = (word)written, a = 0x42000000;
   map(a, 16, READ | WRITE, PRIVATE | ANONYMOUS, -1ul, 0);
   put(a, 0, 8, 1);
   const word child = need(SYS_fork, 0, 0, 0, 0, 0, 0);
   if (child == 0) {
      far_26();
      get((word)constants, 0, 40, 1);
      get(a, 0, 12, 1);
      put(a, 0, 16, 3);
      put(w, 0, 20, 2);
      call(SYS_exit, 0, 0, 0, 0, 0, 0);
   }
   need(SYS_wait4, child, 0, 0, 0, 0, 0);
   put(a, 0, 16, 1);
   put(w, 0, 20, 1);
}

__attribute__((used)) static void work(word* stack)
{
   const word file = need(SYS_open, stack[1], 0, 0, 0, 0, 0);
   own_image();
   heap();
   anonymous();
   files(file);
   kernel(file);
   crossing();
   deep();
   family();
   call(SYS_exit, 0, 0, 0, 0, 0, 0);
}

__asm__(".text\n.globl begin\nbegin: mov %rsp, %rdi\n and $-16, %rsp\n call work\n");
