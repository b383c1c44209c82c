/* What tg_simulate is asked for, which all of its processes share.
   Part of tlbgrind.  GPL-2.0-or-later; see COPYING. */

#ifndef TG_SIMULATE_SIMULATION_H
#define TG_SIMULATE_SIMULATION_H

#include "simulate/advice.h"
#include "simulate/costs.h"
#include "simulate/data_file.h"
#include "simulate/machines.h"
#include "simulate/options.h"
#include "simulate/physical.h"

/* Of a machine. */
typedef uint64_t TgTotals[TG_N_COSTS];

typedef struct {
   TgSimulateOptions options;
   TgSimulatedList list;
   const char *out_file;
   const char *reach_file; /* NULL: no curve */
   const char *data_file;  /* NULL: none, and */
   TgDataFile *data;       /* then what it gets */
   unsigned page_shift;    /* of a trace: that of its references, and */
   unsigned backing;       /* that of its pages; or */
   const char *v2p;        /* a file with these, and */
   TgPhysical *physical;   /* what it has; NULL: there is none */
   TgAdvice *advice;       /* with --advice=; else NULL */
   bool flushes;           /* the recording tells of them */
} TgSimulation;

/* Finds the files and machines that the options of `s` name, all else of which is 0. What cannot be
   simulated or written ends the program. */
void tg_simulation_load(TgSimulation *s);

/* The machine's out-file as the tool names it: several machines have one each. To be freed. */
char *tg_simulation_file(const TgSimulation *s, unsigned machine);

/* Into how many parts the machines of the shard are divided: as many as there are processes, or
   more, as one simulates so many machines at most. */
unsigned tg_simulation_parts(const TgSimulation *s);

#endif
