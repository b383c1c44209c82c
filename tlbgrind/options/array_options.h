/* The options --itlb=, --dtlb= and --stlb=, which define the machine `custom`. */

#ifndef TG_ARRAY_OPTIONS_H
#define TG_ARRAY_OPTIONS_H

#include "pub_tool_basics.h"

#include "sim/machine/geometry.h"

#include "options/machines.h"

/* Stores the command-line argument if it is one of these options, else returns False. Each may be
   given several times; tg_array_options_finish() parses the text. */
Bool tg_array_options_take(const HChar* arg);

/* Whether one of them was on the command line. */
Bool tg_array_options_given(void);

/* Makes the machine; to be called when the base page is set. A first level that no option defines
   is that of the default machine. Returns NULL, or the invalid argument, with the reason. */
const HChar* tg_array_options_finish(UInt page_shift, TgMachine* m, tlb_reason* why);

#endif
