/* Formats numbers for tables. See base/number_format.h. */

#include "pub_tool_basics.h"

#include "pub_tool_libcprint.h"

#include "base/number_format.h"

TgNumber tg_number(Int width, ULong n)
{
   HChar digits[32], grouped[48];
   TgNumber out;
   UInt at = 0;
   const UInt length = VG_(snprintf)(digits, sizeof digits, "%llu", n);
   for (UInt i = 0; i < length; i++) {
      if (i > 0 && (length - i) % 3 == 0)
         grouped[at++] = ',';
      grouped[at++] = digits[i];
   }
   grouped[at] = '\0';
   VG_(snprintf)(out.text, sizeof out.text, "%*s", width, grouped);
   return out;
}

TgNumber tg_ratio(ULong part, ULong whole, ULong scale, UInt places,
                  const HChar* unit)
{
   TgNumber out;
   ULong one = 1;
   for (UInt i = 0; i < places; i++)
      one *= 10;
   const ULong n = whole == 0 ? 0 : (part * scale * one * 2 + whole)
                                       / (whole * 2);
   VG_(snprintf)(out.text, sizeof out.text, "%llu.%0*llu%s", n / one,
                 (Int)places, n % one, unit);
   return out;
}

TgNumber tg_page_size(UInt shift)
{
   TgNumber out;
   VG_(snprintf)(out.text, sizeof out.text, "%u%c", 1u << shift % 10,
                 "BKMGT"[shift / 10]);
   return out;
}
