/* The text of several phases together. See simulate/phase_texts.h.
   Part of tlbgrind.  GPL-2.0-or-later; see COPYING.

   Lines of source stand in one order in all sections, and the run's has all of them: so it is read
   line by line, and each phase up to the line that is its next. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "attribution/out_words.h"
#include "command/load_machine.h"
#include "sim/base/text.h"
#include "simulate/phase_texts.h"

/* --- Reading --- */

typedef struct {
   const char *text; /* not ended by a zero */
   size_t n;
} piece;

/* The names of objects, files or functions, by number, from 1. */
typedef struct {
   unsigned n, room;
   piece *name;
} names;

enum { OBJECTS, FILES, FUNCTIONS, N_NAMES };

/* A section, and the line of source that was read last. */
typedef struct {
   const char *at, *end;
   names of[N_NAMES];
   bool of_data; /* its lines name objects of data, too */
   bool has; /* there is such a line */
   unsigned object, own_file, function, file; /* where it is: `own_file` is the function's */
   unsigned next_file; /* of the next function */
   TgSourceLine line;
} reader;

static bool begins(const char *line, size_t n, const char *with)
{
   const size_t length = strlen(with);
   return n >= length && memcmp(line, with, length) == 0;
}

/* Begins behind the line "@events". */
static reader reader_of(const TgSection *s)
{
   reader r = { .at = s->text, .end = s->text + s->n };
   size_t n;
   while (r.at < r.end && !begins(tg_run_text_line(&r.at, r.end, &n), n, "@events"))
      ;
   return r;
}

static void free_names(reader *r)
{
   for (unsigned i = 0; i < N_NAMES; i++)
      free(r->of[i].name);
}

/* Reads "(NUMBER)", or "(NUMBER) NAME" where the name comes first. */
static bool take_name(names *of, const char *at, const char *end, unsigned *out)
{
   uint64_t number;
   if (at == end || *at++ != '(' || !tlb_text_number(&at, end, &number) || at == end || *at++ != ')'
       || number == 0 || number > of->n + 1)
      return false;
   *out = (unsigned)number;
   if (number <= of->n)
      return at == end;
   if (at == end || *at++ != ' ')
      return false;
   if (of->n == of->room) {
      of->room = of->room == 0 ? 64 : 2 * of->room;
      of->name = tg_load_need(realloc(of->name, of->room * sizeof *of->name));
   }
   of->name[of->n++] = (piece){ at, (size_t)(end - at) };
   return true;
}

/* Takes a line that says where the lines behind it are. False: it is wrong. */
static bool take_position(reader *r, const char *line, size_t n)
{
   const char *const end = line + n;
   if (begins(line, n, "ob="))
      return take_name(&r->of[OBJECTS], line + 3, end, &r->object);
   if (begins(line, n, "fl="))
      return take_name(&r->of[FILES], line + 3, end, &r->next_file);
   if (begins(line, n, "fi=") || begins(line, n, "fe="))
      return take_name(&r->of[FILES], line + 3, end, &r->file);
   if (!begins(line, n, "fn="))
      return n == 0 || line[0] == '@';
   r->own_file = r->file = r->next_file;
   return take_name(&r->of[FUNCTIONS], line + 3, end, &r->function);
}

/* Goes on to the next line of source. False: what stands before it is wrong. */
static bool go_on(reader *r)
{
   r->has = false;
   while (r->at < r->end && !r->has) {
      size_t n;
      const char *const line = tg_run_text_line(&r->at, r->end, &n);
      if (n > 0 && line[0] == ':')
         r->has = r->of_data ? tg_run_text_source_of_data(line, n, UINT32_MAX, UINT32_MAX, &r->line)
                             : tg_run_text_source(line, n, UINT32_MAX, &r->line);
      if (!r->has && !take_position(r, line, n))
         return false;
   }
   return !r->has || (r->object != 0 && r->own_file != 0 && r->function != 0);
}

static bool is_same(piece a, piece b)
{
   return a.n == b.n && memcmp(a.text, b.text, a.n) == 0;
}

static bool is_same_name(const reader *a, unsigned in_a, const reader *b, unsigned in_b,
                         unsigned kind)
{
   return is_same(a->of[kind].name[in_a - 1], b->of[kind].name[in_b - 1]);
}

static bool is_same_line(const reader *a, const reader *b)
{
   const piece x = { a->line.position, a->line.position_length };
   const piece y = { b->line.position, b->line.position_length };
   return is_same(x, y) && is_same_name(a, a->function, b, b->function, FUNCTIONS)
          && is_same_name(a, a->file, b, b->file, FILES)
          && is_same_name(a, a->own_file, b, b->own_file, FILES)
          && is_same_name(a, a->object, b, b->object, OBJECTS);
}

/* --- Writing --- */

/* Names are numbered anew, in the order in which they come. */
typedef struct {
   FILE *f;
   unsigned n[N_NAMES];
   unsigned room[N_NAMES];
   unsigned *number[N_NAMES]; /* by that in the run's section; 0: none yet */
   unsigned object, own_file, function, file; /* as of a reader: of the line before */
} writer;

static void put_name(writer *w, const char *key, const reader *r, unsigned kind, unsigned id)
{
   const piece name = r->of[kind].name[id - 1];
   if (id >= w->room[kind]) {
      const unsigned room = 2 * id + 64;
      w->number[kind] = tg_load_need(realloc(w->number[kind], room * sizeof *w->number[kind]));
      memset(w->number[kind] + w->room[kind], 0, (room - w->room[kind]) * sizeof *w->number[kind]);
      w->room[kind] = room;
   }
   unsigned *const number = &w->number[kind][id];
   if (*number != 0) {
      fprintf(w->f, "%s=(%u)\n", key, *number);
      return;
   }
   *number = ++w->n[kind];
   fprintf(w->f, "%s=(%u) ", key, *number);
   fwrite(name.text, 1, name.n, w->f);
   fputc('\n', w->f);
}

/* As tlbgrind/output/positions.c. */
static void put_position(writer *w, const reader *r)
{
   const bool other_object = w->object != r->object, other_function = w->function != r->function;
   if (other_object) {
      fputc('\n', w->f);
      put_name(w, "ob", r, OBJECTS, r->object);
   }
   if (other_object || w->own_file != r->own_file || (other_function && w->file != r->own_file))
      put_name(w, "fl", r, FILES, r->own_file);
   if (other_function) {
      put_name(w, "fn", r, FUNCTIONS, r->function);
      w->file = r->own_file;
   }
   if (w->file != r->file)
      put_name(w, r->file == r->own_file ? "fe" : "fi", r, FILES, r->file);
   w->object = r->object;
   w->own_file = r->own_file;
   w->function = r->function;
   w->file = r->file;
}

static void put_line(writer *w, const reader *run, const TgSourceLine *sum)
{
   put_position(w, run);
   fputc(':', w->f);
   for (unsigned i = 0; i < TLB_N_USERS; i++)
      fprintf(w->f, "%llu ", (unsigned long long)sum->refs[i]);
   for (unsigned i = 0; i < TLB_N_USERS; i++)
      fprintf(w->f, "%llu ", (unsigned long long)sum->faults[i]);
   /* Its numbers in the recording, and behind a semicolon the position. */
   const TgSourceLine *const l = &run->line;
   fwrite(l->numbers, 1, (size_t)(l->position + l->position_length - l->numbers), w->f);
   fputc('\n', w->f);
}

/* Adds the phase's counts of the run's line, if it has any. Returns whether it had. */
static bool add_line(TgSourceLine *sum, const reader *run, const reader *phase)
{
   if (!phase->has || !is_same_line(run, phase))
      return false;
   for (unsigned i = 0; i < TLB_N_USERS; i++) {
      sum->refs[i] += phase->line.refs[i];
      sum->faults[i] += phase->line.faults[i];
   }
   return true;
}

/* False: the phases have lines that the run has not, or in another order. */
static bool put_lines(writer *w, reader *run, reader *phase, unsigned n)
{
   for (unsigned i = 0; i < n; i++) {
      if (!go_on(&phase[i]))
         return false;
   }
   for (;;) {
      TgSourceLine sum = { .refs = { 0 } };
      bool any = false;
      if (!go_on(run))
         return false;
      if (!run->has)
         break;
      for (unsigned i = 0; i < n; i++) {
         if (!add_line(&sum, run, &phase[i]))
            continue;
         any = true;
         if (!go_on(&phase[i]))
            return false;
      }
      if (any)
         put_line(w, run, &sum);
   }
   for (unsigned i = 0; i < n; i++) {
      if (phase[i].has)
         return false;
   }
   return true;
}

/* --- The head --- */

static const char of_phase[] = "desc: " TG_OUT_OF_PHASE ": ";

/* The section's line in its head that begins so, behind that; NULL: it has none. */
static const char *head_line(const TgSection *s, const char *key, const char **end)
{
   const char *at = s->text, *const stop = s->text + s->n;
   while (at < stop) {
      size_t n;
      const char *const line = tg_run_text_line(&at, stop, &n);
      *end = line + n;
      if (begins(line, n, key))
         return line + strlen(key);
      if (begins(line, n, "@events"))
         break;
   }
   return NULL;
}

/* The number that stands in the section's line at the place where the nth stands. */
static uint64_t number_in(const TgSection *s, const char *key, unsigned nth)
{
   const char *end;
   const char *at = head_line(s, key, &end);
   uint64_t number = 0;
   while (at != NULL && at < end) {
      if (*at < '0' || *at > '9')
         at++;
      else if (!tlb_text_number(&at, end, &number))
         return 0;
      else if (nth-- == 0)
         return number;
   }
   return 0;
}

/* A line of counts, with the sums of all phases in place of its numbers. */
static void put_sums(FILE *f, const TgSection *section, unsigned n, const bool *of, const char *key,
                     const char *line, size_t length)
{
   unsigned nth = 0;
   for (size_t i = 0; i < length; i++) {
      if (line[i] < '0' || line[i] > '9') {
         fputc(line[i], f);
         continue;
      }
      uint64_t sum = 0;
      for (unsigned k = 1; k < n; k++)
         sum += of[k] ? number_in(&section[k], key, nth) : 0;
      fprintf(f, "%llu", (unsigned long long)sum);
      nth++;
      while (i + 1 < length && line[i + 1] >= '0' && line[i + 1] <= '9')
         i++;
   }
   fputc('\n', f);
}

static void put_phases(FILE *f, const TgSection *section, unsigned n, const bool *of)
{
   const char *between = of_phase;
   for (unsigned i = 1; i < n; i++) {
      if (!of[i])
         continue;
      fputs(between, f);
      fwrite(section[i].name, 1, section[i].name_length, f);
      between = " + ";
   }
   fputc('\n', f);
}

static void put_head(FILE *f, const TgSection *section, unsigned n, const bool *of)
{
   static const char straddles[] = "desc: Straddles: ",
                     unperformed[] = "desc: Unperformed helper accesses: ";
   unsigned first = 1;
   while (!of[first])
      first++;
   const char *at = section[first].text, *const end = at + section[first].n;
   while (at < end) {
      size_t length;
      const char *const line = tg_run_text_line(&at, end, &length);
      if (begins(line, length, of_phase)) {
         put_phases(f, section, n, of);
      } else if (begins(line, length, straddles)) {
         put_sums(f, section, n, of, straddles, line, length);
      } else if (begins(line, length, unperformed)) {
         put_sums(f, section, n, of, unperformed, line, length);
      } else if (!begins(line, length, "desc: Code: ")
                 && !begins(line, length, "desc: Merged code pages: ")) {
         fwrite(line, 1, length, f);
         fputc('\n', f);
      }
      if (begins(line, length, "@events"))
         return;
   }
}

/* --- Lines that have costs of other kinds --- */

static bool is_counted(const TgSourceLine *l)
{
   uint64_t any = 0;
   for (unsigned i = 0; i < TLB_N_USERS; i++)
      any |= l->refs[i] | l->faults[i];
   return any != 0;
}

static bool put_lines_with(writer *w, reader *run, reader *one, TgHasCosts *has, const void *opaque)
{
   bool good = go_on(one) && go_on(run);
   while (good && run->has) {
      TgSourceLine sum = { .refs = { 0 } };
      if (add_line(&sum, run, one))
         good = go_on(one);
      if (is_counted(&sum) || has(opaque, &run->line))
         put_line(w, run, &sum);
      good &= go_on(run);
   }
   return good && !one->has;
}

/* NULL: the text is not `good`. */
static char *finish(writer *w, char *const *text, bool good)
{
   const bool failed = ferror(w->f);
   if (fclose(w->f) != 0 || failed)
      tg_load_refuse("no memory");
   for (unsigned i = 0; i < N_NAMES; i++)
      free(w->number[i]);
   if (good)
      return *text;
   free(*text);
   return NULL;
}

char *tg_phase_text_with(const TgSection *run, const TgSection *one, TgHasCosts *has,
                         const void *opaque, size_t *length)
{
   char *text = NULL;
   writer w = { .f = tg_load_need(open_memstream(&text, length)) };
   reader of_run = reader_of(run), of_one = reader_of(one);
   fwrite(one->text, 1, (size_t)(of_one.at - one->text), w.f);
   const bool good = put_lines_with(&w, &of_run, &of_one, has, opaque);
   fputs("@totals\n", w.f);
   free_names(&of_run);
   free_names(&of_one);
   return finish(&w, &text, good);
}

char *tg_lines_of_data_with(const char *lines, size_t n, TgHasCosts *has, const void *opaque,
                            size_t *length)
{
   char *text = NULL;
   writer w = { .f = tg_load_need(open_memstream(&text, length)) };
   reader r = { .at = lines, .end = lines + n, .of_data = true };
   bool good = go_on(&r);
   for (; good && r.has; good = go_on(&r)) {
      if (is_counted(&r.line) || has(opaque, &r.line))
         put_line(&w, &r, &r.line);
   }
   free_names(&r);
   return finish(&w, &text, good);
}

char *tg_phase_texts_add(const TgSection *section, unsigned n, const bool *of, size_t *length)
{
   char *text = NULL;
   unsigned n_phases = 0;
   writer w = { .f = tg_load_need(open_memstream(&text, length)) };
   reader run = reader_of(&section[0]);
   reader *const phase = tg_load_need(calloc(n, sizeof *phase));
   for (unsigned i = 1; i < n; i++) {
      if (of[i])
         phase[n_phases++] = reader_of(&section[i]);
   }
   put_head(w.f, section, n, of);
   const bool good = put_lines(&w, &run, phase, n_phases);
   fputs("@totals\n", w.f);
   free_names(&run);
   for (unsigned i = 0; i < n_phases; i++)
      free_names(&phase[i]);
   free(phase);
   return finish(&w, &text, good);
}
