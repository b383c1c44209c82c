/* Options about what the kernel, and prefetch instructions, do to the TLBs.

   --flush-policy=, --syscall-tlb=, --prefetch=, and --switch-every=. The first three can have
   several values: then each machine is simulated with each of them, as NAME@flush:VALUE,
   NAME@syscall:VALUE and NAME@prefetch:VALUE. */

#ifndef TG_KERNEL_OPTIONS_H
#define TG_KERNEL_OPTIONS_H

#include "pub_tool_basics.h"

#include "options/machines.h"

/* All threads on one core; each on one of its own. */
#define TG_CORES_SHARED 0u
#define TG_CORE_PER_THREAD (~0u)

typedef struct {
   Bool flushes;       /* some machine has a policy for flushes: faults/flushes.h */
   Bool syscalls;      /* system calls drive something out of some machine */
   Bool touches;       /* of some machine the program's data by referring to it */
   UInt cores;         /* that threads run on, in turn; or one of the numbers above */
   UInt siblings;      /* hardware threads of each core */
   UInt copies;        /* of the program on one core; 1: itself alone */
   UInt copies_behind; /* references between one and the next */
   uint64_t space_step; /* tlb_spaces_step() of all machines, if there are several */
   Bool shared_context; /* what is mapped from files is the same to all of them */
   tlb_switches switches; /* context switches */
   Bool prefetches;    /* some machine does not ignore them */
} TgKernelOptions;

/* Parses the options. Returns NULL, or the invalid argument, with the reason. */
const HChar* tg_kernel_options_parse(TgKernelOptions* out, tlb_reason* why);

/* Each of the machines NAME,... with each of several values; NULL: there are not several. To be
   freed. */
HChar* tg_kernel_options_machines(const HChar* names);

/* Gives the machines what they have no policy of their own for, and notes in `out` what there
   is. */
void tg_kernel_options_apply(TgMachine* machine, UInt n_machines, TgKernelOptions* out);

/* The argument that asks for flushes, for the kernel's references, or for several values of one. */
const HChar* tg_kernel_options_arg(void);

#endif
