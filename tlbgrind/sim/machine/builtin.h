/* The machine files that the library has inside.

   They are the texts of tlbgrind/machines/, which the build puts into a C file.

   Part of the simulator: plain C11, no libc, no Valgrind. */

#ifndef TLB_BUILTIN_H
#define TLB_BUILTIN_H

#include "sim/base/api.h"
#include "sim/machine/geometry.h"

TLB_API_BEGIN

typedef struct {
   const char *name; /* what --machine= takes */
   const char *text; /* a machine file, see machine_file.h */
   size_t length;    /* bytes of it */
} tlb_builtin;

/* How many there are, and number i of them, in the order of their names; NULL: there are
   no more. */
unsigned tlb_n_builtins(void);
const tlb_builtin *tlb_builtin_at(unsigned i);

/* The machine of this name, or NULL. */
const tlb_builtin *tlb_builtin_machine(const char *name);

/* Why a name was refused, with the names that are close to it. Capitals and
   separators do not count: "Zen_4" is close to zen4. */
void tlb_builtin_refuse(const char *name, tlb_reason *why);

TLB_API_END

#endif
