/* Formats numbers as text, for the tables on stderr. */

#ifndef TG_NUMBER_FORMAT_H
#define TG_NUMBER_FORMAT_H

#include "pub_tool_basics.h"

typedef struct {
   HChar text[64];
} TgNumber;

/* "1,234,567", right-aligned in at least `width` characters. */
TgNumber tg_number(Int width, ULong n);

/* part * scale / whole with `places` decimals, rounded half up, and the unit; 0 if `whole` is 0.
   Does not overflow: in any run that ends, counts are below 2^64 / 10^6 / 2. */
TgNumber tg_ratio(ULong part, ULong whole, ULong scale, UInt places,
                  const HChar* unit);

/* "4K", "2M": a page of 2^shift bytes. */
TgNumber tg_page_size(UInt shift);

#endif
