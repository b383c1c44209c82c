/* What calls have missed. See simulate/call_costs.h.
   Part of tlbgrind.  GPL-2.0-or-later; see COPYING. */

#include <stdlib.h>
#include <string.h>

#include "command/load_machine.h"
#include "simulate/call_costs.h"

typedef struct {
   unsigned arc;     /* 0: the first of a thread or handler */
   uint64_t *counts; /* of all kinds of reference; NULL: none */
} frame;

typedef struct {
   frame *frame;
   size_t n, room;
   size_t n_settled; /* no frame from this number on has counts, but first ones */
   size_t n_later; /* with all moves that are kept */
   uint8_t *is_first; /* by frame, likewise: of a stack with them */
   size_t room_later;
} stack;

/* A reference's counts, or a move behind those before it. */
typedef struct {
   uint64_t *counts; /* NULL: it is a move */
   unsigned line;
   tlb_user user;
   tlb_move move;
   unsigned n;
} step;

struct TgCallCosts {
   size_t n_counts;
   tg_call_line_counts *line;
   tg_call_arc_counts *arc;
   stack *stack; /* by number, from 1 */
   unsigned n_stacks;
   unsigned at_hand, at_hand_later; /* 0: none yet */
   unsigned n_arcs;
   step *step;
   size_t n_steps, room_for_steps;
   unsigned n_references; /* among the steps */
   uint64_t *spare[TG_CALL_REFERENCES]; /* counts of one kind, all zero */
   unsigned n_spare;
   uint64_t **unused; /* counts of a frame, all zero */
   size_t n_unused, room_for_unused;
};

TgCallCosts *tg_call_costs_new(size_t n_counts, tg_call_line_counts *line, tg_call_arc_counts *arc)
{
   TgCallCosts *const c = tg_load_need(calloc(1, sizeof *c));
   c->n_counts = n_counts;
   c->line = line;
   c->arc = arc;
   return c;
}

/* --- Counts --- */

static uint64_t *counts_of_frame(TgCallCosts *c, frame *f)
{
   if (f->counts == NULL)
      f->counts = c->n_unused > 0
                     ? c->unused[--c->n_unused]
                     : tg_load_need(calloc(TLB_N_USERS * c->n_counts, sizeof(uint64_t)));
   return f->counts;
}

/* The frame has none any more. */
static void drop_counts(TgCallCosts *c, frame *f)
{
   if (f->counts == NULL)
      return;
   if (c->n_unused == c->room_for_unused) {
      c->room_for_unused = 2 * c->room_for_unused + 64;
      c->unused = tg_load_need(realloc(c->unused, c->room_for_unused * sizeof *c->unused));
   }
   memset(f->counts, 0, TLB_N_USERS * c->n_counts * sizeof *f->counts);
   c->unused[c->n_unused++] = f->counts;
   f->counts = NULL;
}

static void add(uint64_t *restrict to, const uint64_t *restrict more, size_t n)
{
   for (size_t i = 0; i < n; i++)
      to[i] += more[i];
}

/* What the frame has cost becomes its arc's. */
static void add_to_arc(TgCallCosts *c, const frame *f, unsigned arc, void *opaque)
{
   if (f->counts != NULL)
      add(c->arc(opaque, arc), f->counts, TLB_N_USERS * c->n_counts);
}

/* And the caller's, too; leaves it none. */
static void hand_down(TgCallCosts *c, frame *f)
{
   if (f->counts == NULL)
      return;
   if (f[-1].counts == NULL) {
      f[-1].counts = f->counts;
      f->counts = NULL;
      return;
   }
   add(f[-1].counts, f->counts, TLB_N_USERS * c->n_counts);
   drop_counts(c, f);
}

/* --- Steps --- */

static step *new_step(TgCallCosts *c)
{
   if (c->n_steps == c->room_for_steps) {
      c->room_for_steps = 2 * c->room_for_steps + 1024;
      c->step = tg_load_need(realloc(c->step, c->room_for_steps * sizeof *c->step));
   }
   return &c->step[c->n_steps++];
}

uint64_t *tg_call_costs_for(TgCallCosts *c, unsigned line, tlb_user user)
{
   const step *const last = c->n_steps > 0 ? &c->step[c->n_steps - 1] : NULL;
   if (last != NULL && last->counts != NULL && last->line == line && last->user == user)
      return last->counts;
   uint64_t *const counts = c->n_spare > 0 ? c->spare[--c->n_spare]
                                           : tg_load_need(calloc(c->n_counts, sizeof *counts));
   *new_step(c) = (step){ .counts = counts, .line = line, .user = user };
   c->n_references++;
   return counts;
}

unsigned tg_call_costs_room(const TgCallCosts *c)
{
   return TG_CALL_REFERENCES - c->n_references;
}

static stack *stack_of(TgCallCosts *c, unsigned number)
{
   if (number > c->n_stacks) {
      c->stack = tg_load_need(realloc(c->stack, number * sizeof *c->stack));
      memset(c->stack + c->n_stacks, 0, (number - c->n_stacks) * sizeof *c->stack);
      c->n_stacks = number;
   }
   return &c->stack[number - 1];
}

/* A frame more, as it will be later. */
static bool push_later(stack *s, bool is_first)
{
   if (s->n_later == TLB_MOST_FRAMES)
      return false;
   if (s->n_later == s->room_later) {
      s->room_later = 2 * s->room_later + 64;
      s->is_first = tg_load_need(realloc(s->is_first, s->room_later));
   }
   s->is_first[s->n_later++] = is_first;
   return true;
}

/* Each new arc has the next number, and each stack begins with a first frame. */
static bool can_be(TgCallCosts *c, tlb_move move, unsigned n)
{
   if (move == TLB_MOVE_STACK) {
      c->at_hand_later = n;
      return true;
   }
   if (c->at_hand_later == 0)
      return false;
   stack *const s = stack_of(c, c->at_hand_later);
   if (move == TLB_MOVE_POP) {
      if (n > s->n_later)
         return false;
      s->n_later -= n;
      return true;
   }
   const bool is_turn = n <= c->n_arcs + 1;
   c->n_arcs = is_turn && n > c->n_arcs ? n : c->n_arcs;
   if (move == TLB_MOVE_PUSH)
      return is_turn && (n == 0 || s->n_later > 0) && push_later(s, n == 0);
   return is_turn && n > 0 && s->n_later > 0 && s->is_first[s->n_later - 1] != 0;
}

const char *tg_call_costs_move(TgCallCosts *c, tlb_move move, uint64_t n)
{
   if (move == TLB_MOVE_STACK)
      stack_of(c, (unsigned)n);
   if (!can_be(c, move, (unsigned)n))
      return "a call stack moves as none does";
   *new_step(c) = (step){ .move = move, .n = (unsigned)n };
   return NULL;
}

/* --- Moves --- */

static void push(stack *s, unsigned arc)
{
   if (s->n == s->room) {
      const size_t room = 2 * s->room + 64;
      s->frame = tg_load_need(realloc(s->frame, room * sizeof *s->frame));
      memset(s->frame + s->room, 0, (room - s->room) * sizeof *s->frame);
      s->room = room;
   }
   s->frame[s->n++].arc = arc;
}

static void pop(TgCallCosts *c, stack *s, void *opaque)
{
   frame *const f = &s->frame[--s->n];
   s->n_settled = s->n_settled < s->n ? s->n_settled : s->n;
   if (f->arc == 0) {
      drop_counts(c, f);
      return;
   }
   add_to_arc(c, f, f->arc, opaque);
   hand_down(c, f);
}

static void make_move(TgCallCosts *c, const step *one, void *opaque)
{
   if (one->move == TLB_MOVE_STACK) {
      c->at_hand = one->n;
      return;
   }
   stack *const s = stack_of(c, c->at_hand);
   if (one->move == TLB_MOVE_PUSH)
      push(s, one->n);
   else if (one->move == TLB_MOVE_RETURN)
      add_to_arc(c, &s->frame[s->n - 1], one->n, opaque);
   else
      for (unsigned i = 0; i < one->n; i++)
         pop(c, s, opaque);
}

static bool any(const uint64_t *counts, size_t n)
{
   uint64_t all = 0;
   for (size_t i = 0; i < n; i++)
      all |= counts[i];
   return all != 0;
}

/* A reference that a recording has hits more often than not. */
static void take_reference(TgCallCosts *c, const step *one, void *opaque)
{
   if (any(one->counts, c->n_counts)) {
      add(c->line(opaque, one->line, one->user), one->counts, c->n_counts);
      stack *const s = c->at_hand == 0 ? NULL : stack_of(c, c->at_hand);
      if (s != NULL && s->n > 0) {
         s->n_settled = s->n_settled > s->n ? s->n_settled : s->n;
         add(counts_of_frame(c, &s->frame[s->n - 1]) + one->user * c->n_counts, one->counts,
             c->n_counts);
      }
      memset(one->counts, 0, c->n_counts * sizeof *one->counts);
   }
   c->spare[c->n_spare++] = one->counts;
}

void tg_call_costs_add(TgCallCosts *c, void *opaque)
{
   for (size_t i = 0; i < c->n_steps; i++) {
      if (c->step[i].counts != NULL)
         take_reference(c, &c->step[i], opaque);
      else
         make_move(c, &c->step[i], opaque);
   }
   c->n_steps = 0;
   c->n_references = 0;
}

/* --- All stacks --- */

void tg_call_costs_settle(TgCallCosts *c, void *opaque)
{
   for (stack *s = c->stack; s < c->stack + c->n_stacks; s++) {
      for (; s->n_settled > 0; s->n_settled--) {
         frame *const f = &s->frame[s->n_settled - 1];
         if (f->arc == 0)
            continue;
         add_to_arc(c, f, f->arc, opaque);
         hand_down(c, f);
      }
   }
}

unsigned tg_call_costs_n_arcs(const TgCallCosts *c)
{
   return c->n_arcs;
}

void tg_call_costs_each(TgCallCosts *c, void (*each)(void *opaque, uint64_t *counts), void *opaque)
{
   for (stack *s = c->stack; s < c->stack + c->n_stacks; s++) {
      for (size_t i = 0; i < s->n; i++) {
         if (s->frame[i].counts != NULL)
            each(opaque, s->frame[i].counts);
      }
   }
}

void tg_call_costs_zero(TgCallCosts *c)
{
   for (stack *s = c->stack; s < c->stack + c->n_stacks; s++) {
      for (size_t i = 0; i < s->n; i++)
         drop_counts(c, &s->frame[i]);
   }
}

void tg_call_costs_free(TgCallCosts *c)
{
   tg_call_costs_zero(c);
   for (size_t i = 0; i < c->n_steps; i++)
      free(c->step[i].counts);
   for (unsigned i = 0; i < c->n_stacks; i++) {
      free(c->stack[i].frame);
      free(c->stack[i].is_first);
   }
   while (c->n_spare > 0)
      free(c->spare[--c->n_spare]);
   while (c->n_unused > 0)
      free(c->unused[--c->n_unused]);
   free(c->unused);
   free(c->step);
   free(c->stack);
   free(c);
}
