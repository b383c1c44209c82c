/* Page sizes of a simulation: the policy of all machines, and what a machine makes of it.
   Part of tlbgrind.  GPL-2.0-or-later; see COPYING. */

#ifndef TG_SIMULATE_PAGES_H
#define TG_SIMULATE_PAGES_H

#include <stdbool.h>

#include "sim/machine/machine.h"
#include "sim/pages/code_blocks.h"
#include "sim/pages/pagerules.h"
#include "sim/pages/rule_notes.h"
#include "sim/tlb/base_pages.h"
#include "simulate/options.h"

typedef struct {
   tlb_page_policy policy;
   bool thp_is_given; /* by an option: --thp=, or a rule for all memory */
   tlb_code_blocks code; /* of the run's kernel */
   tlb_base_pages base;  /* of the run's machines */
} TgSimulatedPages;

/* The policy of the options, over base pages of that size; `recorded`: the mode of transparent huge
   pages in the run, and how it maps code. What is wrong ends the program. */
TgSimulatedPages tg_simulated_pages(const TgSimulateOptions *o, unsigned base_page_shift,
                                    tlb_thp_mode recorded, const tlb_code_blocks *code);

/* Reads the name of a mode. */
bool tg_thp_mode(const char *text, size_t n, tlb_thp_mode *out);

enum { TG_MOST_NOTES = 2 * TLB_MAX_PAGE_RULES + 2 };

typedef struct {
   unsigned n;
   char text[TG_MOST_NOTES][TLB_RULE_NOTE_SIZE];
} TgPageNotes;

/* The policy as the kernel has it on that machine: all machines' with the machine's own rules
   behind it (NULL: it has none), which are joined by +; and what has to be said of it. `given`:
   what the user has called the machine; `is_known`: it is a processor as it is. */
tlb_page_policy tg_machines_pages(const TgSimulatedPages *all, const tlb_machine *m,
                                  const char *given, const char *rules, bool is_known, bool is_file,
                                  TgPageNotes *notes);

#endif
