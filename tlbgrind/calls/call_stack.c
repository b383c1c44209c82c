/* Keeps the call stacks. See calls/call_stack.h. */

#include "pub_tool_basics.h"

#include "pub_tool_libcbase.h"
#include "pub_tool_mallocfree.h"
#include "pub_tool_threadstate.h"

#include "calls/call_stack.h"
#include "trace/missed_segments.h"
#include "trace/segment_run.h"

/* How a frame came onto the stack. */
typedef enum {
   CALLED,
   JUMPED,  /* a jump that is taken as a call, or leads into another function */
   BOTTOM,  /* the first of a thread */
   HANDLER  /* the first of a signal's handler, whose costs are not the interrupted one's */
} Origin;

typedef struct {
   Origin origin;
   Bool alternate_stack;         /* of a handler */
   Bool is_told;                 /* it is in the recording, as are all below */
   Addr sp;                      /* at its begin; of the first frames the highest there is */
   Addr return_to;               /* 0: it was not called */
   const TgEntry* entry;         /* NULL: not known yet */
   TgArc* arc;                   /* NULL: of the first frames */
   ULong before[TLB_N_USERS];    /* the stack's references at its begin */
   TgCosts rare;                 /* misses and faults of it and of all that it has called and that
                                    has returned; if there are any, `misses` is set */
   UWord left;                   /* of a handler: what the interrupted block had left */
   ULong interrupted[TLB_N_USERS]; /* of a handler: the references of the frames below */
} Frame;

/* References are counted for the whole stack, from the latest signal handler on, since a frame
   costs what they have grown by: so a return has nothing to add to its caller. */
typedef struct {
   Frame* frame; /* NULL: the thread has not run yet; beyond n all `rare` are empty */
   UInt n, room;
   UInt n_told; /* frames that it has in the recording */
   ULong refs[TLB_N_USERS];
} Stack;

Bool tg_call_stacks_on;
static void (*complete_noted)(void);
static Int sp_offset;
static Stack* stacks;    /* by thread */
static Stack* stack;     /* of the thread that runs, or that ran last */
static ULong instructions_before; /* at the last change of the stack */
static TgBooked booked;    /* likewise */
static TgCallSite thread_begins = { .leaving = TG_BEGINS };
static TgStackMove* tell; /* NULL: there is no recording */
static const Stack* stack_told; /* that the recording is about; NULL: none yet */

void tg_call_stacks_init(void (*f)(void), TgStackMove* t, Bool misses)
{
   tg_call_stacks_on = True;
   complete_noted = f;
   tell = t;
   if (misses) {
      tg_lists_missed_segments = True;
      tg_lines_count_seen();
   }
   stacks = VG_(calloc)("tg.calls.stacks", VG_N_THREADS, sizeof *stacks);
   stack = &stacks[1];
   tg_arcs_init();
}

void tg_call_stacks_sp(Int offset)
{
   sp_offset = offset;
}

/* --- Costs --- */

/* Adds a line's misses that are in no inclusive costs yet. */
static void take_misses(uint64_t* misses, uint64_t* taken, UInt n, tlb_user kind, void* to)
{
   uint64_t* sum = NULL;
   for (UInt i = 0; i < n; i++) {
      if (misses[i] == taken[i])
         continue;
      if (sum == NULL)
         sum = tg_costs_misses(to) + kind * n;
      sum[i] += misses[i] - taken[i];
      taken[i] = misses[i];
   }
}

static void take_booked_of(TgCosts* to)
{
   tg_costs_misses(to);
   for (UInt i = 0; i < TLB_N_USERS; i++) {
      to->faults[i] += tg_booked.faults[i] - booked.faults[i];
      stack->refs[i] += tg_booked.refs[i] - booked.refs[i];
   }
   booked = tg_booked;
}

static inline void take_booked(TgCosts* to)
{
   if (UNLIKELY(tg_booked.n != booked.n))
      take_booked_of(to);
}

/* Gives all costs since the last time to the innermost frame, if they are kept. */
static inline void take_costs(TgCallArea* area)
{
   TgCosts* to = &stack->frame[stack->n - 1].rare;
   if (tg_n_segments_noted > 0)
      complete_noted();
   const ULong now = tg_instructions();
   if (!tg_costs_are_kept) {
      tg_missed_segments_take_back();
      instructions_before = now;
      area->refs = 0;
      return;
   }
   stack->refs[TLB_FETCH] += now - instructions_before;
   instructions_before = now;
   stack->refs[TLB_LOAD] += area->refs & (((ULong)1 << TG_REFS_BITS) - 1);
   stack->refs[TLB_STORE] += area->refs >> TG_REFS_BITS;
   area->refs = 0;
   take_booked(to);
   if (UNLIKELY(tg_n_missed_segments > 0))
      tg_missed_segments_take(take_misses, to);
}

/* --- Frames --- */

static Bool is_first(const Frame* f)
{
   return f->origin == BOTTOM || f->origin == HANDLER;
}

static Frame* top(void)
{
   return &stack->frame[stack->n - 1];
}

static void grow(void)
{
   const UInt room = 2 * stack->room + 64;
   stack->frame = VG_(realloc)("tg.calls.frames", stack->frame, room * sizeof *stack->frame);
   VG_(memset)(stack->frame + stack->room, 0, (room - stack->room) * sizeof *stack->frame);
   stack->room = room;
}

/* A new frame without costs. Its parts are set one by one, for a copy of a whole frame that was
   just put together waits for its parts to arrive in memory, at each call. */
static inline __attribute__((always_inline)) Frame* push(Origin origin, Addr sp)
{
   if (UNLIKELY(stack->n == stack->room))
      grow();
   Frame* f = &stack->frame[stack->n++];
   f->origin = origin;
   f->alternate_stack = False;
   f->is_told = False;
   f->sp = sp;
   f->return_to = 0;
   f->entry = NULL;
   f->arc = NULL;
   for (UInt i = 0; i < TLB_N_USERS; i++)
      f->before[i] = stack->refs[i];
   return f;
}

/* The frame of a function that begins at `entry`. */
static inline __attribute__((always_inline))
void push_function(Origin origin, Addr sp, Addr return_to, const TgEntry* entry, TgArc* arc)
{
   Frame* f = push(origin, sp);
   f->return_to = return_to;
   f->entry = entry;
   f->arc = arc;
}

/* Adds what the frame has cost to an arc. `refs`: of its stack by now. */
static inline __attribute__((always_inline))
void add_costs(TgArc* arc, const Frame* f, const ULong* refs)
{
   for (UInt i = 0; i < TLB_N_USERS; i++)
      arc->inclusive.refs[i] += refs[i] - f->before[i];
   if (UNLIKELY(f->rare.misses != NULL))
      tg_costs_add(&arc->inclusive, &f->rare);
}

/* The misses and faults of a frame become its caller's, too; leaves it none. */
static void hand_down(Frame* f)
{
   TgCosts* to = &f[-1].rare;
   if (to->misses == NULL) {
      *to = f->rare;
      f->rare = (TgCosts){ .misses = NULL };
   } else {
      tg_costs_add(to, &f->rare);
      tg_costs_clear(&f->rare);
   }
}

/* Pops a frame that is not the first. */
static inline __attribute__((always_inline)) void pop_called(Frame* f)
{
   add_costs(f->arc, f, stack->refs);
   if (UNLIKELY(f->rare.misses != NULL))
      hand_down(f);
   stack->n--;
}

static void pop(void)
{
   Frame* f = top();
   if (!is_first(f)) {
      pop_called(f);
      return;
   }
   /* Of a signal handler: its costs are not those of what it has interrupted. */
   for (UInt i = 0; i < TLB_N_USERS; i++)
      stack->refs[i] = f->interrupted[i];
   tg_costs_clear(&f->rare);
   stack->n--;
}

static Bool handler_is_left(const Frame* f, Addr sp);

/* Whether the frame was left, as the stack pointer says. */
static inline Bool is_left(const Frame* f, Addr sp)
{
   if (UNLIKELY(f->origin == HANDLER))
      return handler_is_left(f, sp);
   return !is_first(f) && f->sp < sp;
}

static Bool handler_is_left(const Frame* f, Addr sp)
{
   if (f->alternate_stack) {
      const ThreadId tid = VG_(get_running_tid)();
      if (sp - VG_(thread_get_altstack_min)(tid) <= VG_(thread_get_altstack_size)(tid))
         return False;
   }
   /* A jump out of the handler, to a frame below. */
   return is_left(f - 1, sp);
}

/* Pops the frames that were left, and of those with this stack pointer so many. Returns how many
   these are together. */
static UInt unwind(Addr sp, UInt n)
{
   UInt popped = 0;
   while (is_left(top(), sp)
          || (popped < n && !is_first(top()) && top()->sp == sp)) {
      pop();
      popped++;
   }
   return popped;
}

/* --- For a recording --- */

/* Frames that are gone cost nothing more, so it does not matter when that is told. */
void tg_call_stack_tell(void)
{
   UInt n = stack->n;
   while (n > 0 && !stack->frame[n - 1].is_told)
      n--;
   if (LIKELY(stack_told == stack && n == stack->n && n == stack->n_told))
      return;
   if (stack_told != stack)
      tell(TLB_MOVE_STACK, (UInt)(stack - stacks), NULL);
   if (n < stack->n_told)
      tell(TLB_MOVE_POP, stack->n_told - n, NULL);
   for (; n < stack->n; n++) {
      tell(TLB_MOVE_PUSH, 0, stack->frame[n].arc);
      stack->frame[n].is_told = True;
   }
   stack->n_told = stack->n;
   stack_told = stack;
}

/* Of a frame that the recording does not have nothing was missed. */
static void tell_return(const Frame* f, TgArc* arc)
{
   if (tell == NULL || !f->is_told)
      return;
   tg_call_stack_tell();
   tell(TLB_MOVE_RETURN, 0, arc);
}

/* --- Calls and returns --- */

/* How many frames a return leaves: at least one if the stack pointer is above the innermost; those
   with the same, up to the one that returns here; 0: it is no return. */
static UInt n_returned(Addr sp, Addr to)
{
   const Frame* f = top();
   if (sp > f->sp)
      return 1;
   for (UInt n = 1; !is_first(f) && f->sp == sp; f--, n++) {
      if (f->return_to == to)
         return n;
   }
   return 0;
}

/* A return from the first frame: the function that is returned to has called it. */
static void return_from_first(const TgEntry* entry)
{
   Frame* f = top();
   if (f->entry != NULL) {
      TgArc* arc = tg_arc_of(tg_call_site_of_entry(entry), f->entry);
      arc->calls += tg_costs_are_kept;
      add_costs(arc, f, stack->refs);
      tell_return(f, arc);
   }
   f->entry = entry;
}

static inline void call(TgCallSite* from, const TgEntry* to, Addr sp)
{
   TgArc* arc = from->arcs;
   if (UNLIKELY(arc == NULL || arc->to != to))
      arc = tg_arc_of(from, to);
   arc->calls += tg_costs_are_kept;
   push_function(CALLED, sp, from->return_to, to, arc);
}

/* A jump that is taken as a call. Where a linkage table jumps on, its caller calls. */
static void call_by_jump(TgCallSite* from, const TgEntry* to, Addr sp)
{
   const Frame* f = top();
   Addr at = is_first(f) ? sp : f->sp;
   if (from->passes_on && !is_first(f)) {
      from = f->arc->from;
      pop();
   }
   TgArc* arc = tg_arc_of(from, to);
   arc->calls += tg_costs_are_kept;
   push_function(from->return_to == 0 ? JUMPED : CALLED, at, from->return_to, to, arc);
}

static const TgFunction* function_of(const Frame* f)
{
   return f->entry == NULL ? NULL : f->entry->line->function;
}

/* A jump that is no call, from one function into the middle of another: either back into one that
   has been left by such a jump, or a frame that counts as no call, so that its costs are the
   function's. */
static void jump_across(TgCallSite* from, const TgEntry* to, Addr sp)
{
   const TgFunction* function = to->line->function;
   if (function_of(top()) == function || function_of(top()) != from->line->function)
      return;
   const Frame* f = top();
   UInt n = 0;
   while (f->origin == JUMPED && f[-1].sp == f->sp && function_of(f) != function) {
      f--;
      n++;
   }
   if (n > 0 && function_of(f) == function) {
      for (; n > 0; n--)
         pop();
      return;
   }
   const Addr at = is_first(top()) ? sp : top()->sp;
   push_function(JUMPED, at, 0, to, tg_arc_of(from, to));
}

static Bool is_elsewhere(const TgCallSite* from, const TgEntry* to)
{
   return from->in_plt != to->in_plt
          || from->line->function->object != to->line->function->object;
}

/* Whether a jump changes nothing, which most do that are noted. */
static Bool stays(const TgCallSite* from, const TgEntry* to, Addr sp)
{
   return from->leaving == TG_JUMPS && !to->is_function
          && from->line->function == to->line->function && !is_elsewhere(from, to)
          && !is_left(top(), sp);
}

static void follow(TgCallSite* from, const TgEntry* to, Addr sp)
{
   TgLeaving leaving = from->leaving;
   UInt n = 0;
   Bool is_jump = leaving == TG_JUMPS;
   if (leaving == TG_RETURNS && is_first(top())) {
      return_from_first(to);
      return;
   }
   if (leaving == TG_RETURNS) {
      n = n_returned(sp, to->address);
      /* A return to elsewhere is a jump that is taken as a call. */
      is_jump = n == 0;
   }
   const Bool calls = is_jump && (leaving == TG_RETURNS || to->is_function
                                  || is_elsewhere(from, to));
   if (unwind(sp, n) > 0)
      return;
   if (calls)
      call_by_jump(from, to, sp);
   else if (is_jump)
      jump_across(from, to, sp);
   else
      call(from, to, sp);
}

/* Whether a stack pointer leaves the frame and all others where they are. */
static inline Bool is_below(Addr sp, const Frame* f)
{
   return f->origin != HANDLER && sp <= f->sp;
}

void tg_call_stack_enter(UChar* guest_state, const TgEntry* entry)
{
   TgCallArea* area = &tg_thread_area(guest_state)->calls;
   TgCallSite* from = (TgCallSite*)area->left;
   const Addr sp = *(Addr*)(void*)(guest_state + sp_offset);
   area->left = 0;
   if (from->leaving == TG_BEGINS) {
      top()->entry = entry;
      return;
   }
   if (stays(from, entry, sp))
      return;
   take_costs(area);
   Frame* f = top();
   if (LIKELY(from->leaving == TG_CALLS && is_below(sp, f)))
      call(from, entry, sp);
   else if (LIKELY(from->leaving == TG_RETURNS && f->sp < sp && f->origin == CALLED
                   && is_below(sp, f - 1)))
      pop_called(f);
   else
      follow(from, entry, sp);
}

void tg_call_stack_settle(UChar* guest_state)
{
   if (tg_call_stacks_on)
      take_costs(&tg_thread_area(guest_state)->calls);
}

/* --- Threads and signals --- */

static TgCallArea area_of(ThreadId tid)
{
   return tg_thread_area_of(tid).calls;
}

static void set_area(ThreadId tid, TgCallArea calls)
{
   TgThreadArea area = tg_thread_area_of(tid);
   area.calls = calls;
   tg_thread_area_set(tid, &area);
}

/* What has been booked since a thread stopped is its own. */
static void take_rest(void)
{
   if (stack->n > 0)
      take_booked(&top()->rare);
}

void tg_call_stack_take_misses(void)
{
   if (tg_call_stacks_on && stack->n > 0 && tg_costs_are_kept)
      tg_missed_segments_take(take_misses, &top()->rare);
}

static void switch_to(ThreadId tid)
{
   take_rest();
   stack = &stacks[tid];
   if (stack->n > 0)
      return;
   push(BOTTOM, ~(Addr)0);
   set_area(tid, (TgCallArea){ .left = (UWord)&thread_begins });
   take_rest();
}

void tg_call_stack_started(ThreadId tid)
{
   if (tg_call_stacks_on)
      switch_to(tid);
}

void tg_call_stack_stopped(ThreadId tid)
{
   if (!tg_call_stacks_on)
      return;
   TgCallArea area = area_of(tid);
   take_costs(&area);
   set_area(tid, area);
}

void tg_call_stack_post_syscall(ThreadId tid)
{
   if (tg_call_stacks_on && stacks[tid].n > 0) {
      Stack* last = stack;
      stack = &stacks[tid];
      take_rest();
      stack = last;
   }
}

static void empty(Stack* s)
{
   Stack* last = stack;
   stack = s;
   while (stack->n > 0)
      pop();
   VG_(free)(stack->frame);
   *stack = (Stack){ .n_told = stack->n_told };
   stack = last;
}

void tg_call_stack_ends(ThreadId tid)
{
   if (!tg_call_stacks_on)
      return;
   take_rest();
   empty(&stacks[tid]);
}

void tg_call_stack_signal(ThreadId tid, Bool alternate_stack)
{
   if (!tg_call_stacks_on)
      return;
   switch_to(tid);
   TgCallArea area = area_of(tid);
   take_costs(&area);
   Frame* f = push(HANDLER, ~(Addr)0);
   f->alternate_stack = alternate_stack;
   f->left = area.left;
   for (UInt i = 0; i < TLB_N_USERS; i++) {
      f->interrupted[i] = stack->refs[i];
      f->before[i] = stack->refs[i] = 0;
   }
   area.left = (UWord)&thread_begins;
   set_area(tid, area);
}

void tg_call_stack_sigreturn(ThreadId tid)
{
   if (!tg_call_stacks_on)
      return;
   switch_to(tid);
   TgCallArea area = area_of(tid);
   take_costs(&area);
   UInt n = stack->n;
   while (n > 0 && stack->frame[n - 1].origin != HANDLER)
      n--;
   /* 0: a jump has left the handler. */
   if (n > 0) {
      while (stack->n > n)
         pop();
      area.left = top()->left;
      pop();
   }
   set_area(tid, area);
}

/* --- All stacks --- */

static void for_all_frames(void (*f)(Frame* frame, void* opaque), void* opaque)
{
   for (UInt i = 0; i < VG_N_THREADS; i++) {
      /* From the innermost on. */
      for (UInt j = stacks[i].n; j > 0; j--)
         f(&stacks[i].frame[j - 1], opaque);
   }
}

/* `refs`: what the frame's references are now, as in Stack. */
static void settle_frame(Frame* f, const ULong* refs)
{
   if (is_first(f))
      return;
   add_costs(f->arc, f, refs);
   for (UInt i = 0; i < TLB_N_USERS; i++)
      f->before[i] = refs[i];
   if (f->rare.misses != NULL)
      hand_down(f);
}

static void settle(Stack* s)
{
   const ULong* refs = s->refs;
   for (UInt j = s->n; j > 0; j--) {
      Frame* f = &s->frame[j - 1];
      settle_frame(f, refs);
      if (f->origin == HANDLER)
         refs = f->interrupted;
   }
}

void tg_call_stacks_settle(void)
{
   if (!tg_call_stacks_on)
      return;
   take_rest();
   for (UInt i = 0; i < VG_N_THREADS; i++)
      settle(&stacks[i]);
}

UInt tg_call_stack_callers(ThreadId tid, TgCallSite** from, UInt n)
{
   const Stack* s = &stacks[tid];
   UInt stored = 0;
   for (UInt i = s->n; i > 0 && stored < n && !is_first(&s->frame[i - 1]); i--)
      from[stored++] = s->frame[i - 1].arc->from;
   return stored;
}

typedef struct {
   void (*f)(uint64_t* misses, tlb_user kind);
} Each;

static void each_of_frame(Frame* f, void* opaque)
{
   tg_costs_each(&f->rare, ((const Each*)opaque)->f);
}

void tg_call_stacks_each(void (*each)(uint64_t* misses, tlb_user kind))
{
   if (!tg_call_stacks_on)
      return;
   Each e = { each };
   for_all_frames(each_of_frame, &e);
   tg_arcs_each(each);
}

static void clear_frame(Frame* f, void* opaque)
{
   (void)opaque;
   tg_costs_clear(&f->rare);
   for (UInt i = 0; i < TLB_N_USERS; i++)
      f->before[i] = f->interrupted[i] = 0;
}

void tg_call_stacks_forked(ThreadId tid)
{
   if (!tg_call_stacks_on)
      return;
   for (UInt i = 0; i < VG_N_THREADS; i++) {
      if (i != tid)
         empty(&stacks[i]);
   }
   stack = &stacks[tid];
   VG_(memset)(stack->refs, 0, sizeof stack->refs);
   booked = tg_booked;
   for_all_frames(clear_frame, NULL);
   tg_arcs_zero();
}
