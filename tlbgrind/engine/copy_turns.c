/* Copies of the program. See engine/copy_turns.h. */

#include "pub_tool_basics.h"

#include "pub_tool_libcbase.h"
#include "pub_tool_mallocfree.h"

#include "sim/machine/spaces.h"

#include "engine/copy_turns.h"
#include "trace/copy_counts.h"
#include "trace/run_mmus.h"

Bool tg_copies_on;
UWord tg_copies_spread[TLB_MAX_SPACES];

static UInt n_copies;
static ULong behind;      /* references between one copy and the next */
static Bool take_turns;   /* each executes a segment as soon as the one before it has */
static TgCopyCheck* check_segment;

static TgClones* gone_clones; /* of segments that are no more, but can still be waited for */
static TgClones** last_gone = &gone_clones;

/* --- What copies have still to execute --- */

/* A segment that has been run: its clones, how many of its references were made, and the bases.
   These stand in chunks, one behind the other. */
enum { AT_CLONES, AT_N, AT_BASES, MOST_WORDS = AT_BASES + TG_MAX_BASES, CHUNK_WORDS = 1 << 14 };

typedef struct _Chunk {
   struct _Chunk* next;
   UInt used;
   UWord word[CHUNK_WORDS];
} Chunk;

/* How far a copy has come. */
typedef struct {
   Chunk* chunk;
   UInt at;
   ULong made; /* references */
} Place;

static Chunk* newest_chunk;
static Place place_of[TLB_MAX_SPACES];
static ULong refs_made; /* references by the program */

static void new_chunk(void)
{
   Chunk* c = VG_(malloc)("tg.copies.chunk", sizeof *c);
   c->next = NULL;
   c->used = 0;
   if (newest_chunk != NULL)
      newest_chunk->next = c;
   newest_chunk = c;
}

static void add(TgClones* c, const TgShadowArea* shadow, UInt n)
{
   if (newest_chunk->used + MOST_WORDS > CHUNK_WORDS)
      new_chunk();
   UWord* word = &newest_chunk->word[newest_chunk->used];
   word[AT_CLONES] = (UWord)c;
   word[AT_N] = n;
   for (UInt i = 0; i < c->n_bases; i++)
      word[AT_BASES + i] = shadow->base[c->base[i]];
   newest_chunk->used += AT_BASES + c->n_bases;
}

/* What the copy executes next; NULL: it has come to where the program is. */
static const UWord* next_of(UInt copy)
{
   Place* p = &place_of[copy];
   if (p->at == p->chunk->used && p->chunk->next != NULL) {
      Chunk* left = p->chunk;
      p->chunk = left->next;
      p->at = 0;
      /* No other copy is as far behind as the last. */
      if (copy == n_copies - 1)
         VG_(free)(left);
   }
   return p->at == p->chunk->used ? NULL : &p->chunk->word[p->at];
}

/* When the copy comes to the end of that, in references by the program. */
static ULong due(UInt copy, const UWord* word)
{
   return place_of[copy].made + word[AT_N] + copy * behind;
}

static void execute_next(UInt copy, const UWord* word)
{
   TgShadowArea shadow;
   TgClones* c = (TgClones*)word[AT_CLONES];
   shadow.base[TG_NO_BASE] = 0;
   for (UInt i = 0; i < c->n_bases; i++)
      shadow.base[c->base[i]] = word[AT_BASES + i];
   place_of[copy].at += AT_BASES + c->n_bases;
   place_of[copy].made += word[AT_N];
   check_segment(&shadow, c->of[copy], (UInt)word[AT_N]);
}

/* --- Segments that are discarded --- */

/* Frees those that no copy can come to any more. */
static void free_gone(void)
{
   const ULong oldest = place_of[n_copies - 1].made;
   while (gone_clones != NULL && gone_clones->gone_at <= oldest) {
      TgClones* c = gone_clones;
      gone_clones = c->next_gone;
      tg_clones_free(c);
   }
   last_gone = gone_clones == NULL ? &gone_clones : last_gone;
}

/* Copies that are behind have still to execute it. */
static void segment_goes(UInt number)
{
   TgClones* c = tg_clones_take(number);
   if (c == NULL)
      return;
   if (take_turns) {
      tg_clones_free(c);
      return;
   }
   c->next_gone = NULL;
   c->gone_at = refs_made;
   *last_gone = c;
   last_gone = &c->next_gone;
}

/* --- For the engine --- */

void tg_copies_follow(const TgShadowArea* shadow, TgSegment* s, UInt n)
{
   TgClones* c = tg_clones_of(s);
   if (take_turns) {
      for (UInt copy = 1; copy < n_copies; copy++)
         check_segment(shadow, c->of[copy], n);
      return;
   }
   refs_made += n;
   add(c, shadow, n);
   for (UInt copy = 1; copy < n_copies; copy++) {
      const UWord* word;
      while ((word = next_of(copy)) != NULL && due(copy, word) <= refs_made)
         execute_next(copy, word);
   }
   if (UNLIKELY(gone_clones != NULL))
      free_gone();
}

void tg_copies_end(void)
{
   while (tg_copies_on && behind > 0) {
      UInt first = 0;
      const UWord* word = NULL;
      for (UInt copy = 1; copy < n_copies; copy++) {
         const UWord* w = next_of(copy);
         if (w != NULL && (word == NULL || due(copy, w) < due(first, word))) {
            first = copy;
            word = w;
         }
      }
      if (word == NULL)
         return;
      execute_next(first, word);
   }
}

void tg_copies_init(const TgOptions* options, TgCopyCheck* f)
{
   n_copies = options->kernel.copies;
   behind = options->kernel.copies_behind;
   tg_copies_on = n_copies > 1;
   take_turns = tg_copies_on && behind == 0;
   if (!tg_copies_on)
      return;
   check_segment = f;
   tg_clones_init(n_copies, (UWord)(options->kernel.space_step << TLB_SPACE_SHIFT));
   tg_copy_counts_init(n_copies);
   tg_superblocks_listen(segment_goes);
   new_chunk();
   for (UInt copy = 1; copy < n_copies; copy++) {
      tg_copies_spread[copy] = tlb_near_spread((UWord)options->kernel.space_step * copy);
      place_of[copy].chunk = newest_chunk;
   }
}
