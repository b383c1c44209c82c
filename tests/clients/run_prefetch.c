/* run_prefetch -- data prefetches whose outcome is known.
   Part of tlbgrind.  GPL-2.0-or-later; see COPYING.

   For data TLBs of 16 and, behind them, 64 entries, both fully associative and LRU. Prints what it
   expects of each function's prefetches:

      strong FUNCTION PREFETCHES L1-MISSES WALKS WALKS-IN-VAIN
      weak FUNCTION PREFETCHES L1-MISSES DROPPED

   and the functions that load a page behind a prefetch of it, which only a dropped one makes miss:

      form FUNCTION */

#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline, noclone))

enum { PAGE = 4096, LINE = 64, AHEAD = 8, N_SWEEP = 256, N_RANDOM = 100 };

#if defined(__aarch64__)
#define PREFETCH(p) __asm__ volatile("prfm pldl1keep, [%0]" : : "r"(p))
#define LOAD(p) __asm__ volatile("ldrb w9, [%0]" : : "r"(p) : "x9")
#elif defined(__powerpc64__)
#define PREFETCH(p) __asm__ volatile("dcbt 0, %0" : : "r"(p))
#define LOAD(p) __asm__ volatile("lbz 9, 0(%0)" : : "b"(p) : "r9")
#elif defined(__riscv)
/* prefetch.r, which assemblers know with an option */
#define PREFETCH(p) __asm__ volatile(".insn i 0x13, 6, x0, %0, 1" : : "r"(p))
#define LOAD(p) __asm__ volatile("lbu t0, 0(%0)" : : "r"(p) : "t0")
#else
#define PREFETCH(p) __asm__ volatile("prefetcht0 (%0)" : : "r"(p))
#define LOAD(p) __asm__ volatile("movb (%0), %%al" : : "r"(p) : "eax")
#endif

static NOINLINE void strong(const char* function, long n, long misses, long walks, long in_vain)
{
   printf("strong %s %ld %ld %ld %ld\n", function, n, misses, walks, in_vain);
}

static NOINLINE void weak(const char* function, long n, long misses, long dropped)
{
   printf("weak %s %ld %ld %ld\n", function, n, misses, dropped);
}

/* A page that no mapping may follow is behind them. */
static NOINLINE char* pages(long n)
{
   char* p = mmap(NULL, (size_t)(n + 1) * PAGE, PROT_READ | PROT_WRITE,
                  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
   if (p == MAP_FAILED || mprotect(p + n * PAGE, PAGE, PROT_NONE) != 0)
      exit(2);
   return p;
}

static NOINLINE void touch(volatile char* p, long n)
{
   for (long i = 0; i < n; i++)
      p[i * PAGE] = 1;
}

static NOINLINE void load(const volatile char* p, long n)
{
   for (long i = 0; i < n; i++)
      (void)p[i * PAGE];
}

static char* swept;

/* Leaves nothing else in the data TLBs but what the caller's stack and code need. */
static NOINLINE void sweep(void)
{
   load(swept, N_SWEEP);
}

/* --- What is there, and what is not --- */

static NOINLINE void of_null(long n)
{
   for (long i = 0; i < n; i++)
      PREFETCH((char*)0);
}

static NOINLINE void stride(const volatile char* a, long n)
{
   for (long i = 0; i < n; i++) {
      (void)a[i * LINE];
      PREFETCH(a + (i + AHEAD) * LINE);
   }
}

static NOINLINE void of_untouched(volatile char* p)
{
   PREFETCH(p);
   PREFETCH(p);
   PREFETCH(p);
   *p = 1;
   PREFETCH(p);
   PREFETCH(p);
}

static NOINLINE void of_inaccessible(const char* p)
{
   PREFETCH(p);
   PREFETCH(p);
}

static NOINLINE void of_accessible_again(const char* p)
{
   PREFETCH(p);
}

static NOINLINE void of_unmapped(const char* p)
{
   PREFETCH(p);
   PREFETCH(p + PAGE);
}

static NOINLINE void of_what_the_kernel_wrote(const char* p)
{
   PREFETCH(p);
}

static NOINLINE void of_second_level(const char* p)
{
   PREFETCH(p);
   PREFETCH(p);
}

static NOINLINE void form_loaded_from_second_level(const volatile char* p)
{
   (void)*p;
}

static void places(long n_null, long n_pages)
{
   char* p = pages(n_pages);
   touch(p, n_pages);
   sweep();
   of_null(n_null);
   strong("of_null", n_null, n_null, n_null, n_null);
   weak("of_null", n_null, n_null, n_null);

   const long n = n_pages * PAGE / LINE;
   sweep();
   stride(p, n);
   strong("stride", n, n_pages - 1 + AHEAD, n_pages - 1 + AHEAD, AHEAD);
   weak("stride", n, AHEAD * n_pages, AHEAD * n_pages);

   char* fresh = pages(3);
   of_untouched(fresh);
   strong("of_untouched", 5, 3, 3, 3);
   weak("of_untouched", 5, 3, 3);
   if (mprotect(fresh, PAGE, PROT_NONE) != 0)
      exit(2);
   of_inaccessible(fresh);
   strong("of_inaccessible", 2, 2, 2, 2);
   weak("of_inaccessible", 2, 2, 2);
   if (mprotect(fresh, PAGE, PROT_READ) != 0)
      exit(2);
   sweep();
   of_accessible_again(fresh);
   strong("of_accessible_again", 1, 1, 1, 0);
   weak("of_accessible_again", 1, 1, 1);

   const int zeroes = open("/dev/zero", O_RDONLY);
   if (read(zeroes, fresh + 2 * PAGE, 100) != 100)
      exit(2);
   sweep();
   of_what_the_kernel_wrote(fresh + 2 * PAGE);
   strong("of_what_the_kernel_wrote", 1, 1, 1, 0);
   weak("of_what_the_kernel_wrote", 1, 1, 1);
   if (munmap(fresh, 2 * PAGE) != 0)
      exit(2);
   of_unmapped(fresh);
   strong("of_unmapped", 2, 2, 2, 2);
   weak("of_unmapped", 2, 2, 2);

   sweep();
   load(p, 32);
   of_second_level(p);
   form_loaded_from_second_level(p);
   strong("of_second_level", 2, 1, 0, 0);
   weak("of_second_level", 2, 1, 0);
}

/* --- Prefetches among loads, and loads in their place --- */

#define RANDOM(name, DO)                                                   \
   static NOINLINE void name(const volatile char* p, long n)               \
   {                                                                       \
      unsigned x = 1;                                                      \
      for (long i = 0; i < n; i++) {                                       \
         x = x * 1103515245 + 12345;                                       \
         const volatile char* at = p + (x >> 8) % N_RANDOM * PAGE;         \
         if ((x >> 20 & 3) == 0)                                           \
            DO(at);                                                        \
         else                                                              \
            LOAD(at);                                                      \
      }                                                                    \
   }

RANDOM(random_with_prefetches, PREFETCH)
RANDOM(random_with_loads, LOAD)

static void at_random(long n)
{
   char* p = pages(N_RANDOM);
   touch(p, N_RANDOM);
   sweep();
   random_with_prefetches(p, n);
   sweep();
   random_with_loads(p, n);
}

/* --- Forms of addresses: each prefetches the page that it then loads --- */

#if defined(__x86_64__) || defined(__i386__)

#define FORM(name, code)                                                   \
   void form_##name(const char* p, long from_thread);                      \
   __asm__(".text\n.globl form_" #name "\n.type form_" #name ",@function\n" \
           "form_" #name ":\n" code "ret\n.size form_" #name ",.-form_" #name "\n");

__asm__(".bss\n.balign 4096\nfixed_page:\n.skip 4096\n.text\n");
extern char fixed_page[];

#ifdef __x86_64__
#define LOADS "movb (%rdi),%al\n"
FORM(base, "prefetcht0 (%rdi)\n" LOADS)
FORM(disp8, "lea -100(%rdi),%rax\nprefetcht1 100(%rax)\n" LOADS)
FORM(disp32, "lea 100000(%rdi),%r8\nprefetcht2 -100000(%r8)\n" LOADS)
FORM(index, "lea -64(%rdi),%rcx\nmov $64,%edx\nprefetchnta (%rcx,%rdx)\n" LOADS)
FORM(index8, "lea -4096(%rdi),%r8\nmov $512,%r9d\nprefetchw (%r8,%r9,8)\n" LOADS)
FORM(index_alone, "mov %rdi,%r10\nshr $2,%r10\nprefetcht0 16(,%r10,4)\n" LOADS)
FORM(r12, "mov %r12,%rax\nmov %rdi,%r12\nprefetcht0 (%r12)\nmov %rax,%r12\n" LOADS)
FORM(r13, "mov %r13,%rax\nmov %rdi,%r13\nprefetcht0 (%r13)\nmov %rax,%r13\n" LOADS)
FORM(rsp, "mov %rdi,%rax\nsub %rsp,%rax\nprefetcht0 (%rsp,%rax)\n" LOADS)
FORM(short_address, "movabs $0x1234567800000000,%rax\nor %rdi,%rax\nprefetcht0 (%eax)\n" LOADS)
FORM(from_next, "prefetcht0 fixed_page+17(%rip)\nmovb fixed_page(%rip),%al\n")
FORM(segment, "prefetcht0 %fs:(%rsi)\n" LOADS)
FORM(overwritten, "mov %rdi,%rax\nprefetcht0 (%rax)\nmov $0,%eax\n" LOADS)
FORM(moved_on, "lea 64(%rdi),%rcx\nprefetcht0 -64(%rcx)\nlea 128(%rdi),%rcx\n"
               "mov $5,%ecx\n" LOADS)
FORM(partial, "mov %rdi,%rdx\nmovb $64,%dl\nprefetcht0 (%rdx)\nmov $0,%dl\n" LOADS)
#else
#define LOADS "movb (%ecx),%al\n"
#define ARGUMENT "mov 4(%esp),%ecx\n"
FORM(base, ARGUMENT "prefetcht0 (%ecx)\n" LOADS)
FORM(disp8, ARGUMENT "lea -100(%ecx),%eax\nprefetcht1 100(%eax)\n" LOADS)
FORM(disp32, ARGUMENT "lea 100000(%ecx),%edx\nprefetcht2 -100000(%edx)\n" LOADS)
FORM(index, ARGUMENT "lea -64(%ecx),%eax\nmov $64,%edx\nprefetchnta (%eax,%edx)\n" LOADS)
FORM(index8, ARGUMENT "lea -4096(%ecx),%eax\nmov $512,%edx\nprefetcht0 (%eax,%edx,8)\n" LOADS)
FORM(index_alone, ARGUMENT "mov %ecx,%eax\nshr $2,%eax\nprefetcht0 16(,%eax,4)\n" LOADS)
FORM(absolute, "prefetcht0 fixed_page+17\nmovb fixed_page,%al\n")
FORM(overwritten, ARGUMENT "mov %ecx,%eax\nprefetcht0 (%eax)\nmov $0,%eax\n" LOADS)
FORM(partial, ARGUMENT "mov %ecx,%edx\nmovb $64,%dl\nprefetcht0 (%edx)\nmov $0,%dl\n" LOADS)
#endif

static NOINLINE void one_form(const char* name, void form(const char*, long), const char* page)
{
#ifdef __x86_64__
   const long from_thread = page - (const char*)__builtin_thread_pointer();
#else
   const long from_thread = 0;
#endif
   sweep();
   form(page, from_thread);
   printf("form %s\n", name);
   strong(name, 1, 1, 1, 0);
   weak(name, 1, 1, 1);
}

#define DO(name, page) one_form("form_" #name, form_##name, page)

static char room[3 * PAGE];

static void forms(void)
{
   char* page = room + PAGE - (unsigned long)room % PAGE;
   touch(page, 1);
   touch(fixed_page, 1);
   DO(base, page);
   DO(disp8, page);
   DO(disp32, page);
   DO(index, page);
   DO(index8, page);
   DO(index_alone, page);
   DO(overwritten, page);
   DO(partial, page);
#ifdef __x86_64__
   DO(r12, page);
   DO(r13, page);
   DO(rsp, page);
   DO(short_address, page);
   DO(from_next, fixed_page);
   DO(segment, page);
   DO(moved_on, page);
#else
   DO(absolute, fixed_page);
#endif
}
#else
static void forms(void)
{
}
#endif

int main(int argc, char** argv)
{
   static char buffer[16384];
   setvbuf(stdout, buffer, _IOFBF, sizeof buffer);
   const long n_null = argc > 1 ? atol(argv[1]) : 1000;
   const long n_pages = argc > 2 ? atol(argv[2]) : 100;
   swept = pages(N_SWEEP);
   touch(swept, N_SWEEP);
   places(n_null, n_pages);
   at_random(20000);
   forms();
   return 0;
}
