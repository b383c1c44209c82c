/* Options: what the user asked for, and the machine that follows from it. */

#ifndef TG_OPTIONS_H
#define TG_OPTIONS_H

#include "pub_tool_basics.h"
#include "pub_tool_xarray.h"

#include "sim/hierarchy.h"

#include "tg_pages.h"

typedef struct {
   const HChar* name;
   tlb_design design;
   XArray* assumptions; /* HChar*: what is not known and what is taken */
} TgMachine;

typedef struct {
   TgMachine machine;
   UInt page_shift;
   TgPages pages;
   Bool fast_path;
   Bool as_cachegrind; /* see tg_print_debug_usage() */
   Bool trace_aspace;  /* likewise */
   const HChar* out_file; /* with %p and the like not yet expanded */
   Bool entries;          /* record the order of execution: tg_entries.h */
   Bool entries_data;     /* and that of writes to data: tg_writes.h */
   const HChar* entries_out_file;
} TgOptions;

/* Takes one command line argument. False: it is not an option of ours. Does
   not return if the value is wrong. */
Bool tg_process_option(const HChar* arg);

void tg_print_usage(void);
void tg_print_debug_usage(void);

/* All options have been seen: settles the machine. Does not return if the
   options contradict each other. */
const TgOptions* tg_finish_options(void);

#endif
