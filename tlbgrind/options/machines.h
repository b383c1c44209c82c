/* Makes the machines that a run simulates, by name, file or CPUID. */

#ifndef TG_MACHINES_H
#define TG_MACHINES_H

#include "pub_tool_basics.h"
#include "pub_tool_xarray.h"

#include "sim/machine/machine.h"
#include "sim/mmu/mmu.h"
#include "sim/pages/pagerules.h"
#include "options/kernel_policy.h"

typedef struct {
   const HChar* given;  /* by the user: NAME or FILE, :OVERRIDES and @RULES */
   const HChar* own_name; /* without overrides */
   Bool changed;        /* it has overrides */
   const HChar* file;   /* NULL, or FILE: a machine file or a dump */
   const HChar* name;   /* these two: see options/machine_names.h */
   const HChar* label;  /* the suffix of its out-file */
   tlb_machine m;
   tlb_page_policy pages; /* the page sizes that back its memory */
   TgKernelPolicy kernel;
   Bool shared;           /* system calls or context switches drive out translations */
   ULong cycles;        /* of the program without Valgrind, from --cycles=; 0: not given */
   XArray* assumptions; /* HChar*: texts about unknown properties and their assumed values */
   Word n_own;          /* the first so many are the machine's; the others, the options' */
} TgMachine;

/* Makes the machine "NAME[:OVERRIDES][@RULES]". The options for single arrays change it, too. Of
   the rules some are for what the kernel does; the others, for page sizes, come after those in
   `pages`, which hold for all machines. `base_shift`: the base page; 0: the machine's own. Returns
   False if there is no such machine, with the reason, and with what that is about in `where`,
   "FILE:LINE: " or the overrides to blame, or "". */
Bool tg_machine_by_name(const HChar* name, UInt base_shift,
                        const tlb_page_policy* pages, TgMachine* out,
                        const HChar** where, tlb_reason* why);

/* The machine as an argument for sim/mmu. */
tlb_mmu_machine tg_mmu_machine(const TgMachine* machine);

/* Prints the machines that are built in, those with the pattern (NULL: all), on the standard
   output. False: there is none, with the reason. */
Bool tg_machine_print_list(const HChar* pattern, tlb_reason* why);

/* See tlb_machine_default(). */
void tg_machine_default(TgMachine* m, UInt page_shift);

/* Makes a machine without arrays; adds an array. */
void tg_machine_begin(TgMachine* m, const HChar* name, UInt page_shift);
void tg_machine_add(TgMachine* m, const HChar* name, UInt level, UInt users,
                    const tlb_geometry* g);

/* Adds an assumption for the summary and the out-file. */
void tg_machine_assume(TgMachine* m, const HChar* format, ...)
   PRINTF_CHECK(2, 3);

#endif
