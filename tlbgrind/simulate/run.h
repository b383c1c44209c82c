/* The machines of a run that goes on: tlbgrind --jobs= (tlbgrind/engine/jobs.h).
   Part of tlbgrind.  GPL-2.0-or-later; see COPYING. */

#ifndef TG_SIMULATE_RUN_H
#define TG_SIMULATE_RUN_H

/* Reads machines and references from standard input, and answers on standard output. Returns the
   exit status, once the run has ended. */
int tg_simulate_run(void);

#endif
