/* The options of tg_simulate.
   Part of tlbgrind.  GPL-2.0-or-later; see COPYING. */

#ifndef TG_SIMULATE_OPTIONS_H
#define TG_SIMULATE_OPTIONS_H

#include <stdbool.h>

#include "simulate/part_choice.h"
#include "sim/mmu/interruptions.h"
#include "simulate/table.h"
#include "simulate/trace.h"

typedef struct {
   const char *recording;      /* or trace */
   const char *machines; /* of --machine= */
   const char *advice; /* NULL: not given */
   const char *flush; /* of --flush-policy=; NULL: none is given */
   const char *syscalls; /* of --syscall-tlb=; NULL: none is given */
   tlb_switches switches; /* of --switch-every= */
   const char *prefetch; /* of --prefetch=; NULL: none is given */
   const char *out_file; /* of -o and --tlbgrind-out-file=; NULL: none is given */
   const TgTraceFormat *input; /* of --input=; NULL: a recording */
   unsigned shard, shards;     /* of --shard=: machine number `shard`, from 0,
                                  and each `shards` on */
   TgMap map;
   const char *picture;        /* of --picture=; NULL: none */
   TgPartChoice part;          /* of --from=, --to= and --thread= */
   bool quiet;
   char **merged;              /* of --merge: the files */
   unsigned n_merged;          /* 0: simulate */
   unsigned jobs;
   bool nested;
   const char *cycles, *miss_cost; /* NULL: not given */
   const char *reach; /* of --reach-out-file=; NULL: no curve, "": of --reach=yes */
   const char *data; /* of --data-out-file=; NULL: not given, "": of --data=yes */
   bool no_data;     /* --data=no */
   const char *thp; /* of --thp=; NULL: none is given */
   const char *v2p; /* of --v2p=; NULL: none is given */
   unsigned n_pages, n_pools;
   const char **pages, **pools; /* of each --pages= and --huge-pool= */
} TgSimulateOptions;

/* Reads them; what is wrong ends the program with status 1. */
void tg_simulate_options(int argc, char **argv, TgSimulateOptions *out);

#endif
