/* The machines of --advice=, each with its variants: of a variant in which no count is another
   there is neither a row nor a file, but some lines in the file of its machine. Which they are is
   only known when all machines have been simulated, so files are kept until then.
   Part of tlbgrind.  GPL-2.0-or-later; see COPYING. */

#ifndef TG_SIMULATE_ADVICE_H
#define TG_SIMULATE_ADVICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "simulate/machines.h"
#include "simulate/out_file.h"

typedef struct TgAdvice TgAdvice;

/* For the machines of a list that has variants. */
TgAdvice *tg_advice_new(const TgSimulatedList *list);

/* Notes what a machine that has been simulated has: the least that its misses cost, and lines for
   the file of the machine that it is a variant of. */
void tg_advice_note(TgAdvice *a, const TgOutFile *o, uint64_t least);

/* Keeps a file of the machine, and its text, on the disk where the file will be. `lines_at`: where
   lines about variants belong in it; 0: nowhere. */
void tg_advice_keep(TgAdvice *a, unsigned machine, const char *name, const char *text, size_t n,
                    size_t lines_at);

/* What is known of a machine, through a pipe to another process. False: that has ended. */
bool tg_advice_send(const TgAdvice *a, unsigned machine, int fd);
bool tg_advice_receive(TgAdvice *a, unsigned machine, int fd);

/* Finds the variants in which no count is another, when all is known; `total` is by machine. */
void tg_advice_find(TgAdvice *a, uint64_t (*total)[TG_N_COSTS]);

bool tg_advice_is_same(const TgAdvice *a, unsigned machine);

/* Writes the files of all others. */
void tg_advice_write(TgAdvice *a);

/* Prints which variants have none, and why; and which command ranks the others. */
void tg_advice_print(const TgAdvice *a);

void tg_advice_free(TgAdvice *a);

#endif
