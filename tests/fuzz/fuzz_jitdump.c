/* Fuzzes the reader of jitdump files.

   Part of tlbgrind.  GPL-2.0-or-later; see COPYING. */

#include "fuzz.h"

#include <string.h>

#include "attribution/jitdump.h"

const char *const fuzz_words[] = { NULL };

const char *const fuzz_more = NULL;

typedef struct {
   const char *data;
   size_t size;
} Input;

static bool read_input(void *opaque, uint64_t at, void *to, size_t n)
{
   const Input *in = opaque;
   if (at > in->size || n > in->size - at)
      return false;
   memcpy(to, in->data + at, n);
   return true;
}

static void check_lines(const TgJitdump *d, TgJitdumpRecord *r, size_t size)
{
   static TgJitdumpLine line;
   size_t n = 0;
   line.file[0] = '\0';
   while (tg_jitdump_line(d, r, &line)) {
      if (++n > size)
         fuzz_fail("more lines than bytes");
      if (strlen(line.file) > TG_JITDUMP_NAME)
         fuzz_fail("a file of no such length");
   }
}

static void check_record(const TgJitdump *d, TgJitdumpRecord *r, size_t size)
{
   switch (r->kind) {
   case TG_JITDUMP_LINES: check_lines(d, r, size); return;
   case TG_JITDUMP_LOAD:
      if (r->name[0] == '\0' || strlen(r->name) > TG_JITDUMP_NAME)
         fuzz_fail("a name of no such length");
      break;
   case TG_JITDUMP_MOVE:
      if (r->from + (r->last - r->first) < r->from)
         fuzz_fail("code that was beyond the last address");
      break;
   }
   if (r->last < r->first)
      fuzz_fail("code that ends before it begins");
}

void fuzz_one(char *data, size_t size)
{
   static TgJitdumpRecord record;
   Input in = { data, size };
   TgJitdump whole = { .read = read_input, .opaque = &in, .size = size };
   TgJitdump growing = { .read = read_input, .opaque = &in };
   size_t n = 0, grown = 0;
   while (tg_jitdump_next(&whole, &record)) {
      if (++n > size)
         fuzz_fail("more records than bytes");
      check_record(&whole, &record, size);
   }
   /* The program writes while it is read. */
   for (growing.size = 0; growing.size <= size; growing.size += size / 8 + 1) {
      while (tg_jitdump_next(&growing, &record))
         grown++;
   }
   growing.size = size;
   while (tg_jitdump_next(&growing, &record))
      grown++;
   if (grown != n)
      fuzz_fail("a file that grows has other records");
}
