/* The reach curve of a recording: what fully associative TLBs of all sizes would miss.
   Part of tlbgrind.  GPL-2.0-or-later; see COPYING. */

#ifndef TG_SIMULATE_REACH_CURVE_H
#define TG_SIMULATE_REACH_CURVE_H

#include <stddef.h>
#include <stdint.h>

#include "attribution/events.h"
#include "sim/record/stream.h"

typedef struct TgReachCurve TgReachCurve;

/* Over base pages of 2^page_shift bytes, of a recording that tlb_strength_covers_reach() has
   passed. */
TgReachCurve *tg_reach_curve_new(unsigned page_shift);

/* The next n records. */
void tg_reach_curve_records(TgReachCurve *r, const tlb_record *record, unsigned n);

/* Counts begin again. */
void tg_reach_curve_zero(TgReachCurve *r);

/* Makes the reach file, to be freed. `text`: that of the run, n bytes; `total`: what was counted,
   references above all. */
char *tg_reach_curve_file(const TgReachCurve *r, const char *text, size_t n,
                          const uint64_t total[TG_N_COSTS], size_t *length);

void tg_reach_curve_free(TgReachCurve *r);

#endif
