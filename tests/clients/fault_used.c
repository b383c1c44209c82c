/* Uses a few bytes of many pages, in every way there is, and prints how many of
   each: a line "START BYTES BYTES ..." for each mapping that it made, one number
   for each page of 4K. Mappings that lie at the same place one after the other
   are printed in that order. A forked child's lines begin with "child".
   "again PAGE BYTES BYTES" is a page of the heap that was given back between.
   Part of tlbgrind.  GPL-2.0-or-later; see COPYING. */

#define _GNU_SOURCE
#include <fcntl.h>
#include <immintrin.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PAGE = 4096, RW = PROT_READ | PROT_WRITE, LINES = 64 };

/* Far from everything that the C library maps; each mapping is on large pages
   of its own. */
static char *next = (char *)0x20000000;

/* What is read has to be needed, or Vex would drop the load. */
static volatile uint64_t keep;

static char line[LINES][80];
static unsigned lines;

/* The mapping is at an end, or will not be used any more: so many bytes of its
   pages were, up to a negative number. */
static void used(const volatile void *start, const int *bytes)
{
   char *at = line[lines++];
   at += sprintf(at, "%p", (void *)start);
   for (; *bytes >= 0; bytes++)
      at += sprintf(at, " %d", *bytes);
}
#define USED(start, ...) used(start, (const int[]){ __VA_ARGS__, -1 })

static volatile char *map_at(char *at, unsigned pages, int prot, int flags,
                             int fd)
{
   char *p = mmap(at, pages * PAGE, prot, flags | MAP_FIXED, fd, 0);
   if (p == MAP_FAILED) {
      perror("mmap");
      exit(1);
   }
   return p;
}

static char *place(void)
{
   next += 1 << 20;
   return next;
}

static volatile char *map(unsigned pages)
{
   return map_at(place(), pages, RW, MAP_PRIVATE | MAP_ANONYMOUS, -1);
}

static void sizes(void)
{
   volatile char *p = map(3);
   p[0] = 1;
   *(volatile uint16_t *)(p + 10) = 1;
   keep += *(volatile uint32_t *)(p + 20);
   keep += *(volatile uint64_t *)(p + 61); /* over the end of 64 bytes */
   *(volatile uint64_t *)(p + 200) = 1;
   *(volatile uint64_t *)(p + 204) = 2; /* half of it again */
   (*(volatile uint32_t *)(p + 2048))++;
   *(volatile uint64_t *)(p + PAGE - 3) = 1; /* over the page's end */
   (*(volatile uint32_t *)(p + 2 * PAGE - 1))++;
   USED(p, 1 + 2 + 4 + 8 + 12 + 4 + 3, 5 + 1, 3);
}

static void whole(void)
{
   volatile char *p = map(4);
   for (unsigned i = 0; i < 2 * PAGE; i++)
      p[PAGE + i] = (char)i;
   USED(p, 0, PAGE, PAGE, 0);
}

static void string_instructions(void)
{
   volatile char *p = map(2);
   void *to = (void *)(p + 100), *from = (void *)(p + PAGE + 100);
   size_t n = 37;
   __asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(n) : : "memory");
   __asm__ volatile("fldt (%0)\n fstpt 16(%0)" : : "r"(p + 1024) : "memory");
   USED(p, 37 + 20, 37);
}

/* Of a masked move only the bytes that it moves. */
__attribute__((target("avx"))) static void guarded(void)
{
   volatile char *p = map(2);
   const __m256i mask = _mm256_setr_epi32(-1, 0, -1, 0, 0, -1, 0, 0);
   const __m256 some = _mm256_maskload_ps((const float *)(p + 32), mask);
   _mm256_maskstore_ps((float *)(p + PAGE + 32), mask, some);
   USED(p, 12, 12);
}

static void system_calls(void)
{
   volatile char *p = map(4);
   const int zero = open("/dev/zero", O_RDWR), sink = memfd_create("sink", 0);
   if (write(sink, (char *)p + 100, 50) != 50
       || read(zero, (char *)p + 2 * PAGE - 30, 70) != 70)
      exit(1);
   strcpy((char *)p + 3 * PAGE + 7, "/no/such/file"); /* 14 bytes with the zero */
   if (access((char *)p + 3 * PAGE + 10, R_OK) == 0)
      exit(1);
   close(zero);
   USED(p, 50, 30, 40, 14);
   /* The kernel alone reads a name that lies across a page's end. */
   char *at = place();
   const int fd = memfd_create("name", 0);
   if (pwrite(fd, "/no/such", 9, PAGE - 4) != 9
       || ftruncate(fd, 2 * PAGE) != 0)
      exit(1);
   p = map_at(at, 2, PROT_READ, MAP_PRIVATE, fd);
   close(fd);
   if (access((char *)p + PAGE - 4, R_OK) == 0)
      exit(1);
   USED(p, 4, 5);
}

/* What is unmapped and mapped again is a new page. */
static void again(void)
{
   volatile char *p = map(2);
   memset((char *)p, 1, 100);
   p[PAGE] = 1;
   munmap((void *)p, 2 * PAGE);
   USED(p, 100, 1);
   map_at((char *)p, 2, RW, MAP_PRIVATE | MAP_ANONYMOUS, -1);
   p[1] = 1;
   USED(p, 1, 0);
   /* Mapped over. */
   map_at((char *)p, 2, RW, MAP_PRIVATE | MAP_ANONYMOUS, -1);
   p[PAGE + 1] = 1;
   USED(p, 0, 1);
}

static void dropped(void)
{
   volatile char *p = map(1);
   p[0] = 1;
   madvise((void *)p, PAGE, MADV_DONTNEED);
   p[0] = 1;
   p[1] = 1;
   USED(p, 2);
}

static void protected(void)
{
   volatile char *p = map(2);
   p[5] = 1;
   mprotect((void *)p, PAGE, PROT_READ);
   keep += p[6];
   USED(p, 2, 0);
   /* The kernel refuses what is not mapped or may not be read. */
   const int fd = memfd_create("refuses", 0);
   char *at = place();
   if (write(fd, at, 10) != -1)
      exit(1);
   p = map_at(at, 2, RW, MAP_PRIVATE | MAP_ANONYMOUS, -1);
   p[3] = 1;
   mprotect((void *)(p + PAGE), PAGE, PROT_NONE);
   if (write(fd, (char *)p + PAGE, 10) != -1)
      exit(1);
   mprotect((void *)(p + PAGE), PAGE, RW);
   p[PAGE + 20] = 1;
   close(fd);
   USED(p, 1, 1);
}

static void moved(void)
{
   volatile char *p = map(2);
   memset((char *)p, 1, 10);
   char *to = place();
   volatile char *q = mremap((void *)p, 2 * PAGE, 3 * PAGE,
                             MREMAP_MAYMOVE | MREMAP_FIXED, to);
   if (q != to)
      exit(1);
   q[9] = 1;
   memset((char *)q + 12, 1, 3);
   q[2 * PAGE] = 1;
   USED(p, 0, 0);
   USED(q, 13, 0, 1);
   /* Where it was, there is another now. */
   map_at((char *)p, 2, RW, MAP_PRIVATE | MAP_ANONYMOUS, -1);
   p[PAGE] = 1;
   USED(p, 0, 1);
}

static void populated(void)
{
   volatile char *p = map_at(place(), 3, RW,
                             MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1);
   p[PAGE] = 1;
   USED(p, 0, 1, 0);
}

/* Two mappings on one large page. */
static void neighbours(void)
{
   volatile char *p = map(1);
   volatile char *q = map_at((char *)p + PAGE, 1, RW,
                             MAP_SHARED | MAP_ANONYMOUS, -1);
   p[0] = 1;
   memset((char *)q, 1, 2);
   memset((char *)p + 20, 1, 20);
   *(volatile uint64_t *)(p + PAGE - 4) = 1;
   USED(p, 25);
   USED(q, 4);
}

/* mov $42, %eax; ret: six bytes, of which so many lie in front of the page's
   end. */
static volatile char *map_code(char *at, unsigned before)
{
   const char code[] = { (char)0xb8, 42, 0, 0, 0, (char)0xc3 };
   const int fd = memfd_create("code", 0);
   if (pwrite(fd, code, sizeof code, PAGE - before) != sizeof code
       || ftruncate(fd, 2 * PAGE) != 0)
      exit(1);
   volatile char *p = map_at(at, 2, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd);
   close(fd);
   for (int i = 0; i < 3; i++) {
      if (((int (*)(void))(p + PAGE - before))() != 42)
         exit(1);
   }
   return p;
}

static void code(void)
{
   char *at = place();
   volatile char *p = map_code(at, 2);
   munmap((void *)p, 2 * PAGE);
   USED(p, 2, 4);
   map_code(at, 2);
   USED(p, 2, 4);
   map_code(at, 5);
   USED(p, 5, 1);
}

static sigjmp_buf back;

static void jump(int signal)
{
   (void)signal;
   siglongjmp(back, 1);
}

/* An access that faults uses nothing; those in front of it do. */
static void forbidden(void)
{
   volatile char *p = map(3);
   mprotect((void *)(p + PAGE), PAGE, PROT_NONE);
   mprotect((void *)(p + 2 * PAGE), PAGE, PROT_READ);
   signal(SIGSEGV, jump);
   if (sigsetjmp(back, 1) == 0) {
      *(volatile uint32_t *)(p + 8) = 1;
      *(volatile uint32_t *)(p + PAGE) = 1;
      *(volatile uint32_t *)(p + 16) = 1;
   }
   if (sigsetjmp(back, 1) == 0) {
      *(volatile uint32_t *)(p + 24) = 1;
      keep += *(volatile uint16_t *)(p + 2 * PAGE);
      *(volatile uint32_t *)(p + 2 * PAGE + 8) = 1;
   }
   USED(p, 8, 0, 2);
}

static volatile char *common;

static void *every_third(void *first)
{
   for (uintptr_t i = (uintptr_t)first; i < 300; i += 3)
      common[i] = 1;
   return NULL;
}

static void threads(void)
{
   pthread_t thread[2];
   common = map(1);
   for (uintptr_t i = 0; i < 2; i++)
      pthread_create(&thread[i], NULL, every_third, (void *)i);
   for (int i = 0; i < 2; i++)
      pthread_join(thread[i], NULL);
   USED(common, 200);
}

static void print(const char *who)
{
   for (unsigned i = 0; i < lines; i++)
      printf("%s%s\n", who, line[i]);
   fflush(stdout);
}

/* The child has a log of its own, in which what came before does not count. */
static void forks(void)
{
   volatile char *p = map(3);
   volatile char *q = map_code(place(), 3);
   memset((char *)p, 1, PAGE + 100);
   const pid_t child = fork();
   if (child == 0) {
      lines = 0;
      p[7] = 1;
      keep += p[PAGE + 8];
      USED(p, 1, 1, 0);
      if (((int (*)(void))(q + PAGE - 3))() != 42)
         exit(1);
      USED(q, 3, 3);
      print("child ");
      _exit(0);
   }
   p[2 * PAGE] = 1;
   waitpid(child, NULL, 0);
   USED(p, PAGE, 100, 1);
   USED(q, 3, 3);
}

static void heap(void)
{
   const uintptr_t end = (uintptr_t)sbrk(0);
   volatile char *p = (char *)((end + 5 * PAGE - 1) & -(uintptr_t)PAGE);
   sbrk((uintptr_t)p + PAGE - end);
   memset((char *)p, 1, 5);
   sbrk(-PAGE);
   sbrk(PAGE);
   memset((char *)p, 1, 7);
   sprintf(line[lines++], "again %p 5 7", (void *)p);
}

int main(void)
{
   heap();
   sizes();
   whole();
   string_instructions();
   if (__builtin_cpu_supports("avx"))
      guarded();
   system_calls();
   again();
   dropped();
   protected();
   moved();
   populated();
   neighbours();
   code();
   forbidden();
   threads();
   forks();
   print("");
   return 0;
}
