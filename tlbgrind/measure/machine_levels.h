/* The levels of a machine as one kind of reference to pages of one size meets them. */

#ifndef TG_MEASURE_MACHINE_LEVELS_H
#define TG_MEASURE_MACHINE_LEVELS_H

#include "measure/curve.h"
#include "sim/machine/machine.h"

typedef struct {
   uint32_t pages;        /* that fit, of all arrays of the level together */
   int entries_unknown;
   uint32_t ways;         /* 0: there are several arrays */
   int ways_unknown;
   int full;
   uint32_t index_xor;
   uint32_t most, least;  /* cycles of a hit; `most` TLB_UNKNOWN: unknown */
   int cycles_unknown;    /* assumed */
   uint32_t overlap;      /* tenths, 0: unknown */
   int with_fetches;      /* it serves fetches and loads */
} TgMachineLevel;

/* Returns how many, nearest first. */
unsigned tg_machine_levels(const tlb_machine *m, TgAsk ask, unsigned page_shift,
                           TgMachineLevel out[TLB_MAX_LEVELS]);

#endif
