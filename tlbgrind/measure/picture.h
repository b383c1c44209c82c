/* Curves as a picture.
   Part of tlbgrind.  GPL-2.0-or-later; see COPYING. */

#ifndef TG_MEASURE_PICTURE_H
#define TG_MEASURE_PICTURE_H

#include "measure/curve.h"

/* The curves as SVG: a panel for each page size and kind of reference, pages to the right and core
   cycles upwards, both logarithmic. To be freed; NULL: no memory. */
char *tg_picture(const TgCurve *curve, size_t n, const char *title, size_t *length);

#endif
