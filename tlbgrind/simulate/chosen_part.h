/* The part of a run that is counted: --from=, --to= and --thread=.

   All of the recording is simulated, so that the TLBs have what they had in the run; counts and
   names are those of the part. A recording has the references of each phase, and of each thread
   with --separate-threads=yes: a part is made of whole phases, or is a thread.
   Part of tlbgrind.  GPL-2.0-or-later; see COPYING. */

#ifndef TG_SIMULATE_CHOSEN_PART_H
#define TG_SIMULATE_CHOSEN_PART_H

#include <stdbool.h>
#include <stddef.h>

#include "simulate/out_file.h"
#include "simulate/part_choice.h"
#include "simulate/parts.h"

typedef struct {
   TgSelection parts;
   TgSection section; /* with the part's text; none if the recording has none */
   char *owned;       /* what of it is to be freed */
} TgChosenPart;

/* Finds the part. `section`: those of the recording's text, none where it was cut short. Returns
   whether there is such a part; if not, *why tells what is wrong. */
bool tg_choose_part(const TgPartChoice *choice, const TgParts *parts, const TgSection *section,
                    unsigned n_sections, TgChosenPart *out, char *why, size_t size);

void tg_chosen_part_free(TgChosenPart *part);

#endif
