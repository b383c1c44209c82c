/* Does things to its address space, and shows what the kernel says of it in the
   end: /proc/self/maps between two lines of its own. Nothing is allocated after
   that.
   Part of tlbgrind.  GPL-2.0-or-later; see COPYING. */

#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef MFD_HUGETLB
#define MFD_HUGETLB 4U
#endif
#ifndef MAP_FIXED_NOREPLACE
#define MAP_FIXED_NOREPLACE 0x100000
#endif
#ifndef MADV_COLLAPSE
#define MADV_COLLAPSE 25
#endif
#ifndef MADV_WIPEONFORK
#define MADV_WIPEONFORK 18
#endif

enum { PAGE = 4096, RW = PROT_READ | PROT_WRITE,
       ANONYMOUS = MAP_PRIVATE | MAP_ANONYMOUS };

static void fail(const char *what)
{
   printf("%s: %s\n", what, strerror(errno));
   exit(1);
}

static char *map(void *at, size_t pages, int prot, int flags, int fd)
{
   char *const p = mmap(at, pages * PAGE, prot, flags, fd, 0);
   if (p == MAP_FAILED)
      fail("mmap");
   return p;
}

static void at(const char *name, const void *address)
{
   printf("at %s %lx\n", name, (unsigned long)address);
}

/* A file of n pages with a name that tells. */
static int file(size_t pages)
{
   char name[] = "aspace_file_XXXXXX";
   const int fd = mkstemp(name);
   if (fd < 0 || ftruncate(fd, (off_t)(pages * PAGE)) != 0)
      fail("mkstemp");
   return fd;
}

/* --- One of each --- */

static void basics(void)
{
   char *const a = map(NULL, 16, RW, ANONYMOUS, -1);
   at("anonymous", a);
   mprotect(a + 4 * PAGE, PAGE, PROT_READ);
   munmap(a + 8 * PAGE, 2 * PAGE);
   const int fd = file(8);
   at("file", map(NULL, 8, PROT_READ, MAP_PRIVATE, fd));
   at("shared-file", map(NULL, 8, RW, MAP_SHARED, fd));
   at("shared", map(NULL, 4, RW, MAP_SHARED | MAP_ANONYMOUS, -1));
   at("over", map(a + 12 * PAGE, 2, PROT_READ, MAP_PRIVATE | MAP_FIXED, fd));
   at("populated", map(NULL, 4, RW, ANONYMOUS | MAP_POPULATE, -1));
}

static void moves(void)
{
   char *const a = map(NULL, 64, RW, ANONYMOUS, -1);
   char *const b = map(NULL, 64, PROT_NONE, ANONYMOUS, -1);
   munmap(a + 48 * PAGE, 16 * PAGE);
   munmap(b, 64 * PAGE);
   mprotect(a + 8 * PAGE, 4 * PAGE, PROT_READ);
   at("old", a);
   char *const c = mremap(a, 8 * PAGE, 8 * PAGE,
                          MREMAP_MAYMOVE | MREMAP_FIXED, b);
   if (c == MAP_FAILED)
      fail("mremap");
   at("moved", c);
   char *const d = mremap(a + 16 * PAGE, 16 * PAGE, 4 * PAGE, 0);
   if (d == MAP_FAILED)
      fail("mremap to less");
   at("less", d);
   char *const e = mremap(a + 32 * PAGE, 8 * PAGE, 4096 * PAGE,
                          MREMAP_MAYMOVE);
   if (e == MAP_FAILED)
      fail("mremap to more");
   at("more", e);
}

static void breaks(void)
{
   char *const start = sbrk(0);
   at("break", start);
   if (sbrk(100 * PAGE + 17) == (void *)-1)
      fail("sbrk");
   at("up", sbrk(0));
   if (sbrk(-50 * PAGE) == (void *)-1)
      fail("sbrk");
   at("down", sbrk(0));
}

static void segments(void)
{
   const int id = shmget(IPC_PRIVATE, 8 * PAGE, IPC_CREAT | 0600);
   if (id < 0)
      fail("shmget");
   char *const a = shmat(id, NULL, 0);
   char *const b = shmat(id, NULL, SHM_RDONLY);
   shmctl(id, IPC_RMID, NULL);
   at("attached", a);
   at("read-only", b);
   char *const gone = shmat(id, NULL, 0);
   at("detached", gone);
   shmdt(gone);
}

static void advice(void)
{
   char *const a = map(NULL, 4096, RW, ANONYMOUS, -1);
   at("advised", a);
   if (madvise(a + 16 * PAGE, 1024 * PAGE, MADV_HUGEPAGE) != 0)
      printf("no huge pages\n");
   madvise(a + 2048 * PAGE, 16 * PAGE, MADV_NOHUGEPAGE);
   if (mlock(a + 2064 * PAGE, 2 * PAGE) != 0)
      fail("mlock");
   mlock(a + 2068 * PAGE, 2 * PAGE);
   munlock(a + 2068 * PAGE, PAGE);
   madvise(a, PAGE, MADV_DONTNEED);
   madvise((char *)1, PAGE, MADV_DONTNEED); /* fails */
}

/* What the kernel says of the process, or of the mapping that has this address: kilobytes. */
static unsigned long kernel_says(const char *file, const void *address, const char *what)
{
   char line[512];
   unsigned long found = 0;
   int here = address == NULL;
   FILE *const f = fopen(file, "r");
   if (f == NULL)
      fail(file);
   while (fgets(line, sizeof line, f) != NULL) {
      unsigned long from, to;
      if (address != NULL && sscanf(line, "%lx-%lx ", &from, &to) == 2)
         here = from <= (unsigned long)address && (unsigned long)address < to;
      if (here && strncmp(line, what, strlen(what)) == 0)
         found = strtoul(line + strlen(what), NULL, 10);
   }
   fclose(f);
   return found;
}

static void refused(const char *what, int result, int expected)
{
   if (result != -1 || errno != expected)
      fail(what);
}

/* Calls that fail when a part is done. */
static void partly(void)
{
   char name[64];
   const int written = file(4);
   snprintf(name, sizeof name, "/proc/self/fd/%d", written);
   char *const a = map(NULL, 12, PROT_READ, ANONYMOUS, -1);
   map(a + 4 * PAGE, 4, PROT_READ, MAP_SHARED | MAP_FIXED, open(name, O_RDONLY));
   at("protected", a);
   refused("mprotect", mprotect(a, 12 * PAGE, RW), EACCES);

   char *const b = map(NULL, 8, RW, ANONYMOUS, -1);
   munmap(b + 4 * PAGE, PAGE);
   at("locked", b);
   refused("mlock", mlock(b, 8 * PAGE), ENOMEM);
   at("unlocked", b + 2 * PAGE);
   refused("munlock", munlock(b + 2 * PAGE, 6 * PAGE), ENOMEM);

   char *const c = map(NULL, 8, RW, ANONYMOUS, -1);
   memset(c, 1, 8 * PAGE);
   if (mlock(c + 4 * PAGE, PAGE) != 0)
      fail("mlock");
   at("given-back", c);
   refused("madvise", madvise(c, 8 * PAGE, MADV_DONTNEED), EINVAL);
   printf("left %d %d\n", c[0], c[5 * PAGE]);
   printf("locked %lu\n", kernel_says("/proc/self/status", NULL, "VmLck:"));
}

/* Of three blocks the one in the middle is empty. Without MADV_HUGEPAGE, which wakes khugepaged:
   now and then it collapses a block that MADV_COLLAPSE has left. */
static void collapse(void)
{
   enum { HUGE = 2 << 20 };
   char *const a = map(NULL, 8 << 20 >> 12, RW, ANONYMOUS, -1);
   char *const block = (char *)(((uintptr_t)a + HUGE - 1) / HUGE * HUGE);
   block[0] = block[2 * HUGE] = 1;
   at("collapsed", block);
   refused("madvise", madvise(block, 3 * HUGE, MADV_COLLAPSE), EINVAL);
   printf("huge %lu\n", kernel_says("/proc/self/smaps", block, "AnonHugePages:"));
}

static void *thread(void *opaque)
{
   at("thread-stack", __builtin_frame_address(0));
   return opaque;
}

static void threads(void)
{
   pthread_t t;
   if (pthread_create(&t, NULL, thread, NULL) != 0)
      fail("pthread_create");
   pthread_join(t, NULL);
}

static int deep(int n)
{
   volatile char frame[PAGE];
   frame[0] = (char)n;
   if (n == 0) {
      at("deepest", (const void *)frame);
      return frame[0];
   }
   return deep(n - 1) + frame[0];
}

static void forks(void)
{
   char *const a = map(NULL, 16, RW, ANONYMOUS, -1);
   at("inherited", a);
   madvise(a + 4 * PAGE, 4 * PAGE, MADV_DONTFORK);
   madvise(a + 8 * PAGE, 4 * PAGE, MADV_WIPEONFORK);
   fflush(stdout);
   const pid_t child = fork();
   if (child == 0) {
      map(a, 1, PROT_READ, ANONYMOUS | MAP_FIXED, -1);
      _exit(0);
   }
   printf("child %d\n", child);
   waitpid(child, NULL, 0);
}

/* --- Huge pages --- */

#if defined(__x86_64__)
/* The kernel keeps the registers of the arguments; so must the tool. */
static void registers(void)
{
   register long r10 __asm__("r10") = ANONYMOUS | MAP_HUGETLB;
   register long r8 __asm__("r8") = -1;
   register long r9 __asm__("r9") = 0;
   long rax = SYS_mmap, rdi = 0, rsi = 3 << 20, rdx = RW;
   __asm__ volatile("syscall"
                    : "+a"(rax), "+D"(rdi), "+S"(rsi), "+d"(rdx), "+r"(r10),
                      "+r"(r8), "+r"(r9)
                    :
                    : "rcx", "r11", "memory");
   printf("registers %s\n",
          rdi == 0 && rsi == 3 << 20 && rdx == RW
          && r10 == (ANONYMOUS | MAP_HUGETLB) && r8 == -1 && r9 == 0
          ? "kept" : "lost");
   at("raw", (void *)rax);
}
#endif

static void huge(void)
{
   char *a = mmap(NULL, 3 << 20, RW, ANONYMOUS | MAP_HUGETLB, -1, 0);
   if (a == MAP_FAILED)
      printf("refused mmap %d\n", errno);
   else {
      at("huge", a);
      a[0] = a[(3 << 20) - 1] = 1;
   }
   a = mmap(NULL, 1 << 20, RW, ANONYMOUS | MAP_HUGETLB | 16 << 26, -1, 0);
   if (a == MAP_FAILED)
      printf("refused 64K %d\n", errno);
   else
      at("huge-64K", a);
   /* One at least is not aligned by chance. */
   static const char *const segments[] = { "huge-segment", "huge-segment-2" };
   for (int i = 0; i < 2; i++) {
      const int id = shmget(IPC_PRIVATE, 4 << 20, IPC_CREAT | 0600 | SHM_HUGETLB);
      if (id < 0)
         printf("refused shmget %d\n", errno);
      else {
         at(segments[i], shmat(id, NULL, 0));
         shmctl(id, IPC_RMID, NULL);
      }
      map(NULL, 1, RW, ANONYMOUS, -1);
   }
   /* Where the program wants it, if that is free; 0x30000000 is in 32 bits, too. */
   char *const wanted = (char *)0x30000000;
   a = mmap(wanted, 2 << 20, RW, ANONYMOUS | MAP_HUGETLB, -1, 0);
   if (a != MAP_FAILED)
      at("huge-hinted", a);
   a = mmap(wanted, 2 << 20, RW, ANONYMOUS | MAP_HUGETLB, -1, 0);
   if (a != MAP_FAILED)
      at("huge-elsewhere", a);
   a = mmap(wanted + (8 << 20), 2 << 20, RW, ANONYMOUS | MAP_HUGETLB | MAP_FIXED_NOREPLACE, -1, 0);
   if (a != MAP_FAILED)
      at("huge-exact", a);
   const int fd = (int)syscall(SYS_memfd_create, "huge", MFD_HUGETLB);
   if (fd < 0 || ftruncate(fd, 2 << 20) != 0)
      printf("refused memfd_create %d\n", errno);
   else {
      a = mmap(NULL, 2 << 20, RW, MAP_SHARED, fd, 0);
      if (a == MAP_FAILED)
         printf("refused mmap of a file %d\n", errno);
      else
         at("huge-file", a);
   }
#if defined(__x86_64__)
   registers();
#endif
}

/* --- Many at random --- */

static uint64_t seed;

static unsigned roll(unsigned sides)
{
   seed ^= seed >> 12;
   seed ^= seed << 25;
   seed ^= seed >> 27;
   return (unsigned)(seed * UINT64_C(0x2545F4914F6CDD1D) >> 33) % sides;
}

static void random_calls(unsigned steps)
{
   enum { ARENA = 2048 };
   static const int prots[] = { PROT_NONE, PROT_READ, RW,
                                PROT_READ | PROT_EXEC };
   char *const arena = map(NULL, ARENA, PROT_NONE, ANONYMOUS, -1);
   const int fd = file(ARENA);
   at("arena", arena);
   /* Before the address space has holes that output could need. */
   fflush(stdout);
   for (unsigned i = 0; i < steps; i++) {
      const unsigned first = roll(ARENA - 64);
      char *const a = arena + (size_t)first * PAGE;
      const size_t n = (1 + roll(64)) * (size_t)PAGE;
      const int prot = prots[roll(4)];
      switch (roll(8)) {
      case 0:
         munmap(a, n);
         break;
      case 1:
      case 2:
         mprotect(a, n, prot);
         break;
      case 3:
         mmap(a, n, prot, ANONYMOUS | MAP_FIXED, -1, 0);
         break;
      case 4:
         mmap(a, n, prot & ~PROT_EXEC, MAP_PRIVATE | MAP_FIXED, fd,
              roll(2) ? (off_t)first * PAGE : 0);
         break;
      case 5:
         mmap(a, n, prot & ~PROT_EXEC, MAP_SHARED | MAP_FIXED, fd, 0);
         break;
      /* Of memory that is mapped: of other, Valgrind 3.19 dies (in its own
         mremap(), with any tool). */
      case 6:
         mmap(a, n, prot, ANONYMOUS | MAP_FIXED, -1, 0);
         mremap(a, n, n, MREMAP_MAYMOVE | MREMAP_FIXED,
                arena + (size_t)roll(ARENA - 64) * PAGE);
         break;
      default:
         mmap(a, n, prot, ANONYMOUS | MAP_FIXED, -1, 0);
         mremap(a, n, n + roll(8) * (size_t)PAGE, 0);
         break;
      }
   }
}

/* A million by default. */
static void many(unsigned long n)
{
   enum { KEPT = 4096 };
   static char *kept[KEPT];
   for (unsigned long i = 0; i < n; i++) {
      char **const slot = &kept[i % KEPT];
      if (*slot != NULL)
         munmap(*slot, PAGE);
      *slot = map(NULL, 1, i % 2 ? RW : PROT_READ, ANONYMOUS, -1);
   }
   printf("mapped %lu\n", n);
}

/* --- What the kernel says --- */

static void show(void)
{
   static char text[1 << 20];
   size_t size = 0;
   ssize_t got;
   fflush(stdout);
   const int fd = open("/proc/self/maps", O_RDONLY);
   while ((got = read(fd, text + size, sizeof text - size)) > 0)
      size += (size_t)got;
   write(1, "maps\n", 5);
   write(1, text, size);
   write(1, "end\n", 4);
   _exit(0);
}

int main(int argc, char **argv)
{
   static char output[1 << 16];
   setvbuf(stdout, output, _IOFBF, sizeof output);
   for (int i = 1; i < argc; i++) {
      const char *const what = argv[i];
      if (strcmp(what, "basics") == 0)
         basics();
      else if (strcmp(what, "moves") == 0)
         moves();
      else if (strcmp(what, "breaks") == 0)
         breaks();
      else if (strcmp(what, "segments") == 0)
         segments();
      else if (strcmp(what, "advice") == 0)
         advice();
      else if (strcmp(what, "partly") == 0)
         partly();
      else if (strcmp(what, "collapse") == 0)
         collapse();
      else if (strcmp(what, "threads") == 0)
         threads();
      else if (strcmp(what, "deep") == 0)
         deep(600);
      else if (strcmp(what, "forks") == 0)
         forks();
      else if (strcmp(what, "huge") == 0)
         huge();
      else if (strncmp(what, "random=", 7) == 0) {
         seed = strtoull(what + 7, NULL, 10);
         random_calls(2000);
      } else if (strncmp(what, "many=", 5) == 0)
         many(strtoul(what + 5, NULL, 10));
      else
         return 2;
   }
   show();
}
