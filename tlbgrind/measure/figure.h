/* Figures: their values, how sure they are, and why, in words. */

#ifndef TG_MEASURE_FIGURE_H
#define TG_MEASURE_FIGURE_H

#include "measure/facts.h"

#if defined(__GNUC__)
#define TG_PRINTS(text) __attribute__((format(printf, text, text + 1)))
#else
#define TG_PRINTS(text)
#endif

void tg_figure_not_told(TgFigure *f, const char *why);
void tg_figure_tell(TgFigure *f, double value, TgSure sure, const char *format, ...) TG_PRINTS(4);

#endif
