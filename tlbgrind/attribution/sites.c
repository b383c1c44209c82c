/* Keeps the sites of the program's code. See attribution/sites.h. */

#include "pub_tool_basics.h"

#include "pub_tool_debuginfo.h"
#include "pub_tool_hashtable.h"
#include "pub_tool_libcassert.h"
#include "pub_tool_libcbase.h"
#include "pub_tool_libcprint.h"
#include "pub_tool_machine.h"
#include "pub_tool_mallocfree.h"
#include "pub_tool_oset.h"
#include "pub_tool_poolalloc.h"

#include "arch/arch.h"
#include "attribution/debug_lines.h"
#include "attribution/made_code.h"
#include "attribution/sites.h"
#include "attribution/unnamed.h"

/* The sites of 4 KiB of code, whatever the simulated page size: unmapping a small part of a large
   page should not take a search of the whole page. */
typedef struct {
   UWord number;
   TgSite* sites;
} Chunk;

enum { CHUNK_SHIFT = 12 };

static OSet* chunks;             /* Chunk by number */
static VgHashTable* sites;       /* by address; without retired ones */
static PoolAlloc* site_pool;
static Bool apart; /* each site has a line of its own */
static UInt (*part_at)(Addr a); /* NULL: sites have whole lines */

/* --- Names --- */

/* Code without debug information, see tg_sites_name(). */
static struct {
   Addr start;
   SizeT length; /* 0: none */
   const HChar* object;
   const HChar* function;
} named;

void tg_sites_name(Addr a, SizeT len, const HChar* object, const HChar* function)
{
   named.start = a;
   named.length = len;
   named.object = tg_intern(object);
   named.function = tg_intern(function);
}

static UWord distance(Addr a, Addr b)
{
   return a > b ? a - b : b - a;
}

/* The object that has the instruction. The core searches .text only: start code and linkage tables
   are found by the name of the mapped file. */
static const DebugInfo* object_of(DiEpoch epoch, Addr a)
{
   const DebugInfo* found = VG_(find_DebugInfo)(epoch, a);
   const HChar* name;
   if (found != NULL || !VG_(get_objname)(epoch, a, &name))
      return found;
   for (const DebugInfo* d = VG_(next_DebugInfo)(NULL); d != NULL; d = VG_(next_DebugInfo)(d)) {
      const Addr text = VG_(DebugInfo_get_text_avma)(d);
      if (text != 0 && VG_(strcmp)(VG_(DebugInfo_get_filename)(d), name) == 0
          && (found == NULL
              || distance(text, a) < distance(VG_(DebugInfo_get_text_avma)(found), a)))
         found = d;
   }
   return found;
}

/* The source position of an address, "???" and 0 if it has none. */
static const HChar* source_of(DiEpoch epoch, Addr a, UInt* number)
{
   const HChar* file;
   const HChar* folder;
   if (VG_(get_filename_linenum)(epoch, a, &file, &folder, number))
      return tg_intern_path(folder, file);
   const DebugInfo* object = VG_(find_DebugInfo)(epoch, a) == NULL ? object_of(epoch, a) : NULL;
   file = object == NULL ? NULL : tg_debug_lines_at(object, a, number);
   if (file != NULL)
      return file;
   *number = 0;
   return tg_intern("???");
}

/* The file of the function that begins at an address: where it begins with inlined code, the
   address has another. */
static const HChar* file_of_function(DiEpoch epoch, Addr entry)
{
   UInt number;
   const HChar* file = source_of(epoch, entry, &number);
   const DebugInfo* object = number == 0 ? NULL : object_of(epoch, entry);
   const HChar* own = object == NULL ? NULL : tg_debug_lines_file(object, entry);
   return own == NULL ? file : own;
}

/* An address as its object's file has it: without where the object is loaded. */
static Addr in_file(DiEpoch epoch, Addr a)
{
   const DebugInfo* object = object_of(epoch, a);
   return object == NULL ? a : a - (Addr)VG_(DebugInfo_get_text_bias)(object);
}

/* The name of code without symbols, by where its function begins. */
static const HChar* name_without_symbol(DiEpoch epoch, Addr a, Addr* entry)
{
   HChar name[2 + 16 + 1];
   const DebugInfo* object = VG_(find_DebugInfo)(epoch, a);
   const Addr first = object == NULL || !apart ? 0 : tg_unnamed_function(object, a);
   if (first == 0)
      return tg_intern("???");
   *entry = first;
   VG_(snprintf)(name, sizeof name, "0x%lx", in_file(epoch, first));
   return tg_intern(name);
}

/* The function's name; `entry`: its first address, from the offset that the core returns only as a
   suffix, "name+12"; without a symbol, `a`. */
static const HChar* symbol_of(DiEpoch epoch, Addr a, Addr* entry)
{
   const HChar* with_offset;
   *entry = a;
   if (!VG_(get_fnname_w_offset)(epoch, a, &with_offset))
      return name_without_symbol(epoch, a, entry);
   const HChar* plus = VG_(strrchr)(with_offset, '+');
   if (plus == NULL || plus[1] < '0' || plus[1] > '9')
      return tg_intern(with_offset);
   HChar* end;
   const ULong offset = VG_(strtoull10)(plus + 1, &end);
   if (*end != '\0')
      return tg_intern(with_offset);
   *entry = a - (Addr)offset;
   const SizeT length = (SizeT)(plus - with_offset);
   HChar* name = VG_(malloc)("tg.sites.symbol", length + 1);
   VG_(memcpy)(name, with_offset, length);
   name[length] = '\0';
   const HChar* interned = tg_intern(name);
   VG_(free)(name);
   return interned;
}

/* Code that is made at run time: it belongs to no object. A block is a part of one function, so
   that its instructions have the same name. */
static Bool in_block;
static TgLine* block_line; /* NULL: it has none yet */

void tg_sites_begin_block(void)
{
   in_block = True;
   block_line = NULL;
}

void tg_sites_end_block(void)
{
   in_block = False;
}

static TgLine* made_line(Addr a, const HChar* object)
{
   const Bool has_own = !in_block || apart || tg_made_code_has_lines();
   if (has_own)
      return tg_made_code_line(a, object, apart ? a : 0);
   if (block_line == NULL)
      block_line = tg_made_code_line(a, object, 0);
   return block_line;
}

/* For inlined code the function is the one it is inlined into, by the symbol, and the file is the
   one it was written in, by the line table. */
static TgLine* look_up(Addr a)
{
   const DiEpoch epoch = VG_(current_DiEpoch)();
   const HChar* object;
   TgFunction f;
   Addr entry;
   UInt number;

   const Bool is_named = a - named.start < named.length;
   const Bool has_object = VG_(get_objname)(epoch, a, &object);
   if (!is_named && tg_made_code_is_at(a) && object_of(epoch, a) == NULL)
      return made_line(a, has_object ? tg_intern(object) : NULL);
   f.object = has_object ? tg_intern(object) : is_named ? named.object : tg_intern("???");
   f.name = symbol_of(epoch, a, &entry);
   if (is_named)
      f.name = named.function;
   const HChar* file = source_of(epoch, a, &number);
   f.file = file_of_function(epoch, entry);
   return tg_line_of(&f, file, number, apart ? in_file(epoch, a) : 0);
}

Addr tg_in_file(Addr a)
{
   return in_file(VG_(current_DiEpoch)(), a);
}

Addr tg_function_at(Addr a)
{
   const HChar* name;
   Addr entry = 0;
   const DiEpoch epoch = VG_(current_DiEpoch)();
   if (!VG_(get_fnname_w_offset)(epoch, a, &name)) {
      name_without_symbol(epoch, a, &entry);
      return entry;
   }
   symbol_of(epoch, a, &entry);
   return entry;
}

/* --- Pages and sites --- */

void tg_sites_init(Bool each_apart)
{
   apart = each_apart;
   chunks = VG_(OSetGen_Create)(offsetof(Chunk, number), NULL, VG_(malloc),
                                "tg.sites.chunks", VG_(free));
   tg_lines_init();
   sites = VG_(HT_construct)("tg.sites");
   site_pool = VG_(newPA)(sizeof(TgSite), 1024, VG_(malloc), "tg.sites.pool",
                          VG_(free));
}

static Chunk* chunk_of(Addr a)
{
   const UWord number = a >> CHUNK_SHIFT;
   Chunk* chunk = VG_(OSetGen_Lookup)(chunks, &number);
   if (chunk == NULL) {
      chunk = VG_(OSetGen_AllocNode)(chunks, sizeof *chunk);
      *chunk = (Chunk){ .number = number };
      VG_(OSetGen_Insert)(chunks, chunk);
   }
   return chunk;
}

TgLine* tg_site_line(TgSite* site)
{
   if (site->line == NULL) {
      site->line = look_up(site->address);
      if (part_at != NULL)
         site->line = tg_line_part(site->line, 0, part_at(site->address));
      tg_site_set_length(site, site->length);
   }
   return site->line;
}

void tg_sites_part(UInt (*at)(Addr a))
{
   part_at = at;
}

/* Code that is rewritten has other bytes somewhere, and almost always another sum. */
static UShort sum_of(Addr a, UChar length)
{
   UInt sum = 0;
   for (UInt i = 0; i < length; i++)
      sum = sum * 31 + *(const UChar*)(a + i);
   return (UShort)(sum ^ sum >> 16);
}

Bool tg_sites_is_rewritten(Addr a, UChar length)
{
   const TgSite* site = VG_(HT_lookup)(sites, a);
   return site != NULL && site->line != NULL && site->line->made != 0 && site->length != 0
          && (site->length != length || site->code != sum_of(a, length));
}

void tg_site_set_length(TgSite* site, UChar length)
{
   if (in_block && site->line != NULL && site->line->made != 0)
      site->code = sum_of(site->address, length);
   site->length = length;
   if (apart && site->line != NULL && length != 0)
      site->line->length = length;
}

/* Code without debug information has only its mapping's name, which is looked up now: when the
   core reports that another mapping has replaced it, the name is already the new one's. So it is
   with the part. */
TgSite* tg_site_use(Addr a)
{
   TgSite* site = VG_(HT_lookup)(sites, a);
   if (site == NULL) {
      Chunk* chunk = chunk_of(a);
      site = VG_(allocEltPA)(site_pool);
      *site = (TgSite){ .address = a, .next_in_chunk = chunk->sites };
      chunk->sites = site;
      VG_(HT_add_node)(sites, site);
      if (part_at != NULL || VG_(find_DebugInfo)(VG_(current_DiEpoch)(), a) == NULL)
         tg_site_line(site);
   }
   site->users++;
   return site;
}

/* It is before the thread's next instruction. */
TgSite* tg_site_of_syscall(ThreadId tid)
{
   return tg_site_use(VG_(get_IP)(tid) - tg_arch.syscalls.bytes);
}

TgSite* tg_site_of_call(Addr within)
{
   enum { SHORTEST = 2, LONGEST = 15 };
   for (UWord n = SHORTEST; n <= LONGEST; n++) {
      const TgSite* site = VG_(HT_lookup)(sites, within + 1 - n);
      if (site != NULL && site->length == n)
         return tg_site_use(site->address);
   }
   return tg_site_use(within); /* its code has been unmapped or was never run */
}

static void free_if_done(TgSite* site)
{
   if (site->retired && site->users == 0)
      VG_(freeEltPA)(site_pool, site);
}

void tg_site_release(TgSite* site)
{
   tl_assert(site->users > 0);
   site->users--;
   free_if_done(site);
}

void tg_sites_unmapped(Addr a, SizeT len)
{
   const UWord first = a >> CHUNK_SHIFT;
   Chunk* chunk;
   VG_(OSetGen_ResetIterAt)(chunks, &first);
   while ((chunk = VG_(OSetGen_Next)(chunks)) != NULL
          && chunk->number <= (a + len - 1) >> CHUNK_SHIFT) {
      TgSite** link = &chunk->sites;
      while (*link != NULL) {
         TgSite* site = *link;
         if (site->address - a >= len) {
            link = &site->next_in_chunk;
            continue;
         }
         *link = site->next_in_chunk;
         /* A site without users has no costs to be attributed. */
         if (site->users > 0)
            tg_site_line(site);
         if (site->line != NULL && site->line->made != 0)
            tg_made_code_gone(site->line);
         VG_(HT_remove)(sites, site->address);
         site->retired = True;
         free_if_done(site);
      }
   }
   tg_made_code_gone_all();
}
