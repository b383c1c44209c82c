/* run_cleaned.c -- lets the kernel clean, age and take away pages that are mapped.
   Part of tlbgrind.  GPL-2.0-or-later; see COPYING.

   run_cleaned WAY FOLDER ROUNDS: one of the ways below, so many times, with a file of 8 pages in
   the folder, mapped shared and written to, and 20 pages of anonymous memory, written to in each
   round, too. */

#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { PAGE = 4096, FILE_PAGES = 8, PAGES = 20 };

static int fd;
static char* file;   /* mapped */
static char* memory; /* anonymous */

static void must(int is_true, const char* what)
{
   if (!is_true) {
      perror(what);
      exit(1);
   }
}

static void advise(int advice)
{
   must(madvise(memory, 64 * PAGE, advice) == 0, "madvise");
}

static void reads(void)
{
   for (long i = 0; i < PAGES; i++)
      (void)*(volatile char*)(memory + i * PAGE);
}

static void nothing(void) {}
static void msync_all(void) { must(msync(file, FILE_PAGES * PAGE, MS_SYNC) == 0, "msync"); }
static void msync_part(void) { must(msync(file, 3 * PAGE, MS_SYNC) == 0, "msync"); }
static void msync_async(void) { must(msync(file, FILE_PAGES * PAGE, MS_ASYNC) == 0, "msync"); }
static void fsync_file(void) { must(fsync(fd) == 0, "fsync"); }
static void fdatasync_file(void) { must(fdatasync(fd) == 0, "fdatasync"); }

static void truncate_file(void)
{
   must(ftruncate(fd, PAGE + 1) == 0 && ftruncate(fd, FILE_PAGES * PAGE) == 0, "ftruncate");
}

static void punch(void)
{
   must(fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, PAGE - 1, 4 * PAGE) == 0,
        "fallocate");
}

static void cold(void) { advise(MADV_COLD); }
static void cold_twice(void) { advise(MADV_COLD); advise(MADV_COLD); }
static void free_once(void) { advise(MADV_FREE); }
static void free_twice(void) { advise(MADV_FREE); advise(MADV_FREE); }
static void free_read_free(void) { advise(MADV_FREE); reads(); advise(MADV_FREE); }
static void cold_free_cold(void) { advise(MADV_COLD); advise(MADV_FREE); advise(MADV_COLD); }
static void page_out(void) { advise(MADV_PAGEOUT); }

static const struct {
   const char* name;
   void (*go)(void);
} ways[] = {
   { "nothing", nothing }, { "msync", msync_all }, { "msync_part", msync_part },
   { "msync_async", msync_async }, { "fsync", fsync_file }, { "fdatasync", fdatasync_file },
   { "ftruncate", truncate_file }, { "punch", punch }, { "cold", cold },
   { "cold_twice", cold_twice }, { "free", free_once }, { "free_twice", free_twice },
   { "free_read_free", free_read_free }, { "cold_free_cold", cold_free_cold },
   { "page_out", page_out },
};

static void make_memory(const char* folder)
{
   static const char zeros[PAGE];
   char name[4096];
   snprintf(name, sizeof name, "%s/run_cleaned.XXXXXX", folder);
   fd = mkstemp(name);
   must(fd >= 0 && unlink(name) == 0, name);
   /* All blocks are there: otherwise a file system looks at the pages twice. And page by page, so
      that they are no large folio, whose pages are cleaned together. */
   for (int i = 0; i < FILE_PAGES; i++)
      must(write(fd, zeros, PAGE) == PAGE, "write");
   must(fsync(fd) == 0, "fsync");
   file = mmap(NULL, FILE_PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
   memory = mmap(NULL, 64 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
   must(file != MAP_FAILED && memory != MAP_FAILED, "mmap");
   must(madvise(memory, 64 * PAGE, MADV_NOHUGEPAGE) == 0, "madvise");
}

int main(int argc, char** argv)
{
   must(argc == 4, "usage: run_cleaned WAY FOLDER ROUNDS");
   make_memory(argv[2]);
   for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++) {
      if (strcmp(argv[1], ways[i].name) != 0)
         continue;
      for (int round = 0; round < atoi(argv[3]); round++) {
         for (long page = 0; page < FILE_PAGES; page++)
            *(volatile char*)(file + page * PAGE) = (char)round;
         for (long page = 0; page < PAGES; page++)
            *(volatile char*)(memory + page * PAGE) = 1;
         ways[i].go();
      }
      return 0;
   }
   must(0, argv[1]);
}
