/* Blocks: what each translated superblock refers to. See trace/superblocks.h. */

#include "pub_tool_basics.h"

#include "pub_tool_hashtable.h"
#include "pub_tool_libcbase.h"
#include "pub_tool_mallocfree.h"
#include "pub_tool_xarray.h"

#include "trace/superblocks.h"

static VgHashTable* blocks;
static TgSuperblock* dead; /* discarded, not yet freed */
static TgSuperblockTotals totals;
static Bool attributes_data;
static void (*segment_gone)(UInt number); /* NULL: there is none */

TgSegment** tg_segments;
static UInt n_numbers = 1;    /* used so far; 0 means "no segment" */
static UInt room_for_numbers;
static XArray* free_numbers;  /* UInt */

/* The block under construction: its parts in the order of their coming. */
static XArray* segments; /* TgSegment */
static XArray* instrs;   /* TgSite* */
static XArray* refs;     /* TgRef */
static XArray* groups;   /* TgGroup */
static XArray* fetches;  /* tlb_page*, of each segment but the first */

static XArray* new_array(SizeT element)
{
   return VG_(newXA)(VG_(malloc), "tg.blocks", VG_(free), (Word)element);
}

void tg_superblocks_init(void)
{
   blocks = VG_(HT_construct)("tg.blocks");
   free_numbers = new_array(sizeof(UInt));
   segments = new_array(sizeof(TgSegment));
   instrs = new_array(sizeof(TgSite*));
   refs = new_array(sizeof(TgRef));
   groups = new_array(sizeof(TgGroup));
   fetches = new_array(sizeof(tlb_page*));
}

void tg_superblocks_attribute_data(void)
{
   attributes_data = True;
}

void tg_superblocks_listen(void (*gone)(UInt number))
{
   segment_gone = gone;
}

Bool tg_superblocks_count(tlb_user kind)
{
   return kind == TLB_FETCH || !attributes_data;
}

static void empty(XArray* a)
{
   VG_(dropTailXA)(a, VG_(sizeXA)(a));
}

void tg_superblock_begin(void)
{
   empty(segments);
   empty(instrs);
   empty(refs);
   empty(groups);
   empty(fetches);
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

TgSegment* tg_segment_at_hand(void)
{
   return VG_(indexXA)(segments, VG_(sizeXA)(segments) - 1);
}

UInt tg_segment_begin(void)
{
   const TgSegment s = { .number = take_number(), .fetch = tlb_no_page(&tg_mmus) };
   VG_(addToXA)(segments, &s);
   return s.number;
}

void tg_segment_add_instr(TgSite* site)
{
   VG_(addToXA)(instrs, &site);
   tg_segment_at_hand()->ticks += TG_INSTR_TICKS;
}

UShort tg_segment_add_ref(TgRef ref)
{
   if (ref.kind == TLB_FETCH) {
      if (tg_segment_at_hand()->n_fetches++ == 0)
         tg_segment_at_hand()->fetch = ref.at.page;
      else
         VG_(addToXA)(fetches, &ref.at.page);
   }
   VG_(addToXA)(refs, &ref);
   return tg_segment_at_hand()->n_refs++;
}

void tg_segment_add_group(TgGroup group)
{
   VG_(addToXA)(groups, &group);
   tg_segment_at_hand()->n_groups++;
}

/* The newest n elements of an array. */
static void* newest(XArray* a, UInt n)
{
   return n == 0 ? NULL : VG_(indexXA)(a, VG_(sizeXA)(a) - (Word)n);
}

TgRef* tg_segment_last_ref(void)
{
   return tg_segment_at_hand()->n_refs == 0 ? NULL : newest(refs, 1);
}

TgGroup* tg_segment_group(UInt number)
{
   return newest(groups, tg_segment_at_hand()->n_groups - number);
}

/* Two groups can turn out to lie on one page: the one with the newer reference
   must note its time last. */
static void order_by_newest(TgGroup* group, UInt n)
{
   for (UInt i = 1; i < n; i++) {
      const TgGroup g = group[i];
      UInt at = i;
      for (; at > 0 && group[at - 1].newest > g.newest; at--)
         group[at] = group[at - 1];
      group[at] = g;
   }
}

/* Copies elements first .. first+n of an array to `at`; moves both on. */
static void lay_out(UChar** at, XArray* a, Word* first, UInt n, SizeT element)
{
   if (n > 0)
      VG_(memcpy)(*at, VG_(indexXA)(a, *first), n * element);
   *at += n * element;
   *first += (Word)n;
}

/* Where the next segment's parts begin, in the arrays and in the block. */
typedef struct {
   UChar* at;
   Word group, fetch, ref, instr;
} Cursor;

/* The segment's data references once more. Returns where they end. */
static UChar* lay_out_data(const TgSegment* s)
{
   const TgRef* ref = tg_segment_refs(s);
   TgDataRef* d = tg_segment_data(s);
   for (UInt i = 0; i < s->n_refs; i++) {
      if (ref[i].kind == TLB_FETCH)
         continue;
      *d++ = (TgDataRef){ .offset = ref[i].at.offset, .value = TG_NO_VALUE,
                          .row_block = TG_NO_VALUE, .nth = (UShort)i,
                          .size = ref[i].size, .base = ref[i].base };
   }
   return (UChar*)d;
}

static TgSegment* lay_out_segment(const TgSegment* built, Cursor* c)
{
   TgSegment* s = (TgSegment*)(void*)c->at;
   *s = *built;
   if (s->guarded)
      s->attempted = 0;
   c->at += sizeof *s;
   lay_out(&c->at, groups, &c->group, s->n_groups, sizeof(TgGroup));
   lay_out(&c->at, fetches, &c->fetch, tg_more_fetches(s), sizeof(tlb_page*));
   lay_out(&c->at, refs, &c->ref, s->n_refs, sizeof(TgRef));
   lay_out(&c->at, instrs, &c->instr, tg_n_instrs(s), sizeof(TgSite*));

   if (attributes_data)
      c->at = lay_out_data(s);
   order_by_newest(s->group, s->n_groups);
   tg_segments[s->number] = s;
   return s;
}

static SizeT bytes_of(XArray* a, SizeT element)
{
   return (SizeT)VG_(sizeXA)(a) * element;
}

TgSuperblock* tg_superblock_finish(Addr base, Addr entry)
{
   const UInt n = (UInt)VG_(sizeXA)(segments);
   const SizeT header = sizeof(TgSuperblock) + n * sizeof(TgSegment*);
   TgSuperblock* b = VG_(malloc)("tg.blocks.block",
                            header + bytes_of(segments, sizeof(TgSegment))
                            + bytes_of(groups, sizeof(TgGroup))
                            + bytes_of(fetches, sizeof(tlb_page*))
                            + bytes_of(refs, sizeof(TgRef))
                            + (attributes_data ? bytes_of(refs, sizeof(TgDataRef)) : 0)
                            + bytes_of(instrs, sizeof(TgSite*)));
   b->base = base;
   b->entry = entry;
   b->n_segments = n;
   Cursor c = { .at = (UChar*)b + header };
   for (UInt i = 0; i < n; i++)
      b->segment[i] = lay_out_segment(VG_(indexXA)(segments, (Word)i), &c);
   VG_(HT_add_node)(blocks, b);
   return b;
}

/* Books n runs of the segment. Instructions are counted apart; fetches are only
   look-ups. */
static void settle_ref(const TgRef* r, ULong n)
{
   if (r->kind != TLB_FETCH && tg_superblocks_count(r->kind))
      tg_site_line(r->site)->refs[r->kind] += n;
   else if (r->kind == TLB_FETCH && r->size > 0)
      totals.fetch_straddles += n;
}

static void settle_segment(TgSegment* s)
{
   const TgRef* ref = tg_segment_refs(s);
   TgSite** instr = tg_segment_instrs(s);
   const ULong n = s->entered;
   s->entered = 0;
   if (s->helper)
      totals.unperformed[ref[0].kind] += s->attempted - n;
   if (s->guarded)
      s->attempted = 0;
   if (n == 0)
      return;
   for (UInt i = 0; i < tg_n_instrs(s); i++)
      tg_site_line(instr[i])->refs[TLB_FETCH] += n;
   for (UInt i = 0; i < s->n_refs; i++)
      settle_ref(&ref[i], n);
}

static void settle_block(const TgSuperblock* b)
{
   for (UInt i = 0; i < b->n_segments; i++)
      settle_segment(b->segment[i]);
}

/* At each switch of threads, perhaps, and few of hundreds of thousands have run since the last one:
   so what is read of each is requested ahead. */
void tg_superblocks_settle(void)
{
   enum { AHEAD = 16 };
   for (UInt i = 1; i < n_numbers; i++) {
      if (i + AHEAD < n_numbers)
         __builtin_prefetch(tg_segments[i + AHEAD]);
      TgSegment* s = tg_segments[i];
      if (s != NULL && (s->entered != 0 || s->guarded))
         settle_segment(s);
   }
   for (const TgSuperblock* b = dead; b != NULL; b = b->next)
      settle_block(b);
}

static void each_of_segment(const TgSegment* s, void (*each)(TgDataRef* d))
{
   TgDataRef* const data = tg_segment_data(s);
   for (UInt n = 0; n < (UInt)(s->n_refs - s->n_fetches); n++)
      each(&data[n]);
}

void tg_segment_each_data(UInt number, void (*each)(TgDataRef* d))
{
   if (tg_segments[number] != NULL)
      each_of_segment(tg_segments[number], each);
}

void tg_superblocks_each_dead_data(void (*each)(TgDataRef* d))
{
   for (const TgSuperblock* b = dead; b != NULL; b = b->next) {
      for (UInt i = 0; i < b->n_segments; i++)
         each_of_segment(b->segment[i], each);
   }
}

/* Redirected code can be translated twice with one base, under two entries. */
static Word compare_entries(const void* a, const void* b)
{
   return ((const TgSuperblock*)a)->entry == ((const TgSuperblock*)b)->entry ? 0 : 1;
}

static void bury(TgSuperblock* b)
{
   settle_block(b);
   for (UInt i = 0; i < b->n_segments; i++) {
      TgSegment* s = b->segment[i];
      for (UInt j = 0; j < tg_n_instrs(s); j++)
         tg_site_release(tg_segment_instrs(s)[j]);
      if (segment_gone != NULL)
         segment_gone(s->number);
      VG_(addToXA)(free_numbers, &s->number);
   }
   VG_(free)(b);
}

void tg_superblocks_bury(void)
{
   while (dead != NULL) {
      TgSuperblock* b = dead;
      dead = b->next;
      bury(b);
   }
}

void tg_superblock_discard(Addr base, Addr entry)
{
   const TgSuperblock wanted = { .base = base, .entry = entry };
   TgSuperblock* b = VG_(HT_gen_remove)(blocks, &wanted, compare_entries);
   if (b == NULL)
      return;
   settle_block(b);
   for (UInt i = 0; i < b->n_segments; i++)
      tg_segments[b->segment[i]->number] = NULL;
   b->next = dead;
   dead = b;
}

TgSuperblockTotals* tg_superblock_totals(void)
{
   return &totals;
}
