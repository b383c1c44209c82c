/* Phases and threads of a run. See simulate/parts.h.
   Part of tlbgrind.  GPL-2.0-or-later; see COPYING. */

#include <stdlib.h>
#include <string.h>

#include "command/load_machine.h"
#include "simulate/parts.h"

enum { MOST_LABELS = 1024, NONE = -1 };

typedef struct {
   unsigned n, at_hand;
   struct {
      size_t length;
      char text[TLB_MARK_TEXT];
   } label[MOST_LABELS];
} labels;

struct TgParts {
   labels of[TG_N_PART_KINDS];
   unsigned n, room;
   unsigned (*part)[TG_N_PART_KINDS]; /* by number in the replay: its phase and thread */
};

static int find(const labels *list, const char *label, size_t n)
{
   for (unsigned i = 0; i < list->n; i++) {
      if (list->label[i].length == n && memcmp(list->label[i].text, label, n) == 0)
         return (int)i;
   }
   return NONE;
}

static void add(labels *list, const char *label, size_t n)
{
   list->label[list->n].length = n;
   memcpy(list->label[list->n++].text, label, n);
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
      p->part = realloc(p->part, p->room * sizeof *p->part);
      if (p->part == NULL)
         tg_load_refuse("no memory");
   }
   p->part[p->n][TG_PHASE] = p->of[TG_PHASE].at_hand;
   p->part[p->n][TG_THREAD] = p->of[TG_THREAD].at_hand;
   return p->n++;
}

TgParts *tg_parts_new(void)
{
   TgParts *const p = calloc(1, sizeof *p);
   if (p == NULL)
      tg_load_refuse("no memory");
   add(&p->of[TG_PHASE], "start", strlen("start"));
   add(&p->of[TG_THREAD], "1", 1);
   at_hand(p);
   return p;
}

void tg_parts_free(TgParts *p)
{
   free(p->part);
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
   p->n = 0;
   at_hand(p);
   tg_replay_zero(r);
}

const char *tg_parts_mark(TgParts *p, TgReplay *r, tlb_mark mark, const char *text, size_t n)
{
   labels *const list = &p->of[mark == TLB_MARK_THREAD ? TG_THREAD : TG_PHASE];
   if (mark == TLB_MARK_ZERO) {
      zero(p, r);
      return NULL;
   }
   if ((mark != TLB_MARK_PHASE && mark != TLB_MARK_THREAD) || n == 0)
      return "it has a mark of a run that goes on";
   int number = find(list, text, n);
   if (number == NONE && list->n == MOST_LABELS)
      return "it has too many phases or threads";
   if (number == NONE) {
      number = (int)list->n;
      add(list, text, n);
   }
   list->at_hand = (unsigned)number;
   return tg_replay_part(r, at_hand(p)) ? NULL : "it has too many phases or threads";
}

TgSelection tg_parts_of(const TgParts *p, TgPartKind kind, const char *label, size_t n)
{
   TgSelection s = { p->n, calloc(p->n, sizeof *s.has) };
   const int number = find(&p->of[kind], label, n);
   if (s.has == NULL)
      tg_load_refuse("no memory");
   for (unsigned i = 0; i < p->n; i++)
      s.has[i] = (int)p->part[i][kind] == number;
   return s;
}
