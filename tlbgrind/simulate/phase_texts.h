/* The text of several phases together, made of those that a recording ends with.
   Part of tlbgrind.  GPL-2.0-or-later; see COPYING. */

#ifndef TG_SIMULATE_PHASE_TEXTS_H
#define TG_SIMULATE_PHASE_TEXTS_H

#include <stdbool.h>
#include <stddef.h>

#include "simulate/out_file.h"

/* Adds up the counts of phases, at least two of the n sections: those for which of[] is set.
   Section 0 is the run's; all have been checked. Returns the text, to be freed; NULL: they do not
   fit each other. Where instructions have addresses, how many pages of code there are is left out:
   the texts tell that of each phase alone. */
char *tg_phase_texts_add(const TgSection *section, unsigned n, const bool *of, size_t *length);

/* Whether anything but references and page faults is counted at a line of source. */
typedef bool TgHasCosts(const void *opaque, const TgSourceLine *line);

/* The section's text with all lines of source that have costs, and no others: those that flushes
   have given some stand in the run's text alone, where others of them may have none. Both can be
   the run's. Returns the text, to be freed; NULL: they do not fit each other. */
char *tg_phase_text_with(const TgSection *run, const TgSection *one, TgHasCosts *has,
                         const void *opaque, size_t *length);

/* The same of the lines of source of a run's data, where those without costs are left out. NULL:
   they are not such lines. */
char *tg_lines_of_data_with(const char *lines, size_t n, TgHasCosts *has, const void *opaque,
                            size_t *length);

#endif
