/* Pictures as SVG, in a file that needs no other: what all of them have.
   Part of tlbgrind.  GPL-2.0-or-later; see COPYING. */

#ifndef TG_SVG_H
#define TG_SVG_H

#include <stddef.h>
#include <stdio.h>

/* Begins a picture, which is written to memory; NULL: no memory. Programs that read pictures aloud
   have its title and description. `style`: of its own classes. Its colours: text, and class "g" for
   lines of a grid, are dark on white, or the other way round where the reader prefers that. */
typedef struct {
   FILE *f;
   char *text;
   size_t length;
} TgSvg;

TgSvg *tg_svg_begin(unsigned width, unsigned height, const char *title, const char *description,
                    const char *style);

/* Prints text, so many bytes of it, as it has to be between tags. */
void tg_svg_text(TgSvg *svg, const char *text, size_t n);

/* Ends it. Returns the text, to be freed, and frees the rest; NULL: no memory. */
char *tg_svg_end(TgSvg *svg, size_t *length);

#endif
