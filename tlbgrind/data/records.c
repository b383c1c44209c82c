/* Offsets within records. See data/records.h. */

#include "pub_tool_basics.h"

#include "pub_tool_libcbase.h"
#include "pub_tool_libcprint.h"
#include "pub_tool_mallocfree.h"
#include "pub_tool_options.h"
#include "pub_tool_oset.h"
#include "pub_tool_seqmatch.h"
#include "pub_tool_xarray.h"

#include "data/objects.h"
#include "data/ranges.h"
#include "data/records.h"
#include "data/strides.h"
#include "data/words.h"

Bool tg_records_on;

typedef struct {
   HChar* name;  /* a pattern */
   SizeT bytes;
   Bool matched;
} Stride;

static XArray* strides; /* Stride, of --data-stride; NULL: nothing is given */
static OSet* blocks;    /* those that are no records */

/* NAME:BYTES[,NAME:BYTES...], which has been checked. */
static XArray* read_strides(const HChar* text)
{
   XArray* all = VG_(newXA)(VG_(malloc), "tg.data.stride", VG_(free), sizeof(Stride));
   HChar* list = VG_(strdup)("tg.data.stride", text);
   HChar* saved;
   for (HChar* one = VG_(strtok_r)(list, ",", &saved); one != NULL;
        one = VG_(strtok_r)(NULL, ",", &saved)) {
      HChar* colon = VG_(strrchr)(one, ':');
      *colon = '\0';
      const Stride s = { one, (SizeT)VG_(strtoull10)(colon + 1, NULL), False };
      VG_(addToXA)(all, &s);
   }
   return all;
}

/* The size of the object's records is known now, or that there is none: 0. */
static void learnt(TgDataObject* o, SizeT record)
{
   if (record != 0) {
      o->record = record;
      o->record_how = TG_RECORD_SEEN;
      tg_data_fold_cells(o, record);
   }
   if (o->kind == TG_DATA_VARIABLE) {
      tg_words_refine(o->start, o->start + o->size);
      return;
   }
   TgRange* r;
   VG_(OSetGen_ResetIter)(blocks);
   while ((r = VG_(OSetGen_Next)(blocks)) != NULL) {
      if (r->object == o->number && r->record == 0) {
         r->record = record;
         tg_words_refine(r->start, r->end);
      }
   }
}

void tg_records_init(Bool on, const HChar* given)
{
   tg_records_on = on;
   strides = given == NULL ? NULL : read_strides(given);
   blocks = tg_ranges_new("tg.data.records");
   tg_strides_init(learnt);
}

void tg_records_end(void)
{
   for (Word i = 0; strides != NULL && i < VG_(sizeXA)(strides); i++) {
      const Stride* s = VG_(indexXA)(strides, i);
      if (!s->matched && VG_(clo_verbosity) > 0)
         VG_(umsg)("No data has the stride of --data-stride=%s:%lu: no function that allocates,\n"
                   "no variable that was referred to and no named memory matches.\n",
                   s->name, s->bytes);
   }
}

/* --- What is a record? --- */

static Bool has_name(const TgDataObject* o, const HChar* pattern)
{
   if (o->kind != TG_DATA_HEAP)
      return VG_(string_match)(pattern, o->name);
   for (UInt i = 0; i < o->stack->n; i++) {
      if (VG_(string_match)(pattern, tg_site_line(o->stack->site[i])->function->name))
         return True;
   }
   return False;
}

/* The size that --data-stride gives, 0: none. */
static SizeT given_for(const TgDataObject* o)
{
   for (Word i = 0; strides != NULL && i < VG_(sizeXA)(strides); i++) {
      Stride* s = VG_(indexXA)(strides, i);
      if (has_name(o, s->name)) {
         s->matched = True;
         return s->bytes;
      }
   }
   return 0;
}

/* Chooses the size of the records in `bytes` bytes of the object. */
static SizeT choose(TgDataObject* o, SizeT bytes, SizeT element, TgRecordHow whole)
{
   if (o->record_how == TG_RECORD_SEEN)
      return bytes <= TG_WORDS_PAGE ? bytes : o->record;
   SizeT record = 0;
   TgRecordHow how = TG_NO_RECORDS;
   const Bool is_first = o->record_how == TG_NO_RECORDS;
   if (is_first)
      record = given_for(o);
   else if (o->record_how == TG_RECORD_GIVEN)
      record = o->record;
   if (record != 0) {
      how = TG_RECORD_GIVEN;
   } else if (element > TG_WORD_BYTES) {
      record = element;
      how = TG_RECORD_CALLOC;
   } else if (bytes <= TG_WORDS_PAGE) {
      record = bytes;
      how = whole;
   }
   if (how == TG_NO_RECORDS)
      return 0;
   if (is_first)
      o->record = record;
   o->record_how = how;
   if (o->record != record)
      o->record = 0;
   return record;
}

void tg_record_block(TgDataObject* o, Addr a, SizeT bytes, SizeT element)
{
   if (!tg_records_on || bytes == 0)
      return;
   const SizeT record = choose(o, bytes, element, TG_RECORD_BLOCK);
   if (record == 0)
      tg_strides_begin(o);
   tg_ranges_remove(blocks, a, a + bytes);
   if (record != bytes)
      tg_ranges_add(blocks, (TgRange){ .end = a + bytes, .start = a, .origin = a,
                                       .record = record, .object = o->number });
}

void tg_record_no_block(Addr start, Addr end)
{
   if (tg_records_on)
      tg_ranges_remove(blocks, start, end);
}

SizeT tg_record_of_named(TgDataObject* o, SizeT bytes)
{
   return tg_records_on ? choose(o, bytes, 0, TG_RECORD_NAMED) : 0;
}

/* --- Which cell is it? --- */

static UInt cell_at(UInt object, Addr origin, SizeT record, Addr a, Addr* end)
{
   if (record <= TG_WORD_BYTES)
      return object;
   const SizeT offset = (a - origin) % record;
   const SizeT cell = offset & ~(SizeT)(TG_WORD_BYTES - 1);
   const SizeT next = cell + TG_WORD_BYTES < record ? cell + TG_WORD_BYTES : record;
   const Addr stop = a - offset + next;
   *end = stop < *end ? stop : *end;
   return tg_data_cell(object, (UInt)cell);
}

UInt tg_record_in_range(const TgRange* range, Addr a, Addr* end)
{
   return tg_records_on ? cell_at(range->object, range->origin, range->record, a, end)
                        : range->object;
}

UInt tg_record_in_block(UInt object, Addr start, Addr a, Addr* end)
{
   const TgRange* r = tg_ranges_at(blocks, a);
   if (r != NULL)
      return tg_record_in_range(r, a, end);
   if (start == 0)
      return object;
   const TgDataObject* o = tg_data_object_of(object);
   const SizeT record = o->record_how == TG_RECORD_SEEN ? o->record : 2 * TG_WORDS_PAGE;
   return cell_at(object, start, record, a, end);
}

UInt tg_record_in_variable(UInt object, Addr a, Addr* end)
{
   TgDataObject* o = tg_data_object_of(object);
   if (o->record_how == TG_NO_RECORDS && !o->has_learnt
       && choose(o, o->size, 0, TG_RECORD_VARIABLE) == 0 && o->size > TG_WORDS_PAGE)
      tg_strides_begin(o);
   return cell_at(object, o->start, o->record, a, end);
}

Bool tg_record_is_sought(UInt number)
{
   return !tg_data_is_cell(number) && tg_strides_wanted(tg_data_object_of(number));
}

UInt tg_record_note(UInt number, TgSite* site, Addr a, UInt size)
{
   if (!tg_record_is_sought(number))
      return number;
   TgDataObject* o = tg_data_object_of(number);
   const TgRange* r = o->kind == TG_DATA_HEAP ? tg_ranges_at(blocks, a) : NULL;
   if (o->kind == TG_DATA_HEAP && (r == NULL || r->object != number || r->record != 0))
      return number;
   return tg_strides_note(o, site, a - (r != NULL ? r->origin : o->start), size);
}
