/* The options --itlb=, --dtlb= and --stlb=, which define the machine `custom`. */

#ifndef TG_ARRAY_OPTIONS_H
#define TG_ARRAY_OPTIONS_H

#include "pub_tool_basics.h"

#include "sim/machine/geometry.h"

#include "options/machines.h"

/* Takes one command line argument. False: it is another option. Each may come several times;
   the text is read by tg_array_options_finish(). */
Bool tg_array_options_take(const HChar* arg);

/* Whether one of them was on the command line. */
Bool tg_array_options_given(void);

/* The base page is known: makes the machine. Where the options define no first level, it has
   that of the default machine. Returns NULL, or the argument that can not be, with the reason. */
const HChar* tg_array_options_finish(UInt page_shift, TgMachine* m, tlb_reason* why);

#endif
