/* Attributes data references to objects. See data/references.h. */

#include "pub_tool_basics.h"

#include "pub_tool_libcbase.h"
#include "pub_tool_mallocfree.h"
#include "pub_tool_threadstate.h"
#include "pub_tool_xarray.h"

#include <stddef.h>

#include "data/blocks.h"
#include "data/named.h"
#include "data/objects.h"
#include "data/places.h"
#include "data/records.h"
#include "data/references.h"
#include "data/row_blocks.h"
#include "data/words.h"
#include "options/mapping_pages.h"
#include "trace/missed_segments.h"

Bool tg_data_on;
Bool tg_data_objects_on;
TgDataCheck* tg_data_check;

static Bool* is_new; /* by thread: it has not run yet */

/* The numbers of segments some of whose references have had a part looked up since parts were last
   set aside; each number once, whichever segments have had it. A switch of threads goes through few
   of all segments so. */
static XArray* looked_up;  /* UInt */
static Bool* is_looked_up; /* by number */
static UInt n_numbers;     /* for which it has room */

static void check_objects(UChar* guest_state, TgSegment* s);
static void check_row_blocks(UChar* guest_state, TgSegment* s);
static void check_both(UChar* guest_state, TgSegment* s);

static void block_freed(Addr start, Addr end)
{
   tg_record_no_block(start, end);
   if (tg_named_any(start, end))
      tg_named_freed(start, end);
}

static const TgWordsResolver resolver = {
   .place = tg_data_place,
   .place_of_page = tg_data_place_of_page,
   .is_named = tg_named_any,
   .named_at = tg_named_at,
   .record_in_block = tg_record_in_block,
   .record_in_variable = tg_record_in_variable,
   .record_is_sought = tg_record_is_sought,
   .block_freed = block_freed,
};

void tg_data_init(const TgOptions* options)
{
   tg_data_objects_on = options->data;
   tg_data_on = options->data || options->mappings;
   if (!tg_data_on)
      return;
   tg_superblocks_attribute_data();
   tg_data_check = !options->mappings ? check_objects
                   : options->data ? check_both : check_row_blocks;
   if (options->mappings) {
      tg_rows_init(tg_large_pages_smallest(options));
      tg_sites_part(tg_row_block_at);
   }
   if (!tg_data_objects_on)
      return;
   is_new = VG_(calloc)("tg.data.threads", VG_N_THREADS, sizeof *is_new);
   looked_up = VG_(newXA)(VG_(malloc), "tg.data.looked_up", VG_(free), sizeof(UInt));
   tg_data_objects_init((UInt)options->data_frames);
   tg_words_init(&resolver, options->data_offsets);
   tg_named_init();
   tg_records_init(options->data_offsets, options->data_strides);
   tg_blocks_init();
   tg_data_places_init();
}

void tg_data_thread_begins(ThreadId tid)
{
   is_new[tid] = True;
   tg_blocks_thread(tid);
}

void tg_data_started(ThreadId tid)
{
   if (!is_new[tid])
      return;
   is_new[tid] = False;
   tg_data_places_thread(tid);
}

void tg_data_zero(void)
{
   tg_words_forked();
   tg_data_objects_forked();
}

/* 0 without --mappings. */
static UInt row_block_at(Addr a)
{
   return tg_rows_on ? tg_row_block_at(a) : 0;
}

/* --- Parts of lines --- */

/* The last parts that were asked for: instructions go back and forth between few objects. */
enum { N_PARTS = 1 << 16 };
static struct {
   const TgLine* line;
   UInt object, row_block;
   TgLine* part;
} parts[N_PARTS];

static TgLine* part_of(TgLine* line, UInt object, UInt row_block)
{
   const UWord at = (((UWord)line >> 4) + (object + 40503u * row_block) * 2654435761u) % N_PARTS;
   if (parts[at].line != line || parts[at].object != object || parts[at].row_block != row_block) {
      parts[at].line = line;
      parts[at].object = object;
      parts[at].row_block = row_block;
      parts[at].part = tg_line_part(line, object, row_block);
   }
   tg_line_is_used(parts[at].part);
   return parts[at].part;
}

static void note_look_up(UInt number)
{
   if (number >= n_numbers) {
      const UInt n = 2 * number + 1024;
      is_looked_up = VG_(realloc)("tg.data.looked_up", is_looked_up, n * sizeof *is_looked_up);
      VG_(memset)(is_looked_up + n_numbers, 0, (n - n_numbers) * sizeof *is_looked_up);
      n_numbers = n;
   }
   if (is_looked_up[number])
      return;
   is_looked_up[number] = True;
   VG_(addToXA)(looked_up, &number);
}

/* Its part is looked up again. */
static void forget(TgDataRef* d)
{
   d->value = d->row_block = TG_NO_VALUE;
}

void tg_data_set_aside(void)
{
   /* What is listed is taken from its lines later. */
   if (!tg_data_objects_on || tg_n_missed_segments > 0)
      return;
   tg_lines_set_aside();
   for (Word i = 0; i < VG_(sizeXA)(looked_up); i++) {
      const UInt number = *(UInt*)VG_(indexXA)(looked_up, i);
      is_looked_up[number] = False;
      tg_segment_each_data(number, forget);
   }
   VG_(dropTailXA)(looked_up, VG_(sizeXA)(looked_up));
   tg_superblocks_each_dead_data(forget);
}

TgLine* tg_data_line_at(TgLine* line, Addr a)
{
   return part_of(line, tg_data_objects_on ? tg_words_find(a, False) : 0, row_block_at(a));
}

static TgLine* line_of(const TgDataRef* d, tlb_user kind)
{
   UChar* at = (UChar*)d->count - kind * sizeof d->count[0];
   return (TgLine*)(void*)(at - offsetof(TgLine, refs));
}

TgLine* tg_data_line_of_ref(const TgSegment* s, const TgRef* r)
{
   const TgDataRef* d = tg_segment_data(s);
   while (tg_segment_refs(s) + d->nth != r)
      d++;
   return line_of(d, r->kind);
}

/* --- References --- */

/* Counts the reference and its misses at that part of its line from now on. */
static void count_at(TgSegment* s, TgDataRef* d, TgRef* r, TgLine* part)
{
   if (d->count != NULL)
      tg_missed_segments_leave(s, line_of(d, r->kind), r->kind);
   d->count = &part->refs[r->kind];
   r->misses = tg_line_misses(part, r->kind);
}

/* Not what it was last time, or a word that has not been touched. */
static __attribute__((noinline)) void attribute(TgSegment* s, TgDataRef* d, Addr a)
{
   TgRef* r = &tg_segment_refs(s)[d->nth];
   UInt number = 0;
   if (tg_data_objects_on) {
      note_look_up(s->number);
      number = tg_words_find(a, True);
      if (tg_records_on)
         number = tg_record_note(number, r->site, a, d->size);
      const UInt value = tg_words_value(a);
      d->value = value == 0 || value == TG_WORD_MIXED ? TG_NO_VALUE : value;
   }
   d->row_block = row_block_at(a);
   count_at(s, d, r, part_of(tg_site_line(r->site), number, d->row_block));
}

/* The words of a reference behind its first. */
static __attribute__((noinline)) void touch_others_slowly(Addr a, UInt size)
{
   const Addr last = (a + size - 1) & ~(Addr)(TG_WORD_BYTES - 1);
   Addr at = a & ~(Addr)(TG_WORD_BYTES - 1);
   while (at != last) {
      at += TG_WORD_BYTES;
      const UInt value = tg_words_value(at);
      if (value == TG_WORD_MIXED || (value & TG_WORD_TOUCHED) == 0)
         tg_words_find(at, True);
   }
}

static inline __attribute__((always_inline))
void touch_others(const TgDataRef* d, Addr a)
{
   for (UInt more = TG_WORD_BYTES; more < d->size; more += TG_WORD_BYTES) {
      if (UNLIKELY(!tg_words_has(a + more, d->value)))
         goto slowly;
   }
   if (LIKELY(tg_words_has(a + d->size - 1, d->value)))
      return;
slowly:
   touch_others_slowly(a, d->size);
}

static inline __attribute__((always_inline))
void refer(const TgShadowArea* shadow, TgSegment* s, TgDataRef* d, Bool objects, Bool rows)
{
   const Addr a = shadow->base[d->base] + d->offset;
   if (UNLIKELY(objects && !tg_words_has(a, d->value))
       || UNLIKELY(rows && !tg_row_block_has(a, d->row_block)))
      attribute(s, d, a);
   if (objects && UNLIKELY((a & (TG_WORD_BYTES - 1)) + d->size > TG_WORD_BYTES))
      touch_others(d, a);
   ++*d->count;
}

static inline __attribute__((always_inline))
void check(UChar* guest_state, TgSegment* s, Bool objects, Bool rows)
{
   const TgShadowArea* shadow = tg_shadow_area(guest_state);
   TgDataRef* d = tg_segment_data(s);
   TgDataRef* const end = d + (s->n_refs - s->n_fetches);
   for (; d != end; d++)
      refer(shadow, s, d, objects, rows);
}

static void check_objects(UChar* guest_state, TgSegment* s)
{
   check(guest_state, s, True, False);
}

static void check_both(UChar* guest_state, TgSegment* s)
{
   check(guest_state, s, True, True);
}

static void check_row_blocks(UChar* guest_state, TgSegment* s)
{
   check(guest_state, s, False, True);
}

void tg_data_segment(const TgShadowArea* shadow, TgSegment* s, UInt n)
{
   TgDataRef* const data = tg_segment_data(s);
   const UInt n_data = s->n_refs - s->n_fetches;
   for (UInt i = 0; i < n_data && data[i].nth < n; i++)
      refer(shadow, s, &data[i], tg_data_objects_on, tg_rows_on);
}
