/* The table of all options. See options/option_table.h. */

#include "pub_tool_basics.h"

#include "pub_tool_libcbase.h"

#include "options/lists.h"
#include "options/mapping_pages.h"
#include "options/option_table.h"
#include "options/text_options.h"

#define KEPT .kind = TG_KEPT
#define YES_NO(at, first) \
   .kind = TG_YES_NO, .member = offsetof(TgOptions, at), .initial = first
#define NUMBER(at, first, from, to) \
   .kind = TG_NUMBER, .member = offsetof(TgOptions, at), .initial = first, .least = from, \
   .most = to
#define TAKEN(function) .kind = TG_TAKEN, .take = function
#define LAUNCHER .kind = TG_LAUNCHER
#define DEBUGGING .is_for_debugging = True
#define EVERYDAY .is_everyday = True
#define SUBJECT(text) .subject = text

static const TgOption options[] = {
   { "--machine", "=NAME|FILE[,...]",
     "which processors' TLBs to simulate: names of\n"
     "--list-machines, host, default, machine\n"
     "files, dumps of `cpuid -r' or AIDA64, or\n"
     "/proc/cpuinfo; NAME@RULES: with its own\n"
     "--pages, joined by + [host];\n"
     "NAME:ARRAY.LINE=VALUE,...: with other lines in\n"
     "its file, as skylake:stlb.entries=2048; FROM..TO:\n"
     "a machine for each value, each twice the last",
     KEPT, SUBJECT("Which processor"), EVERYDAY },
   { "--advice", "=yes|SIZE[,...]",
     "each machine, and again with each kind of memory\n"
     "in pages of each SIZE (yes: 64K and 2M), and\n"
     "other memory of the list: libm.so*,\n"
     "text=libm.so*; for tg_annotate --advice [none]",
     KEPT, EVERYDAY },
   { "--list-machines", "[=PATTERN]",
     "list those that are built in, or those with\n"
     "PATTERN in name, title, products or ISA; run\n"
     "nothing",
     TAKEN(tg_lists_take_machines), EVERYDAY },
   { "--show-machine", "=NAME|FILE",
     "print one as a machine file, run nothing (both\n"
     "stand alone behind the command tlbgrind)",
     LAUNCHER },
   { "--help-all", "",
     "all options by subject, and those of Valgrind's\n"
     "core (behind the command tlbgrind)",
     LAUNCHER },
   { "--itlb", "=ENTRIES,WAYS[,SIZES[,POLICY]]",
     "first-level instruction TLB",
     KEPT },
   { "--dtlb", "=ENTRIES,WAYS[,SIZES[,POLICY]]",
     "first-level data TLB",
     KEPT },
   { "--stlb", "=ENTRIES,WAYS[,SIZES[,POLICY]]",
     "second-level TLB of both sides; beside\n"
     "--machine, each replaces that of each machine\n"
     "WAYS: a number or full; SIZES: such as\n"
     "4K or 4K+2M [the base page]; POLICY: lru,\n"
     "plru, fifo, nru, (mru+1)%3-plru4,\n"
     "random[:SEED] [lru]",
     KEPT },
   { "--page-size", "=SIZE",
     "the base page, 4K to 1G [the machine's own]",
     KEPT, SUBJECT("Pages and memory") },
   { "--thp", "=never|madvise|always",
     "transparent huge pages, of TLBs and page faults:\n"
     "none, what the program asks for, all anonymous\n"
     "memory [the host's]",
     KEPT },
   { "--pages", "=WHAT:SIZE[,...]",
     "which pages back which memory; WHAT: all,\n"
     "anon, heap, stack, text, data, file or a\n"
     "pattern for the mapped file's name; SIZE:\n"
     "4K to 16G, thp or contig; later rules\n"
     "override earlier ones [the base page, and\n"
     "what the program asks for; on arm64 text in\n"
     "blocks of 64K, as its kernel maps it]",
     KEPT, EVERYDAY },
   { "--huge-pool", "=SIZE:PAGES[,...]",
     "how many large pages of a size there are\n"
     "[as many as are wanted]",
     KEPT },
   { "--hugetlb", "=real|fake",
     "fake: let calls that ask for huge pages\n"
     "succeed where the host has none [real]",
     KEPT },
   { "--native-start", "=yes|no",
     "let the program start, and its memory lie, as\n"
     "without Valgrind: no preloaded objects, stack,\n"
     "heap and mappings as they would be [yes]",
     YES_NO(native, True) },
   { "--flush-policy", "=POLICY[,...]",
     "which translations munmap, mprotect, fork and so on\n"
     "throw away: none, linux (few pages one by one,\n"
     "many by a flush of everything), ceiling:PAGES,\n"
     "shift:N (up to entries >> N pages one by one)\n"
     "or all; of several, each machine with each [none]",
     KEPT, SUBJECT("What empties TLBs, cores, prefetches") },
   { "--syscall-tlb", "=WHAT[,...]",
     "what each system call does to the TLBs: none,\n"
     "flush, or kernel:PAGES (of code and of data that\n"
     "the kernel refers to, and the program's buffers);\n"
     "of several, each machine with each [none]",
     KEPT },
   { "--switch-every", "=INSTRUCTIONS[:PAGES]",
     "context switches: everything is flushed, or\n"
     "another process refers to so many pages of code\n"
     "and of data [none]",
     KEPT },
   { "--cores", "=shared|per-thread|N[:THREADS]",
     "which cores' TLBs the threads use: one for\n"
     "all, each its own, or so many, in turn, and of\n"
     "each core so many hardware threads, which share\n"
     "or divide its arrays [per-thread]",
     KEPT },
   { "--copies", "=N[:REFERENCES]",
     "N copies of the program share a core, each with an\n"
     "address space of its own, so many references\n"
     "behind the one before it [1]",
     KEPT },
   { "--shared-context", "=no|yes",
     "what copies have mapped from files is the same to\n"
     "the TLBs [no]",
     YES_NO(kernel.shared_context, False) },
   { "--prefetch", "=ignore|weak|strong[,...]",
     "what prefetch instructions do: nothing; weak:\n"
     "fill what some TLB has, and are dropped else;\n"
     "strong: fill as loads do; of several, each\n"
     "machine with each [ignore]",
     KEPT },
   { "--nested", "=no|yes",
     "in a virtual machine: walks of the host's\n"
     "tables, too [no]",
     YES_NO(nested, False), SUBJECT("What misses cost") },
   { "--miss-cost", "=CYCLES",
     "what a page walk costs [the machine's own]",
     KEPT },
   { "--cycles", "=NUMBER|MACHINE:NUMBER[,...]",
     "cycles of the program on the real machine,\n"
     "for the share that misses have in them [1 to 2\n"
     "instructions per cycle are assumed]",
     KEPT, EVERYDAY },
   { "--merge-code", "=PATTERN[,...]",
     "simulate the code of the objects that match as if it lay in\n"
     "one mapping [none]",
     TAKEN(tg_text_options_take_merge_code), SUBJECT("Code") },
   { "--faults", "=no|yes",
     "record page faults in order [no, or yes if\n"
     "an option says how: --faults-*, --fault-around,\n"
     "--read-ahead, --mthp, --kernel]",
     YES_NO(faults.on, False), SUBJECT("Page faults"), EVERYDAY },
   { "--faults-out-file", "=FILE",
     "where to [tlbgrind.faults.%p]",
     KEPT },
   { "--faults-used", "=no|yes",
     "and how many bytes of each page are used [no]",
     YES_NO(faults.used, False) },
   { "--faults-touches", "=no|yes",
     "and which work touches each page first, for\n"
     "tg_faults --what-if [no]",
     YES_NO(faults.touches, False) },
   { "--faults-stacks", "=NUMBER",
     "and so many callers of the code that takes each\n"
     "fault, 1 to 100; implies --calls=yes [none]",
     NUMBER(faults.stacks, 0, 1, TG_MAX_FAULT_FRAMES) },
   { "--faults-hidden", "=no|yes",
     "list what Valgrind itself brings, too [no]",
     YES_NO(faults.lists_hidden, False) },
   { "--fault-around", "=SIZE|off",
     "what a read fault of a file maps at most\n"
     "[the host's, or 64K]",
     KEPT },
   { "--read-ahead", "=SIZE|off",
     "what a major fault reads [128K]",
     KEPT },
   { "--mthp", "=none|SIZE[@madvise][,...]",
     "sizes of anonymous folios [the host's]",
     KEPT },
   { "--kernel", "=6.1|6.12|6.16|6.17|6.18|7.2|host",
     "the version of Linux whose read-ahead and fault-around\n"
     "of files are simulated, and on arm64 how it maps\n"
     "code [host]",
     KEPT },
   { "--instr-at-start", "=yes|no",
     "no: simulate nothing until TLBGRIND_START of\n"
     "tlbgrind.h, or `vgdb start' [yes]",
     YES_NO(region.instr_at_start, True), SUBJECT("A part of the run, or its progress") },
   { "--toggle-collect", "=FUNCTION",
     "count only what FUNCTION does, and what it calls; * and ?\n"
     "stand for any characters; may be given several times",
     KEPT, EVERYDAY },
   { "--progress", "=SECONDS",
     "print instructions and misses so far, and per\n"
     "second, every so many seconds [0: never]",
     NUMBER(region.progress, 0, 0, 1000000) },
   { "--out-prefix", "=PREFIX",
     "all files of the run: PREFIX.out, PREFIX.faults,\n"
     "PREFIX.data and so on; PREFIX may end with /, and\n"
     "have %p in it; the command tlbgrind takes\n"
     "-o PREFIX, too [tlbgrind.out.%p and so on]",
     KEPT, SUBJECT("Files"), EVERYDAY },
   { "--tlbgrind-out-file", "=FILE",
     "write costs to FILE [tlbgrind.out.%p]",
     KEPT },
   { "--dump-instr", "=no|yes",
     "costs by instruction, too; code without symbols is\n"
     "named by its functions' addresses [no]",
     YES_NO(dump_instr, False), EVERYDAY },
   { "--calls", "=no|yes",
     "write the call graph with inclusive costs into\n"
     "the out-file, as callgrind does [no]",
     YES_NO(calls, False), EVERYDAY },
   { "--reach", "=no|yes",
     "what fully associative TLBs of 8 to 8192\n"
     "entries would miss, with pages of 4K, 64K\n"
     "and 2M [no]",
     YES_NO(reach, False) },
   { "--reach-out-file", "=FILE",
     "where to [tlbgrind.reach.%p]",
     KEPT },
   { "--record", "=FILE",
     "record the run, so that tg_simulate can simulate\n"
     "other machines later; implies --cores=shared\n"
     "[none]",
     KEPT, EVERYDAY },
   { "--record-for", "=NAME|FILE|reach[,...]",
     "which machines the recording has to be good for,\n"
     "and all with first levels no smaller; reach: for\n"
     "tg_simulate --reach=yes [those of the run,\n"
     "skylake, zen4 and neoverse-n1]",
     KEPT },
   { "--jobs", "=NUMBER",
     "simulate the machines in so many processes beside\n"
     "the program's, 1 to 256; implies --cores=shared\n"
     "[none: the tool itself does]",
     NUMBER(jobs, 0, 1, 256) },
   { "--record-pages", "=none|SIZE[,...]",
     "which large pages it has to be good for [2M,\n"
     "or what are huge pages of the base page, and the\n"
     "sizes in the run's rules]",
     KEPT },
   { "--timeline", "=no|yes",
     "misses, page faults and pages in use over the\n"
     "run's instructions [no]",
     YES_NO(timeline, False), EVERYDAY },
   { "--timeline-out-file", "=FILE",
     "where to [tlbgrind.timeline.%p]",
     KEPT },
   { "--entries", "=no|yes|data",
     "record which code is executed, in order of\n"
     "its first execution, for tg_order; data:\n"
     "and which data is written (slow) [no]",
     TAKEN(tg_text_options_take_entries), EVERYDAY },
   { "--entries-out-file", "=FILE",
     "where to [tlbgrind.entries.%p]",
     KEPT },
   { "--data", "=no|yes",
     "by which data, too: heap blocks by call stack,\n"
     "variables, stacks, mappings [no]",
     YES_NO(data, False), SUBJECT("Data and mappings, threads"), EVERYDAY },
   { "--data-frames", "=NUMBER",
     "functions in call stacks, 1 to 64 [8]",
     NUMBER(data_frames, 8, 1, 64) },
   { "--data-offsets", "=no|yes",
     "and by offset within records: blocks, variables\n"
     "of up to 4K, elements of calloc [no]",
     YES_NO(data_offsets, False) },
   { "--data-stride", "=NAME:BYTES[,...]",
     "the size of the records that the function NAME\n"
     "allocates, or of the variable or named\n"
     "memory NAME; implies --data-offsets=yes",
     TAKEN(tg_text_options_take_data_stride) },
   { "--data-out-file", "=FILE",
     "where to [tlbgrind.data.%p]",
     KEPT },
   { "--separate-threads", "=no|yes",
     "an out-file for each thread, too, thread_N_of_NAME\n"
     "[no]",
     YES_NO(separate_threads, False) },
   { "--mappings", "=no|yes|SIZE",
     "by mapping, too, and what lies outside of its\n"
     "aligned large pages (of SIZE; yes: of the size\n"
     "in --pages=, else 2M), in the out-file [no]",
     TAKEN(tg_large_pages_take) },
   { "--fast-path", "=no|yes",
     "answer known hits without the simulator;\n"
     "the counts are the same [yes]",
     YES_NO(fast_path, True), SUBJECT("For checks") },
   { "--as-cachegrind", "=no|yes",
     "count as cachegrind does, to compare the\n"
     "two: at most one miss for a reference that\n"
     "crosses a page, both of its pages looked up\n"
     "in the second level if one misses the first,\n"
     "guarded helpers always performed, and code\n"
     "translated with cachegrind's settings; implies\n"
     "--fast-path=no and --native-start=no [no]",
     YES_NO(as_cachegrind, False), DEBUGGING },
   { "--was", "=EXECS,MISSING,INSTRUCTIONS,FOLDER",
     "what the process was before it became\n"
     "this program; the tool tells it itself",
     KEPT, DEBUGGING },
   { "--list-conflicts", "",
     "list arguments that exclude each other, two on a\n"
     "line, and end",
     TAKEN(tg_lists_take_conflicts), DEBUGGING },
   { "--list-implied", "",
     "list switches, each with an argument that implies\n"
     "it, two on a line, and end",
     TAKEN(tg_lists_take_implied), DEBUGGING },
   { "--trace-aspace", "=no|yes",
     "print what happens to the client's mappings\n"
     "[no]",
     YES_NO(trace_aspace, False), DEBUGGING },
   { "--debug-check", "=no|yes",
     "check the simulator's data again and again, and\n"
     "end with a message if they disagree [no]",
     YES_NO(debug_check, False), DEBUGGING },
};

enum { N_OPTIONS = sizeof options / sizeof options[0] };

const TgOption* tg_option(UInt nth)
{
   return nth < N_OPTIONS ? &options[nth] : NULL;
}

const TgOption* tg_option_of(const HChar* arg)
{
   for (UInt i = 0; i < N_OPTIONS; i++) {
      const TgOption* o = &options[i];
      const SizeT n = VG_(strlen)(o->name);
      if (VG_(strncmp)(arg, o->name, n) != 0 || (arg[n] != '=' && arg[n] != '\0'))
         continue;
      const Bool may_be_missing = o->values[0] != '=', may_be_there = o->values[0] != '\0';
      return o->kind != TG_LAUNCHER && (arg[n] == '=' ? may_be_there : may_be_missing) ? o : NULL;
   }
   return NULL;
}
