/* The options for page faults: --faults= and how the kernel is set up.

   The default of the latter is what the running host says. */

#ifndef TG_FAULT_OPTIONS_H
#define TG_FAULT_OPTIONS_H

#include "pub_tool_basics.h"

#include "sim/faults/faultmodel.h"
#include "sim/machine/geometry.h"

typedef struct {
   Bool on;
   Bool used;             /* which bytes of each page: faults/page_use.h */
   Bool lists_hidden;     /* what Valgrind itself brings is listed, too */
   tlb_fault_settings settings;
   Bool around_assumed;   /* the host does not say how much it is */
} TgFaultOptions;

/* Takes one command line argument. False: it is not an option of ours. The
   texts are read by tg_fault_options_finish(). */
Bool tg_fault_options_take(const HChar* arg);

void tg_fault_options_print_usage(void);

/* The base page and the kernel's mode of transparent huge pages are known: reads the texts.
   Returns NULL, or the argument that can not be, with the reason. */
const HChar* tg_fault_options_finish(UInt page_shift, tlb_thp_mode thp, TgFaultOptions* out,
                                     tlb_reason* why);

#endif
