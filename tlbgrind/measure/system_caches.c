/* Reads /sys/devices/system/cpu/cpu0/cache. See measure/system_caches.h.
   Part of tlbgrind.  GPL-2.0-or-later; see COPYING. */

#include <stdio.h>
#include <string.h>

#include "measure/system_caches.h"

enum { MOST_INDICES = 16, WORD = 32 };

/* The first word of a file of that cache; "" if there is none. */
static void word_in(unsigned index, const char *file, char out[WORD])
{
   char name[96];
   snprintf(name, sizeof name, "/sys/devices/system/cpu/cpu0/cache/index%u/%s", index, file);
   FILE *const f = fopen(name, "r");
   out[0] = '\0';
   if (f == NULL)
      return;
   if (fscanf(f, "%31s", out) != 1)
      out[0] = '\0';
   fclose(f);
}

/* "32K"; 0: it is not such a number. */
static uint64_t number_of(const char *text)
{
   unsigned long long n;
   char unit = '\0';
   const int had = sscanf(text, "%llu%c", &n, &unit);
   if (had < 1 || n > 1u << 30)
      return 0;
   return unit == 'K' ? n << 10 : unit == 'M' ? n << 20 : n;
}

unsigned tg_system_caches(TgGivenCache out[TG_MAX_CACHES])
{
   unsigned n = 0;
   uint64_t level = 0;
   for (unsigned i = 0; i < MOST_INDICES && n < TG_MAX_CACHES; i++) {
      char type[WORD], text[WORD];
      word_in(i, "type", type);
      if (strcmp(type, "Data") != 0 && strcmp(type, "Unified") != 0)
         continue;
      word_in(i, "level", text);
      const uint64_t this_level = number_of(text);
      word_in(i, "size", text);
      const uint64_t bytes = number_of(text);
      /* Sizes must rise from level to level, or the list is not what it seems. */
      if (bytes == 0 || this_level <= level || (n > 0 && bytes <= out[n - 1].bytes))
         return 0;
      level = this_level;
      out[n].bytes = bytes;
      word_in(i, "ways_of_associativity", text);
      out[n].ways = (unsigned)number_of(text);
      word_in(i, "coherency_line_size", text);
      out[n++].line = (unsigned)number_of(text);
   }
   return n;
}
