/* Code that is generated to measure fetches: a jump in each of many places.
   Part of tlbgrind.  GPL-2.0-or-later; see COPYING. */

#ifndef TG_MEASURE_CODE_H
#define TG_MEASURE_CODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Goes round `turns` - 1 times, and `turns` is at least 1; `chase` is the first pointer of a chain
   of loads, if the code has loads. */
typedef void TgGenerated(uint64_t turns, void *chase);

/* No piece of code is longer: a place for each in a line of the cache. */
enum { TG_CODE_BYTES = 64 };

/* Writes the piece where the round begins: it counts a turn and returns at the last one, otherwise
   it goes on like others. */
void tg_code_first(char *at, const char *next, bool loads);

/* Writes a piece: a load of the next pointer of a chain if `loads`, and a jump to the next
   piece. */
void tg_code_piece(char *at, const char *next, bool loads);

/* Makes all pieces that were written between these addresses visible to fetches. */
void tg_code_written(char *base, size_t bytes);

#endif
