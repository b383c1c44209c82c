/* The large page of each machine for --mappings=: what mappings are divided by. */

#ifndef TG_MAPPING_PAGES_H
#define TG_MAPPING_PAGES_H

#include "pub_tool_basics.h"

#include "options/options.h"

/* Takes the option: no, yes or a size. See TgOption, options/option_table.h. */
void tg_large_pages_take(const HChar* arg, const HChar* value, TgOptions* o);

/* The large page of a machine, as its logarithm: the size of --mappings=SIZE, else the largest that
   its rules ask for, else that of transparent huge pages. */
UInt tg_large_pages_shift(const TgOptions* options, UInt machine);

/* The smallest of all machines. */
UInt tg_large_pages_smallest(const TgOptions* options);

/* Ends the run if a machine's base page is as large. */
void tg_large_pages_check(const TgOptions* o);

#endif
