/* Phases and threads of a run. See simulate/parts.h.
   Part of tlbgrind.  GPL-2.0-or-later; see COPYING. */

#include <stdlib.h>
#include <string.h>

#include "command/load_machine.h"
#include "simulate/parts.h"

enum { MOST_LABELS = 1024, NONE = -1 };

typedef struct {
   unsigned n, at_hand;
   bool are_told;
   struct {
      size_t length;
      char text[TLB_MARK_TEXT];
   } label[MOST_LABELS];
} labels;

struct TgParts {
   labels of[TG_N_PART_KINDS];
   unsigned n, room;
   unsigned (*part)[TG_N_PART_KINDS]; /* by number in the replay: its phase and thread */
   unsigned n_turns, room_for_turns;
   unsigned *turn; /* which phases the run has come to, in this order */
};

static int find(const labels *list, const char *label, size_t n)
{
   for (unsigned i = 0; i < list->n; i++) {
      if (list->label[i].length == n && memcmp(list->label[i].text, label, n) == 0)
         return (int)i;
   }
   return NONE;
}

/* Letters, digits and _, as in the name of a file. */
static bool is_label(const char *text, size_t n)
{
   for (size_t i = 0; i < n; i++) {
      const char c = text[i];
      if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_'))
         return false;
   }
   return n > 0;
}

static void add(labels *list, const char *label, size_t n)
{
   list->label[list->n].length = n;
   memcpy(list->label[list->n++].text, label, n);
}

static void take_turn(TgParts *p)
{
   if (p->n_turns == p->room_for_turns) {
      p->room_for_turns = p->room_for_turns == 0 ? 64 : 2 * p->room_for_turns;
      p->turn = tg_load_need(realloc(p->turn, p->room_for_turns * sizeof *p->turn));
   }
   p->turn[p->n_turns++] = p->of[TG_PHASE].at_hand;
}

/* The number of the part that is at hand, made if it is new. */
static unsigned at_hand(TgParts *p)
{
   for (unsigned i = 0; i < p->n; i++) {
      if (p->part[i][TG_PHASE] == p->of[TG_PHASE].at_hand
          && p->part[i][TG_THREAD] == p->of[TG_THREAD].at_hand)
         return i;
   }
   if (p->n == p->room) {
      p->room = p->room == 0 ? 64 : 2 * p->room;
      p->part = tg_load_need(realloc(p->part, p->room * sizeof *p->part));
   }
   p->part[p->n][TG_PHASE] = p->of[TG_PHASE].at_hand;
   p->part[p->n][TG_THREAD] = p->of[TG_THREAD].at_hand;
   return p->n++;
}

TgParts *tg_parts_new(void)
{
   TgParts *const p = tg_load_need(calloc(1, sizeof *p));
   add(&p->of[TG_PHASE], "start", strlen("start"));
   add(&p->of[TG_THREAD], "1", 1);
   at_hand(p);
   take_turn(p);
   return p;
}

void tg_parts_free(TgParts *p)
{
   free(p->part);
   free(p->turn);
   free(p);
}

/* Only what is at hand stays. */
static void zero(TgParts *p, TgReplay *r)
{
   for (unsigned kind = 0; kind < TG_N_PART_KINDS; kind++) {
      labels *const list = &p->of[kind];
      list->label[0] = list->label[list->at_hand];
      list->n = 1;
      list->at_hand = 0;
   }
   p->n = p->n_turns = 0;
   at_hand(p);
   take_turn(p);
   tg_replay_zero(r);
}

const char *tg_parts_mark(TgParts *p, TgReplay *r, tlb_mark mark, const char *text, size_t n)
{
   labels *const list = &p->of[mark == TLB_MARK_THREAD ? TG_THREAD : TG_PHASE];
   if (mark == TLB_MARK_ZERO) {
      zero(p, r);
      return NULL;
   }
   if (mark != TLB_MARK_PHASE && mark != TLB_MARK_THREAD)
      return "it has a mark of a run that goes on";
   if (!is_label(text, n))
      return "a phase or thread has a name that can not be";
   int number = find(list, text, n);
   if (number == NONE && list->n == MOST_LABELS)
      return "it has too many phases or threads";
   if (number == NONE) {
      number = (int)list->n;
      add(list, text, n);
   }
   list->at_hand = (unsigned)number;
   list->are_told = true;
   if (mark == TLB_MARK_PHASE)
      take_turn(p);
   return tg_replay_part(r, at_hand(p)) ? NULL : "it has too many phases or threads";
}

/* --- Selections --- */

bool tg_parts_are_told(const TgParts *p, TgPartKind kind)
{
   return p->of[kind].are_told;
}

unsigned tg_parts_count(const TgParts *p, TgPartKind kind)
{
   return p->of[kind].n;
}

int tg_parts_number(const TgParts *p, TgPartKind kind, const char *label, size_t n)
{
   return find(&p->of[kind], label, n);
}

const char *tg_parts_label(const TgParts *p, TgPartKind kind, unsigned number, size_t *n)
{
   *n = p->of[kind].label[number].length;
   return p->of[kind].label[number].text;
}

static TgSelection none_of(const TgParts *p)
{
   return (TgSelection){ p->n, tg_load_need(calloc(p->n, sizeof(bool))) };
}

TgSelection tg_parts_of(const TgParts *p, TgPartKind kind, const char *label, size_t n)
{
   const TgSelection s = none_of(p);
   const int number = find(&p->of[kind], label, n);
   for (unsigned i = 0; i < p->n; i++)
      s.has[i] = (int)p->part[i][kind] == number;
   return s;
}

TgSelection tg_parts_of_phases(const TgParts *p, const bool *has)
{
   const TgSelection s = none_of(p);
   for (unsigned i = 0; i < p->n; i++)
      s.has[i] = has[p->part[i][TG_PHASE]];
   return s;
}

/* The first turn of a phase, from one on; p->n_turns: there is none. */
static unsigned turn_of(const TgParts *p, int phase, unsigned at)
{
   while (at < p->n_turns && (int)p->turn[at] != phase)
      at++;
   return at;
}

int tg_parts_between(const TgParts *p, int from, int to, bool *has)
{
   const unsigned first = from == NONE ? 0 : turn_of(p, from, 0);
   const unsigned end = to == NONE ? p->n_turns : turn_of(p, to, first + 1);
   memset(has, 0, p->of[TG_PHASE].n * sizeof *has);
   if (to != NONE && end == p->n_turns)
      return to;
   for (unsigned i = first; i < end; i++)
      has[p->turn[i]] = true;
   for (unsigned i = 0; i < p->n_turns; i++) {
      if ((i < first || i >= end) && has[p->turn[i]])
         return (int)p->turn[i];
   }
   return NONE;
}
