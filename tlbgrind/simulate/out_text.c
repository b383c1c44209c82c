/* The text of a file that is being made. See simulate/out_text.h.
   Part of tlbgrind.  GPL-2.0-or-later; see COPYING. */

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command/load_machine.h"
#include "sim/machine/description.h"
#include "simulate/out_text.h"

void tg_out_put_n(TgOutText *out, const char *text, size_t n)
{
   if (n == 0) /* of an empty text, which may be nowhere */
      return;
   if (out->n + n > out->room) {
      out->room = 2 * (out->n + n) + 4096;
      out->text = realloc(out->text, out->room);
      if (out->text == NULL)
         tg_load_refuse("no memory");
   }
   memcpy(out->text + out->n, text, n);
   out->n += n;
}

void tg_out_put(TgOutText *out, const char *format, ...)
{
   char text[2 * TLB_SOURCE_SIZE];
   va_list args;
   va_start(args, format);
   const int n = vsnprintf(text, sizeof text, format, args);
   va_end(args);
   tg_out_put_n(out, text, (size_t)n < sizeof text ? (size_t)n : sizeof text - 1);
}

void tg_out_put_number(TgOutText *out, uint64_t n, char after)
{
   char digits[21];
   size_t at = sizeof digits;
   digits[--at] = after;
   do {
      digits[--at] = (char)('0' + n % 10);
      n /= 10;
   } while (n != 0);
   tg_out_put_n(out, digits + at, sizeof digits - at);
}

void tg_out_put_text(TgOutText *out, const char *text)
{
   for (; *text != '\0'; text++)
      tg_out_put(out, "%c", (unsigned char)*text < 0x20 || *text == 0x7f ? '?' : *text);
}

/* As the tool's files have it (tlbgrind/base/file.h). */
uint32_t tg_out_text_sum(const char *text, size_t n)
{
   uint32_t sum = 1, sum_of_sums = 0;
   for (size_t i = 0; i < n; i++) {
      sum = (sum + (unsigned char)text[i]) % 65521;
      sum_of_sums = (sum_of_sums + sum) % 65521;
   }
   return sum_of_sums << 16 | sum;
}

void tg_out_put_checksum(TgOutText *out)
{
   tg_out_put(out, "# checksum: %08x\n", (unsigned)tg_out_text_sum(out->text, out->n));
}
