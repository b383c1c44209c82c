/* Memory that the program has given a name: TLBGRIND_NAME() of tlbgrind.h.

   A named range is an object of data of its own, whatever it lies in. Heap blocks and mappings are
   kept track of beneath, and are seen again when the name goes: with UNNAME, when the memory is
   unmapped or mapped anew, and when the heap block that the range lies in is freed. */

#ifndef TG_DATA_NAMED_H
#define TG_DATA_NAMED_H

#include "pub_tool_basics.h"

void tg_named_init(void);

/* Names [a, a + bytes). Of what had a name before, the rest keeps it. */
void tg_named_give(Addr a, SizeT bytes, const HChar* name);

/* Takes the names in [a, a + bytes) away; with 0 bytes, that of the range that holds `a`. */
void tg_named_take(Addr a, SizeT bytes);

/* The heap block [start, end) is free: the ranges that lie in it have no name any more. */
void tg_named_freed(Addr start, Addr end);

/* Whether a byte of [start, end) has a name. */
Bool tg_named_any(Addr start, Addr end);

/* The number of the object, or of its cell, at `a`; 0 if it has no name. Sets *end to where that
   changes. */
UInt tg_named_at(Addr a, Addr* end);

#endif
