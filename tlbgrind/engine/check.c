/* The check: what translated code calls at the end of each segment. See
   engine/check.h. */

#include "pub_tool_basics.h"

#include "engine/check.h"
#include "trace/shadow_area.h"
#include "trace/run_mmus.h"
#include "trace/segment_pages.h"
#include "trace/segment_run.h"
#include "engine/batch.h"
#include "engine/one_miss.h"
#include "engine/replay.h"
#include "engine/fast_lru.h"
#include "engine/fast_any.h"
#include "faults/page_use.h"

static UInt page_shift;
static Bool fast_path;

void tg_check_init(const TgOptions* options)
{
   page_shift = options->page_shift;
   fast_path = options->fast_path;
}

/* Counts the segment and returns the time at its end. (To read the clock again
   would wait for it to be written.) */
static inline __attribute__((always_inline))
ULong count(TgSegment* s, Bool instrs)
{
   if (!instrs)
      tg_clock_pass(s);
   const ULong now = instrs ? tg_clock + s->ticks : tg_clock;
   tg_clock = now;
   s->entered++;
   return now;
}

/* With n_groups, more_fetches, shift and the Bools constants, a straight line of
   code. `now`: what the clock shows; `writes`, `split`: see tlb_run_traits; `batching`:
   all bits set if nothing is to be known; `miss`: what simulates the segment if
   not all is known, see tg_replay() for `differs`. Returns whether all was. */
static inline __attribute__((always_inline))
Bool look_up(const TgShadowArea* shadow, TgSegment* s, ULong now, UInt n_groups,
             UInt more_fetches, UInt shift, Bool writes, Bool split, UWord batching,
             void (*miss)(const TgShadowArea* shadow, TgSegment* s, UWord differs))
{
   tlb_page* page[TG_MAX_GROUPS];
   UWord differs = s->fetch->tag | batching;

   for (UInt i = 0; i < more_fetches; i++)
      differs |= tg_segment_fetches(s)[i]->tag;
   #pragma GCC unroll 16
   for (UInt i = 0; i < n_groups; i++) {
      const TgGroup* g = &s->group[i];
      const Addr first = shadow->base[g->base] + g->first;
      page[i] = tg_near_page(first, shift);
      differs |= (first + g->span)
                 ^ tg_group_probe(g, page[i], writes)->tag;
      /* One group after the other: for all at once there are not enough
         registers. */
      __asm__("" : "+r"(differs), "+r"(s));
   }
   /* Bits below the page number say nothing. */
   if (UNLIKELY(differs >> shift != 0)) {
      for (UInt i = 0; i < n_groups; i++)
         tg_segment_page[i] = page[i];
      miss(shadow, s, differs >> shift);
      return False;
   }
   /* Times that are in the right order, and later than those of all segments
      before. Those of fetches and of data are not compared with each other. */
   s->fetch->time = now - more_fetches;
   for (UInt i = 0; i < more_fetches; i++)
      tg_segment_fetches(s)[i]->time = now - (more_fetches - 1 - i);
   #pragma GCC unroll 16
   for (UInt i = 0; i < n_groups; i++)
      tg_group_probe(&s->group[i], page[i], split)->time
         = now - (n_groups - 1 - i);
   return True;
}

static __attribute__((noinline))
void miss_any(const TgShadowArea* shadow, TgSegment* s, UWord differs)
{
   if (tg_batching != 0)
      tg_batch_add(shadow, s);
   else
      tg_replay(shadow, s, differs);
}

/* What the check does not know is simulated by a function of its own, lest the
   check saves registers for it; and so are many machines, lest one does. */
#define VARIANT(how, n, writes, split, instrs) \
   static __attribute__((noinline)) \
   void many_##how##_##n(const TgShadowArea* shadow, TgSegment* s, UWord differs) \
   { \
      if (!tg_one_unknown(shadow, s, differs, n, writes, split, True)) \
         miss_any(shadow, s, differs); \
   } \
   static __attribute__((noinline)) \
   void one_##how##_##n(const TgShadowArea* shadow, TgSegment* s, UWord differs) \
   { \
      if ((split || !tg_fast_any(shadow, s, differs, n, writes)) \
          && !tg_one_unknown(shadow, s, differs, n, writes, split, False)) \
         miss_any(shadow, s, differs); \
   } \
   static __attribute__((noinline)) \
   void plain_##how##_##n(const TgShadowArea* shadow, TgSegment* s, UWord differs) \
   { \
      if (!tg_fast_lru(s, differs, n, writes, split)) \
         one_##how##_##n(shadow, s, differs); \
   } \
   static __attribute__((noinline)) \
   void miss_##how##_##n(const TgShadowArea* shadow, TgSegment* s, UWord differs) \
   { \
      if (tg_mmus.n_mmus > 1) \
         many_##how##_##n(shadow, s, differs); \
      else if (tg_fast_path_is_lru) \
         plain_##how##_##n(shadow, s, differs); \
      else \
         one_##how##_##n(shadow, s, differs); \
   } \
   static void check_##how##_##n(UChar* guest_state, TgSegment* s) \
   { \
      const ULong now = count(s, instrs); \
      look_up(tg_shadow_area(guest_state), s, now, n, 0, TG_4K_SHIFT, writes, \
              split, tg_batching, miss_##how##_##n); \
   } \
   static void counted_##how##_##n(const TgShadowArea* shadow, TgSegment* s) \
   { \
      look_up(shadow, s, tg_clock, n, 0, TG_4K_SHIFT, writes, split, tg_batching, \
              miss_##how##_##n); \
   }

#define CHECK(n) \
   VARIANT(plain, n, False, False, True) \
   VARIANT(writes, n, True, False, True) \
   VARIANT(split, n, True, True, True) \
   VARIANT(idle, n, tg_mmus.traits.writes, tg_mmus.traits.split, False)

CHECK(0)
CHECK(1)
CHECK(2)
CHECK(3)
CHECK(4)
CHECK(5)
CHECK(6)
CHECK(7)
CHECK(8)
CHECK(9)
CHECK(10)

static void counted_any(const TgShadowArea* shadow, TgSegment* s)
{
   const Bool known = look_up(shadow, s, tg_clock, s->n_groups, tg_more_fetches(s),
                              page_shift, tg_mmus.traits.writes,
                              tg_mmus.traits.split, tg_batching, miss_any);
   /* Where times of fetches and of data are compared with each other, all have
      to be those of the references. */
   if (known && tg_mmus.traits.mixed)
      tg_replay_note_times(shadow, s);
}

static void check_any(UChar* guest_state, TgSegment* s)
{
   count(s, False);
   counted_any(tg_shadow_area(guest_state), s);
}

static void check_nothing(UChar* guest_state, TgSegment* s)
{
   tg_batch_look_up();
   count(s, False);
   tg_replay(tg_shadow_area(guest_state), s, TG_ANY_DIFFERENCE);
}

/* What is called for a segment: by translated code, and when it is looked up
   later. */
typedef struct {
   TgCheck* check;
   void (*counted)(const TgShadowArea* shadow, TgSegment* s);
} Variant;

static const Variant* variant_of(const TgSegment* s)
{
   #define BOTH(how, n) { check_##how##_##n, counted_##how##_##n }
   #define OF(how) { BOTH(how, 0), BOTH(how, 1), BOTH(how, 2), BOTH(how, 3), \
                     BOTH(how, 4), BOTH(how, 5), BOTH(how, 6), BOTH(how, 7), \
                     BOTH(how, 8), BOTH(how, 9), BOTH(how, 10) }
   static const Variant of_4k[][11] = { OF(plain), OF(writes), OF(split),
                                        OF(idle) };
   static const Variant any = { check_any, counted_any };
   const UInt how = s->ticks == 0 ? 3
                    : tg_mmus.traits.split ? 2 : tg_mmus.traits.writes ? 1 : 0;
   if (page_shift == TG_4K_SHIFT && !tg_mmus.traits.mixed && s->n_fetches < 2
       && s->n_groups < sizeof of_4k[0] / sizeof of_4k[0][0])
      return &of_4k[how][s->n_groups];
   return &any;
}

void tg_check_counted(const TgShadowArea* shadow, TgSegment* s)
{
   variant_of(s)->counted(shadow, s);
}

static TgCheck* usual_check(const TgSegment* s)
{
   return fast_path ? variant_of(s)->check : check_nothing;
}

/* The usual check, of a segment whose bytes are noted first. */
static void check_page_use(UChar* guest_state, TgSegment* s)
{
   tg_page_use_segment(tg_shadow_area(guest_state), s);
   usual_check(s)(guest_state, s);
}

TgCheck* tg_check_for(const TgSegment* s)
{
   return tg_page_use_on ? check_page_use : usual_check(s);
}

void tg_check_guarded(UChar* guest_state, TgSegment* s, UWord happens)
{
   s->attempted++;
   if (happens == 0)
      return;
   if (tg_page_use_on)
      tg_page_use_segment(tg_shadow_area(guest_state), s);
   check_nothing(guest_state, s);
}
