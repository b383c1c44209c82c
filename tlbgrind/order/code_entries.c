/* Records code in the order of its first execution. See order/code_entries.h. */

#include "pub_tool_basics.h"

#include "pub_tool_aspacemgr.h"
#include "pub_tool_clientstate.h"
#include "pub_tool_debuginfo.h"
#include "pub_tool_libcassert.h"
#include "pub_tool_libcbase.h"
#include "pub_tool_libcfile.h"
#include "pub_tool_libcproc.h"
#include "pub_tool_mallocfree.h"
#include "pub_tool_oset.h"
#include "pub_tool_xarray.h"

#include "config.h"

#include "base/build_id.h"
#include "order/code_entries.h"
#include "base/file.h"
#include "trace/segment_run.h"
#include "base/shown.h"

/* The symbol's name in the object file; in C++, the mangled one. The core's archive has this
   function, but its headers for tools do not declare it (3.19 to 3.27). */
extern Bool VG_(get_fnname_raw)(DiEpoch ep, Addr a, const HChar** buf);

/* A file that code was mapped from. */
typedef struct {
   const HChar* name; /* "???": code in anonymous memory */
   ULong device;
   ULong inode;
} Object;

typedef struct {
   UInt object;
   ULong offset;      /* in the object */
   ULong size;        /* bytes; 0: unknown */
   const HChar* name; /* "???": no symbol */
} Function;

/* A block that was executed. Its function is looked up as late as possible: when its code is
   unmapped, or at the end. */
typedef struct {
   Addr address;
   UInt object;
   UInt length;
   ULong offset; /* in the object */
   ULong when;
   UInt function; /* from 1; 0: not looked up yet */
} Block;

/* Data that was used so for the first time. */
typedef struct {
   ULong offset; /* in the object; .bss continues the file */
   ULong length;
   ULong when;
   UInt object;
   TgDataUse use;
} Use;

/* The number of the block, function or use at an offset of an object. An object that is mapped
   a second time, at another address, adds nothing. */
typedef struct {
   ULong offset;
   UInt object;
   UInt number;
} Known;

/* The block or function at an address while its code is mapped: a block by its first byte, a
   function by any of its bytes. */
typedef struct {
   UWord address;
   UInt number;
} LiveBlock;

typedef struct {
   UWord first;
   UWord last;
   UInt number;
} LiveFunction;

static XArray* objects;   /* Object */
static XArray* functions; /* Function; number 0 is none */
static XArray* blocks;    /* Block */
static XArray* uses;      /* Use */
static ULong n_writes;    /* among them */
static OSet* known_uses[TG_WRITTEN_AGAIN + 1]; /* Known: first bytes that are in `uses`,
                                                  by TgDataUse */
static OSet* known_blocks;    /* Known */
static OSet* known_functions; /* Known */
static OSet* live_blocks;
static OSet* live_functions;

static Object* object_at(UInt number)
{
   return VG_(indexXA)(objects, (Word)number);
}

static Function* function_at(UInt number)
{
   return VG_(indexXA)(functions, (Word)number);
}

static Block* block_at(UInt number)
{
   return VG_(indexXA)(blocks, (Word)number);
}

static Word compare_places(const void* key, const void* element)
{
   const Known* a = key;
   const Known* b = element;
   if (a->offset != b->offset)
      return a->offset < b->offset ? -1 : 1;
   return (a->object > b->object) - (a->object < b->object);
}

static OSet* new_places(void)
{
   return VG_(OSetGen_Create)(0, compare_places, VG_(malloc),
                              "tg.entries.known", VG_(free));
}

/* The number stored for the offset in the object; stores `number` if there is none. */
static UInt number_of(OSet* known, UInt object, ULong offset, UInt number)
{
   const Known place = { offset, object, number };
   Known* k = VG_(OSetGen_Lookup)(known, &place);
   if (k == NULL) {
      k = VG_(OSetGen_AllocNode)(known, sizeof *k);
      *k = place;
      VG_(OSetGen_Insert)(known, k);
   }
   return k->number;
}

static Word compare_to_range(const void* key, const void* element)
{
   const UWord a = *(const UWord*)key;
   const LiveFunction* f = element;
   return a < f->first ? -1 : a > f->last ? 1 : 0;
}

void tg_code_entries_init(void)
{
   objects = VG_(newXA)(VG_(malloc), "tg.entries.objects", VG_(free),
                        sizeof(Object));
   functions = VG_(newXA)(VG_(malloc), "tg.entries.functions", VG_(free),
                          sizeof(Function));
   blocks = VG_(newXA)(VG_(malloc), "tg.entries.blocks", VG_(free),
                       sizeof(Block));
   uses = VG_(newXA)(VG_(malloc), "tg.entries.uses", VG_(free), sizeof(Use));
   for (UInt use = 0; use <= TG_WRITTEN_AGAIN; use++)
      known_uses[use] = new_places();
   known_blocks = new_places();
   known_functions = new_places();
   live_blocks = VG_(OSetGen_Create)(offsetof(LiveBlock, address), NULL,
                                     VG_(malloc), "tg.entries.live",
                                     VG_(free));
   live_functions = VG_(OSetGen_Create)(0, compare_to_range, VG_(malloc),
                                        "tg.entries.live", VG_(free));
   const Function none = { .name = "???" };
   VG_(addToXA)(functions, &none);
}

static Bool is_object(const Object* o, const Object* key)
{
   return o->inode == key->inode && o->device == key->device
          && VG_(strcmp)(o->name, key->name) == 0;
}

/* A file has one number, however often it is mapped. Most calls are for the same file as the last
   one, so that is compared first. */
UInt tg_code_entries_object(const NSegment* seg)
{
   static UInt last;
   const UInt n = (UInt)VG_(sizeXA)(objects);
   Object key = { "???", 0, 0 };
   if (seg != NULL && seg->kind == SkFileC
       && VG_(am_get_filename)(seg) != NULL)
      key = (Object){ VG_(am_get_filename)(seg), seg->dev, seg->ino };
   if (last < n && is_object(object_at(last), &key))
      return last;
   for (last = 0; last < n; last++) {
      if (is_object(object_at(last), &key))
         return last;
   }
   key.name = VG_(strdup)("tg.entries.object", key.name);
   VG_(addToXA)(objects, &key);
   return last;
}

/* --- Functions --- */

/* Whether the symbol that contains `a` has this name. */
static Bool is_named(DiEpoch epoch, Addr a, const HChar* name)
{
   const HChar* other;
   return VG_(get_fnname_raw)(epoch, a, &other)
          && VG_(strcmp)(other, name) == 0;
}

/* The distance of `a` from the begin of its symbol, which has a name. The core returns it only as
   a suffix, "name+12". */
static UWord distance_from_symbol(DiEpoch epoch, Addr a)
{
   const HChar* text;
   if (!VG_(get_fnname_w_offset)(epoch, a, &text))
      return 0;
   const HChar* plus = VG_(strrchr)(text, '+');
   if (plus == NULL || plus[1] < '0' || plus[1] > '9')
      return 0;
   HChar* end;
   const ULong distance = VG_(strtoull10)(plus + 1, &end);
   return *end == '\0' ? (UWord)distance : 0;
}

/* The last byte of the symbol called `name` that contains `a`. The core has no function for a
   symbol's size, so the end is searched for, with steps that double, then halve. */
static Addr last_of_symbol(DiEpoch epoch, Addr a, const HChar* name)
{
   UWord step = 1;
   Addr in = a;
   while (in + step > in && is_named(epoch, in + step, name)) {
      in += step;
      step *= 2;
   }
   for (; step > 0; step /= 2) {
      if (in + step > in && is_named(epoch, in + step, name))
         in += step;
   }
   return in;
}

/* The function at the block's address, while its code is mapped. Code without a symbol counts as a
   function of the block's length. */
static UInt function_of(const Block* b)
{
   const LiveFunction* known = VG_(OSetGen_Lookup)(live_functions,
                                                   &b->address);
   if (known != NULL)
      return known->number;

   const DiEpoch epoch = VG_(current_DiEpoch)();
   const HChar* raw;
   Function f = { .object = b->object, .offset = b->offset,
                  .size = b->length, .name = "???" };
   LiveFunction live = { .first = b->address };
   Bool named = VG_(get_fnname_raw)(epoch, b->address, &raw);
   if (named) {
      HChar* name = VG_(strdup)("tg.entries.name", raw);
      const UWord distance = distance_from_symbol(epoch, b->address);
      live.first = b->address - distance;
      live.last = last_of_symbol(epoch, b->address, name);
      f.name = name;
      f.offset = b->offset - distance;
      f.size = live.last - live.first + 1;
      /* Two adjacent functions of one name: the search has found the end of the second. */
      if (distance_from_symbol(epoch, live.last) != f.size - 1) {
         f.size = 0;
         named = False;
      }
   }
   const UInt next = (UInt)VG_(sizeXA)(functions);
   live.number = number_of(known_functions, f.object, f.offset, next);
   if (live.number == next)
      VG_(addToXA)(functions, &f);
   if (named && !VG_(OSetGen_Contains)(live_functions, &live.first)) {
      LiveFunction* node = VG_(OSetGen_AllocNode)(live_functions,
                                                  sizeof *node);
      *node = live;
      VG_(OSetGen_Insert)(live_functions, node);
   }
   return live.number;
}

static void look_up(Block* b)
{
   if (b->function == 0)
      b->function = function_of(b);
}

/* --- Events --- */

void tg_code_entries_block(Addr a, UInt length)
{
   if (blocks == NULL || VG_(OSetGen_Contains)(live_blocks, &a))
      return;
   const NSegment* seg = VG_(am_find_nsegment)(a);
   Block b = { .address = a, .length = length, .offset = a,
               .object = tg_code_entries_object(seg),
               .when = tg_instructions() };
   if (seg != NULL && seg->kind == SkFileC)
      b.offset = a - seg->start + (ULong)seg->offset;
   const UInt next = (UInt)VG_(sizeXA)(blocks);
   const UInt number = number_of(known_blocks, b.object, b.offset, next);
   if (number == next)
      VG_(addToXA)(blocks, &b);
   LiveBlock* node = VG_(OSetGen_AllocNode)(live_blocks, sizeof *node);
   *node = (LiveBlock){ a, number };
   VG_(OSetGen_Insert)(live_blocks, node);
}

void tg_code_entries_used(UInt object, ULong offset, UInt length, TgDataUse use)
{
   const UInt n = (UInt)VG_(sizeXA)(uses);
   /* The object is mapped a second time: it was used before. */
   if (number_of(known_uses[use], object, offset, n) != n)
      return;
   if (n > 0) {
      Use* last = VG_(indexXA)(uses, (Word)n - 1);
      if (last->object == object && last->offset + last->length == offset
          && last->use == use) {
         last->length += length;
         return;
      }
   }
   const Use u = { offset, length, tg_instructions(), object, use };
   VG_(addToXA)(uses, &u);
   n_writes += use != TG_READ;
}

void tg_code_entries_discard(Addr a)
{
   if (blocks == NULL)
      return;
   const LiveBlock* live = VG_(OSetGen_Lookup)(live_blocks, &a);
   if (live != NULL)
      look_up(block_at(live->number));
}

/* The first block in [a, last], or NULL. */
static LiveBlock* first_in(Addr a, Addr last)
{
   VG_(OSetGen_ResetIterAt)(live_blocks, &a);
   LiveBlock* b = VG_(OSetGen_Next)(live_blocks);
   return b != NULL && b->address <= last ? b : NULL;
}

void tg_code_entries_unmapped(Addr a, SizeT len)
{
   if (blocks == NULL || len == 0)
      return;
   const Addr last = a + len - 1;
   LiveBlock* b;
   while ((b = first_in(a, last)) != NULL) {
      const Addr at = b->address;
      look_up(block_at(b->number));
      VG_(OSetGen_FreeNode)(live_blocks,
                            VG_(OSetGen_Remove)(live_blocks, &at));
      LiveFunction* f = VG_(OSetGen_Remove)(live_functions, &at);
      if (f != NULL)
         VG_(OSetGen_FreeNode)(live_functions, f);
   }
}

/* --- Output --- */

static void print_object(TgFile* f, UInt number)
{
   const Object* o = object_at(number);
   HChar id[TG_BUILD_ID_TEXT];
   tg_build_id(o->name, id);
   tg_file_print(f, "ob=(%u) %s ", number + 1, id);
   tg_file_text(f, o->name);
   tg_file_print(f, "\n");
}

static void print_function(TgFile* f, UInt number, ULong when)
{
   const Function* fn = function_at(number);
   tg_file_print(f, "fn=(%u) (%u) 0x%llx %llu %llu ", number,
                 fn->object + 1, fn->offset, fn->size, when);
   tg_file_text(f, fn->name);
   tg_file_print(f, "\n");
}

static const HChar* const keys[] = { [TG_READ] = "rd", [TG_WRITTEN] = "wr",
                                     [TG_WRITTEN_AGAIN] = "ww" };

/* Objects whose code was not executed are defined before their first write. */
static void print_uses(TgFile* f, UChar* object_seen, UInt* n_objects)
{
   const Word n = VG_(sizeXA)(uses);
   for (Word i = 0; i < n; i++) {
      const Use* u = VG_(indexXA)(uses, i);
      if (!object_seen[u->object]) {
         object_seen[u->object] = 1;
         (*n_objects)++;
         print_object(f, u->object);
      }
      tg_file_print(f, "%s=(%u) 0x%llx %llu %llu\n", keys[u->use], u->object + 1, u->offset,
                     u->length, u->when);
   }
}

/* Objects and functions are defined before the first block that refers to them. Functions are
   numbered anew, in the order of entry: their numbers in the tool are in the order of lookup. */
static void print_blocks(TgFile* f, UInt* n_objects, UInt* n_functions)
{
   const UInt n = (UInt)VG_(sizeXA)(blocks);
   for (UInt i = 0; i < n; i++)
      look_up(block_at(i));
   UChar* object_seen = VG_(calloc)("tg.entries.seen",
                                    (SizeT)VG_(sizeXA)(objects) + 1, 1);
   UChar* function_seen = VG_(calloc)("tg.entries.seen",
                                      (SizeT)VG_(sizeXA)(functions), 1);
   for (UInt i = 0; i < n; i++) {
      const Block* b = block_at(i);
      const Function* fn = function_at(b->function);
      if (!object_seen[fn->object]) {
         object_seen[fn->object] = 1;
         (*n_objects)++;
         print_object(f, fn->object);
      }
      if (!function_seen[b->function]) {
         function_seen[b->function] = 1;
         (*n_functions)++;
         print_function(f, b->function, b->when);
      }
      tg_file_print(f, "%u %llu %u\n", b->function, b->offset - fn->offset,
                    b->length);
   }
   print_uses(f, object_seen, n_objects);
   VG_(free)(object_seen);
   VG_(free)(function_seen);
}

static void print_command(TgFile* f)
{
   tg_file_print(f, "cmd: ");
   tg_file_command(f);
   tg_file_print(f, "\n");
}

Bool tg_code_entries_write(Int forked_from, const HChar* name)
{
   const HChar* failure;
   TgFile* f = tg_file_open(name, &failure);
   if (f != NULL) {
      UInt n_objects = 0, n_functions = 0;
      tg_file_print(f, "# tlbgrind entries\nversion: 1\n"
                       "creator: tlbgrind-" TG_VERSION
                       " (Valgrind " VERSION ")\n"
                       "pid: %d\n", VG_(getpid)());
      if (forked_from != 0)
         tg_file_print(f, "forked: from pid %d, whose past is included\n",
                       forked_from);
      print_command(f);
      tg_file_print(f, "clock: instructions\n\n");
      print_blocks(f, &n_objects, &n_functions);
      tg_file_print(f, "\ntotals: objects %u functions %u blocks %ld "
                       "writes %llu reads %llu\n",
                    n_objects, n_functions, (long)VG_(sizeXA)(blocks),
                    n_writes, (ULong)VG_(sizeXA)(uses) - n_writes);
      failure = tg_file_close(f);
   }
   if (failure != NULL) {
      tg_shown_unwritten("entries file", name, failure, "the order of execution");
      return False;
   }
   return True;
}
