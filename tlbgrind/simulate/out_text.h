/* The text of a file that is being made.
   Part of tlbgrind.  GPL-2.0-or-later; see COPYING. */

#ifndef TG_SIMULATE_OUT_TEXT_H
#define TG_SIMULATE_OUT_TEXT_H

#include <stddef.h>
#include <stdint.h>

/* At first all zero; `text` is to be freed. */
typedef struct {
   char *text;
   size_t n, room;
} TgOutText;

void tg_out_put(TgOutText *out, const char *format, ...) __attribute__((format(printf, 2, 3)));
void tg_out_put_n(TgOutText *out, const char *text, size_t n);
void tg_out_put_number(TgOutText *out, uint64_t n, char after);

/* With '?' for each control character, as the tool writes names. */
void tg_out_put_text(TgOutText *out, const char *text);

/* The checksum of all before it, which ends each file: Adler-32. */
void tg_out_put_checksum(TgOutText *out);
uint32_t tg_out_text_sum(const char *text, size_t n);

#endif
