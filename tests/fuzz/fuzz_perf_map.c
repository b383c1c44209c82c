/* Fuzzes the reader of perf maps: the whole input at once, and in pieces.

   Part of tlbgrind.  GPL-2.0-or-later; see COPYING. */

#include "fuzz.h"

#include <string.h>

#include "attribution/perf_map.h"

const char *const fuzz_words[] = { "7f00 10 name\n", "0x", " ", "\t", "\n", "\r\n",
                                   "ffffffffffffffff", "0", "1 1 ", NULL };

const char *const fuzz_more = NULL;

/* What was read, as one number. */
typedef struct {
   uint64_t n, sum;
} Seen;

static void check(Seen *seen, const TgPerfSymbol *s)
{
   const size_t length = strlen(s->name);
   if (s->last < s->first)
      fuzz_fail("a symbol that ends before it begins");
   if (length == 0 || length > TG_PERF_MAP_NAME)
      fuzz_fail("a name of no such length");
   seen->n++;
   seen->sum = (seen->sum * 31 + s->first) * 31 + s->last;
   for (size_t i = 0; i < length; i++) {
      const unsigned char c = (unsigned char)s->name[i];
      if (c < ' ' || c == 0x7f)
         fuzz_fail("a name with a control character");
      seen->sum = seen->sum * 31 + c;
   }
}

static Seen read_in_pieces(const char *data, size_t size, size_t piece)
{
   static TgPerfMap map;
   TgPerfSymbol s;
   Seen seen = { 0, 0 };
   tg_perf_map_begin(&map);
   for (size_t from = 0; from < size; from += piece) {
      const char *at = data + from;
      const char *end = data + (size - from < piece ? size : from + piece);
      while (tg_perf_map_next(&map, &at, end, &s))
         check(&seen, &s);
      if (at != end)
         fuzz_fail("not all is read");
   }
   if (tg_perf_map_last(&map, &s))
      check(&seen, &s);
   return seen;
}

void fuzz_one(char *data, size_t size)
{
   const Seen whole = read_in_pieces(data, size, size + 1);
   if (whole.n > size)
      fuzz_fail("more symbols than bytes");
   for (size_t piece = 1; piece <= 7; piece += 3) {
      const Seen pieces = read_in_pieces(data, size, piece);
      if (pieces.n != whole.n || pieces.sum != whole.sum)
         fuzz_fail("pieces give other symbols");
   }
}
