/* Objects of data. See data/objects.h. */

#include "pub_tool_basics.h"

#include "pub_tool_hashtable.h"
#include "pub_tool_libcbase.h"
#include "pub_tool_mallocfree.h"
#include "pub_tool_oset.h"
#include "pub_tool_stacktrace.h"
#include "pub_tool_xarray.h"

#include "data/objects.h"

/* --- Call stacks --- */

/* A stack with its addresses. The sites' code may be unmapped and other code be mapped there: then
   the sites are retired, and the addresses are a new stack. */
typedef struct {
   struct _VgHashNode* next; /* first two: as VG_(HashTable) wants them */
   UWord hash;
   UInt n;
   const Addr* ip;
   TgDataStack* stack;
} Known;

static UInt max_frames;
static VgHashTable* stacks; /* Known */

static Word compare_stacks(const void* a, const void* b)
{
   const Known* x = a;
   const Known* y = b;
   if (x->n != y->n || VG_(memcmp)(x->ip, y->ip, x->n * sizeof *x->ip) != 0)
      return 1;
   const TgDataStack* s = x->stack != NULL ? x->stack : y->stack;
   for (UInt i = 0; i < s->n; i++) {
      if (s->site[i]->retired)
         return 1;
   }
   return 0;
}

static Known* add_stack(const Known* key)
{
   const SizeT of_ips = key->n * sizeof *key->ip;
   Known* k = VG_(malloc)("tg.data.stack", sizeof *k);
   Addr* ip = VG_(malloc)("tg.data.stack", of_ips);
   TgDataStack* s = VG_(malloc)("tg.data.stack", sizeof *s + key->n * sizeof s->site[0]);
   VG_(memcpy)(ip, key->ip, of_ips);
   s->n = key->n;
   for (UInt i = 0; i < key->n; i++)
      s->site[i] = tg_site_use(ip[i]); /* for good */
   *k = (Known){ .hash = key->hash, .n = key->n, .ip = ip, .stack = s };
   VG_(HT_add_node)(stacks, k);
   return k;
}

const TgDataStack* tg_data_stack(ThreadId tid)
{
   Addr ip[max_frames];
   const UInt n = VG_(get_StackTrace)(tid, ip, max_frames, NULL, NULL, 0);
   UWord hash = n;
   for (UInt i = 0; i < n; i++)
      hash = hash * 31 + ip[i];
   const Known key = { .hash = hash, .n = n, .ip = ip };
   Known* k = VG_(HT_gen_lookup)(stacks, &key, compare_stacks);
   if (k == NULL)
      k = add_stack(&key);
   return k->stack;
}

/* --- Objects --- */

static OSet* by_key;     /* TgDataObject */
static XArray* by_number; /* TgDataObject* */

typedef struct {
   UInt object;
   UInt offset;
} Cell;

enum { FIRST_CELL = 1 << 29 };
static XArray* cells; /* Cell */

static Word compare_words(UWord a, UWord b)
{
   return (a > b) - (a < b);
}

static Word compare_objects(const void* key, const void* element)
{
   const TgDataObject* a = key;
   const TgDataObject* b = element;
   Word order = compare_words(a->kind, b->kind);
   if (order == 0) order = compare_words((UWord)a->name, (UWord)b->name);
   if (order == 0) order = compare_words((UWord)a->file, (UWord)b->file);
   if (order == 0) order = compare_words(a->start, b->start);
   if (order == 0) order = compare_words((UWord)a->stack, (UWord)b->stack);
   return order;
}

void tg_data_objects_init(UInt frames)
{
   max_frames = frames;
   stacks = VG_(HT_construct)("tg.data.stacks");
   by_key = VG_(OSetGen_Create)(0, compare_objects, VG_(malloc), "tg.data.objects", VG_(free));
   by_number = VG_(newXA)(VG_(malloc), "tg.data.numbers", VG_(free), sizeof(TgDataObject*));
   cells = VG_(newXA)(VG_(malloc), "tg.data.cells", VG_(free), sizeof(Cell));
}

TgDataObject* tg_data_object(const TgDataObject* key)
{
   TgDataObject* o = VG_(OSetGen_Lookup)(by_key, key);
   if (o != NULL)
      return o;
   o = VG_(OSetGen_AllocNode)(by_key, sizeof *o);
   *o = *key;
   VG_(OSetGen_Insert)(by_key, o);
   VG_(addToXA)(by_number, &o);
   o->number = (UInt)VG_(sizeXA)(by_number);
   return o;
}

TgDataObject* tg_data_object_of(UInt number)
{
   return *(TgDataObject**)VG_(indexXA)(by_number, (Word)number - 1);
}

UInt tg_data_n_objects(void)
{
   return (UInt)VG_(sizeXA)(by_number);
}

UInt tg_data_cell(UInt object, UInt offset)
{
   TgDataObject* o = tg_data_object_of(object);
   const UInt i = offset / sizeof(UWord);
   if (i >= o->n_cells) {
      const UInt n = 2 * i + 8;
      o->cell = VG_(realloc)("tg.data.cells", o->cell, n * sizeof *o->cell);
      VG_(memset)(o->cell + o->n_cells, 0, (n - o->n_cells) * sizeof *o->cell);
      o->n_cells = n;
   }
   if (o->cell[i] == 0) {
      const Cell c = { object, offset };
      o->cell[i] = FIRST_CELL + (UInt)VG_(addToXA)(cells, &c);
   }
   return o->cell[i];
}

Bool tg_data_is_cell(UInt number)
{
   return number >= FIRST_CELL;
}

static const Cell* cell_of(UInt number)
{
   return VG_(indexXA)(cells, (Word)(number - FIRST_CELL));
}

UInt tg_data_whole(UInt number)
{
   return tg_data_is_cell(number) ? cell_of(number)->object : number;
}

UInt tg_data_offset(UInt number)
{
   return cell_of(number)->offset;
}

UInt tg_data_new_cell(UInt object)
{
   const Cell c = { object, TG_NO_OFFSET };
   return FIRST_CELL + (UInt)VG_(addToXA)(cells, &c);
}

void tg_data_set_offset(UInt number, UInt offset)
{
   ((Cell*)VG_(indexXA)(cells, (Word)(number - FIRST_CELL)))->offset = offset;
}

/* A word can be parted among two offsets where records end within words. */
void tg_data_fold_cells(TgDataObject* o, SizeT record)
{
   for (UInt i = 0; i < o->n_cells; i++) {
      const UInt offset = i * (UInt)sizeof(UWord);
      if (o->cell[i] == 0)
         continue;
      tg_data_set_offset(o->cell[i], record % sizeof(UWord) == 0 ? offset % (UInt)record
                                                                 : TG_NO_OFFSET);
      if (record % sizeof(UWord) != 0 || offset >= record)
         o->cell[i] = 0;
   }
}

void tg_data_objects_forked(void)
{
   for (UInt i = 1; i <= tg_data_n_objects(); i++) {
      TgDataObject* o = tg_data_object_of(i);
      o->blocks = o->bytes = 0;
   }
}
