/* Reads numbers and texts of DWARF, within bounds.

   Plain C11 without Valgrind and libc, so that tests and a fuzzer can use it. Only little endian,
   as every machine that the tool runs on. */

#ifndef TG_DWARF_BYTES_H
#define TG_DWARF_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Some bytes of a file, and how far they have been read. Behind the end, or where a number is too
   large, all that is read is 0 and `is_bad` is set. */
typedef struct {
   const uint8_t* at;
   const uint8_t* end;
   bool is_bad;
} TgDwarfBytes;

static inline size_t tg_dwarf_left(const TgDwarfBytes* b)
{
   return (size_t)(b->end - b->at);
}

static inline void tg_dwarf_skip(TgDwarfBytes* b, uint64_t n)
{
   if (n > tg_dwarf_left(b)) {
      b->is_bad = true;
      n = tg_dwarf_left(b);
   }
   b->at += n;
}

static inline uint8_t tg_dwarf_byte(TgDwarfBytes* b)
{
   if (b->at < b->end)
      return *b->at++;
   b->is_bad = true;
   return 0;
}

/* A number of 1 to 8 bytes. */
static inline uint64_t tg_dwarf_number(TgDwarfBytes* b, unsigned size)
{
   const uint8_t* from = b->at;
   uint64_t n = 0;
   if (size > tg_dwarf_left(b)) {
      tg_dwarf_skip(b, size);
      return 0;
   }
   for (unsigned i = 0; i < size; i++)
      n |= (uint64_t)from[i] << (8 * i);
   b->at += size;
   return n;
}

/* A number in groups of 7 bits, LEB128; bits above 64 are lost. */
static inline uint64_t tg_dwarf_leb(TgDwarfBytes* b, bool is_signed)
{
   uint64_t n = 0;
   unsigned shift = 0;
   uint8_t byte;
   do {
      byte = tg_dwarf_byte(b);
      if (shift < 64)
         n |= (uint64_t)(byte & 0x7f) << shift;
      shift += shift < 64 ? 7 : 0;
   } while ((byte & 0x80) != 0);
   if (is_signed && shift < 64 && (byte & 0x40) != 0)
      n |= ~UINT64_C(0) << shift;
   return n;
}

/* A text with its zero byte; "" if that is missing. */
static inline const char* tg_dwarf_text(TgDwarfBytes* b)
{
   const char* from = (const char*)b->at;
   for (const uint8_t* p = b->at; p < b->end; p++) {
      if (*p == 0) {
         b->at = p + 1;
         return from;
      }
   }
   b->at = b->end;
   b->is_bad = true;
   return "";
}

/* The text at an offset of a section of texts. */
static inline const char* tg_dwarf_text_at(TgDwarfBytes texts, uint64_t offset)
{
   tg_dwarf_skip(&texts, offset);
   return tg_dwarf_text(&texts);
}

/* The length of a unit, of which only its bytes are left in *b then; *next: those behind it. Sets
   the size of offsets in the unit, 4 or 8 bytes. */
static inline bool tg_dwarf_unit(TgDwarfBytes* b, TgDwarfBytes* next, unsigned* offset_size)
{
   uint64_t length = tg_dwarf_number(b, 4);
   *offset_size = 4;
   if (length == 0xffffffff) {
      *offset_size = 8;
      length = tg_dwarf_number(b, 8);
   }
   *next = *b;
   tg_dwarf_skip(next, length);
   b->end = next->at;
   return length != 0 && !next->is_bad;
}

#endif
