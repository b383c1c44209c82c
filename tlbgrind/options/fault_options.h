/* The options for page faults: --faults= and the settings of the modelled kernel.

   The settings default to those of the running host. */

#ifndef TG_FAULT_OPTIONS_H
#define TG_FAULT_OPTIONS_H

#include "pub_tool_basics.h"

#include "sim/faults/faultmodel.h"
#include "sim/machine/geometry.h"

#include "options/kernel_options.h"

enum { TG_MAX_FAULT_FRAMES = 100 };

typedef struct {
   Bool on;
   Bool simulated;        /* they are modelled, though the log may not be written: flushes are of
                             pages that are present, and prefetches fill nothing for others */
   Bool used;             /* record the used bytes of each page: faults/page_use.h */
   Bool touches;          /* and who touches each page first: faults/touches.h */
   Long stacks;           /* callers of a fault that are recorded, at most; 0: none */
   Bool lists_hidden;     /* also list the faults of Valgrind's own memory */
   tlb_fault_settings settings;
   Bool around_assumed;   /* the host's size of fault-around cannot be read */
} TgFaultOptions;

/* Parses the rest; to be called when base page and mode of transparent huge pages are set, and
   whether they are on. `huge_shift`: of such a page.
   `kernel`: whether flushes and prefetches need them. Returns NULL, or the invalid argument, with
   the reason. */
const HChar* tg_fault_options_finish(UInt page_shift, UInt huge_shift, tlb_thp_mode thp,
                                     const TgKernelOptions* kernel, TgFaultOptions* out,
                                     tlb_reason* why);

/* The kernel of the run: that of --kernel=, else the host's. An invalid argument is ignored. */
const tlb_kernel_rules* tg_fault_options_kernel(void);

#endif
