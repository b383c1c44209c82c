/* Makes the machines that a run simulates, by name, file or CPUID. */

#ifndef TG_MACHINES_H
#define TG_MACHINES_H

#include "pub_tool_basics.h"
#include "pub_tool_xarray.h"

#include "sim/machine/machine.h"
#include "sim/mmu/mmu.h"
#include "sim/pages/pagerules.h"

typedef struct {
   const HChar* given;  /* by the user: NAME or FILE, and @RULES */
   const HChar* file;   /* NULL, or FILE: a machine file or a dump */
   const HChar* name;   /* these two: see options/machine_names.h */
   const HChar* label;  /* behind the name of its out-file */
   tlb_machine m;
   tlb_page_policy pages; /* which pages back which memory */
   XArray* assumptions; /* HChar*: what is not known and what is taken */
} TgMachine;

/* The machine "NAME" or "NAME@RULES", with rules for page sizes that come after
   those of the run. `base_shift`: the base page of the run, 0 if the machine's
   own is to be taken. Returns False with the reason if there is none, and with
   "FILE:LINE: " in `where`, or "" if it is not about a file. */
Bool tg_machine_by_name(const HChar* name, UInt base_shift,
                        const tlb_page_policy* pages, TgMachine* out,
                        const HChar** where, tlb_reason* why);

/* The machine as sim/mmu has it. */
tlb_mmu_machine tg_mmu_machine(const TgMachine* machine);

/* Prints the machines that are built in on the standard output. */
void tg_machine_print_list(void);

/* See tlb_machine_default(). */
void tg_machine_default(TgMachine* m, UInt page_shift);

/* A machine without arrays, and one array more. */
void tg_machine_begin(TgMachine* m, const HChar* name, UInt page_shift);
void tg_machine_add(TgMachine* m, const HChar* name, UInt level, UInt users,
                    const tlb_geometry* g);

/* Notes an assumption, for the summary and the out-file. */
void tg_machine_assume(TgMachine* m, const HChar* format, ...)
   PRINTF_CHECK(2, 3);

#endif
