/* TgOptions: what the command line asks for. Parsed and checked in options/command_line.c. */

#ifndef TG_OPTIONS_H
#define TG_OPTIONS_H

#include "pub_tool_basics.h"

#include "options/fault_options.h"
#include "options/kernel_options.h"
#include "options/machine_builder.h"
#include "options/output_names.h"
#include "options/page_options.h"
#include "options/region_options.h"

typedef struct _TgRecordOptions TgRecordOptions; /* options/record_options.h */

typedef struct {
   UInt n_machines;
   TgMachine* machine;
   UInt page_shift;
   TgPageOptions pages;
   TgFaultOptions faults;
   TgRegionOptions region;
   Bool fast_path;
   TgKernelOptions kernel;
   UInt advice_group; /* with --advice= (options/advice.h) so many machines in a row are one and its
                         variants; 0: without */
   Bool native;      /* --native-start=yes: native/native.h */
   Bool nested;      /* page walks are two-dimensional, as in a virtual machine */
   Bool shows_cycles; /* --cycles= or --miss-cost= is given */
   Bool as_cachegrind; /* see its row in options/option_table.c */
   Bool trace_aspace;  /* likewise */
   const TgRecordOptions* record; /* NULL: the run is not recorded */
   Long jobs;             /* processes that simulate the machines: engine/jobs.h;
                             0: the tool does */
   Bool is_written[TG_N_OUTPUTS]; /* by output: the run writes it */
   Bool debug_check;   /* likewise */
   Bool reach;            /* measure stack distances: sim/mmu/run_reach.h */
   Bool timeline;         /* counts over instructions: output/timeline.h */
   Bool data;             /* attribute references to data: data/references.h */
   Long data_frames;      /* of call stacks */
   Bool dump_instr;       /* costs by instruction: attribution/sites.h */
   Bool data_offsets;     /* and to words of records: data/records.h */
   const HChar* data_strides; /* NAME:BYTES,...; NULL: none are given */
   Bool mappings;         /* and to mappings, in blocks of large pages: data/row_blocks.h */
   UInt mappings_shift;   /* of these pages; 0: each machine's own (options/mapping_pages.h) */
   Bool separate_threads; /* an out-file for each thread, too: output/shares.h */
   Bool calls;            /* count inclusive costs: calls/call_stack.h */
   const HChar* merge_code; /* patterns: space/merged_code.h; NULL: none */
   Bool entries;          /* record the order of execution: order/code_entries.h */
   Bool entries_data;     /* and that of first uses of data: order/data_uses.h */
} TgOptions;

#endif
