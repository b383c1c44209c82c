/* Strides that references show. See data/strides.h. */

#include "pub_tool_basics.h"

#include "pub_tool_hashtable.h"
#include "pub_tool_libcbase.h"
#include "pub_tool_mallocfree.h"
#include "pub_tool_xarray.h"

#include "data/objects.h"
#include "data/strides.h"
#include "data/words.h"
#include "sim/base/divisor.h"

enum {
   FIRST_TRY = 4096,     /* references to an object */
   LAST_TRY = 1 << 16,
   FEWEST = 64,          /* that decide at the end of the run */
   MOST_PLACES = 1024,   /* of an object */
   LARGEST_MEMBER = 8,   /* bytes */
   LARGEST = 4096        /* record */
};

/* An instruction that refers to an object. */
typedef struct _Place {
   struct _Place* next; /* first two: as VG_(HashTable) wants them */
   UWord hash;
   UInt object;
   const TgLine* line;
   Addr address;
   UInt cell;
   UInt size;   /* of its largest reference */
   UWord first; /* offset of its first reference */
   UWord step;  /* divides the distances of the others to it; 0: they were the same offset */
   ULong n;
} Place;

struct _TgLearning {
   XArray* places; /* Place* */
   ULong n;        /* references */
   ULong next;     /* so many until the next try */
};

static void (*tell_learnt)(TgDataObject* o, SizeT record);

static VgHashTable* places;
static XArray* wanted; /* TgDataObject*, whose strides are looked for */

void tg_strides_init(void (*learnt)(TgDataObject* o, SizeT record))
{
   tell_learnt = learnt;
}

void tg_strides_begin(TgDataObject* o)
{
   if (o->has_learnt)
      return;
   if (places == NULL) {
      places = VG_(HT_construct)("tg.data.places");
      wanted = VG_(newXA)(VG_(malloc), "tg.data.wanted", VG_(free), sizeof(TgDataObject*));
   }
   o->has_learnt = True;
   o->learning = VG_(calloc)("tg.data.learning", 1, sizeof *o->learning);
   o->learning->places = VG_(newXA)(VG_(malloc), "tg.data.learning", VG_(free), sizeof(Place*));
   o->learning->next = FIRST_TRY;
   VG_(addToXA)(wanted, &o);
}

/* --- What the instructions show --- */

static Place* place(const TgLearning* l, Word i)
{
   return *(Place**)VG_(indexXA)(l->places, i);
}

/* Whether an instruction of the same line has the same step, and is so far from p. */
static Bool has_copy(const TgLearning* l, const Place* p, UWord distance)
{
   for (Word i = 0; i < VG_(sizeXA)(l->places); i++) {
      const Place* q = place(l, i);
      if (tg_line_is_same(q->line, p->line) && q->step == p->step && q->size == p->size
          && q->first % p->step == (p->first + distance) % p->step)
         return True;
   }
   return False;
}

/* The step in the source: less than that of the instruction where the compiler has unrolled the
   loop, so that copies of the instruction divide the step evenly. */
static UWord step_of(const TgLearning* l, const Place* p)
{
   UWord step = p->step;
   for (UWord copies = 2; p->step % copies == 0 && p->step / copies >= p->size; copies *= 2) {
      const UWord part = p->step / copies;
      Bool all = True;
      for (UWord i = 1; i < copies && all; i++)
         all = has_copy(l, p, i * part);
      if (all)
         step = part;
   }
   return step;
}

/* The size of the records: a number that divides the steps of all instructions with a share in
   the references, and of which three quarters of the references are. 0: there is none such.
   Instructions whose references adjoin, as in a loop over numbers, are counted against it; those
   that take more than a number at a time, as in memset(), do not count. */
static SizeT evident(const TgLearning* l)
{
   const Word n_places = VG_(sizeXA)(l->places);
   UWord step[n_places];
   ULong n = 0, agreed = 0;
   SizeT record = 0;
   for (Word i = 0; i < n_places; i++) {
      const Place* p = place(l, i);
      step[i] = p->step == 0 ? 0 : step_of(l, p);
      if (p->size > LARGEST_MEMBER)
         step[i] = 0;
      n += step[i] != 0 ? p->n : 0;
      if (step[i] <= p->size)
         step[i] = 0;
   }
   for (Word i = 0; i < n_places; i++) {
      if (step[i] != 0 && place(l, i)->n >= n / 32)
         record = (UWord)tlb_common_divisor(record, step[i]);
   }
   for (Word i = 0; i < n_places; i++) {
      if (step[i] != 0 && record != 0 && step[i] % record == 0)
         agreed += place(l, i)->n;
   }
   const Bool is_record = record > TG_WORD_BYTES && record <= LARGEST;
   return is_record && agreed >= FEWEST && agreed >= n - n / 4 ? record : 0;
}

/* --- Decisions --- */

static Word compare_places(const void* a, const void* b)
{
   const Place* x = a;
   const Place* y = b;
   return x->object != y->object || x->line != y->line || x->address != y->address;
}

static void settle(TgDataObject* o, SizeT record)
{
   TgLearning* l = o->learning;
   for (Word i = 0; i < VG_(sizeXA)(l->places); i++) {
      Place* p = place(l, i);
      if (record != 0 && p->step % record == 0)
         tg_data_set_offset(p->cell, (UInt)(p->first % record) & ~(UInt)(TG_WORD_BYTES - 1));
      VG_(HT_gen_remove)(places, p, compare_places);
      VG_(free)(p);
   }
   VG_(deleteXA)(l->places);
   VG_(free)(l);
   o->learning = NULL;
   tell_learnt(o, record);
}

static void attempt(TgDataObject* o)
{
   TgLearning* l = o->learning;
   const SizeT record = evident(l);
   l->next = 2 * l->n;
   if (record != 0 || l->n >= LAST_TRY || VG_(sizeXA)(l->places) >= MOST_PLACES)
      settle(o, record);
}

void tg_strides_end(void)
{
   for (Word i = 0; wanted != NULL && i < VG_(sizeXA)(wanted); i++) {
      TgDataObject* o = *(TgDataObject**)VG_(indexXA)(wanted, i);
      const SizeT record = o->learning == NULL ? 0 : evident(o->learning);
      if (record != 0)
         settle(o, record);
   }
}

/* --- References --- */

static Place* place_of(TgDataObject* o, TgSite* site, UWord offset)
{
   const TgLine* line = tg_site_line(site);
   const Place key = { .hash = site->address * 31 + o->number, .object = o->number, .line = line,
                       .address = site->address };
   Place* p = VG_(HT_gen_lookup)(places, &key, compare_places);
   if (p == NULL) {
      p = VG_(malloc)("tg.data.place", sizeof *p);
      *p = key;
      p->cell = tg_data_new_cell(o->number);
      p->first = offset;
      VG_(HT_add_node)(places, p);
      VG_(addToXA)(o->learning->places, &p);
   }
   return p;
}

UInt tg_strides_note(TgDataObject* o, TgSite* site, UWord offset, UInt size)
{
   Place* p = place_of(o, site, offset);
   const UInt cell = p->cell;
   const UWord distance = offset > p->first ? offset - p->first : p->first - offset;
   if (p->step == 0 || distance % p->step != 0)
      p->step = (UWord)tlb_common_divisor(p->step, distance);
   if (size > p->size)
      p->size = size;
   p->n++;
   o->learning->n++;
   if (o->learning->n >= o->learning->next || VG_(sizeXA)(o->learning->places) >= MOST_PLACES)
      attempt(o);
   return cell;
}
