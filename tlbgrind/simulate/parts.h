/* Phases and threads of a run: which parts of the replay they are.
   Part of tlbgrind.  GPL-2.0-or-later; see COPYING.

   A part of the replay is what one thread has done in one phase. What comes before the first phase
   that is marked is the phase "start", and what comes before any other thread is thread 1. Each has
   a label, which is the end of its file's name. */

#ifndef TG_SIMULATE_PARTS_H
#define TG_SIMULATE_PARTS_H

#include <stdbool.h>
#include <stddef.h>

#include "sim/record/stream.h"
#include "simulate/replay.h"

typedef enum { TG_PHASE, TG_THREAD, TG_N_PART_KINDS } TgPartKind;

typedef struct TgParts TgParts;

TgParts *tg_parts_new(void);
void tg_parts_free(TgParts *p);

/* A mark: the replay goes on with another part, or from zero. Returns NULL, or what is wrong. */
const char *tg_parts_mark(TgParts *p, TgReplay *r, tlb_mark mark, const char *text, size_t n);

/* The parts of the phase or thread of that label, whose memory is to be freed; none if there is no
   such one. */
TgSelection tg_parts_of(const TgParts *p, TgPartKind kind, const char *label, size_t n);

/* Phases or threads by number, from 0: how many there are; the number of that label, -1 if there is
   no such one; and the label, which is not ended by a zero. */
bool tg_parts_are_told(const TgParts *p, TgPartKind kind); /* by any mark */
unsigned tg_parts_count(const TgParts *p, TgPartKind kind);
int tg_parts_number(const TgParts *p, TgPartKind kind, const char *label, size_t n);
const char *tg_parts_label(const TgParts *p, TgPartKind kind, unsigned number, size_t *n);

/* Stores for each phase whether the run is in it from where it first comes to phase `from`, -1:
   from its beginning, to where it then comes to phase `to`, -1: to its end. Returns -1, or the
   number of what is wrong: `to`, if it does not come then; or a phase that the run is in at another
   time, too. */
int tg_parts_between(const TgParts *p, int from, int to, bool *has);

/* The parts of all phases for which has[] is set; to be freed. */
TgSelection tg_parts_of_phases(const TgParts *p, const bool *has);

#endif
