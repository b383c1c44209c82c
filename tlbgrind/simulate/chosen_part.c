/* The part of a run that is counted. See simulate/chosen_part.h.
   Part of tlbgrind.  GPL-2.0-or-later; see COPYING. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command/load_machine.h"
#include "simulate/chosen_part.h"
#include "simulate/phase_texts.h"

enum { NONE = -1 };

typedef struct {
   const TgParts *parts;
   const TgSection *section;
   unsigned n_sections;
   char *why;
   size_t size;
} search;

static bool is(const char *text, size_t n, const char *word)
{
   return strlen(word) == n && memcmp(text, word, n) == 0;
}

static bool is_of(const TgSection *s, TgPartKind kind)
{
   return s->kind != NULL && s->kind[0] == (kind == TG_PHASE ? 'p' : 't');
}

/* The section of a phase or thread with that number; NULL: the text has none. */
static const TgSection *section_of(const search *s, TgPartKind kind, unsigned number)
{
   size_t n;
   const char *const label = tg_parts_label(s->parts, kind, number, &n);
   for (unsigned i = 1; i < s->n_sections; i++) {
      const TgSection *const one = &s->section[i];
      if (is_of(one, kind) && one->label_length == n && memcmp(one->label, label, n) == 0)
         return one;
   }
   return NULL;
}

/* The name of a phase or thread; its label, if there is no text. */
static const char *name_of(const search *s, TgPartKind kind, unsigned number, size_t *n)
{
   const TgSection *const one = section_of(s, kind, number);
   if (one == NULL)
      return tg_parts_label(s->parts, kind, number, n);
   *n = one->name_length;
   return one->name;
}

/* Says that there is none of that name, and which there are, as many as there is room for. */
static void refuse_name(const search *s, TgPartKind kind, const char *option, const char *name)
{
   const unsigned count = tg_parts_count(s->parts, kind);
   const char *const what = kind == TG_PHASE ? "phase" : "thread";
   size_t at = (size_t)snprintf(s->why, s->size, "%s=%.100s: the recording has no such %s; it has ",
                                option, name, what);
   for (unsigned i = 0; i < count; i++) {
      size_t n;
      const char *const one = name_of(s, kind, i, &n);
      if (at + n + sizeof ", ..." > s->size) {
         snprintf(s->why + at, s->size - at, ", ...");
         return;
      }
      at += (size_t)snprintf(s->why + at, s->size - at, "%s'%.*s'", i == 0 ? "" : ", ", (int)n,
                             one);
   }
}

/* By its name, else by its label. False: there is none. *number stays if the option is not
   given. */
static bool find(const search *s, TgPartKind kind, const char *option, const char *given,
                 int *number)
{
   if (given == NULL)
      return true;
   for (unsigned by_label = 0; by_label < 2; by_label++) {
      for (unsigned i = 0; i < tg_parts_count(s->parts, kind); i++) {
         size_t n;
         const char *const name = by_label ? tg_parts_label(s->parts, kind, i, &n)
                                           : name_of(s, kind, i, &n);
         if (is(name, n, given)) {
            *number = (int)i;
            return true;
         }
      }
   }
   refuse_name(s, kind, option, given);
   return false;
}

/* --- A thread --- */

static bool choose_thread(const search *s, const char *thread, TgChosenPart *out)
{
   int number = NONE;
   size_t n;
   if (!tg_parts_are_told(s->parts, TG_THREAD)) {
      snprintf(s->why, s->size, "--thread=%.100s: the recording does not tell threads apart; "
                                "record the program with --separate-threads=yes", thread);
      return false;
   }
   if (!find(s, TG_THREAD, "--thread", thread, &number))
      return false;
   const char *const label = tg_parts_label(s->parts, TG_THREAD, (unsigned)number, &n);
   out->parts = tg_parts_of(s->parts, TG_THREAD, label, n);
   const TgSection *const section = section_of(s, TG_THREAD, (unsigned)number);
   if (section != NULL)
      out->section = *section;
   else if (s->n_sections > 0)
      snprintf(s->why, s->size, "the recording is damaged: it has no text of the thread");
   return section != NULL || s->n_sections == 0;
}

/* --- Phases --- */

/* The text of these phases. False: the texts of the recording do not fit each other. */
static bool find_text(const search *s, const bool *has, TgChosenPart *out)
{
   bool *const of = calloc(s->n_sections, sizeof *of);
   unsigned n = 0;
   bool good = true;
   if (of == NULL)
      tg_load_refuse("no memory");
   for (unsigned i = 0; i < tg_parts_count(s->parts, TG_PHASE); i++) {
      const TgSection *const one = has[i] ? section_of(s, TG_PHASE, i) : NULL;
      good &= one != NULL || !has[i];
      if (one == NULL)
         continue;
      of[one - s->section] = true;
      out->section = *one;
      n++;
   }
   if (good && n > 1) {
      out->owned = tg_phase_texts_add(s->section, s->n_sections, of, &out->section.n);
      out->section.text = out->owned;
   }
   free(of);
   return good && (n == 1 || out->owned != NULL);
}

static bool refuse_range(const search *s, int from, int to, int wrong)
{
   size_t n;
   const char *const name = name_of(s, TG_PHASE, (unsigned)wrong, &n);
   if (wrong == to)
      snprintf(s->why, s->size, "--to=%.*s: the run does not come to this phase %s", (int)n, name,
               from == NONE ? "behind its beginning" : "behind that of --from=");
   else
      snprintf(s->why, s->size, "the run is in phase '%.*s' before or behind this part, too, and "
                                "the recording has the references of a phase together; give each "
                                "part a mark of its own", (int)n, name);
   return false;
}

static bool choose_phases(const search *s, const TgPartChoice *choice, TgChosenPart *out)
{
   int from = NONE, to = NONE;
   if (!tg_parts_are_told(s->parts, TG_PHASE)) {
      snprintf(s->why, s->size, "%s=%.100s: the recording has no marks",
               choice->from != NULL ? "--from" : "--to",
               choice->from != NULL ? choice->from : choice->to);
      return false;
   }
   if (!find(s, TG_PHASE, "--from", choice->from, &from)
       || !find(s, TG_PHASE, "--to", choice->to, &to))
      return false;
   if (from == to) {
      snprintf(s->why, s->size, "--from= and --to= are one phase; give --to= the phase behind");
      return false;
   }
   bool *const has = calloc(tg_parts_count(s->parts, TG_PHASE), sizeof *has);
   if (has == NULL)
      tg_load_refuse("no memory");
   const int wrong = tg_parts_between(s->parts, from, to, has);
   bool good = wrong == NONE || refuse_range(s, from, to, wrong);
   if (good && s->n_sections > 0 && !find_text(s, has, out)) {
      snprintf(s->why, s->size,
               "the recording is damaged: its texts of phases do not fit each other");
      good = false;
   }
   if (good)
      out->parts = tg_parts_of_phases(s->parts, has);
   free(has);
   return good;
}

bool tg_choose_part(const TgPartChoice *choice, const TgParts *parts, const TgSection *section,
                    unsigned n_sections, TgChosenPart *out, char *why, size_t size)
{
   const search s = { parts, section, n_sections, why, size };
   *out = (TgChosenPart){ .owned = NULL };
   return choice->thread != NULL ? choose_thread(&s, choice->thread, out)
                                 : choose_phases(&s, choice, out);
}

void tg_chosen_part_free(TgChosenPart *part)
{
   free(part->parts.has);
   free(part->owned);
}
