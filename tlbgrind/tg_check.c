/* The check: what translated code calls at the end of each segment. See
   tg_check.h. */

#include "pub_tool_basics.h"

#include "tg_check.h"
#include "tg_hot.h"
#include "tg_known.h"
#include "tg_replay.h"

static UInt page_shift;
static Bool fast_path;

void tg_check_init(const TgOptions* options)
{
   page_shift = options->page_shift;
   fast_path = options->fast_path;
}

/* With n_groups, more_fetches, shift and the Bools constants, a straight line of
   code. `writes`, `split`: see TgKnowledge; `counts`: instructions are counted.
   Returns whether all was known. */
static inline __attribute__((always_inline))
Bool check(UChar* guest_state, TgSegment* s, UInt n_groups, UInt more_fetches,
           UInt shift, Bool writes, Bool split, Bool counts)
{
   const TgHot* hot = tg_hot(guest_state);
   TgPage* page[TG_MAX_GROUPS];
   UWord differs = s->fetch->tag;
   const ULong now = tg_clock += TG_SEGMENT_TICKS;

   s->entered++;
   for (UInt i = 0; i < more_fetches; i++)
      differs |= s->more_fetches[i]->tag;
   #pragma GCC unroll 4
   for (UInt i = 0; i < n_groups; i++) {
      const TgGroup* g = &s->group[i];
      const Addr first = hot->base[g->base] + g->first;
      page[i] = tg_near_page(first, shift);
      differs |= (first + g->span)
                 ^ (writes && g->kind == TG_WRITE ? tg_writes(page[i])->tag
                                                  : page[i]->tag);
   }
   /* Bits below the page number say nothing. */
   if (UNLIKELY(differs >> shift != 0)) {
      tg_replay(hot, s);
      if (counts)
         tg_instructions += s->n_instrs;
      return False;
   }
   if (counts)
      tg_instructions += s->n_instrs;
   /* Times that are in the right order, and later than those of all segments
      before. Those of fetches and of data are not compared with each other. */
   s->fetch->time = now - more_fetches;
   for (UInt i = 0; i < more_fetches; i++)
      s->more_fetches[i]->time = now - (more_fetches - 1 - i);
   #pragma GCC unroll 4
   for (UInt i = 0; i < n_groups; i++) {
      TgPage* p = split && s->group[i].kind == TG_WRITE ? tg_writes(page[i])
                                                        : page[i];
      p->time = now - (n_groups - 1 - i);
   }
   return True;
}

#define CHECK(n) \
   static void check_##n(UChar* guest_state, TgSegment* s) \
   { \
      check(guest_state, s, n, 0, 12, False, False, False); \
   } \
   static void check_faults_##n(UChar* guest_state, TgSegment* s) \
   { \
      check(guest_state, s, n, 0, 12, True, False, True); \
   } \
   static void check_counted_##n(UChar* guest_state, TgSegment* s) \
   { \
      check(guest_state, s, n, 0, 12, False, False, True); \
   } \
   static void check_split_##n(UChar* guest_state, TgSegment* s) \
   { \
      check(guest_state, s, n, 0, 12, True, True, tg_knowledge.instructions); \
   }

CHECK(0)
CHECK(1)
CHECK(2)
CHECK(3)
CHECK(4)

/* Where times of fetches and of data are compared with each other, all have to
   be those of the references. */
static void check_mixed(UChar* guest_state, TgSegment* s)
{
   if (check(guest_state, s, s->n_groups,
             s->n_fetches > 1 ? s->n_fetches - 1u : 0, page_shift,
             tg_knowledge.writes, tg_knowledge.split,
             tg_knowledge.instructions))
      tg_replay_note_times(tg_hot(guest_state), s);
}

static void check_any(UChar* guest_state, TgSegment* s)
{
   check(guest_state, s, s->n_groups,
         s->n_fetches > 1 ? s->n_fetches - 1u : 0, page_shift,
         tg_knowledge.writes, tg_knowledge.split, tg_knowledge.instructions);
}

static void check_nothing(UChar* guest_state, TgSegment* s)
{
   s->entered++;
   tg_clock += TG_SEGMENT_TICKS;
   tg_replay(tg_hot(guest_state), s);
   if (tg_knowledge.instructions)
      tg_instructions += s->n_instrs;
}

TgCheck* tg_check_for(const TgSegment* s)
{
   static TgCheck* const of_4k[][5] = {
      { check_0, check_1, check_2, check_3, check_4 },
      { check_faults_0, check_faults_1, check_faults_2, check_faults_3,
        check_faults_4 },
      { check_split_0, check_split_1, check_split_2, check_split_3, check_split_4 },
      { check_counted_0, check_counted_1, check_counted_2, check_counted_3,
        check_counted_4 },
   };
   /* Without split arrays, only faults tell writes apart. */
   const UInt how = tg_knowledge.split ? 2 : tg_knowledge.writes ? 1
                    : tg_knowledge.instructions ? 3 : 0;
   if (!fast_path)
      return check_nothing;
   if (tg_knowledge.mixed)
      return check_mixed;
   if (page_shift == 12 && s->n_fetches < 2
       && s->n_groups < sizeof of_4k[0] / sizeof of_4k[0][0])
      return of_4k[how][s->n_groups];
   return check_any;
}

void tg_check_guarded(UChar* guest_state, TgSegment* s, UWord happens)
{
   s->attempted++;
   if (happens != 0)
      check_nothing(guest_state, s);
}
