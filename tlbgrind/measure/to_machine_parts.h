/* Parts of a machine that is made of facts: to_machine.c has the head and the order,
   machine_arrays.c the arrays, machine_walk.c the walk and the caches. */

#ifndef TG_MEASURE_TO_MACHINE_PARTS_H
#define TG_MEASURE_TO_MACHINE_PARTS_H

#include "measure/facts.h"

/* A number of cycles, entries or bytes, from a figure. */
uint32_t tg_whole_number(double value, uint32_t least, uint32_t most);

/* Adds the arrays of all kinds of reference; 0: too little is told. */
int tg_machine_add_arrays(tlb_machine *m, const TgFacts *f, const tlb_machine *known,
                          tlb_reason *why);

/* Adds what a walk costs, its steps and the caches. */
void tg_machine_add_walk(tlb_machine *m, const TgFacts *f, const tlb_machine *known);

#endif
