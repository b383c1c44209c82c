/* The options --itlb=, --dtlb= and --stlb=, which define the machine `custom`, or change those of
   --machine=. */

#ifndef TG_ARRAY_OPTIONS_H
#define TG_ARRAY_OPTIONS_H

#include "pub_tool_basics.h"

#include "sim/machine/geometry.h"

#include "options/machine_builder.h"

/* Whether one of them was on the command line. */
Bool tg_array_options_given(void);

/* Beside --machine= each option changes the machine's array for its level, its users and its page
   sizes: the lines that it says, the others stay. Returns NULL, with that as overrides to be freed
   in *overrides, or NULL there if none of the options was given; or the invalid argument, with the
   reason. */
const HChar* tg_array_options_overrides(const tlb_machine* m, HChar** overrides, tlb_reason* why);

/* Makes the machine; to be called when the base page is set. A first level that no option defines
   is that of the default machine. Returns NULL, or the invalid argument, with the reason. */
const HChar* tg_array_options_finish(UInt page_shift, TgMachine* m, tlb_reason* why);

#endif
