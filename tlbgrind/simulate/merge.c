/* Out-files read for their totals. See simulate/merge.h.
   Part of tlbgrind.  GPL-2.0-or-later; see COPYING. */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "attribution/out_words.h"
#include "command/load_machine.h"
#include "command/whole_file.h"
#include "sim/base/text.h"
#include "simulate/merge.h"
#include "simulate/out_text.h"

/* Of an out-file. */
typedef struct {
   const char *file;
   char *text;
   uint64_t number, of; /* of its machine; 1 of 1 if it does not tell */
   const char *command, *machine, *events, *summary; /* NULL: not there */
} out_file;

/* The value of a line that begins with that. */
static const char *value_of(const char *line, const char *key)
{
   const size_t n = strlen(key);
   return strncmp(line, key, n) == 0 ? line + n : NULL;
}

static void take_number(out_file *o, const char *value)
{
   const char *at = value, *const end = value + strlen(value);
   if (!tlb_text_number(&at, end, &o->number) || strncmp(at, " of ", 4) != 0
       || (at += 4, !tlb_text_number(&at, end, &o->of)) || at != end || o->number == 0
       || o->number > o->of)
      tg_load_refuse("%s: its machine number '%s' can not be", o->file, value);
}

static void take_line(out_file *o, const char *line)
{
   const char *value;
   if ((value = value_of(line, "cmd: ")) != NULL)
      o->command = value;
   else if ((value = value_of(line, TG_OUT_MACHINE)) != NULL)
      o->machine = value;
   else if ((value = value_of(line, TG_OUT_MACHINE_NUMBER)) != NULL)
      take_number(o, value);
   else if ((value = value_of(line, "events: ")) != NULL)
      o->events = value;
   else if ((value = value_of(line, "summary: ")) != NULL)
      o->summary = value;
}

/* The last line is the sum of all before it. */
static void check_sum(const char *file, const char *text, size_t n)
{
   static const char key[] = "# checksum: ";
   char line[sizeof key + 9];
   const size_t length = sizeof key - 1 + 8 + 1;
   if (n < length || memcmp(text + n - length, key, sizeof key - 1) != 0)
      tg_load_refuse("%s: it is no out-file, or not complete: its last line is no checksum", file);
   snprintf(line, sizeof line, "%s%08x\n", key, (unsigned)tg_out_text_sum(text, n - length));
   if (memcmp(text + n - length, line, length) != 0)
      tg_load_refuse("%s: the file has been changed: its checksum is another", file);
}

static void make_printable(char *line)
{
   for (; *line != '\0'; line++)
      *line = (unsigned char)*line < 0x20 || *line == 0x7f ? '?' : *line;
}

/* The text is cut into lines. */
static out_file read_out_file(const char *file)
{
   size_t n;
   char *const text = tg_read_whole(file, &n);
   if (text == NULL)
      tg_load_refuse("%s: the file cannot be read: %s", file, strerror(errno));
   check_sum(file, text, n);
   out_file o = { .file = file, .text = text, .number = 1, .of = 1 };
   for (char *line = text; line < text + n;) {
      char *const end = memchr(line, '\n', (size_t)(text + n - line));
      if (end == NULL)
         break;
      *end = '\0';
      make_printable(line);
      take_line(&o, line);
      line = end + 1;
   }
   if (o.command == NULL || o.machine == NULL || o.events == NULL || o.summary == NULL)
      tg_load_refuse("%s: it is no out-file of tg_simulate", file);
   return o;
}

/* The costs by the names of their events, of which the table needs these. */
static const struct {
   const char *name;
   unsigned cost;
} costs[] = {
   { "I1tm", TLB_FETCH * TG_N_OF_A_KIND + TG_MISS_1 },
   { "ILtm", TLB_FETCH * TG_N_OF_A_KIND + TG_WALKS },
   { "D1tmr", TLB_LOAD * TG_N_OF_A_KIND + TG_MISS_1 },
   { "DLtmr", TLB_LOAD * TG_N_OF_A_KIND + TG_WALKS },
   { "D1tmw", TLB_STORE * TG_N_OF_A_KIND + TG_MISS_1 },
   { "DLtmw", TLB_STORE * TG_N_OF_A_KIND + TG_WALKS },
   { "Wcyc", TG_ALL_CYCLES },
};

static void take_totals(const out_file *o, TgRow *row)
{
   const char *event = o->events, *number = o->summary;
   const char *const end = number + strlen(number);
   while (*event != '\0') {
      const size_t length = strcspn(event, " ");
      uint64_t count;
      if (!tlb_text_number(&number, end, &count))
         tg_load_refuse("%s: its summary has fewer numbers than there are events", o->file);
      for (unsigned i = 0; i < sizeof costs / sizeof *costs; i++) {
         if (strlen(costs[i].name) == length && memcmp(costs[i].name, event, length) == 0)
            row->cost[costs[i].cost] = count;
      }
      number += *number == ' ';
      event += length + (event[length] == ' ');
   }
}

TgRow *tg_merge(char *const *file, unsigned n_files, unsigned *n)
{
   out_file *const all = calloc(n_files, sizeof *all);
   TgRow *const row = calloc(n_files, sizeof *row);
   if (all == NULL || row == NULL)
      tg_load_refuse("no memory");
   for (unsigned i = 0; i < n_files; i++) {
      const out_file o = read_out_file(file[i]);
      if (o.of != all[0].of && i > 0)
         tg_load_refuse("%s: it is of %llu machines, and %s of %llu", o.file,
                        (unsigned long long)o.of, all[0].file, (unsigned long long)all[0].of);
      if (i > 0 && strcmp(o.command, all[0].command) != 0)
         tg_load_refuse("%s: it is of another run than %s", o.file, all[0].file);
      all[i] = o;
      if (o.number > n_files)
         continue;
      TgRow *const here = &row[o.number - 1];
      if (here->name != NULL)
         tg_load_refuse("%s: machine number %llu, '%s', is in another file, too", o.file,
                        (unsigned long long)o.number, o.machine);
      here->name = o.machine;
      take_totals(&o, here);
   }
   for (unsigned i = 0; i < all[0].of; i++) {
      if (i >= n_files || row[i].name == NULL)
         tg_load_refuse("machine number %u of %llu is in none of the files", i + 1,
                        (unsigned long long)all[0].of);
   }
   free(all);
   *n = n_files;
   return row;
}
