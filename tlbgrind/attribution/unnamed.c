/* Finds functions without symbols. See attribution/unnamed.h. */

#include "pub_tool_basics.h"

#include "pub_tool_debuginfo.h"
#include "pub_tool_libcbase.h"
#include "pub_tool_libcfile.h"
#include "pub_tool_mallocfree.h"

#include "attribution/lines.h"
#include "attribution/unnamed.h"
#include "base/elf_file.h"

/* The program header of the table, and the one layout of it that linkers make: version 1, the
   number of entries in 4 bytes, and in each entry the function's first instruction and its
   description, as 4-byte differences from the table's own address. */
enum { PT_GNU_EH_FRAME = 0x6474e550, HEAD = 12, VERSION_1 = 1, UDATA4 = 0x03,
       SDATA4_FROM_TABLE = 0x3b, ENTRY = 8 };

/* The largest table that is read: more functions than any program has. */
enum { MAX_BYTES = 1 << 28 };

typedef struct _Table {
   struct _Table* next;
   const HChar* file; /* interned */
   ULong address;  /* of the table, as the file has it */
   UInt n;         /* functions */
   UChar* entry;   /* ENTRY bytes each, ascending */
} Table;

static Table* tables;

static Bool is_known(const UChar* head)
{
   return head[0] == VERSION_1 && head[2] == UDATA4 && head[3] == SDATA4_FROM_TABLE;
}

/* Leaves *t empty if there is no table of that layout. */
static void read_table(Int fd, Table* t)
{
   TgElfSegment s;
   UChar head[HEAD];
   UInt i = 0;
   while (tg_elf_segment(fd, i, &s) && s.type != PT_GNU_EH_FRAME)
      i++;
   if (!tg_elf_segment(fd, i, &s) || s.size < HEAD || s.size > MAX_BYTES
       || !tg_elf_read(fd, s.offset, head, HEAD) || !is_known(head))
      return;
   const ULong n = tg_elf_number(head + 8, 4);
   if (n == 0 || n > (s.size - HEAD) / ENTRY)
      return;
   UChar* entry = VG_(malloc)("tg.unnamed.entries", (SizeT)n * ENTRY);
   if (!tg_elf_read(fd, s.offset + HEAD, entry, (UInt)n * ENTRY)) {
      VG_(free)(entry);
      return;
   }
   t->address = s.address;
   t->n = (UInt)n;
   t->entry = entry;
}

static const Table* table_of(const DebugInfo* object)
{
   const HChar* file = tg_intern(VG_(DebugInfo_get_filename)(object));
   Table* t = tables;
   while (t != NULL && t->file != file)
      t = t->next;
   if (t != NULL)
      return t;
   t = VG_(calloc)("tg.unnamed.table", 1, sizeof *t);
   t->file = file;
   t->next = tables;
   tables = t;
   const Int fd = tg_elf_open(file);
   if (fd >= 0) {
      read_table(fd, t);
      VG_(close)(fd);
   }
   return t;
}

/* The first instruction of function number i, as the file has it. */
static ULong first_of(const Table* t, UInt i)
{
   return t->address + (ULong)(Long)(Int)tg_elf_number(t->entry + (SizeT)i * ENTRY, 4);
}

Addr tg_unnamed_function(const DebugInfo* object, Addr a)
{
   const Table* t = table_of(object);
   const Addr bias = (Addr)VG_(DebugInfo_get_text_bias)(object);
   const ULong at = a - bias;
   UInt from = 0, to = t->n; /* all before `from` begin at or below it, none from `to` on */
   while (from < to) {
      const UInt middle = from + (to - from) / 2;
      if (first_of(t, middle) <= at)
         from = middle + 1;
      else
         to = middle;
   }
   return from == 0 ? 0 : (Addr)first_of(t, from - 1) + bias;
}
