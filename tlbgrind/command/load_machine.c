/* Loads machines for programs without Valgrind. See command/load_machine.h.
   Part of tlbgrind.  GPL-2.0-or-later; see COPYING. */

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "command/bar.h"
#include "command/load_machine.h"
#include "command/whole_file.h"
#include "sim/base/text.h"
#include "sim/machine/builtin.h"
#include "sim/machine/cpuid_here.h"
#include "sim/machine/host_here.h"
#include "sim/machine/machine_argument.h"
#include "sim/machine/machine_file.h"
#include "sim/machine/machine_input.h"
#include "sim/machine/measured_costs.h"
#include "sim/machine/override.h"

static const char *program = "tlbgrind";
static const char *option = "";
static unsigned default_page_shift = TLB_MIN_PAGE_SHIFT;

void tg_load_for(const char *program_name, const char *option_name)
{
   program = program_name;
   option = option_name;
}

void tg_load_default_page(unsigned shift)
{
   default_page_shift = shift;
}

/* --- errors --- */

/* Prints an error in one line, without control characters. */
static void tell_these(const char *format, va_list args)
{
   char text[1024], shown[sizeof text];
   vsnprintf(text, sizeof text, format, args);
   tlb_text t = tlb_text_in(shown, sizeof shown);
   tlb_text_add(&t, text);
   tg_bar_clear();
   fflush(stdout);
   fprintf(stderr, "%s: error: %s\n", program, shown);
}

static void tell(const char *format, ...)
{
   va_list args;
   va_start(args, format);
   tell_these(format, args);
   va_end(args);
}

/* The same, and exits with status 1. */
_Noreturn void tg_load_refuse(const char *format, ...)
{
   va_list args;
   va_start(args, format);
   tell_these(format, args);
   va_end(args);
   exit(1);
}

/* --- memory --- */

void *tg_load_need(void *memory)
{
   if (memory == NULL)
      tg_load_refuse("no memory");
   return memory;
}

static void *take(size_t bytes, void *opaque)
{
   (void)opaque;
   return tg_load_need(malloc(bytes));
}

static void give(void *memory, void *opaque)
{
   (void)opaque;
   free(memory);
}

const tlb_memory tg_load_memory = { take, give, NULL };

/* --- files --- */

/* Reads a file, to be freed by the caller. */
static char *read_file(const char *name, size_t *size)
{
   char *const text = tg_read_whole(name, size);
   if (text == NULL && errno == EFBIG)
      tg_load_refuse("%s=%s: the file is larger than 64M", option, name);
   if (text == NULL)
      tg_load_refuse("%s=%s: the file cannot be read: %s", option, name, strerror(errno));
   return text;
}

static int is_there(const char *name)
{
   struct stat s;
   return stat(name, &s) == 0;
}

/* --- machines --- */

static void load_builtin(const tlb_builtin *b, tlb_machine *out)
{
   uint32_t line;
   tlb_reason why;
   if (!tlb_machine_parse(b->text, b->length, out, &line, &why))
      tg_load_refuse("%s.machine:%u: %s", b->name, (unsigned)line, why.text);
}

/* Prints all that is wrong with a machine file. */
static void refuse_all(const char *file, const char *text, size_t size)
{
   static tlb_machine unused;
   static tlb_machine_error error[TLB_MACHINE_ERRORS];
   const unsigned n = tlb_machine_parse_all(text, size, &unused, error);
   for (unsigned i = 0; i + 1 < n && i + 1 < TLB_MACHINE_ERRORS; i++)
      tell("%s:%u: %s", file, (unsigned)error[i].line, error[i].why.text);
   const tlb_machine_error *const last
      = &error[n < TLB_MACHINE_ERRORS ? n - 1 : TLB_MACHINE_ERRORS - 1];
   tg_load_refuse("%s:%u: %s", file, (unsigned)last->line, last->why.text);
}

/* What misses cost on the processor at hand, from the user's file about it, as the tool does. */
static void take_measured(tlb_machine *m)
{
   static char path[4096], text[TLB_MACHINE_TEXT_SIZE + 1];
   struct stat s;
   tlb_reason why = { "" };
   if (!tlb_measured_can_be_used(tlb_cpuid_here, NULL)
       || !tlb_measured_file(getenv("XDG_CONFIG_HOME"), getenv("HOME"), path, sizeof path)
       || stat(path, &s) != 0)
      return;
   FILE *const f = S_ISREG(s.st_mode) ? fopen(path, "r") : NULL;
   const size_t n = f != NULL ? fread(text, 1, sizeof text, f) : 0;
   if (!S_ISREG(s.st_mode) || n == sizeof text)
      snprintf(why.text, sizeof why.text, "it is no machine file");
   else if (f == NULL)
      snprintf(why.text, sizeof why.text, "it cannot be opened: %s", strerror(errno));
   if (f != NULL)
      fclose(f);
   if (why.text[0] != '\0') {
      tlb_measured_costs_note(m, path, &why);
      return;
   }
   const int taken = tlb_measured_costs_take(text, n, m, &why);
   tlb_measured_costs_note(m, path, taken ? NULL : &why);
}

/* Loads a machine by name or from a file; returns whether it is from a file. The name has
   precedence; "./NAME" is the file. */
static bool load(const char *name, tlb_machine *out)
{
   const tlb_builtin *const b = tlb_builtin_machine(name);
   tlb_machine_file_name f = { .length = strlen(name) };
   tlb_reason why;
   if (b != NULL) {
      load_builtin(b, out);
      return false;
   }
   if (strcmp(name, "host") == 0) {
      tlb_machine_here(tg_read_begin, NULL, out);
      take_measured(out);
      strcpy(out->name, "host");
      return false;
   }
   if (strcmp(name, "default") == 0) {
      tlb_machine_default(default_page_shift, out);
      return false;
   }
   char *const file = strdup(name);
   if (file == NULL)
      tg_load_refuse("no memory");
   if (!is_there(name)) {
      f = tlb_machine_split_name(name);
      file[f.length] = '\0';
      /* A name with a slash or a dot is a path, not a mistyped machine. */
      if (!is_there(file) && strchr(file, '/') == NULL
          && strchr(file, '.') == NULL) {
         tlb_builtin_refuse(name, &why);
         tg_load_refuse("%s=%s: %s", option, name, why.text);
      }
   }
   size_t size;
   uint64_t line;
   char *const text = read_file(file, &size);
   const int good = tlb_machine_read(text, size, file, f, out, &line, &why);
   if (!good && !f.numbered && tlb_machine_text(text, size))
      refuse_all(file, text, size);
   if (!good)
      tg_load_refuse("%s:%llu: %s", file, (unsigned long long)line, why.text);
   free(text);
   free(file);
   return true;
}

/* Whether it is a name, alone or with a dump's number, of anything that can be loaded. */
static int is_known(const char *name)
{
   char *const file = strdup(name);
   if (file == NULL)
      tg_load_refuse("no memory");
   file[tlb_machine_split_name(name).length] = '\0';
   const int known = tlb_builtin_machine(name) != NULL || strcmp(name, "host") == 0
                     || strcmp(name, "default") == 0 || is_there(name) || is_there(file);
   free(file);
   return known;
}

/* Refuses what begins as a machine's overrides and is none. */
static void check_colon(const char *argument)
{
   char *const name = strdup(argument);
   if (name == NULL)
      tg_load_refuse("no memory");
   char *const colon = strchr(name, ':');
   if (colon != NULL && !is_known(argument)) {
      *colon = '\0';
      if (is_known(name))
         tg_load_refuse("%s=%s: '%.40s' is no override; it is PART.LINE=VALUE, such as "
                "stlb.entries=2048", option, argument, colon + 1);
   }
   free(name);
}

static void change(const char *argument, const char *overrides, tlb_machine *m)
{
   static char room[TLB_OVERRIDE_ROOM];
   tlb_reason blame, why;
   const unsigned n = tlb_argument_count(argument, &why);
   if (n == 0)
      tg_load_refuse("%s=%s: %s", option, argument, why.text);
   if (n > 1)
      tg_load_refuse("%s=%s: a range is several machines; show one of them", option, argument);
   if (!tlb_override(m, overrides, room, &blame, &why))
      tg_load_refuse("%s=%s: %s%s%s", option, argument, blame.text,
             blame.text[0] != '\0' ? ": " : "", why.text);
}

bool tg_load_machine(const char *argument, tlb_machine *m, char own_name[TLB_NAME_SIZE])
{
   const tlb_argument_overrides o = tlb_argument_split(argument);
   const bool is_changed = o.length != 0 && argument[o.from + o.length] == '\0';
   char *const name = strdup(argument);
   if (name == NULL)
      tg_load_refuse("no memory");
   if (is_changed)
      name[o.name] = '\0';
   else
      check_colon(argument);
   const bool is_file = load(name, m);
   strcpy(own_name, m->name);
   if (is_changed)
      change(argument, argument + o.from, m);
   free(name);
   return is_file;
}
