/* A simulated machine, and how one is put together by hand. */

#ifndef TG_MACHINE_BUILDER_H
#define TG_MACHINE_BUILDER_H

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
   const HChar* measured; /* NULL, or what became of the user's file about the host */
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
