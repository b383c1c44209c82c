/* Cases for sim/mmu: some machines, and what happens to them, as text and played against the
   naive model.

   As text, a case is lines; numbers are decimal, or hexadecimal behind 0x:
      case PAGE-SHIFT NESTED EXHAUSTIVE MAPPED LINES [COPIES BEHIND [SIBLINGS]]
                            MAPPED: what backs pages is in a page map, else it is told by `back`;
                            LINES: 0, or the number of lines that references are counted for in
                            turn, by the caller; SIBLINGS: hardware threads of a core
      machine ASKS VIEW THP RULES POOLS [FLUSH N [SHARED [PREFETCH]]]
                            as in sim/mmu/mmu.h; THP: the kernel's mode; RULES and POOLS: as for
                            --pages= and --huge-pool=, or -; FLUSH N: the policy for flushes, none
                            is 0 0; SHARED: others use it, too; PREFETCH: 0 ignored, 1 weak,
                            2 strong. Behind it, a machine file
      fetch|load|store ADDRESS SIZE
      back VIEW START END PAGE-SHIFT BLOCK-SHIFT
      map START END KIND PROT FLAGS HUGE-SHIFT
      unmap|zap|collapse START END
      protect START END PROT
      flag START END SET CLEAR
      split START END ALL
      move FROM TO LENGTH
      ask
      flush START END       both 0: the whole address space
      prefetch ADDRESS PRESENT
      empty MACHINES        bit i: machine i, if it is SHARED; here and below
      others MACHINES USER N  their base page number N
      uncounted MACHINES USER ADDRESS
      core N                what follows is of core N, below 4
      coreends N
      end
   Part of tlbgrind.  GPL-2.0-or-later; see COPYING. */

#ifndef MMU_CASE_H
#define MMU_CASE_H

#include <stdbool.h>
#include <stdio.h>

#include "sim/machine/machine.h"
#include "sim/mmu/mmu.h"

enum {
   CASE_MACHINES = 24,
   CASE_EVENTS = 1000,
   CASE_LINES = 4,
   CASE_CORES = 4,
   CASE_SPACES = 5, CASE_ADDRESS_BITS = 48,
   CASE_NUMBERS = 6,
   CASE_RULES = 80
};

typedef enum {
   CASE_FETCH, CASE_LOAD, CASE_STORE, CASE_BACK, CASE_MAP, CASE_UNMAP, CASE_PROTECT, CASE_FLAG,
   CASE_ZAP, CASE_SPLIT, CASE_MOVE, CASE_COLLAPSE, CASE_ASK, CASE_FLUSH,
   CASE_PREFETCH, CASE_EMPTY, CASE_OTHERS, CASE_UNCOUNTED,
   CASE_CORE, CASE_CORE_ENDS,
   CASE_WHATS
} case_what;

typedef struct {
   case_what what;
   uint64_t n[CASE_NUMBERS]; /* as they follow in the text */
} case_event;

typedef struct {
   tlb_machine m;
   bool asks;
   unsigned view, thp;
   tlb_flush_policy flush;
   bool shared;
   tlb_prefetch_policy prefetch;
   char rules[CASE_RULES], pools[CASE_RULES]; /* empty: none */
} case_machine;

typedef struct {
   unsigned page_shift;
   bool nested, exhaustive, mapped;
   unsigned lines;
   unsigned spaces, siblings; /* several: the upper bits of an address are a space's number */
   unsigned n_views; /* random cases tell what backs pages of views below it */
   unsigned n_machines;
   case_machine machine[CASE_MACHINES];
   unsigned n_events;
   case_event event[CASE_EVENTS];
} mmu_case;

typedef struct {
   char text[400];
} case_wrong;

/* The naive model is given other machines than the simulator: the first array of each is FIFO.
   For a test of the comparison. */
extern bool case_spoilt;

/* Has the simulator and the naive model do all that happens, and compares their counts and
   checks the simulator's data behind every so many events. Returns whether all was right; if
   not, *wrong is what was not, and *at the number of events until then. */
bool case_play(const mmu_case *c, unsigned every, case_wrong *wrong, unsigned *at);

/* Prints what the naive model counts: a line for each machine and kind of reference. */
void case_print_counts(const mmu_case *c, FILE *out);

void case_print(const mmu_case *c, FILE *out);

/* Returns whether there was another case; what is no case ends the program. */
bool case_read(mmu_case *c, FILE *in);

#endif
