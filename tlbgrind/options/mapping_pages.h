/* The large page of each machine for --mappings=: what mappings are divided by. */

#ifndef TG_MAPPING_PAGES_H
#define TG_MAPPING_PAGES_H

#include "pub_tool_basics.h"

#include "options/options.h"

/* Parses the value of --mappings=: no, yes or a size. False, with the reason: it is none. */
Bool tg_large_pages_parse(const HChar* value, TgOptions* options, tlb_reason* why);

/* The large page of a machine, as its logarithm: the size of --mappings=SIZE, else the largest that
   its rules ask for, else that of transparent huge pages. */
UInt tg_large_pages_shift(const TgOptions* options, UInt machine);

/* The smallest of all machines. */
UInt tg_large_pages_smallest(const TgOptions* options);

/* The first machine whose base page is as large; NULL: there is none. */
const TgMachine* tg_large_pages_wrong(const TgOptions* options);

#endif
