/* The check of program and copies. See engine/check_copies.h. */

#include "pub_tool_basics.h"

#include "engine/check_copies.h"
#include "engine/copies.h"
#include "engine/look_up.h"
#include "engine/replay.h"
#include "sim/machine/spaces.h"

static UInt page_shift;
static UInt n_copies;

/* Each number of groups up to this one has functions of its own, all others have one. */
enum { MAX_GROUPS = 6, N_CASES = MAX_GROUPS + 2 };

static UInt case_of(const TgSegment* s)
{
   return s->n_groups <= MAX_GROUPS ? s->n_groups : N_CASES - 1;
}

/* --- One after the other --- */

/* The clock goes on by each copy's segment, but these are not the program's instructions. */
static ULong pass(const TgSegment* s, UInt copy)
{
   const UInt ticks = s->ticks == 0 ? TG_INSTR_TICKS : s->ticks;
   tg_idle_passes += copy == 0 ? 0 : ticks >> TG_INSTR_SHIFT;
   return tg_clock += ticks;
}

/* Where the groups of the program's segment begin, and end. */
typedef struct {
   UWord number[TG_MAX_GROUPS]; /* of the page */
   Addr last[TG_MAX_GROUPS];
} Groups;

/* `distance`: of the segment's copy from the program. */
static inline __attribute__((always_inline))
void note_groups(Groups* at, const TgShadowArea* shadow, const TgSegment* s, UWord distance,
                 UInt n_groups, UInt shift)
{
   #pragma GCC unroll 16
   for (UInt i = 0; i < n_groups; i++) {
      const TgGroup* g = &s->group[i];
      const Addr first = shadow->base[g->base] + g->first - distance;
      at->number[i] = first >> shift;
      at->last[i] = first + g->span;
   }
}

/* The record of a copy's page that is near. */
static inline tlb_page* near_page(UWord number, UInt copy)
{
   return &tg_near[(number + tg_copies_spread[copy]) & (TG_NEAR_PAGES - 1)].page;
}

/* As tg_look_up(), of a segment with one fetch at most. The groups are read once, and from one
   segment alone. */
static inline __attribute__((always_inline))
void look_up_one(const TgShadowArea* shadow, const Groups* at, const TgSegment* any,
                 const TgClone* c, UInt copy, UInt n_groups, UInt shift)
{
   const ULong now = pass(any, copy);
   const Bool writes = tg_mmus.traits.writes;
   const Bool split = tg_mmus.traits.split;
   tlb_page* page[TG_MAX_GROUPS];
   UWord differs = c->fetch->tag;
   #pragma GCC unroll 16
   for (UInt i = 0; i < n_groups; i++) {
      page[i] = near_page(at->number[i], copy);
      differs |= (at->last[i] + copy * tg_copies_distance)
                 ^ tg_group_probe(&any->group[i], page[i], writes)->tag;
   }
   if (UNLIKELY(differs >> shift != 0)) {
      for (UInt i = 0; i < n_groups; i++)
         tg_segment_page[i] = page[i];
      tg_segment_miss(shadow, c->segment, differs >> shift, n_groups, 0);
      return;
   }
   c->fetch->time = now;
   #pragma GCC unroll 16
   for (UInt i = 0; i < n_groups; i++)
      tg_group_probe(&any->group[i], page[i], split)->time = now - (n_groups - 1 - i);
}

static inline __attribute__((always_inline))
void look_up_each(const TgShadowArea* shadow, const TgClones* c, UInt from, UInt to,
                  UInt n_groups)
{
   const TgSegment* any = c->of[1].segment; /* the program's may be gone */
   Groups at;
   note_groups(&at, shadow, any, tg_copies_distance, n_groups, TG_4K_SHIFT);
   for (UInt copy = from; copy <= to; copy++)
      look_up_one(shadow, &at, any, &c->of[copy], copy, n_groups, TG_4K_SHIFT);
}

#define EACH(n) \
   static void each_##n(const TgShadowArea* shadow, const TgClones* c, UInt from, UInt to) \
   { \
      look_up_each(shadow, c, from, to, n); \
   }

EACH(0)
EACH(1)
EACH(2)
EACH(3)
EACH(4)
EACH(5)
EACH(6)

static void each_of_many(const TgShadowArea* shadow, const TgClones* c, UInt from, UInt to)
{
   look_up_each(shadow, c, from, to, c->of[1].segment->n_groups);
}

/* Looks up these copies' segments of 4K pages with one fetch at most; 0: the program's. */
typedef void Each(const TgShadowArea* shadow, const TgClones* c, UInt from, UInt to);

static Each* const each_of[N_CASES]
   = { each_0, each_1, each_2, each_3, each_4, each_5, each_6, each_of_many };

/* The same of any segment of a copy, at the time that the clock shows. */
static void look_up_any(const TgShadowArea* shadow, TgSegment* s)
{
   tg_look_up(shadow, s, tg_clock, s->n_groups, tg_more_fetches(s), page_shift,
              tg_copies_spread[s->copy], tg_mmus.traits.writes, tg_mmus.traits.split);
}

static void run_copies(const TgShadowArea* shadow, const TgClones* c, UInt from, UInt to, UInt n)
{
   const TgSegment* s = c->of[1].segment;
   const Bool fast = tg_mmus.fast_path && n == s->n_refs && !s->guarded;
   if (LIKELY(fast && page_shift == TG_4K_SHIFT && s->n_fetches < 2)) {
      each_of[case_of(s)](shadow, c, from, to);
      return;
   }
   for (UInt copy = from; copy <= to; copy++) {
      pass(s, copy);
      if (fast)
         look_up_any(shadow, c->of[copy].segment);
      else
         tg_replay_first(shadow, c->of[copy].segment, n);
   }
}

/* --- All at once --- */

/* With n_groups and the Bools constants. */
static inline __attribute__((always_inline))
void check(UChar* guest_state, TgSegment* s, UInt n_groups, Bool writes, Bool split)
{
   const TgShadowArea* shadow = tg_shadow_area(guest_state);
   const TgClones* c = tg_clones_of(s);
   const UInt n = n_copies;
   UWord differs = 0;
   UWord distance = 0;
   Groups at;
   s->entered++;
   note_groups(&at, shadow, s, 0, n_groups, TG_4K_SHIFT);
   for (UInt copy = 0; copy < n; copy++) {
      differs |= c->of[copy].fetch->tag;
      #pragma GCC unroll 16
      for (UInt i = 0; i < n_groups; i++)
         differs |= (at.last[i] + distance)
                    ^ tg_group_probe(&s->group[i], near_page(at.number[i], copy), writes)->tag;
      distance += tg_copies_distance;
   }
   if (UNLIKELY(differs >> TG_4K_SHIFT != 0)) {
      each_of[case_of(s)](shadow, c, 0, n - 1);
      return;
   }
   ULong now = tg_clock;
   for (UInt copy = 0; copy < n; copy++) {
      now += s->ticks;
      c->of[copy].fetch->time = now;
      #pragma GCC unroll 16
      for (UInt i = 0; i < n_groups; i++)
         tg_group_probe(&s->group[i], near_page(at.number[i], copy), split)->time
            = now - (n_groups - 1 - i);
   }
   tg_clock = now;
   tg_idle_passes += (n - 1) * (s->ticks >> TG_INSTR_SHIFT);
}

#define CHECKS(n) \
   static void check_reads_##n(UChar* g, TgSegment* s) { check(g, s, n, False, False); } \
   static void check_writes_##n(UChar* g, TgSegment* s) { check(g, s, n, True, False); } \
   static void check_split_##n(UChar* g, TgSegment* s) { check(g, s, n, True, True); }

CHECKS(0)
CHECKS(1)
CHECKS(2)
CHECKS(3)
CHECKS(4)
CHECKS(5)
CHECKS(6)

static void check_reads_many(UChar* g, TgSegment* s) { check(g, s, s->n_groups, False, False); }
static void check_writes_many(UChar* g, TgSegment* s) { check(g, s, s->n_groups, True, False); }
static void check_split_many(UChar* g, TgSegment* s) { check(g, s, s->n_groups, True, True); }

TgCheck* tg_check_copies_for(const TgSegment* s)
{
   static TgCheck* const reads[N_CASES]
      = { check_reads_0, check_reads_1, check_reads_2, check_reads_3, check_reads_4,
          check_reads_5, check_reads_6, check_reads_many };
   static TgCheck* const writes[N_CASES]
      = { check_writes_0, check_writes_1, check_writes_2, check_writes_3, check_writes_4,
          check_writes_5, check_writes_6, check_writes_many };
   static TgCheck* const split[N_CASES]
      = { check_split_0, check_split_1, check_split_2, check_split_3, check_split_4,
          check_split_5, check_split_6, check_split_many };
   if (!tg_copies_take_turns)
      return NULL;
   return (tg_mmus.traits.split ? split : tg_mmus.traits.writes ? writes : reads)[case_of(s)];
}

void tg_check_copies_init(const TgOptions* options)
{
   page_shift = options->page_shift;
   n_copies = options->kernel.copies;
   tg_copies_init(options, run_copies);
}
