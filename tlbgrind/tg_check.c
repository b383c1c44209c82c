/* The check: what translated code calls at the end of each segment. See
   tg_check.h. */

#include "pub_tool_basics.h"

#include "tg_check.h"
#include "tg_hot.h"
#include "tg_replay.h"
#include "tg_translate.h"

static UInt page_shift;
static Bool fast_path;

void tg_check_init(const TgOptions* options)
{
   page_shift = options->page_shift;
   fast_path = options->fast_path;
}

/* With n_groups and more_fetches constants, a straight line of code. */
static inline __attribute__((always_inline))
void check(UChar* guest_state, TgSegment* s, UInt n_groups, UInt more_fetches,
           UInt shift)
{
   const TgHot* hot = tg_hot(guest_state);
   TgProbe* slot[TG_MAX_GROUPS];
   UWord differs = s->fetch->tag;
   const ULong now = tg_clock += TG_SEGMENT_TICKS;

   s->entered++;
   for (UInt i = 0; i < more_fetches; i++)
      differs |= s->more_fetches[i]->tag;
   for (UInt i = 0; i < n_groups; i++) {
      const TgGroup* g = &s->group[i];
      const Addr first = hot->base[g->base] + g->first;
      slot[i] = &tg_slots[tg_slot_of(first >> shift)];
      differs |= (first + g->span) ^ slot[i]->tag;
   }
   /* Bits below the page number say nothing. */
   if (UNLIKELY(differs >> shift != 0)) {
      tg_replay(hot, s);
      return;
   }
   /* Times that are in the right order, and later than those of all segments
      before. Those of fetches and of data are never compared with each other. */
   s->fetch->time = now - more_fetches;
   for (UInt i = 0; i < more_fetches; i++)
      s->more_fetches[i]->time = now - (more_fetches - 1 - i);
   for (UInt i = 0; i < n_groups; i++)
      slot[i]->time = now - (n_groups - 1 - i);
}

#define CHECK(n) \
   static void check_##n(UChar* guest_state, TgSegment* s) \
   { \
      check(guest_state, s, n, 0, 12); \
   }

CHECK(0)
CHECK(1)
CHECK(2)
CHECK(3)
CHECK(4)

static void check_any(UChar* guest_state, TgSegment* s)
{
   check(guest_state, s, s->n_groups,
         s->n_fetches > 1 ? s->n_fetches - 1u : 0, page_shift);
}

static void check_nothing(UChar* guest_state, TgSegment* s)
{
   s->entered++;
   tg_clock += TG_SEGMENT_TICKS;
   tg_replay(tg_hot(guest_state), s);
}

TgCheck* tg_check_for(const TgSegment* s)
{
   static TgCheck* const of_4k[] = { check_0, check_1, check_2, check_3,
                                     check_4 };
   if (!fast_path)
      return check_nothing;
   if (page_shift == 12 && s->n_fetches < 2
       && s->n_groups < sizeof of_4k / sizeof of_4k[0])
      return of_4k[s->n_groups];
   return check_any;
}

void tg_check_guarded(UChar* guest_state, TgSegment* s, UWord happens)
{
   s->attempted++;
   if (happens != 0)
      check_nothing(guest_state, s);
}
