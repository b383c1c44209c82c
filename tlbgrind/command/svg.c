/* Pictures as SVG. See command/svg.h.
   Part of tlbgrind.  GPL-2.0-or-later; see COPYING. */

#define _GNU_SOURCE
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "command/svg.h"

void tg_svg_text(TgSvg *svg, const char *text, size_t n)
{
   for (size_t i = 0; i < n; i++) {
      switch (text[i]) {
      case '<':
         fputs("&lt;", svg->f);
         break;
      case '>':
         fputs("&gt;", svg->f);
         break;
      case '&':
         fputs("&amp;", svg->f);
         break;
      default:
         fputc((unsigned char)text[i] < 0x20 || text[i] == 0x7f ? '?' : text[i], svg->f);
      }
   }
}

static void put_words(TgSvg *svg, const char *tag, const char *text)
{
   fprintf(svg->f, "<%s id='%s'>", tag, tag);
   tg_svg_text(svg, text, strlen(text));
   fprintf(svg->f, "</%s>\n", tag);
}

TgSvg *tg_svg_begin(unsigned width, unsigned height, const char *title, const char *description,
                    const char *style)
{
   TgSvg *const svg = calloc(1, sizeof *svg);
   if (svg == NULL)
      return NULL;
   svg->f = open_memstream(&svg->text, &svg->length);
   if (svg->f == NULL) {
      free(svg);
      return NULL;
   }
   fprintf(svg->f,
           "<svg xmlns='http://www.w3.org/2000/svg' width='%u' height='%u' viewBox='0 0 %u %u' "
           "font-family='sans-serif' font-size='12' role='img' aria-labelledby='title desc'>\n",
           width, height, width, height);
   put_words(svg, "title", title);
   put_words(svg, "desc", description);
   fprintf(svg->f,
           "<style>\n"
           ":root{color-scheme:light dark}\n"
           ".paper{fill:#fff}text{fill:#111}.g{stroke:#ddd;stroke-width:1}\n"
           "@media(prefers-color-scheme:dark){.paper{fill:#1b1b1d}text{fill:#eee}.g{stroke:#444}}\n"
           "%s</style>\n"
           "<rect width='100%%' height='100%%' class='paper'/>\n",
           style);
   return svg;
}

char *tg_svg_end(TgSvg *svg, size_t *length)
{
   fputs("</svg>\n", svg->f);
   bool good = !ferror(svg->f);
   good &= fclose(svg->f) == 0;
   char *const text = svg->text;
   *length = svg->length;
   free(svg);
   if (!good) {
      free(text);
      return NULL;
   }
   return text;
}
