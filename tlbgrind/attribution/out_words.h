/* Lines of out-files that the tool and tg_simulate both write, as formats: one place
   for their words.

   Plain C, without Valgrind: tg_simulate uses it, too. */

#ifndef TG_OUT_WORDS_H
#define TG_OUT_WORDS_H

#define TG_OUT_MACHINE        "desc: Machine: "
#define TG_OUT_MACHINE_NUMBER "desc: Machine number: "
#define TG_OUT_MACHINE_FILE   "desc: Machine file: "
#define TG_OUT_PAGE_SIZE      "desc: Page size: %llu\n"
#define TG_OUT_ARRAY          "desc: Array: %s\n"
#define TG_OUT_ASSUMPTION     "desc: Assumption: %s\n"
#define TG_OUT_FLUSHES        "desc: Flushes: "
#define TG_OUT_PREFETCHES     "desc: Prefetches: "
#define TG_OUT_SYSCALLS       "desc: System calls: "
#define TG_OUT_SWITCHES       "desc: Context switches: "
#define TG_OUT_SECOND_MISSES  "desc: Second misses:"
#define TG_OUT_EVENT          "event: %s : %s\n"
/* A formula: readers that support formulas show the sum as an event. */
#define TG_OUT_WALKS          "event: walks = ILtm + DLtmr + DLtmw : Page walks\n"

/* Phases, and threads that are counted apart: in the names of their files, and in descriptions. */
#define TG_OUT_PHASE          "phase"
#define TG_OUT_EACH_PHASE     "Phase"
#define TG_OUT_PHASE_FILE     "Phase file"
#define TG_OUT_OF_PHASE       "Of phase"
#define TG_OUT_THREAD         "thread"
#define TG_OUT_EACH_THREAD    "Separate thread"
#define TG_OUT_THREAD_FILE    "Thread file"
#define TG_OUT_OF_THREAD      "Of thread"

#endif
