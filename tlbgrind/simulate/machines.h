/* The machines of a simulation: loaded, named, and held against the recording's strength.
   Part of tlbgrind.  GPL-2.0-or-later; see COPYING. */

#ifndef TG_SIMULATE_MACHINES_H
#define TG_SIMULATE_MACHINES_H

#include <stdbool.h>

#include "sim/machine/machine.h"
#include "sim/mmu/interruptions.h"
#include "sim/record/strength.h"
#include "simulate/pages.h"

typedef struct {
   const char *given; /* by the user */
   const char *file;  /* NULL, or the name of the file that it is from */
   char *name;        /* in out-files: as tlbgrind names the machines of a run */
   char *label;       /* behind the name of its out-file */
   tlb_machine m;
   unsigned n_base_notes; /* what its base pages in the run assume */
   tlb_reason base_note[TLB_MOST_BASE_NOTES];
   uint64_t cycles; /* of the program on the real machine; 0: not given */
   tlb_page_policy pages;
   TgPageNotes notes;
   tlb_flush_policy flush;
   tlb_syscalls syscalls;
   tlb_prefetch_policy prefetch;
} TgSimulated;

typedef struct {
   unsigned n;
   TgSimulated *machine;
   tlb_switches switches; /* of all machines */
   unsigned group; /* with --advice=: so many are a machine and its variants, itself the first;
                      0: without */
} TgSimulatedList;

/* What the kernel, and prefetches, do to machines that do not tell themselves. */
typedef struct {
   const char *flush; /* of --flush-policy=; NULL: it is not given */
   tlb_syscalls syscalls;
   tlb_prefetch_policy prefetch;
} TgSimulatedKernel;

/* Loads the machines of a list as --machine= takes it, with that policy for their pages; `advice`:
   what --advice= takes, which sets their variants behind each (NULL: it is not given). What is
   wrong ends the program. */
TgSimulatedList tg_simulated_load(const char *list, const char *advice,
                                  const TgSimulatedPages *pages, const TgSimulatedKernel *kernel);

/* What the program asks the kernel for: transparent huge pages, and pages of these sizes. */
typedef struct {
   bool thp;
   uint64_t sizes;
} TgAsked;

/* Ends the program if the recording is not made for one of the machines, and says for which it
   would have to be. */
void tg_simulated_check(const TgSimulatedList *list, const tlb_strength *s, const TgAsked *asked,
                        const char *recording);

/* The base pages of a trace have 2^`told` bytes, 0: it does not tell. Gives the machines these, and
   takes --pages= (NULL: not given). *page_shift is the size to count references by, *backing that
   of all pages. `is_told`: which pages lie side by side is known. What can not be ends the
   program. */
void tg_simulated_take_pages(TgSimulatedList *list, unsigned told, const char *pages, bool is_told,
                             unsigned *page_shift, unsigned *backing);

#endif
