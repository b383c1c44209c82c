/* Mistyped options. See command/close_option.h.
   Part of tlbgrind.  GPL-2.0-or-later; see COPYING. */

#include <stdio.h>
#include <string.h>

#include "command/close_option.h"
#include "sim/base/closeness.h"

enum { MOST = 64 };

/* What stands before the first of these characters. */
static void copy_up_to(const char *stop, const char *text, char out[MOST])
{
   const size_t n = strcspn(text, stop);
   snprintf(out, MOST, "%.*s", (int)(n < MOST ? n : MOST - 1), text);
}

/* Stores it with its "=", or "" if there is none. */
static void find_close(const char *argument, const char *list, char out[MOST])
{
   unsigned least = TLB_FAR;
   char given[MOST], option[MOST], name[MOST];
   out[0] = '\0';
   if (argument[0] != '-' || argument[1] != '-')
      return;
   copy_up_to("=", argument, given);
   for (const char *line = list; *line != '\0'; line += strcspn(line, "\n") + 1) {
      copy_up_to(" \n", line, option);
      copy_up_to("=", option, name);
      const unsigned d = tlb_distance(given, name);
      /* Of several that begin so, the shortest. */
      if (d < least || (d < TLB_FAR && d == least && strlen(option) < strlen(out))) {
         least = d;
         snprintf(out, MOST, "%s", option);
      }
   }
}

void tg_no_such_option(const char *program, const char *argument, const char *list, char *out,
                       size_t size)
{
   char meant[MOST];
   find_close(argument, list, meant);
   if (meant[0] != '\0')
      snprintf(out, size, "%s: no such option; did you mean %s?", argument, meant);
   else
      snprintf(out, size, "%s: no such option; %s --help lists them", argument, program);
}
