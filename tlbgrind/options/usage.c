/* Prints the options for --help. See options/command_line.h. */

#include "pub_tool_basics.h"

#include "pub_tool_libcprint.h"

#include "options/command_line.h"
#include "options/cost_options.h"
#include "options/fault_options.h"
#include "options/kernel_options.h"

void tg_options_print_usage(void)
{
   VG_(printf)(
"    --machine=NAME|FILE[,...]        which processors' TLBs to simulate: names of\n"
"                                     --list-machines, host, default, machine\n"
"                                     files, dumps of `cpuid -r' or AIDA64, or\n"
"                                     /proc/cpuinfo; NAME@RULES: with its own\n"
"                                     --pages, joined by + [host];\n"
"                                     NAME:ARRAY.LINE=VALUE,...: with other lines in\n"
"                                     its file, as skylake:stlb.entries=2048; FROM..TO:\n"
"                                     a machine for each value, each twice the last\n"
"    --advice=yes|SIZE[,...]          the machine, and again with each kind of memory\n"
"                                     in pages of each SIZE (yes: 64K and 2M), and\n"
"                                     other memory of the list: libm.so*,\n"
"                                     text=libm.so*; for tg_annotate --advice [none]\n"
"    --list-machines[=PATTERN]        list those that are built in, or those with\n"
"                                     PATTERN in name, title, products or ISA; run\n"
"                                     nothing\n"
"    --show-machine=NAME|FILE         print one as a machine file, run nothing (both\n"
"                                     stand alone behind the command tlbgrind)\n"
"    --itlb=ENTRIES,WAYS[,SIZES[,POLICY]]  first-level instruction TLB\n"
"    --dtlb=ENTRIES,WAYS[,SIZES[,POLICY]]  first-level data TLB\n"
"    --stlb=ENTRIES,WAYS[,SIZES[,POLICY]]  second-level TLB of both sides; beside\n"
"                                     --machine, each replaces that of each machine\n"
"                                     WAYS: a number or full; SIZES: such as\n"
"                                     4K or 4K+2M [the base page]; POLICY: lru,\n"
"                                     plru, fifo, nru, (mru+1)%%3-plru4,\n"
"                                     random[:SEED] [lru]\n"
"    --page-size=SIZE                 the base page, 4K to 1G [the machine's own]\n");
   tg_page_options_print_usage();
   VG_(printf)(
"    --native-start=yes|no            let the program start, and its memory lie, as\n"
"                                     without Valgrind: no preloaded objects, stack,\n"
"                                     heap and mappings as they would be [yes]\n");
   tg_kernel_options_print_usage();
   VG_(printf)(
"    --nested=no|yes                  in a virtual machine: walks of the host's\n"
"                                     tables, too [no]\n");
   tg_cost_options_print_usage();
   VG_(printf)(
"    --merge-code=PATTERN[,...]       simulate the code of the objects that match as if it lay in\n"
"                                     one mapping [none]\n");
   tg_fault_options_print_usage();
   tg_region_options_print_usage();
   VG_(printf)(
"    --tlbgrind-out-file=FILE         write costs to FILE [tlbgrind.out.%%p]\n"
"    --dump-instr=no|yes              costs by instruction, too; code without symbols is\n"
"                                     named by its functions' addresses [no]\n"
"    --calls=no|yes                   write the call graph with inclusive costs into\n"
"                                     the out-file, as callgrind does [no]\n"
"    --reach=no|yes                   what fully associative TLBs of 8 to 8192\n"
"                                     entries would miss, with pages of 4K, 64K\n"
"                                     and 2M [no]\n"
"    --reach-out-file=FILE            where to [tlbgrind.reach.%%p]\n"
"    --timeline=no|yes                misses, page faults and pages in use over the\n"
"                                     run's instructions [no]\n"
"    --timeline-out-file=FILE         where to [tlbgrind.timeline.%%p]\n"
"    --entries=no|yes|data            record which code is executed, in order of\n"
"                                     its first execution, for tg_order; data:\n"
"                                     and which data is written (slow) [no]\n"
"    --entries-out-file=FILE          where to [tlbgrind.entries.%%p]\n"
"    --data=no|yes                    by which data, too: heap blocks by call stack,\n"
"                                     variables, stacks, mappings [no]\n"
"    --data-frames=NUMBER             functions in call stacks, 1 to 64 [8]\n"
"    --data-offsets=no|yes            and by offset within records: blocks, variables\n"
"                                     of up to 4K, elements of calloc [no]\n"
"    --data-stride=NAME:BYTES[,...]   the size of the records that the function NAME\n"
"                                     allocates, or of the variable or named\n"
"                                     memory NAME; implies --data-offsets=yes\n"
"    --data-out-file=FILE             where to [tlbgrind.data.%%p]\n"
"    --separate-threads=no|yes        an out-file for each thread, too, thread_N_of_NAME\n"
"                                     [no]\n"
"    --mappings=no|yes|SIZE           by mapping, too, and what lies outside of its\n"
"                                     aligned large pages (of SIZE; yes: of the size\n"
"                                     in --pages=, else 2M), in the out-file [no]\n"
"    --fast-path=no|yes               answer known hits without the simulator;\n"
"                                     the counts are the same [yes]\n");
}

void tg_options_print_debug_usage(void)
{
   VG_(printf)(
"    --as-cachegrind=no|yes           count as cachegrind does, to compare the\n"
"                                     two: at most one miss for a reference that\n"
"                                     crosses a page, both of its pages looked up\n"
"                                     in the second level if one misses the first,\n"
"                                     guarded helpers always performed, and code\n"
"                                     translated with cachegrind's settings; implies\n"
"                                     --fast-path=no and --native-start=no [no]\n"
"    --was=EXECS,MISSING,INSTRUCTIONS,FOLDER  what the process was before it became\n"
"                                     this program; the tool tells it itself\n"
"    --list-conflicts                 list arguments that exclude each other, two on a\n"
"                                     line, and end\n"
"    --trace-aspace=no|yes            print what happens to the client's mappings\n"
"                                     [no]\n"
"    --debug-check=no|yes             check the simulator's data again and again, and\n"
"                                     end with a message if they disagree [no]\n");
}
