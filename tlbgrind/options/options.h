/* Parses the command line into TgOptions, and makes the machines.

   A new option gets a member of TgOptions, its parsing in tg_options_take(), its check in
   tg_options_finish(), all in options/options.c, and a line in options/usage.c. What it excludes
   stands in options/features.c. Options about page sizes, page faults, the kernel, arrays and
   out-files are in files of their own in this folder. */

#ifndef TG_OPTIONS_H
#define TG_OPTIONS_H

#include "pub_tool_basics.h"

#include "options/fault_options.h"
#include "options/kernel_options.h"
#include "options/machines.h"
#include "options/output_names.h"
#include "options/page_options.h"
#include "options/region_options.h"

typedef struct {
   UInt n_machines;
   TgMachine* machine;
   UInt page_shift;
   TgPageOptions pages;
   TgFaultOptions faults;
   TgRegionOptions region;
   Bool fast_path;
   TgKernelOptions kernel;
   Bool advice;      /* the machines are those of --advice=: options/advice.h */
   Bool native;      /* --native-start=yes: native/native.h */
   Bool nested;      /* page walks are two-dimensional, as in a virtual machine */
   Bool shows_cycles; /* --cycles= or --miss-cost= is given */
   Bool as_cachegrind; /* see tg_options_print_debug_usage() */
   Bool trace_aspace;  /* likewise */
   Bool is_written[TG_N_OUTPUTS]; /* by output: the run writes it */
   Bool debug_check;   /* likewise */
   Bool reach;            /* measure stack distances: sim/mmu/run_reach.h */
   Bool timeline;         /* counts over instructions: output/timeline.h */
   Bool data;             /* attribute references to data: data/references.h */
   Long data_frames;      /* of call stacks */
   Bool dump_instr;       /* costs by instruction: attribution/sites.h */
   Bool data_offsets;     /* and to words of records: data/records.h */
   const HChar* data_strides; /* NAME:BYTES,...; NULL: none are given */
   Bool mappings;         /* and to mappings, in blocks of large pages: data/regions.h */
   UInt mappings_shift;   /* of these pages; 0: each machine's own (options/large_pages.h) */
   Bool separate_threads; /* an out-file for each thread, too: output/shares.h */
   Bool calls;            /* count inclusive costs: calls/call_stack.h */
   const HChar* merge_code; /* patterns: space/merged_code.h; NULL: none */
   Bool entries;          /* record the order of execution: order/code_entries.h */
   Bool entries_data;     /* and that of first uses of data: order/data_uses.h */
} TgOptions;

/* Parses or stores one command-line argument. False: it is no option of this tool. Ends the run if
   the value is invalid. */
Bool tg_options_take(const HChar* arg);

void tg_options_print_usage(void);
void tg_options_print_debug_usage(void);

/* Checks the options and makes the machines, after the whole command line has been read. Ends the
   run if options contradict each other. */
const TgOptions* tg_options_finish(void);

#endif
