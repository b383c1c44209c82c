/* Ways to take page faults, one per run: what each touch costs natively, the
   kernel's counter says. Prints how many faults the touches took. */

#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/io_uring.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#define PAGE 4096UL
#define MIB (1UL << 20)

/* Older headers lack these; Linux, asm-generic/mman-common.h. */
#define ADVISE_FREE 8
#define ADVISE_HUGEPAGE 14
#define ADVISE_NOHUGEPAGE 15
#define ADVISE_POPULATE_READ 22
#define ADVISE_POPULATE_WRITE 23
#ifndef MFD_HUGETLB
#define MFD_HUGETLB 4U
#endif

enum { READS, WRITES };

static long taken;
static volatile char sink;

static long faults(void)
{
   struct rusage u;
   getrusage(RUSAGE_SELF, &u);
   return u.ru_minflt + u.ru_majflt;
}

static void fail(const char* what)
{
   perror(what);
   exit(2);
}

/* Touches every page, and counts the faults of that. */
/* How far writes are apart: in memory of hugetlbfs, one in each page of it. When such a page
   becomes writable, the kernel does not flush what a processor has of it from before. In a virtual
   machine whose memory is in small pages that can be up to 512 translations, each of which then is
   a fault without need. */
static size_t write_step = PAGE;

static void touch(char* p, size_t bytes, int how)
{
   const long before = faults();
   for (size_t i = 0; i < bytes; i += how == WRITES ? write_step : (size_t)PAGE) {
      if (how == WRITES)
         p[i] = 1;
      else
         sink = p[i];
   }
   taken += faults() - before;
}

static char* map(size_t bytes, int prot, int flags, int fd)
{
   char* p = mmap(NULL, bytes, prot, flags | (fd < 0 ? MAP_ANONYMOUS : 0), fd,
                  0);
   if (p == MAP_FAILED)
      fail("mmap");
   return p;
}

static char* anon(size_t bytes)
{
   char* p = map(bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE, -1);
   /* Huge pages are what the modes of their own are for. */
   madvise(p, bytes, ADVISE_NOHUGEPAGE);
   return p;
}

static void advise(char* p, size_t bytes, int advice)
{
   if (madvise(p, bytes, advice) != 0)
      fail("madvise");
}

/* A file of the size in the page cache, written page by page, so that it does
   not come to lie there in large pieces. */
static int file(const char* name, size_t bytes)
{
   static const char page[PAGE];
   const int fd = open(name, O_CREAT | O_TRUNC | O_RDWR, 0600);
   if (fd < 0)
      fail(name);
   for (size_t i = 0; i < bytes; i += PAGE) {
      if (write(fd, page, PAGE) != (ssize_t)PAGE)
         fail(name);
   }
   return fd;
}

static char* aligned(size_t bytes, size_t off)
{
   char* p = map(bytes + 4 * MIB, PROT_NONE, MAP_PRIVATE, -1);
   char* at = p + (2 * MIB - (size_t)p % (2 * MIB)) + off;
   if (mmap(at, bytes, PROT_READ | PROT_WRITE,
            MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) != at)
      fail("mmap");
   return at;
}

static void protect_and_back(char* p, size_t bytes)
{
   mprotect(p, bytes, PROT_READ);
   touch(p, bytes, READS);
   mprotect(p, bytes, PROT_READ | PROT_WRITE);
   touch(p, bytes, WRITES);
}

static void forked(char* p, size_t bytes)
{
   touch(p, bytes, WRITES);
   taken = 0;
   const pid_t child = fork();
   if (child < 0)
      fail("fork");
   int status;
   if (child == 0) {
      pause();
      _exit(0);
   }
   /* What the counting itself writes to. */
   sink = 0;
   faults();
   taken = 0;
   touch(p, bytes, READS);
   touch(p, bytes, WRITES);
   kill(child, 9);
   waitpid(child, &status, 0);
}

/* What is written to a descriptor, as often as the kernel reads it. */
static void payloads(char* p, size_t bytes, const char* name)
{
   const struct iovec parts[2] = { { p, bytes / 4 }, { p + bytes / 4, bytes / 2 } };
   const int null = open("/dev/null", O_WRONLY), zero = open("/dev/zero", O_WRONLY);
   int pipe_[2];
   if (pipe2(pipe_, O_NONBLOCK) != 0)
      fail("pipe2");
   const long before = faults();
   if (write(-1, p, bytes) >= 0 || writev(-1, parts, 2) >= 0
       || sendto(-1, p, bytes, 0, NULL, 0) >= 0 || write(null, p, bytes) != (ssize_t)bytes
       || write(zero, p, bytes) != (ssize_t)bytes
       || writev(null, parts, 2) != (ssize_t)(bytes / 4 * 3))
      fail("nothing");
   /* A pipe takes some, and then nothing: 64K. */
   if (write(pipe_[1], p, bytes) != (ssize_t)(16 * PAGE) || write(pipe_[1], p + MIB, MIB) >= 0)
      fail("pipe");
   if (pwritev(file(name, PAGE), parts, 2, 0) != (ssize_t)(bytes / 4 * 3))
      fail(name);
   taken += faults() - before;
}

/* The part of io_uring's rings that is the program's. */
static void rings(void)
{
   enum { ENTRIES = 1024, BYTES = ENTRIES * sizeof(struct io_uring_sqe) };
   struct io_uring_params how;
   memset(&how, 0, sizeof how);
   const int fd = (int)syscall(SYS_io_uring_setup, ENTRIES, &how);
   if (fd < 0)
      fail("io_uring_setup");
   char* const p = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, fd,
                        IORING_OFF_SQES);
   if (p == MAP_FAILED)
      fail("mmap");
   touch(p, BYTES, READS);
   touch(p, BYTES, WRITES);
}

int main(int argc, char** argv)
{
   const size_t size = 64 * MIB, small = 8 * MIB;
   const char* mode = argc > 1 ? argv[1] : "";
   const char* name = argc > 2 ? argv[2] : "fault.file";
   char* p;
#define MODE(text) else if (strcmp(mode, text) == 0)
   if (argc < 2) {
      return 1;
   }
   MODE("write") {
      touch(anon(size), size, WRITES);
   }
   MODE("dontneed") {
      p = anon(size);
      touch(p, size, WRITES);
      advise(p, size, MADV_DONTNEED);
      touch(p, size, WRITES);
   }
   MODE("read-write") {
      p = anon(size);
      touch(p, size, READS);
      touch(p, size, WRITES);
   }
   MODE("populate") {
      touch(map(size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_POPULATE, -1),
            size, WRITES);
   }
   MODE("populate-read") {
      p = anon(small);
      advise(p, small, ADVISE_POPULATE_READ);
      touch(p, small, READS);
      touch(p, small, WRITES);
   }
   MODE("populate-write") {
      p = anon(small);
      advise(p, small, ADVISE_POPULATE_WRITE);
      touch(p, small, WRITES);
   }
   MODE("mlock") {
      p = anon(4 * MIB);
      if (mlock(p, 4 * MIB) != 0)
         fail("mlock");
      touch(p, 4 * MIB, WRITES);
   }
   MODE("free") {
      p = anon(small);
      touch(p, small, WRITES);
      advise(p, small, ADVISE_FREE);
      touch(p, small, READS);
      touch(p, small, WRITES);
   }
   MODE("thp") {
      p = aligned(size, 0);
      advise(p, size, ADVISE_HUGEPAGE);
      touch(p, size, WRITES);
   }
   MODE("thp-off") {
      p = aligned(small, PAGE);
      advise(p, small, ADVISE_HUGEPAGE);
      touch(p, small, WRITES);
   }
   MODE("file-read") {
      touch(map(small, PROT_READ, MAP_PRIVATE, file(name, small)), small, READS);
   }
   MODE("file-random") {
      p = map(small, PROT_READ, MAP_PRIVATE, file(name, small));
      advise(p, small, MADV_RANDOM);
      touch(p, small, READS);
   }
   MODE("file-willneed") {
      p = map(small, PROT_READ, MAP_PRIVATE, file(name, small));
      advise(p, small, MADV_WILLNEED);
      touch(p, small, READS);
   }
   MODE("file-write") {
      p = map(small, PROT_READ | PROT_WRITE, MAP_PRIVATE, file(name, small));
      touch(p, small / 2, READS);
      touch(p, small, WRITES);
   }
   MODE("file-protect") {
      p = map(small, PROT_READ | PROT_WRITE, MAP_PRIVATE, file(name, small));
      /* Two mappings, of which the second begins inside a window. */
      mprotect(p, 5 * PAGE, PROT_READ);
      touch(p + 5 * PAGE, small - 5 * PAGE, READS);
      touch(p, 5 * PAGE, READS);
   }
   MODE("shared") {
      p = map(small, PROT_READ | PROT_WRITE, MAP_SHARED, file(name, small));
      touch(p, small, READS);
      touch(p, small, WRITES);
   }
   MODE("shared-populate") {
      p = map(small, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE,
              file(name, small));
      touch(p, small, READS);
      touch(p, small, WRITES);
   }
   MODE("shared-anon") {
      p = map(small, PROT_READ | PROT_WRITE, MAP_SHARED, -1);
      touch(p, small / 2, READS);
      touch(p, small, WRITES);
   }
   MODE("mremap") {
      p = anon(small);
      touch(p, small / 2, WRITES);
      p = mremap(p, small, 2 * small, MREMAP_MAYMOVE);
      if (p == MAP_FAILED)
         fail("mremap");
      madvise(p, 2 * small, ADVISE_NOHUGEPAGE);
      touch(p, 2 * small, WRITES);
   }
   MODE("protect") {
      p = anon(small);
      touch(p, small, WRITES);
      protect_and_back(p, small);
   }
   MODE("unmap") {
      p = anon(small);
      touch(p, small, WRITES);
      munmap(p, small);
      if (mmap(p, small, PROT_READ | PROT_WRITE,
               MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) != p)
         fail("mmap");
      madvise(p, small, ADVISE_NOHUGEPAGE);
      touch(p, small, WRITES);
   }
   MODE("msync") {
      const int fd = file(name, small);
      p = map(small, PROT_READ | PROT_WRITE, MAP_SHARED, fd);
      touch(p, small, WRITES);
      msync(p, small, MS_SYNC);
      touch(p, small, WRITES);
      fsync(fd);
      touch(p, small, WRITES);
   }
   MODE("grown-file") {
      const int fd = file(name, PAGE);
      p = map(small, PROT_READ, MAP_PRIVATE, fd);
      touch(p, PAGE, READS);
      for (size_t i = PAGE; i < small; i += PAGE) {
         if (pwrite(fd, p, PAGE, (off_t)i) != (ssize_t)PAGE)
            fail(name);
      }
      touch(p, small, READS);
   }
   MODE("unlinked") {
      const int fd = open("/dev/shm/touched.file", O_CREAT | O_TRUNC | O_RDWR, 0600);
      if (fd < 0 || unlink("/dev/shm/touched.file") != 0 || ftruncate(fd, (off_t)small) != 0)
         fail("/dev/shm");
      p = map(small, PROT_READ | PROT_WRITE, MAP_SHARED, fd);
      touch(p, small, READS);
      touch(p, small, WRITES);
   }
   MODE("remove") {
      p = map(small, PROT_READ | PROT_WRITE, MAP_SHARED, -1);
      touch(p, small, WRITES);
      advise(p, small, MADV_REMOVE);
      touch(p, small, READS);
   }
   MODE("shared-protect") {
      p = map(small, PROT_READ, MAP_SHARED, -1);
      touch(p, small, READS);
      mprotect(p, small, PROT_READ | PROT_WRITE);
      touch(p, small, WRITES);
   }
   MODE("segment") {
      const int id = shmget(IPC_PRIVATE, small, IPC_CREAT | 0600);
      p = id < 0 ? (char*)-1 : shmat(id, NULL, 0);
      if (p == (char*)-1)
         fail("shmat");
      shmctl(id, IPC_RMID, NULL);
      touch(p, small, WRITES);
      advise(p, small, MADV_DONTNEED);
      touch(p, small, READS);
   }
   MODE("mlock-protect") {
      /* As much as anybody may lock. */
      const size_t part = 16 * PAGE;
      p = map(small, PROT_READ, MAP_PRIVATE, -1);
      if (mlock(p, part) != 0)
         fail("mlock");
      mprotect(p, part, PROT_READ | PROT_WRITE);
      touch(p, part, WRITES);
   }
   MODE("thp-zero-split") {
      p = aligned(small, 0);
      madvise(p, small, ADVISE_HUGEPAGE);
      touch(p, small, READS);
      for (size_t i = 0; i < small; i += 2 * MIB)
         advise(p + i, MIB, MADV_DONTNEED);
      touch(p, small, WRITES);
   }
   MODE("zero-device") {
      p = map(small, PROT_READ | PROT_WRITE, MAP_SHARED, open("/dev/zero", O_RDWR));
      touch(p, small, READS);
      touch(p, small, WRITES);
   }
   MODE("zero-device-private") {
      p = map(small, PROT_READ | PROT_WRITE, MAP_PRIVATE, open("/dev/zero", O_RDWR));
      advise(p, small, ADVISE_NOHUGEPAGE);
      touch(p, small / 2, READS);
      touch(p, small, WRITES);
   }
   MODE("payload") {
      payloads(anon(small), small, name);
   }
   MODE("rings") {
      rings();
   }
   MODE("fork") {
      forked(anon(small), small);
   }
   MODE("hugetlb") {
      write_step = 2 * MIB;
      p = map(small, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_HUGETLB, -1);
      touch(p, small, READS);
      touch(p, small, WRITES);
      /* A part of a page does not go. */
      advise(p, PAGE, MADV_DONTNEED);
      advise(p + 2 * MIB, 3 * MIB, MADV_DONTNEED);
      touch(p, small, WRITES);
      protect_and_back(p, small);
   }
   MODE("hugetlb-shared") {
      write_step = 2 * MIB;
      p = map(small, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_HUGETLB, -1);
      touch(p, small, READS);
      protect_and_back(p, small);
   }
   MODE("hugetlb-file") {
      write_step = 2 * MIB;
      const int fd = memfd_create("touched.file", MFD_HUGETLB);
      if (fd < 0 || ftruncate(fd, (off_t)small) != 0)
         fail("memfd_create");
      touch(map(small, PROT_READ | PROT_WRITE, MAP_SHARED, fd), small, WRITES);
      p = map(small, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd);
      touch(p, small, READS);
      touch(p, small, WRITES);
   }
   else {
      fprintf(stderr, "%s: no such mode\n", mode);
      return 1;
   }
   printf("%ld\n", taken);
   return 0;
}
