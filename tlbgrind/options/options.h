/* Command-line options, and the machines that follow from them. */

#ifndef TG_OPTIONS_H
#define TG_OPTIONS_H

#include "pub_tool_basics.h"

#include "options/fault_options.h"
#include "options/machines.h"
#include "options/output_names.h"
#include "options/page_options.h"

typedef struct {
   UInt n_machines;
   TgMachine* machine;
   UInt page_shift;
   TgPageOptions pages;
   TgFaultOptions faults;
   Bool fast_path;
   Bool native;      /* the program starts and lies as natively: native/native.h */
   Bool nested;      /* page walks are those of a guest */
   ULong cycles;     /* that the program takes elsewhere, 0: not given */
   Bool wants_cycles; /* an option is about cycles */
   Bool as_cachegrind; /* see tg_options_print_debug_usage() */
   Bool trace_aspace;  /* likewise */
   Bool writes[TG_N_OUTPUTS]; /* which out-files */
   Bool debug_check;   /* likewise */
   Bool reach;            /* measure stack distances: sim/mmu/run_reach.h */
   Bool entries;          /* record the order of execution: order/code_entries.h */
   Bool entries_data;     /* and that of writes to data: order/data_writes.h */
} TgOptions;

/* Takes one command line argument. False: it is not an option of ours. Does
   not return if the value is wrong. */
Bool tg_options_take(const HChar* arg);

void tg_options_print_usage(void);
void tg_options_print_debug_usage(void);

/* All options have been seen: settles the machines. Does not return if the
   options contradict each other. */
const TgOptions* tg_options_finish(void);

#endif
