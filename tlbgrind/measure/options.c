/* The options of tg_measure. See measure/options.h.
   Part of tlbgrind.  GPL-2.0-or-later; see COPYING. */

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command/close_option.h"
#include "measure/options.h"
#include "sim/base/text.h"

static const char help[] =
   "usage: tg_measure [options]\n"
   "\n"
   "Measures the TLBs of this machine by time: entries, ways and costs of each level for loads,\n"
   "stores and instruction fetches, and what page walks cost. Prints what it found, how sure it\n"
   "is, and what could not be told.\n"
   "\n"
   "  --seconds=N        measure for at most so long; 1 to 3600 (default: 60)\n"
   "  --output=FILE      write a machine file, for tlbgrind --machine=FILE\n"
   "  --save             write it for tlbgrind --machine=host, which then takes costs from it, as\n"
   "                     ~/.config/tlbgrind/host.machine\n"
   "  --curves=FILE      write all curves as CSV\n"
   "  --picture=FILE     write all curves as a picture (SVG)\n"
   "  --from=FILE        read the curves from such a CSV file instead of measuring\n"
   "  --against=NAME     compare with a shipped machine, a machine file, or with what the\n"
   "                     processor says of itself (host)\n"
   "  --which            say which shipped machines fit best\n"
   "  --list             list what can be measured here, and end\n"
   "  --quiet            no progress bar\n"
   "  --help             print this and end\n"
   "  --version          print the version and end\n";

/* For the completion of shells: tlbgrind/completion/. */
static const char list_of_options[] =
   "--seconds= any\n--output= file\n--save\n--curves= file\n--picture= file\n--from= file\n"
   "--against= file\n--which\n--list\n--quiet\n--help\n--version\n";

_Noreturn void tg_measure_refuse(const char *format, ...)
{
   /* Without control characters, whatever the user's words are. */
   char text[1024], shown[sizeof text];
   va_list args;
   va_start(args, format);
   vsnprintf(text, sizeof text, format, args);
   va_end(args);
   tlb_text t = tlb_text_in(shown, sizeof shown);
   tlb_text_add(&t, text);
   fflush(stdout);
   fprintf(stderr, "tg_measure: error: %s\n", shown);
   exit(1);
}

static _Noreturn void refuse(const char *argument)
{
   char text[300];
   tg_no_such_option("tg_measure", argument, list_of_options, text, sizeof text);
   tg_measure_refuse("%s", text);
}

static void print_and_end(const char *text)
{
   fputs(text, stdout);
   if (fflush(stdout) != 0)
      tg_measure_refuse("the standard output cannot be written: %s", strerror(errno));
   exit(0);
}

/* The value if the argument is that option, or NULL. */
static const char *value_of(const char *argument, const char *option)
{
   const size_t n = strlen(option);
   if (strncmp(argument, option, n) != 0 || argument[n] != '=')
      return NULL;
   return argument + n + 1;
}

static double seconds_of(const char *text)
{
   char *end;
   const double seconds = strtod(text, &end);
   if (!isdigit((unsigned char)text[0]) || *end != '\0' || !(seconds >= 1.0 && seconds <= 3600.0))
      tg_measure_refuse("--seconds=%s: '%s' is no number of seconds; allowed are 1 to 3600", text,
                        text);
   return seconds;
}

/* What has a text for a value. */
static bool take_text(const char *argument, TgMeasureOptions *o)
{
   const struct {
      const char *name, *what;
      const char **to;
   } texts[] = {
      { "--output", "file", &o->output },   { "--curves", "file", &o->curves },
      { "--picture", "file", &o->picture }, { "--from", "file", &o->from },
      { "--against", "machine", &o->against },
   };
   for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
      const char *const value = value_of(argument, texts[i].name);
      if (value != NULL && *value == '\0')
         tg_measure_refuse("%s= names no %s", texts[i].name, texts[i].what);
      if (value != NULL) {
         *texts[i].to = value;
         return true;
      }
      if (strcmp(argument, texts[i].name) == 0)
         tg_measure_refuse("%s needs a value: %s=%s", argument, argument,
                           texts[i].to == &o->against ? "NAME" : "FILE");
   }
   return false;
}

static bool take_switch(const char *argument, TgMeasureOptions *o)
{
   const struct {
      const char *name;
      bool *to;
   } switches[] = { { "--save", &o->save },
                  { "--which", &o->which },
                  { "--list", &o->list },
                  { "--quiet", &o->quiet } };
   for (size_t i = 0; i < sizeof switches / sizeof *switches; i++) {
      if (strcmp(argument, switches[i].name) == 0) {
         *switches[i].to = true;
         return true;
      }
      if (value_of(argument, switches[i].name) != NULL)
         tg_measure_refuse("%s: %s takes no value", argument, switches[i].name);
   }
   return false;
}

void tg_measure_options(int argc, char **argv, TgMeasureOptions *out)
{
   memset(out, 0, sizeof *out);
   out->seconds = 60.0;
   for (int i = 1; i < argc; i++) {
      const char *const seconds = value_of(argv[i], "--seconds");
      if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0)
         print_and_end(help);
      if (strcmp(argv[i], "--version") == 0)
         print_and_end("tg_measure " TG_VERSION "\n");
      if (strcmp(argv[i], "--list-options") == 0)
         print_and_end(list_of_options);
      if (seconds != NULL)
         out->seconds = seconds_of(seconds);
      else if (strcmp(argv[i], "--seconds") == 0)
         tg_measure_refuse("--seconds needs a value: --seconds=N");
      else if (!take_text(argv[i], out) && !take_switch(argv[i], out))
         refuse(argv[i]);
   }
   if (out->save && out->from != NULL)
      tg_measure_refuse("--save is for what was measured here; it does not go with --from");
   if (out->list && (out->from != NULL || out->save || out->output != NULL || out->curves != NULL
                     || out->picture != NULL || out->against != NULL || out->which))
      tg_measure_refuse("--list measures nothing; it goes with no other option");
}
