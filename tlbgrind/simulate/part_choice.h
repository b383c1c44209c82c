/* Which part of a run the user asks for.
   Part of tlbgrind.  GPL-2.0-or-later; see COPYING. */

#ifndef TG_SIMULATE_PART_CHOICE_H
#define TG_SIMULATE_PART_CHOICE_H

#include <stdbool.h>
#include <stddef.h>

/* Of --from=, --to= and --thread=; NULL: not given. Marks are names of phases, or what stands for
   these in names of files. */
typedef struct {
   const char *from, *to, *thread;
} TgPartChoice;

static inline bool tg_is_part(const TgPartChoice *choice)
{
   return choice->from != NULL || choice->to != NULL || choice->thread != NULL;
}

#endif
