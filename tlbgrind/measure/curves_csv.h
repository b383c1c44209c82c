/* Curves as CSV, one point a line: kind,ask,page_bytes,stride,chains,pages,cycles,spread,rounds. */

#ifndef TG_MEASURE_CURVES_CSV_H
#define TG_MEASURE_CURVES_CSV_H

#include "measure/curve.h"

enum { TG_CSV_WHY = 256 };

/* Writes the text, with a heading, and a NUL into at most `size` bytes of `out`, NULL if size is 0.
   Returns how many bytes the whole has without the NUL. */
size_t tg_curves_print(const TgCurve *curve, size_t n, char *out, size_t size);

/* Reads such a text of `length` bytes. Returns the curves and their number in *n, to be freed by
   tg_curves_free(); NULL with "FILE:LINE: what" in `why`. */
TgCurve *tg_curves_parse(const char *file, const char *text, size_t length, size_t *n,
                         char why[TG_CSV_WHY]);
void tg_curves_free(TgCurve *curve, size_t n);

/* The names in the file: "pages", "load". */
const char *tg_curve_kind_name(TgCurveKind kind);
const char *tg_ask_name(TgAsk ask);

#endif
