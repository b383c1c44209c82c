/* Reads perf maps. See attribution/perf_map.h. */

#include "attribution/perf_map.h"

enum { MOST_DIGITS = 16 };

void tg_perf_map_begin(TgPerfMap* p)
{
   p->part = TG_PERF_MAP_START;
   p->digits = 0;
   p->start = p->size = 0;
   p->length = 0;
}

static int digit_of(char c)
{
   if (c >= '0' && c <= '9')
      return c - '0';
   if (c >= 'a' && c <= 'f')
      return c - 'a' + 10;
   return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* A byte of one of the numbers. Some writers put 0x before it. */
static void take_number(TgPerfMap* p, uint64_t* number, char c)
{
   const int digit = digit_of(c);
   const bool is_prefix = (c == 'x' || c == 'X') && p->digits == 1 && *number == 0;
   if (is_prefix) {
      p->digits = 0;
   } else if (digit >= 0 && (p->digits < MOST_DIGITS || *number >> (64 - 4) == 0)) {
      *number = *number << 4 | (unsigned)digit;
      p->digits++;
   } else if ((c == ' ' || c == '\t') && p->digits > 0) {
      p->part = p->part == TG_PERF_MAP_START ? TG_PERF_MAP_SIZE : TG_PERF_MAP_TEXT;
      p->digits = 0;
   } else if (c != ' ' && c != '\t') {
      p->part = TG_PERF_MAP_SKIP;
   }
}

static void take_text(TgPerfMap* p, char c)
{
   const unsigned char byte = (unsigned char)c;
   const bool is_blank = c == ' ' || c == '\t' || c == '\r';
   if (p->length == TG_PERF_MAP_NAME || (is_blank && p->length == 0))
      return;
   p->name[p->length++] = is_blank ? ' ' : byte < 0x20 || byte == 0x7f ? '?' : c;
}

bool tg_perf_map_last(TgPerfMap* p, TgPerfSymbol* out)
{
   while (p->length > 0 && p->name[p->length - 1] == ' ')
      p->length--;
   const uint64_t last = p->start + (p->size - 1);
   const bool is_symbol = p->part == TG_PERF_MAP_TEXT && p->length > 0 && p->size > 0
                          && last >= p->start;
   p->name[p->length] = '\0';
   *out = (TgPerfSymbol){ p->start, last, p->name };
   tg_perf_map_begin(p);
   return is_symbol;
}

bool tg_perf_map_next(TgPerfMap* p, const char** at, const char* end, TgPerfSymbol* out)
{
   while (*at < end) {
      const char c = *(*at)++;
      if (c == '\n') {
         if (tg_perf_map_last(p, out))
            return true;
      } else if (p->part == TG_PERF_MAP_TEXT) {
         take_text(p, c);
      } else if (p->part != TG_PERF_MAP_SKIP) {
         take_number(p, p->part == TG_PERF_MAP_START ? &p->start : &p->size, c);
      }
   }
   return false;
}
