/* Code that is made at run time, and files that say what it is called; the first argument says how.

   The function in the first half of the page is called walk, that in the second half step. Each
   executes as many instructions as the client expects.
   Part of tlbgrind.  GPL-2.0-or-later; see COPYING. */

#define _GNU_SOURCE
#include "run_work.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>

enum { PAGE = 4096, HALF = PAGE / 2 };

static unsigned char *page;
static char map[64];

/* n instructions that do nothing but differ by `kind`, and a return. */
static void make(unsigned char *code, int n, unsigned char kind)
{
   for (int i = 0; i < n; i++) {
      *code++ = 0x85; /* test, of eax, ecx, edx or ebx with itself */
      *code++ = (unsigned char)(0xc0 | kind << 3 | kind);
   }
   *code = 0xc3;
}

static void run(unsigned char *code, int times)
{
   for (int i = 0; i < times; i++)
      ((void (*)(void))code)();
}

static unsigned char *new_page(void)
{
   return mmap(NULL, PAGE, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

/* 11 instructions of walk, 5 of step, each `times` times. */
static void run_both(int times)
{
   make(page, 10, 0);
   make(page + HALF, 4, 1);
   run(page, times);
   run(page + HALF, times);
}

static void name_map(void)
{
   snprintf(map, sizeof map, "/tmp/perf-%d.map", (int)getpid());
}

/* Writes into the map, which is made anew. */
__attribute__((format(printf, 1, 2))) static void write_map(const char *format, ...)
{
   va_list args;
   FILE *f = fopen(map, "w");
   if (f == NULL)
      exit(1);
   va_start(args, format);
   vfprintf(f, format, args);
   va_end(args);
   fclose(f);
}

static void write_both(void)
{
   write_map("%lx %x walk\n%lx %x step\n", (long)page, HALF, (long)page + HALF, HALF);
}

static void expect_both(long times)
{
   expect("walk", 11 * times, times, 0);
   expect("step", 5 * times, times, 0);
}

/* --- Jitdump files --- */

typedef struct {
   FILE *file;
   void *mark;
   char name[64];
} Dump;

static void put(Dump *d, unsigned bytes, uint64_t n)
{
   for (; bytes > 0; bytes--, n >>= 8)
      fputc((int)(n & 0xff), d->file);
}

static Dump begin_dump(void)
{
   Dump d;
   snprintf(d.name, sizeof d.name, "jit-%d.dump", (int)getpid());
   d.file = fopen(d.name, "w+");
   put(&d, 4, 0x4a695444);
   put(&d, 4, 1);
   put(&d, 4, 40);
   put(&d, 4, 62);
   put(&d, 4, 0);
   put(&d, 4, (uint64_t)getpid());
   put(&d, 8, 0);
   put(&d, 8, 0);
   fflush(d.file);
   d.mark = mmap(NULL, PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE, fileno(d.file), 0);
   return d;
}

static void put_record(Dump *d, unsigned kind, size_t bytes)
{
   put(d, 4, kind);
   put(d, 4, 16 + bytes);
   put(d, 8, 0);
}

static void put_load(Dump *d, const unsigned char *code, unsigned size, const char *name)
{
   put_record(d, 0, 40 + strlen(name) + 1 + size);
   put(d, 8, 0);
   put(d, 8, (uintptr_t)code);
   put(d, 8, (uintptr_t)code);
   put(d, 8, size);
   put(d, 8, 0);
   fwrite(name, strlen(name) + 1, 1, d->file);
   fwrite(code, size, 1, d->file);
}

static void put_move(Dump *d, const unsigned char *from, const unsigned char *to, unsigned size)
{
   put_record(d, 1, 48);
   put(d, 8, 0);
   put(d, 8, (uintptr_t)to);
   put(d, 8, (uintptr_t)from);
   put(d, 8, (uintptr_t)to);
   put(d, 8, size);
   put(d, 8, 0);
}

/* Line 7 from the first instruction on, line 9 from the sixth. */
static void put_lines(Dump *d, const unsigned char *code, const char *file)
{
   put_record(d, 2, 16 + 2 * 16 + strlen(file) + 1 + 2);
   put(d, 8, (uintptr_t)code);
   put(d, 8, 2);
   put(d, 8, (uintptr_t)code);
   put(d, 8, 7);
   fwrite(file, strlen(file) + 1, 1, d->file);
   put(d, 8, (uintptr_t)code + 10);
   put(d, 8, 9);
   put(d, 2, 0xff);
}

/* --- The ways --- */

static void before(void)
{
   write_both();
   run_both(3);
   unlink(map);
   expect_both(3);
}

static void late(void)
{
   run_both(3);
   write_both();
   expect_both(3);
}

static void late_unmapped(void)
{
   run_both(3);
   munmap(page, PAGE);
   write_both();
   expect_both(3);
}

static void renamed(void)
{
   char other[80];
   run_both(3);
   write_both();
   snprintf(other, sizeof other, "%s.old", map);
   rename(map, other);
   unlink(other);
   expect_both(3);
}

static void written_anew(void)
{
   run_both(3);
   write_both();
   munmap(page, PAGE);
   write_map("1 1 other\n");
   expect_both(3);
}

/* The last line has no end. */
static void unended(void)
{
   run_both(3);
   write_map("%lx %x walk\n%lx %x step", (long)page, HALF, (long)page + HALF, HALF);
   expect_both(3);
}

/* The page is used again by other code of other names, in one file. */
static void reused(void)
{
   FILE *f = fopen(map, "w");
   make(page, 10, 0);
   fprintf(f, "%lx %x walk\n", (long)page, HALF);
   fflush(f);
   run(page, 3);
   make(page, 4, 1);
   fprintf(f, "%lx %x step\n", (long)page, HALF);
   fclose(f);
   run(page, 3);
   expect_both(3);
}

/* The names come when both functions have run. */
static void reused_late(void)
{
   make(page, 10, 0);
   run(page, 3);
   make(page, 4, 1);
   run(page, 3);
   write_map("%lx %x walk\n%lx %x step\n", (long)page, HALF, (long)page, HALF);
   expect_both(3);
}

static void mapped_again(void)
{
   make(page, 10, 0);
   run(page, 3);
   write_map("%lx %x walk\n", (long)page, HALF);
   munmap(page, PAGE);
   if (mmap(page, PAGE, PROT_READ | PROT_WRITE | PROT_EXEC,
            MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) != page)
      exit(1);
   make(page, 4, 0);
   run(page, 3);
   write_map("%lx %x step\n", (long)page, HALF);
   expect_both(3);
}

/* A function in the middle of another one. */
static void nested(void)
{
   run_both(3);
   write_map("%lx %x walk\n%lx %x step\n", (long)page, PAGE, (long)page + HALF, 16);
   expect_both(3);
}

static void forks(void)
{
   run_both(3);
   if (fork() == 0) {
      run(page, 2);
      make(page + HALF, 6, 2);
      name_map();
      run(page + HALF, 2);
      write_map("%lx %x own\n", (long)page + HALF, HALF);
      expect("walk", 11 * 2, 2, 0);
      expect("own", 7 * 2, 2, 0);
      fflush(stdout);
      _exit(0);
   }
   write_both();
   wait(NULL);
   expect_both(3);
}

static void execs(void)
{
   run_both(3);
   write_both();
   expect_both(3);
   fflush(stdout);
   execl("/bin/true", "/bin/true", (char *)NULL);
}

static void dump(void)
{
   Dump d = begin_dump();
   run_both(3);
   put_lines(&d, page, "made.source");
   put_load(&d, page, HALF, "walk");
   put_load(&d, page + HALF, HALF, "step");
   fclose(d.file);
   expect_both(3);
}

/* As V8 does it, which keeps all that it writes in a buffer until its code is gone. */
static void dump_unmapped(void)
{
   Dump d = begin_dump();
   fflush(d.file);
   setvbuf(d.file, NULL, _IOFBF, 1 << 16);
   run_both(3);
   put_lines(&d, page, "made.source");
   put_load(&d, page, HALF, "walk");
   put_load(&d, page + HALF, HALF, "step");
   munmap(page, PAGE);
   fclose(d.file);
   expect_both(3);
}

static void dump_moves(void)
{
   Dump d = begin_dump();
   unsigned char *other = new_page();
   put_load(&d, other, HALF, "walk");
   put_load(&d, other + HALF, HALF, "step");
   put_move(&d, other, page, HALF);
   put_move(&d, other + HALF, page + HALF, HALF);
   run_both(3);
   fclose(d.file);
   munmap(d.mark, PAGE);
   unlink(d.name);
   expect_both(3);
}

/* A file of memory, of which the one mapping is written and the other executed. */
static void twice_mapped(void)
{
   const int fd = memfd_create("doublemapper", 0);
   if (fd < 0 || ftruncate(fd, PAGE) != 0)
      exit(1);
   unsigned char *writable = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
   page = mmap(NULL, PAGE, PROT_READ | PROT_EXEC, MAP_SHARED, fd, 0);
   make(writable, 10, 0);
   make(writable + HALF, 4, 1);
   run(page, 3);
   run(page + HALF, 3);
   write_both();
   expect_both(3);
}

/* --- Files that are not read --- */

static void nameless(void)
{
   run_both(3);
}

static void is_pipe(void)
{
   mkfifo(map, 0600);
   run_both(3);
}

static void is_folder(void)
{
   mkdir(map, 0700);
   run_both(3);
   run_both(1);
}

static void is_link(void)
{
   char target[80];
   char own[64];
   memcpy(own, map, sizeof own);
   snprintf(target, sizeof target, "%s.target", own);
   snprintf(map, sizeof map, "%s.target", own);
   run_both(3);
   write_both();
   if (symlink(target, own) != 0)
      exit(1);
   /* The test removes the link. */
}

static void is_others(void)
{
   run_both(3);
   write_both();
   if (chown(map, 65534, 65534) != 0)
      exit(77);
}

static void is_old(void)
{
   const struct timespec times[2] = { { 1000, 0 }, { 1000, 0 } };
   run_both(3);
   write_both();
   utimensat(AT_FDCWD, map, times, 0);
}

/* Lines of other forms, and two that are right. */
static void broken(void)
{
   run_both(3);
   FILE *f = fopen(map, "w");
   fprintf(f, "\n\n   \nx y z\n%lx\n%lx %x\n%lx %x   \n", (long)page, (long)page, PAGE, (long)page,
           PAGE);
   fprintf(f, "%lx 0 empty\nffffffffffffffff 2 over\n11112222333344445 1 long\n%lx -1 minus\n",
           (long)page, (long)page);
   fprintf(f, "0x%lx 0x%x walk\r\n%lX\t%X\tstep  \n", (long)page, HALF, (long)page + HALF, HALF);
   fprintf(f, "%lx 1 ", (long)page + HALF + 100);
   for (int i = 0; i < 100000; i++)
      fputc('n', f);
   fclose(f);
   expect_both(3);
}

/* Two gigabytes of nothing behind the names. */
static void large(void)
{
   run_both(3);
   write_both();
   if (truncate(map, 1L << 31) != 0)
      exit(77);
   expect_both(3);
}

/* More names than are kept. */
static void many(void)
{
   run_both(3);
   write_both();
   FILE *f = fopen(map, "a");
   for (long i = 0; i < 1200000; i++)
      fprintf(f, "%lx 1 n\n", 2 * i);
   fclose(f);
   expect_both(3);
}

static void strange_names(void)
{
   run_both(3);
   write_map("%lx %x (a) b=c\x1b[1m;\xff\n%lx %x fn=(3) +5 *\n", (long)page, HALF,
             (long)page + HALF, HALF);
}

/* Code that is the first to read a page. */
static void touches(void)
{
#ifdef __x86_64__
   static const unsigned char code[] = { 0x8b, 0x07, 0xc3 }; /* mov (%rdi), %eax; ret */
   memcpy(page, code, sizeof code);
   ((void (*)(void *))page)(new_page());
   write_map("%lx %x touch\n", (long)page, PAGE);
   expect("touch", 2, 2, 0);
#endif
}

static const struct {
   const char *name;
   void (*way)(void);
} ways[] = {
   { "before", before }, { "late", late }, { "late_unmapped", late_unmapped },
   { "renamed", renamed }, { "written_anew", written_anew }, { "unended", unended },
   { "reused", reused }, { "reused_late", reused_late }, { "mapped_again", mapped_again },
   { "nested", nested }, { "forks", forks }, { "execs", execs }, { "dump", dump },
   { "dump_unmapped", dump_unmapped },
   { "dump_moves", dump_moves }, { "twice_mapped", twice_mapped }, { "nameless", nameless },
   { "is_pipe", is_pipe }, { "is_folder", is_folder }, { "is_link", is_link },
   { "is_others", is_others }, { "is_old", is_old }, { "broken", broken }, { "large", large },
   { "many", many }, { "strange_names", strange_names },
   { "touches", touches },
};

int main(int argc, char **argv)
{
   page = new_page();
   name_map();
   for (size_t i = 0; argc > 1 && i < sizeof ways / sizeof ways[0]; i++) {
      if (strcmp(argv[1], ways[i].name) == 0) {
         ways[i].way();
         return 0;
      }
   }
   return 2;
}
