/* Fills figures in. */

#include "measure/figure.h"

#include <stdarg.h>
#include <stdio.h>

void tg_figure_not_told(TgFigure *f, const char *why)
{
   f->value = 0;
   f->sure = TG_NOT_TOLD;
   snprintf(f->why, sizeof f->why, "%s", why);
}

void tg_figure_tell(TgFigure *f, double value, TgSure sure, const char *format, ...)
{
   va_list arguments;
   va_start(arguments, format);
   f->value = value;
   f->sure = sure;
   vsnprintf(f->why, sizeof f->why, format, arguments);
   va_end(arguments);
}
