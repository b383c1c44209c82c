/* What calls have missed: inclusive costs, as the run counts them (calls/call_stack.h).

   A reference's misses are first counted apart. Misses behind the first level may be looked up
   later (sim/mmu/late_misses.h), so references and moves of the stacks are kept in their order for
   a while; then the misses are added to their lines and to the innermost frames. A frame that is
   left adds its costs to its arc, and to the frame below.

   Part of tlbgrind.  GPL-2.0-or-later; see COPYING. */

#ifndef TG_SIMULATE_CALL_COSTS_H
#define TG_SIMULATE_CALL_COSTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/mmu/mmu.h"
#include "sim/record/moves.h"

typedef struct TgCallCosts TgCallCosts;

/* Where counts go: those of a line's references of one kind, and of an arc's of all kinds, one
   behind the other. */
typedef uint64_t *tg_call_line_counts(void *opaque, unsigned line, tlb_user user);
typedef uint64_t *tg_call_arc_counts(void *opaque, unsigned arc);

/* There are n_counts of a kind of reference. */
TgCallCosts *tg_call_costs_new(size_t n_counts, tg_call_line_counts *line, tg_call_arc_counts *arc);
void tg_call_costs_free(TgCallCosts *c);

/* Counts for a reference of that line, to which its misses are added. They stay where they are
   until tg_call_costs_add(), which has to follow once there are TG_CALL_REFERENCES. */
enum { TG_CALL_REFERENCES = 512 };

uint64_t *tg_call_costs_for(TgCallCosts *c, unsigned line, tlb_user user);

/* How many there can still be. */
unsigned tg_call_costs_room(const TgCallCosts *c);

/* A move, behind the references so far. NULL, or what is wrong: then it has not been made. */
const char *tg_call_costs_move(TgCallCosts *c, tlb_move move, uint64_t n);

/* Adds all counts to their lines and frames; `opaque` is handed on. Misses have been looked up. */
void tg_call_costs_add(TgCallCosts *c, void *opaque);

/* Adds the costs of all frames to their arcs. No counts are left to be added. */
void tg_call_costs_settle(TgCallCosts *c, void *opaque);

/* The arcs that there are have numbers up to this. */
unsigned tg_call_costs_n_arcs(const TgCallCosts *c);

/* Calls `each` for the counts of each frame that has any: of all kinds, as an arc's. */
void tg_call_costs_each(TgCallCosts *c, void (*each)(void *opaque, uint64_t *counts), void *opaque);

/* Sets the costs of all frames to zero. */
void tg_call_costs_zero(TgCallCosts *c);

#endif
