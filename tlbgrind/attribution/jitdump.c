/* Reads jitdump files. See attribution/jitdump.h. */

#include "attribution/jitdump.h"

/* "JiTD" as a number of four bytes, and the one version that there is. */
enum { MAGIC = 0x4a695444, VERSION = 1 };

enum { HEADER = 40, PREFIX = 16, LOAD = 40, MOVE = 48, LINES = 16, LINE = 16 };

/* V8 writes its lines for a tool of perf that makes a file of each piece of code, behind a header
   of so many bytes, and is known by this padding, which others leave zero. */
enum { V8_LATE = 64 };
static const uint32_t V8_PADDING = 0xdeadbeef;

enum { CODE_LOAD = 0, CODE_MOVE = 1, CODE_LINES = 2, CODE_CLOSE = 3 };

static uint64_t number(const uint8_t* at, unsigned size)
{
   uint64_t n = 0;
   while (size > 0)
      n = n << 8 | at[--size];
   return n;
}

/* From here on nothing is read any more. */
static bool stop(TgJitdump* d)
{
   d->at = UINT64_MAX;
   return false;
}

static bool read_header(TgJitdump* d)
{
   uint8_t head[HEADER];
   if (d->size < HEADER)
      return false;
   if (!d->read(d->opaque, 0, head, HEADER) || number(head, 4) != MAGIC
       || number(head + 4, 4) != VERSION || number(head + 8, 4) < HEADER)
      return stop(d);
   d->late = number(head + 16, 4) == V8_PADDING ? V8_LATE : 0;
   d->at = number(head + 8, 4);
   return true;
}

/* Reads a text that ends with a zero byte before `end`. Returns its length in the file with the
   zero; 0: there is none. */
static uint64_t read_text(const TgJitdump* d, uint64_t at, uint64_t end, char* to)
{
   char piece[64];
   uint64_t length = 0;
   while (at + length < end) {
      const uint64_t left = end - at - length;
      const size_t n = left < sizeof piece ? (size_t)left : sizeof piece;
      if (!d->read(d->opaque, at + length, piece, n))
         return 0;
      for (size_t i = 0; i < n; i++, length++) {
         const unsigned char byte = (unsigned char)piece[i];
         if (length <= TG_JITDUMP_NAME)
            to[length] = byte == 0 || length == TG_JITDUMP_NAME ? '\0'
                         : byte < 0x20 || byte == 0x7f          ? '?'
                                                                 : piece[i];
         if (byte == 0)
            return length + 1;
      }
   }
   return 0;
}

/* Takes the range of `size` bytes; whether it is one. */
static bool take_range(TgJitdumpRecord* out, uint64_t first, uint64_t size)
{
   out->first = first;
   out->last = first + (size - 1);
   return size > 0 && out->last >= first;
}

/* Behind the prefix is: process and thread, 4 bytes each; the address again; the code's address,
   its size and its number, 8 bytes each; its name; the code. */
static bool read_load(const TgJitdump* d, uint64_t at, uint64_t end, TgJitdumpRecord* out)
{
   uint8_t b[LOAD];
   out->kind = TG_JITDUMP_LOAD;
   return end - at > LOAD && d->read(d->opaque, at, b, LOAD)
          && take_range(out, number(b + 16, 8), number(b + 24, 8))
          && read_text(d, at + LOAD, end, out->name) != 0 && out->name[0] != '\0';
}

/* The same with the old address and the new one instead of the code's. */
static bool read_move(const TgJitdump* d, uint64_t at, uint64_t end, TgJitdumpRecord* out)
{
   uint8_t b[MOVE];
   out->kind = TG_JITDUMP_MOVE;
   if (end - at < MOVE || !d->read(d->opaque, at, b, MOVE))
      return false;
   out->from = number(b + 16, 8);
   return take_range(out, number(b + 24, 8), number(b + 32, 8))
          && out->from + (out->last - out->first) >= out->from;
}

/* The code's address, and the number of lines, which follow. */
static bool read_lines(const TgJitdump* d, uint64_t at, uint64_t end, TgJitdumpRecord* out)
{
   uint8_t b[LINES];
   out->kind = TG_JITDUMP_LINES;
   if (end - at < LINES || !d->read(d->opaque, at, b, LINES))
      return false;
   out->first = number(b, 8);
   out->n = number(b + 8, 8);
   out->at = at + LINES;
   out->end = end;
   return true;
}

bool tg_jitdump_next(TgJitdump* d, TgJitdumpRecord* out)
{
   uint8_t prefix[PREFIX];
   if (d->at == 0 && !read_header(d))
      return false;
   while (d->at <= d->size && d->size - d->at >= PREFIX) {
      if (!d->read(d->opaque, d->at, prefix, PREFIX))
         return false;
      const uint64_t kind = number(prefix, 4), total = number(prefix + 4, 4);
      if (total < PREFIX || kind == CODE_CLOSE)
         return stop(d);
      if (total > d->size - d->at)
         return false;
      const uint64_t at = d->at + PREFIX, end = d->at + total;
      d->at = end;
      if ((kind == CODE_LOAD && read_load(d, at, end, out))
          || (kind == CODE_MOVE && read_move(d, at, end, out))
          || (kind == CODE_LINES && read_lines(d, at, end, out)))
         return true;
   }
   return false;
}

/* Each is: its address, 8 bytes; the line and a discriminator, 4 each; the file. A file of the one
   byte 255 is that of the line before. */
bool tg_jitdump_line(const TgJitdump* d, TgJitdumpRecord* r, TgJitdumpLine* line)
{
   uint8_t b[LINE];
   uint8_t same[2];
   if (r->n == 0 || r->end - r->at <= LINE || !d->read(d->opaque, r->at, b, LINE))
      return false;
   line->start = number(b, 8) - d->late;
   line->line = (uint32_t)number(b + 8, 4);
   uint64_t length = 2;
   if (r->end - r->at < LINE + 2 || !d->read(d->opaque, r->at + LINE, same, 2)
       || same[0] != 0xff || same[1] != 0)
      length = read_text(d, r->at + LINE, r->end, line->file);
   if (length == 0)
      return false;
   r->at += LINE + length;
   r->n--;
   return true;
}
