/* A machine in words, as out-files have it: its arrays, and what misses cost.

   Part of the simulator: plain C11, no libc, no Valgrind. */

#ifndef TLB_DESCRIPTION_H
#define TLB_DESCRIPTION_H

#include <stdint.h>

#include "sim/machine/machine.h"

/* Gets a line, without its end. */
typedef void tlb_each_line(const char *line, void *opaque);

/* Every array of the machine, such as "level 1, data, 64 entries, 4-way, 16 sets, pages 4K,
   lru". */
void tlb_describe_arrays(const tlb_machine *m, tlb_each_line *each, void *opaque);

/* What the misses of a run have cost. */
typedef struct {
   uint64_t least, most;  /* cycles */
   uint64_t instructions;
   uint64_t cycles;       /* of the program; 0: they are not known */
   int nested;            /* walks need those of a host's tables */
} tlb_run_cost;

/* What the machine says of cycles, as far as it says anything, such as "Walk cycles: 20..35"; then
   what the run has. */
void tlb_describe_cost(const tlb_machine *m, const tlb_run_cost *run, tlb_each_line *each,
                       void *opaque);

#endif
