/* Replay: the references of a segment, simulated in the program's order. */

#include "pub_tool_basics.h"

#include "pub_tool_aspacemgr.h"
#include "pub_tool_libcprint.h"
#include "pub_tool_machine.h"
#include "pub_tool_vki.h"

#include "tg_replay.h"
#include "tg_translate.h"

static UInt page_shift;
static Bool fast_path;
static Bool as_cachegrind;
static TgReplayTotals totals;
static ULong replays, replays_refs;

ULong tg_clock;

void tg_replay_init(const TgOptions* options)
{
   page_shift = options->page_shift;
   fast_path = options->fast_path;
   as_cachegrind = options->as_cachegrind;
}

static Addr address_of(const TgHot* hot, const TgRef* r)
{
   return hot->base[r->base] + r->at.offset;
}

static void book(TgRef* r, UInt missed)
{
   for (UInt level = 0; missed != 0; level++, missed >>= 1)
      r->misses[level] += missed & 1;
}

/* Both halves of one reference: what the second missed is booked, and what
   both missed is noted as well. */
static void book_second(TgRef* r, UInt first, UInt second)
{
   UInt both = first & second;
   book(r, second);
   for (UInt level = 0; both != 0; level++, both >>= 1)
      totals.extra[r->kind][level] += both & 1;
}

static void replay_data(TgRef* r, Addr a, ULong now)
{
   const UWord first = a >> page_shift;
   const UWord last = (a + r->size - 1) >> page_shift;
   totals.straddles[r->kind] += first != last;
   if (as_cachegrind && first != last) {
      book(r, tg_translate_as_cachegrind(r->kind, first, last, now));
      return;
   }
   const UInt missed = tg_translate_data(first, first == last ? now : now - 1);
   book(r, missed);
   /* No reference is longer than a page, so there is at most one more. */
   if (first != last)
      book_second(r, missed, tg_translate_data(last, now));
}

/* Whether r fetches the second page of an instruction whose first page is what
   the reference before it fetches. */
static Bool goes_on(const TgSegment* s, const TgRef* r)
{
   return r->kind == TG_FETCH && r->size > 0 && r > s->ref
          && r[-1].kind == TG_FETCH && r[-1].site == r->site;
}

static UInt fetch(const TgRef* r, ULong now)
{
   const TgCodePage* page = r->at.page;
   if (as_cachegrind && r->size > 0)
      return tg_translate_as_cachegrind(TG_FETCH, page->number - 1,
                                        page->number, now);
   return tg_translate_fetch(r->at.page, now);
}

/* The first n references of the segment. */
static void replay_refs(const TgHot* hot, TgSegment* s, UInt n)
{
   ULong now = tg_clock - TG_TICKS * (ULong)s->n_refs;
   UInt before = 0;
   for (TgRef* r = s->ref; r < s->ref + n; r++) {
      now += TG_TICKS;
      if (r->kind != TG_FETCH) {
         replay_data(r, address_of(hot, r), now);
         continue;
      }
      /* The next looks up both pages. */
      if (as_cachegrind && r + 1 < s->ref + n && goes_on(s, r + 1))
         continue;
      const UInt missed = fetch(r, now);
      if (goes_on(s, r) && !as_cachegrind)
         book_second(r, before, missed);
      else
         book(r, missed);
      before = missed;
   }
}

/* --- The common case: one page of the segment is not known --- */

static ULong time_of_ref(const TgSegment* s, UInt nth)
{
   return tg_clock - TG_TICKS * (ULong)(s->n_refs - 1 - nth);
}

/* Whether the segment refers to that data page. */
static Bool refers_to(const TgHot* hot, const TgSegment* s, UWord page)
{
   Bool found = False;
   for (const TgGroup* g = s->group; g < s->group + s->n_groups; g++)
      found |= (hot->base[g->base] + g->first) >> page_shift == page;
   return found;
}

/* All pages of the segment are known: notes their times. */
static void note_times(const TgHot* hot, const TgSegment* s)
{
   s->fetch->time = tg_clock;
   for (const TgGroup* g = s->group; g < s->group + s->n_groups; g++) {
      const UWord page = (hot->base[g->base] + g->first) >> page_shift;
      tg_slots[tg_slot_of(page)].time
         = tg_clock - TG_TICKS * (ULong)(s->n_refs - 1 - g->newest);
   }
}

/* Simulates the segment without going through its references if exactly one
   page of it is not known, and that page is simply missed.

   All other references are hits that only set the times of their pages. That
   they are set after the miss, and not some before it, can not change who is
   evicted: it is the page with the oldest time, and it stays that, whichever
   other times become younger, unless it is itself one of the segment's pages;
   then we give up. Returns whether it is done. */
static Bool replay_one_miss(const TgHot* hot, TgSegment* s)
{
   const TgGroup* unknown = NULL;
   UInt n_unknown = 0, nth = 0;
   TgMiss m;

   if (s->n_fetches > 1)
      return False;
   for (const TgGroup* g = s->group; g < s->group + s->n_groups; g++) {
      const Addr first = hot->base[g->base] + g->first;
      const TgProbe* slot = &tg_slots[tg_slot_of(first >> page_shift)];
      const Bool differs = ((first + g->span) ^ slot->tag) >> page_shift != 0;
      unknown = differs ? g : unknown;
      n_unknown += differs;
   }
   if (s->fetch->tag == TG_UNKNOWN) {
      while (s->ref[nth].kind != TG_FETCH)
         nth++;
      if (n_unknown != 0
          || !tg_miss_foresee(&m, TG_FETCH, s->ref[nth].at.page->number,
                              s->fetch))
         return False;
   } else {
      if (n_unknown != 1)
         return False;
      const Addr first = hot->base[unknown->base] + unknown->first;
      const UWord page = first >> page_shift;
      if (page != (first + unknown->span) >> page_shift
          || !tg_miss_foresee(&m, TG_READ, page, &tg_slots[tg_slot_of(page)])
          || refers_to(hot, s, m.evicted))
         return False;
      nth = unknown->oldest;
   }
   book(&s->ref[nth], tg_miss_happen(&m, time_of_ref(s, nth)));
   note_times(hot, s);
   return True;
}

void tg_replay(const TgHot* hot, TgSegment* s)
{
   replays++;
   if (fast_path && replay_one_miss(hot, s))
      return;
   replays_refs += s->n_refs;
   replay_refs(hot, s, s->n_refs);
}

/* --- Segments that a fault cuts short --- */

/* The number of the instruction at `ip` among those that begin in the segment,
   or -1. One that began in an earlier segment of the block can still make
   references in this one. */
static Int position(const TgSegment* s, Addr ip)
{
   Int i = s->n_instrs - 1;
   while (i >= 0 && s->instr[i]->address != ip)
      i--;
   return i;
}

static Bool may_access(const TgRef* r, Addr a)
{
   return VG_(am_is_valid_for_client)(a, r->size, r->kind == TG_WRITE
                                                     ? VKI_PROT_WRITE
                                                     : VKI_PROT_READ);
}

/* How many of the segment's references were made when the instruction at `ip`
   faulted: all of those before it, and its own up to the first that the client
   may not make, which is counted as an attempt. -1: it is not in the segment. */
static Int refs_made(const TgHot* hot, const TgSegment* s, Addr ip)
{
   const Int faulting = position(s, ip);
   Bool found = faulting >= 0;
   Int n = 0;
   while (n < s->n_refs) {
      const TgRef* r = &s->ref[n];
      const Bool own = r->site->address == ip;
      if (!own && position(s, r->site->address) >= faulting)
         break;
      n++;
      found |= own;
      if (own && r->kind != TG_FETCH
          && !may_access(r, address_of(hot, r)))
         break;
   }
   return found ? n : -1;
}

/* A thread stopped with its instruction pointer at `ip`. If that is inside the
   segment that it ran last, a fault threw it out there before the segment was
   counted: books what was run. */
static void cut_short(const TgHot* hot, TgSegment* s, Addr ip)
{
   const Int n_refs = refs_made(hot, s, ip);
   if (n_refs < 0)
      return;
   tg_clock += TG_SEGMENT_TICKS;
   replay_refs(hot, s, (UInt)n_refs);
   for (Int i = 0; i <= position(s, ip); i++)
      tg_site_line(s->instr[i])->cost[tg_cost(TG_FETCH, TG_REFS)]++;
   for (Int i = 0; i < n_refs; i++) {
      const TgRef* r = &s->ref[i];
      if (r->kind != TG_FETCH)
         tg_site_line(r->site)->cost[tg_cost(r->kind, TG_REFS)]++;
      else if (r->size > 0)
         tg_block_totals()->fetch_straddles++;
   }
}

static void set_hot(ThreadId tid, const TgHot* hot)
{
   VG_(set_shadow_regs_area)(tid, 1, 0, sizeof *hot, (const UChar*)hot);
}

void tg_replay_start(ThreadId tid, ULong blocks)
{
   (void)blocks;
   const TgHot hot = { .segment = 0 };
   set_hot(tid, &hot);
}

/* Deals with whatever the thread was running when it stopped, once. */
static void stopped(ThreadId tid)
{
   TgHot hot;
   VG_(get_shadow_regs_area)(tid, (UChar*)&hot, 1, 0, sizeof hot);
   TgSegment* s = hot.segment == 0 ? NULL : tg_segments[hot.segment];
   /* A guarded reference is booked before it is made, attempt or not. */
   if (s != NULL && !s->guarded)
      cut_short(&hot, s, VG_(get_IP)(tid));
   hot.segment = 0;
   set_hot(tid, &hot);
}

void tg_replay_stop(ThreadId tid, ULong blocks)
{
   (void)blocks;
   stopped(tid);
   tg_blocks_bury();
}

/* A fault's signal is delivered before the core says that the thread has
   stopped; by then its instruction pointer is the handler's. */
void tg_replay_signal(ThreadId tid, Int signal, Bool alternate_stack)
{
   (void)signal; (void)alternate_stack;
   stopped(tid);
}

TgReplayTotals* tg_replay_totals(void)
{
   return &totals;
}

void tg_replay_print_stats(void)
{
   VG_(dmsg)(" tlbgrind: %llu segments replayed, %llu references one by one\n",
             replays, replays_refs);
}
