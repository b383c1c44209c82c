/* What follows from the shape of an array. See measure/shapes.h. */

#include <stdint.h>
#include <string.h>

#include "measure/shapes.h"

enum {
   MOST_WAYS = 64, /* of an array that is not fully associative */
   MOST_SETS = 1 << 16,
   FEWEST_BY_3 = 24
};

int tg_shape_is_full(const TgShape *s)
{
   return s->sets == 1;
}

static unsigned log2_of(unsigned value)
{
   unsigned n = 0;
   while (value >> (n + 1) != 0)
      n++;
   return n;
}

static unsigned set_of(const TgShape *s, uint64_t page)
{
   return s->xor != 0 ? (unsigned)(page ^ page >> s->xor) & (s->sets - 1)
                      : (unsigned)(page % s->sets);
}

unsigned tg_shape_fits(const TgShape *s, unsigned shift)
{
   static unsigned char used[MOST_SETS];
   if (s->xor == 0) {
      unsigned sets = s->sets;
      for (; shift > 0 && sets % 2 == 0; shift--)
         sets /= 2;
      return s->ways * sets;
   }
   memset(used, 0, s->sets);
   for (unsigned i = 0; i < s->entries; i++) {
      if (used[set_of(s, (uint64_t)i << shift)]++ == s->ways)
         return i;
   }
   return s->entries;
}

unsigned tg_shape_floor(const TgShape *s)
{
   return tg_shape_fits(s, 31);
}

double tg_shape_can_miss(const TgShape *s, unsigned pages, unsigned shift)
{
   static unsigned used[MOST_SETS];
   unsigned miss = 0;
   memset(used, 0, s->sets * sizeof *used);
   for (unsigned i = 0; i < pages; i++)
      used[set_of(s, (uint64_t)i << shift)]++;
   for (unsigned i = 0; i < s->sets; i++)
      miss += used[i] > s->ways ? used[i] : 0;
   return pages == 0 ? 0 : (double)miss / pages;
}

unsigned tg_shapes_of(unsigned entries, TgShape out[TG_SHAPES_OF])
{
   unsigned n = 0;
   out[n++] = (TgShape){ .entries = entries, .ways = entries, .sets = 1 };
   for (unsigned ways = 1; ways <= MOST_WAYS && ways < entries; ways++) {
      if (entries % ways != 0)
         continue;
      const unsigned sets = entries / ways;
      const unsigned odd = sets >> log2_of(sets & (~sets + 1));
      if ((odd != 1 && (odd != 3 || sets < FEWEST_BY_3)) || sets >= MOST_SETS)
         continue;
      out[n++] = (TgShape){ .entries = entries, .ways = ways, .sets = sets };
      for (unsigned by = log2_of(sets); odd == 1 && sets > 1 && by <= log2_of(sets) + 2; by++)
         out[n++] = (TgShape){ .entries = entries, .ways = ways, .sets = sets, .xor = by };
   }
   return n;
}
