/* Blocks: what each translated superblock refers to. See tg_blocks.h. */

#include "pub_tool_basics.h"

#include "pub_tool_hashtable.h"
#include "pub_tool_libcassert.h"
#include "pub_tool_libcbase.h"
#include "pub_tool_mallocfree.h"

#include "tg_arena.h"
#include "tg_blocks.h"

static VgHashTable* blocks;
static TgBlockTotals totals;

static UInt last_level[TG_N_KINDS];

TgSegment** tg_segments;
static UInt n_numbers = 1;    /* used so far; 0 means "no segment" */
static UInt room_for_numbers;
static XArray* free_numbers;  /* UInt */

/* The block under construction: its parts in the order of their coming. */
static XArray* segments; /* TgSegment */
static XArray* instrs;   /* TgSite* */
static XArray* refs;     /* TgRef */
static XArray* groups;   /* TgGroup */

static XArray* new_array(SizeT element)
{
   return VG_(newXA)(VG_(malloc), "tg.blocks", VG_(free), (Word)element);
}

void tg_blocks_init(const tlb_design* design)
{
   blocks = VG_(HT_construct)("tg.blocks");
   free_numbers = new_array(sizeof(UInt));
   segments = new_array(sizeof(TgSegment));
   instrs = new_array(sizeof(TgSite*));
   refs = new_array(sizeof(TgRef));
   groups = new_array(sizeof(TgGroup));
   for (UInt level = 0; level < design->levels; level++) {
      for (UInt kind = 0; kind < TG_N_KINDS; kind++) {
         if (design->at[level][kind == TG_FETCH ? TLB_INSTRUCTION
                                                : TLB_DATA].present
             || design->unified[level])
            last_level[kind] = level;
      }
   }
}

static void empty(XArray* a)
{
   VG_(dropTailXA)(a, VG_(sizeXA)(a));
}

void tg_block_begin(void)
{
   empty(segments);
   empty(instrs);
   empty(refs);
   empty(groups);
}

static UInt take_number(void)
{
   const Word n = VG_(sizeXA)(free_numbers);
   if (n > 0) {
      const UInt number = *(UInt*)VG_(indexXA)(free_numbers, n - 1);
      VG_(dropTailXA)(free_numbers, 1);
      return number;
   }
   if (n_numbers >= room_for_numbers) {
      room_for_numbers = 2 * n_numbers + 1024;
      tg_segments = VG_(realloc)("tg.blocks.numbers", tg_segments,
                                 room_for_numbers * sizeof *tg_segments);
   }
   tg_segments[n_numbers] = NULL;
   return n_numbers++;
}

static TgSegment* current(void)
{
   return VG_(indexXA)(segments, VG_(sizeXA)(segments) - 1);
}

TgSegment* tg_segment_begin(Bool guarded)
{
   TgSegment s = { .entered = tg_arena_alloc(1),
                   .number = take_number(),
                   .guarded = guarded };
   VG_(addToXA)(segments, &s);
   return current();
}

void tg_segment_add_instr(TgSite* site)
{
   VG_(addToXA)(instrs, &site);
   current()->n_instrs++;
}

UShort tg_segment_add_ref(TgRef ref)
{
   current()->n_fetches = (UShort)(current()->n_fetches
                                   + (ref.kind == TG_FETCH));
   VG_(addToXA)(refs, &ref);
   return current()->n_refs++;
}

void tg_segment_add_group(TgGroup group)
{
   VG_(addToXA)(groups, &group);
   current()->n_groups++;
}

/* The newest n elements of an array. */
static void* newest(XArray* a, UInt n)
{
   return n == 0 ? NULL : VG_(indexXA)(a, VG_(sizeXA)(a) - (Word)n);
}

TgRef* tg_segment_last_ref(void)
{
   return current()->n_refs == 0 ? NULL : newest(refs, 1);
}

UInt tg_segment_n_groups(void)
{
   return current()->n_groups;
}

TgGroup* tg_segment_group(UInt number)
{
   return newest(groups, current()->n_groups - number);
}

TgSegment* tg_segment_end(void)
{
   TgSegment* s = current();
   s->instr = newest(instrs, s->n_instrs);
   s->ref = newest(refs, s->n_refs);
   s->group = newest(groups, s->n_groups);
   return s;
}

/* Copies an array to `at` and returns the address behind it. */
static void* lay_out(void* at, XArray* a, SizeT element)
{
   const SizeT bytes = (SizeT)VG_(sizeXA)(a) * element;
   if (bytes > 0)
      VG_(memcpy)(at, VG_(indexXA)(a, 0), bytes);
   return (UChar*)at + bytes;
}

void tg_block_finish(Addr base, Addr entry)
{
   const SizeT header = sizeof(TgBlock)
                        + (SizeT)VG_(sizeXA)(segments) * sizeof(TgSegment);
   TgBlock* b = VG_(malloc)("tg.blocks.block",
                            header
                            + (SizeT)VG_(sizeXA)(refs) * sizeof(TgRef)
                            + (SizeT)VG_(sizeXA)(instrs) * sizeof(TgSite*)
                            + (SizeT)VG_(sizeXA)(groups) * sizeof(TgGroup));
   b->base = base;
   b->entry = entry;
   b->n_segments = (UInt)VG_(sizeXA)(segments);
   lay_out(b->segment, segments, sizeof(TgSegment));
   /* In order of alignment: these hold pointers, groups do not. */
   TgRef* ref = (TgRef*)(void*)((UChar*)b + header);
   TgSite** instr = lay_out(ref, refs, sizeof(TgRef));
   TgGroup* group = lay_out(instr, instrs, sizeof(TgSite*));
   lay_out(group, groups, sizeof(TgGroup));

   for (UInt i = 0; i < b->n_segments; i++) {
      TgSegment* s = &b->segment[i];
      s->ref = ref;
      s->instr = instr;
      s->group = group;
      ref += s->n_refs;
      instr += s->n_instrs;
      group += s->n_groups;
      tg_segments[s->number] = s;
   }
   VG_(HT_add_node)(blocks, b);
}

/* Books what n runs of the segment made of this reference, and its misses. */
static void settle_ref(TgRef* r, ULong n)
{
   ULong any = n;
   for (UInt level = 0; level < TLB_MAX_LEVELS; level++)
      any |= r->misses[level];
   if (any == 0)
      return;
   ULong* cost = tg_site_line(r->site)->cost + tg_cost(r->kind, 0);
   /* Instructions are counted apart; fetches are only look-ups. */
   if (r->kind != TG_FETCH)
      cost[TG_REFS] += n;
   else if (r->size > 0)
      totals.fetch_straddles += n;
   cost[TG_WALKS] += r->misses[last_level[r->kind]];
   for (UInt level = 0; level < TLB_MAX_LEVELS; level++) {
      cost[TG_MISS_1 + level] += r->misses[level];
      r->misses[level] = 0;
   }
}

static void settle_segment(TgSegment* s)
{
   const ULong n = *s->entered;
   *s->entered = 0;
   if (s->attempted != NULL) {
      totals.unperformed[s->ref[0].kind] += *s->attempted - n;
      *s->attempted = 0;
   }
   for (UInt i = 0; i < s->n_instrs && n > 0; i++)
      tg_site_line(s->instr[i])->cost[tg_cost(TG_FETCH, TG_REFS)] += n;
   for (UInt i = 0; i < s->n_refs; i++)
      settle_ref(&s->ref[i], n);
}

static void settle_block(TgBlock* b)
{
   for (UInt i = 0; i < b->n_segments; i++)
      settle_segment(&b->segment[i]);
}

void tg_blocks_settle(void)
{
   TgBlock* b;
   VG_(HT_ResetIter)(blocks);
   while ((b = VG_(HT_Next)(blocks)) != NULL)
      settle_block(b);
}

/* Redirected code can be translated twice with one base, under two entries. */
static Word compare_entries(const void* a, const void* b)
{
   return ((const TgBlock*)a)->entry == ((const TgBlock*)b)->entry ? 0 : 1;
}

void tg_block_discard(Addr base, Addr entry)
{
   const TgBlock wanted = { .base = base, .entry = entry };
   TgBlock* b = VG_(HT_gen_remove)(blocks, &wanted, compare_entries);
   if (b == NULL)
      return;
   settle_block(b);
   for (UInt i = 0; i < b->n_segments; i++) {
      TgSegment* s = &b->segment[i];
      for (UInt j = 0; j < s->n_instrs; j++)
         tg_site_release(s->instr[j]);
      tg_arena_free(s->entered, 1);
      if (s->attempted != NULL)
         tg_arena_free(s->attempted, 1);
      tg_segments[s->number] = NULL;
      VG_(addToXA)(free_numbers, &s->number);
   }
   VG_(free)(b);
}

UInt tg_last_level(TgKind kind)
{
   return last_level[kind];
}

TgBlockTotals* tg_block_totals(void)
{
   return &totals;
}
