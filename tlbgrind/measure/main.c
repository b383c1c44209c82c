/* tg_measure -- measures the TLBs of the machine at hand by time.
   Part of tlbgrind.  GPL-2.0-or-later; see COPYING.

   Measures curves (plan.h), or reads them from a file, reads facts out of them (facts.h), and
   prints and writes both. */

#define _GNU_SOURCE
#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "command/bar.h"
#include "command/whole_file.h"
#include "measure/chase.h"
#include "measure/clock.h"
#include "measure/curves_csv.h"
#include "measure/facts.h"
#include "measure/home.h"
#include "measure/options.h"
#include "measure/picture.h"
#include "measure/plan.h"
#include "measure/report.h"
#include "measure/surroundings.h"
#include "measure/system_caches.h"
#include "sim/machine/builtin.h"
#include "sim/machine/cpuid.h"
#include "sim/machine/cpuid_here.h"
#include "sim/machine/host_here.h"
#include "sim/machine/machine.h"
#include "sim/machine/machine_file.h"
#include "sim/machine/machine_input.h"
#include "sim/machine/measured_costs.h"

/* Long enough for a look at each kind of curve: none is read. */
static const double emulated_seconds = 5.0;

/* --- the machine to compare with --- */

static void load_machine(const char *name, tlb_machine *out)
{
   const tlb_builtin *const b = tlb_builtin_machine(name);
   tlb_reason why;
   if (b != NULL) {
      uint32_t line;
      if (!tlb_machine_parse(b->text, b->length, out, &line, &why))
         tg_measure_refuse("%s.machine:%u: %s", b->name, (unsigned)line, why.text);
      return;
   }
   if (strcmp(name, "host") == 0) {
      tlb_machine_here(tg_read_begin, NULL, out);
      strcpy(out->name, "host");
      return;
   }
   if (strchr(name, '/') == NULL && strchr(name, '.') == NULL && access(name, F_OK) != 0) {
      tlb_builtin_refuse(name, &why);
      tg_measure_refuse("--against=%s: %s", name, why.text);
   }
   size_t length;
   uint64_t line;
   char *const text = tg_read_whole(name, &length);
   if (text == NULL)
      tg_measure_refuse("--against=%s: the file cannot be read: %s", name, strerror(errno));
   const tlb_machine_file_name whole = { .length = strlen(name) };
   if (!tlb_machine_read(text, length, name, whole, out, &line, &why))
      tg_measure_refuse("%s:%llu: %s", name, (unsigned long long)line, why.text);
   free(text);
}

/* --- curves --- */

typedef struct {
   TgCurve *curve;
   size_t n;
   TgMeasured measured; /* empty if they were read */
   const char *emulated; /* what gave it away, or NULL */
   double busy;          /* processors that others took; negative: unknown */
   double seconds;
} Curves;

static void read_curves(const char *name, Curves *c)
{
   size_t length;
   char why[TG_CSV_WHY];
   char *const text = tg_read_whole(name, &length);
   if (text == NULL)
      tg_measure_refuse("--from=%s: the file cannot be read: %s", name, strerror(errno));
   c->curve = tg_curves_parse(name, text, length, &c->n, why);
   if (c->curve == NULL)
      tg_measure_refuse("%s", why);
   free(text);
}

static void measure_curves(const TgMeasureOptions *o, Curves *c)
{
   TgBusyLook before, after;
   if (tg_other_cpuinfo())
      c->emulated = "/proc/cpuinfo is of another architecture";
   else if (tg_is_translated())
      c->emulated = "code takes as long at its first execution as if it was translated";
   TgPlanWish wish = { .seconds = o->seconds, .emulated = c->emulated != NULL };
   if (wish.emulated && wish.seconds > emulated_seconds)
      wish.seconds = emulated_seconds;
   /* Where it cannot stay, a move costs some rounds only. */
   tg_stay_here();
   tg_busy_look(&before);
   if (!tg_measure(&wish, &c->measured))
      tg_measure_refuse("no memory");
   tg_busy_look(&after);
   c->busy = tg_busy_between(&before, &after);
   c->seconds = after.seconds - before.seconds;
   c->curve = c->measured.curve;
   c->n = c->measured.n;
}

/* --- facts --- */

/* What may stand in a machine's name, from a file's name. */
static void name_of_file(const char *file, char out[TLB_NAME_SIZE])
{
   static const char ending[] = ".machine";
   const char *const slash = strrchr(file, '/');
   const char *const base = slash == NULL ? file : slash + 1;
   size_t length = strlen(base), n = 0;
   if (length > sizeof ending - 1 && strcmp(base + length - (sizeof ending - 1), ending) == 0)
      length -= sizeof ending - 1;
   for (size_t i = 0; i < length && n + 1 < TLB_NAME_SIZE; i++) {
      const unsigned char c = (unsigned char)base[i];
      out[n++] = isalnum(c) && c < 128 ? (char)c : '-';
   }
   out[n] = '\0';
   if (n == 0 || !isalnum((unsigned char)out[0]))
      strcpy(out, "measured");
}

static unsigned smallest_page(const Curves *c)
{
   unsigned shift = 0;
   for (size_t i = 0; i < c->n; i++)
      if (shift == 0 || c->curve[i].page_shift < shift)
         shift = c->curve[i].page_shift;
   return shift;
}

static void find_facts(const TgMeasureOptions *o, const Curves *c, const TgSurroundings *s,
                       const tlb_machine *known, TgFacts *f)
{
   char day[16] = "";
   memset(f, 0, sizeof *f);
   f->line_bytes = 1u << tg_line_shift();
   name_of_file(o->output != NULL ? o->output : o->save ? "host" : "measured", f->name);
   f->base_page_shift = smallest_page(c);
   if (o->from == NULL) {
      const time_t now = time(NULL);
      struct tm utc;
      if (gmtime_r(&now, &utc) != NULL)
         strftime(day, sizeof day, "%Y-%m-%d", &utc);
      f->n_given = tg_system_caches(f->given);
      if (known != NULL)
         snprintf(f->title, sizeof f->title, "%s", known->title);
      else
         snprintf(f->title, sizeof f->title, "%s, measured",
                  s->processor[0] != '\0' ? s->processor : "a processor");
      snprintf(f->isa, sizeof f->isa, "%s", s->isa);
      snprintf(f->when, sizeof f->when, "measured %s%s", day,
               s->virtual_machine ? " in a virtual machine" : "");
   } else {
      snprintf(f->title, sizeof f->title, "measured");
      snprintf(f->when, sizeof f->when, "read from recorded curves");
   }
   tg_facts_read(c->curve, c->n, f);
}

/* --- what is written and printed --- */

static void print_size(unsigned shift)
{
   static const char *const units[] = { "", "K", "M", "G", "T" };
   printf("%u%s", 1u << shift % 10, units[shift / 10 < 4 ? shift / 10 : 4]);
}

static void print_head(const Curves *c, const TgSurroundings *s)
{
   const TgMeasured *const m = &c->measured;
   printf("%s, %s%s\n", s->processor[0] != '\0' ? s->processor : "unknown processor", s->isa,
          s->virtual_machine ? ", in a virtual machine" : "");
   printf("%zu curves of %zu points in %.0f s; the least times of %.0f %% of them stand\n", m->n,
          m->points, c->seconds,
          m->points == 0 ? 0.0 : 100.0 * (double)m->settled / (double)m->points);
   if (c->busy >= 0.25)
      printf("others took %.1f processors meanwhile: figures are less sure than on an idle "
             "machine\n", c->busy);
   if (m->disturbed >= 0.05)
      printf("%.0f %% of the rounds were given up, for the core's speed changed\n",
             100.0 * m->disturbed);
   if (m->left_out > 0)
      printf("%zu curves were left out, for there was no time: try --seconds=\n", m->left_out);
   for (unsigned i = 0; i < m->n_in_pieces; i++) {
      print_size(m->in_pieces[i]);
      puts(" pages are translated in smaller pieces here, as a hypervisor with smaller pages has "
           "it");
   }
}

static void write_file(const char *option, const char *name, const char *text, size_t length)
{
   if (!tg_write_whole(name, text, length))
      tg_measure_refuse("%s=%s: the file cannot be written: %s", option, name, strerror(errno));
}

static void write_curves(const char *name, const Curves *c)
{
   const size_t length = tg_curves_print(c->curve, c->n, NULL, 0);
   char *const text = malloc(length + 1);
   if (text == NULL)
      tg_measure_refuse("no memory");
   tg_curves_print(c->curve, c->n, text, length + 1);
   write_file("--curves", name, text, length);
   free(text);
}

static void write_picture(const char *name, const Curves *c, const char *title)
{
   size_t length;
   char *const text = tg_picture(c->curve, c->n, title, &length);
   if (text == NULL)
      tg_measure_refuse("no memory");
   write_file("--picture", name, text, length);
   free(text);
}

static void write_machine(const char *name, const TgFacts *f, const tlb_machine *known)
{
   static char text[TG_MEASURED_TEXT];
   tlb_reason why;
   if (!tg_to_machine(f, known, text, sizeof text, &why))
      tg_measure_refuse("--output=%s: not written: %s", name, why.text);
   write_file("--output", name, text, strlen(text));
}

/* For tlbgrind --machine=host. */
static void save_machine(const char *path, const TgFacts *f, const tlb_machine *known)
{
   static char text[TG_MEASURED_TEXT];
   tlb_reason why;
   if (!tg_to_machine(f, known, text, sizeof text, &why))
      tg_measure_refuse("--save: %s is not written: %s", path, why.text);
   if (!tg_home_make_folders(path) || !tg_write_whole(path, text, strlen(text)))
      tg_measure_refuse("--save: %s cannot be written: %s", path, strerror(errno));
   printf("\n%s is written: tlbgrind --machine=host takes costs from it.\n", path);
}

/* What is known of this processor without measuring, or NULL: by CPUID, or where a hypervisor hides
   its TLBs, by the machine file of its family and model. */
static const tlb_machine *known_machine(void)
{
   static tlb_machine known;
   if (!tlb_measured_can_be_used(tlb_cpuid_here, NULL))
      return NULL;
   return tlb_machine_from_cpuid(tlb_cpuid_here, NULL, &known)
                || tlb_cpuid_machine_file(tlb_cpuid_here, NULL) != NULL
             ? &known
             : NULL;
}

/* A minute later is late to learn that a folder is missing. */
static void check_files(const TgMeasureOptions *o)
{
   const struct {
      const char *option, *name;
   } files[] = { { "--output", o->output },
                 { "--curves", o->curves },
                 { "--picture", o->picture } };
   for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
      for (size_t k = 0; k < i; k++)
         if (files[i].name != NULL && files[k].name != NULL
             && strcmp(files[i].name, files[k].name) == 0)
            tg_measure_refuse("%s and %s name the same file, %s", files[k].option,
                              files[i].option, files[i].name);
      if (files[i].name != NULL && !tg_can_write(files[i].name))
         tg_measure_refuse("%s=%s: the file cannot be written: %s", files[i].option,
                           files[i].name, strerror(errno));
   }
}

static void finish(void)
{
   if (fflush(stdout) != 0 || ferror(stdout))
      tg_measure_refuse("the standard output cannot be written: %s", strerror(errno));
}

int main(int argc, char **argv)
{
   static TgMeasureOptions o;
   static tlb_machine other;
   static TgFacts facts;
   TgSurroundings here;
   Curves c = { .busy = -1.0 };
   char home[PATH_MAX] = "";
   tg_measure_options(argc, argv, &o);
   if (o.quiet)
      tg_bar_quiet();
   if (o.list) {
      tg_measure_list();
      finish();
      return 0;
   }
   if (o.against != NULL)
      load_machine(o.against, &other);
   check_files(&o);
   if (o.save && !tg_home_file(home, sizeof home))
      tg_measure_refuse("--save: neither XDG_CONFIG_HOME nor HOME is a folder's full path");
   const tlb_machine *const known = o.from == NULL ? known_machine() : NULL;
   if (o.save && known == NULL)
      tg_measure_refuse("--save is for processors that CPUID describes, or a machine file for "
                        "their family and model; --output= writes a machine file");
   tg_surroundings(&here);
   if (o.from != NULL)
      read_curves(o.from, &c);
   else
      measure_curves(&o, &c);
   if (o.from == NULL)
      print_head(&c, &here);
   if (o.curves != NULL)
      write_curves(o.curves, &c);
   if (o.picture != NULL)
      write_picture(o.picture, &c, here.processor[0] != '\0' && o.from == NULL ? here.processor
                                                                               : "tg_measure");
   if (c.emulated != NULL) {
      printf("This is an emulation (%s): nothing could be told.\n", c.emulated);
      finish();
      if (o.output != NULL)
         tg_measure_refuse("--output=%s: not written: nothing could be told", o.output);
      if (o.save)
         tg_measure_refuse("--save: nothing is written: nothing could be told");
      return 0;
   }
   find_facts(&o, &c, &here, known, &facts);
   tg_report_facts(&facts);
   tg_report_words(&facts);
   if (o.against != NULL)
      tg_report_against(&facts, &other);
   if (o.which)
      tg_report_which(&facts);
   if (o.output != NULL)
      write_machine(o.output, &facts, known);
   if (o.save)
      save_machine(home, &facts, known);
   finish();
   return 0;
}
