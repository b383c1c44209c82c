/* Makes the machines that a run simulates, by name, file or CPUID. */

#ifndef TG_MACHINES_H
#define TG_MACHINES_H

#include "pub_tool_basics.h"

#include "sim/tlb/base_pages.h"

#include "options/machine_builder.h"

/* Makes the machine "NAME[:OVERRIDES][@RULES]". The options for single arrays change it, too. Of
   the rules some are for what the kernel does; the others, for page sizes, come after those in
   `pages`, which hold for all machines. `base_shift`: the base page; 0: the machine's own. Returns
   False if there is no such machine, with the reason, and with what that is about in `where`,
   "FILE:LINE: " or the overrides to blame, or "". */
Bool tg_machine_by_name(const HChar* name, UInt base_shift,
                        const tlb_page_policy* pages, TgMachine* out,
                        const HChar** where, tlb_reason* why);

/* The base pages that machines do not choose themselves: those given (`base_shift`; 0: none are),
   or, on processors whose kernels can have others, those of the kernel at hand, as the program's
   mappings have. */
tlb_base_pages tg_machine_base_pages(UInt base_shift);

/* The machine as an argument for sim/mmu. */
tlb_mmu_machine tg_mmu_machine(const TgMachine* machine);

/* Prints the machines that are built in, those with the pattern (NULL: all), on the standard
   output. False: there is none, with the reason. */
Bool tg_machine_print_list(const HChar* pattern, tlb_reason* why);

#endif
