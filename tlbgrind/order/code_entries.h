/* Code entries: executed blocks of code, in the order of first execution.

   tg_order makes a function order for the linker from them. The touched pages would not do: a
   touched page contains many functions that were never entered.

   Valgrind translates a block of code just before its first execution, and with guest_chase off
   (tool/main.c) a block ends at the first branch. So blocks are translated for the first time in
   the order of their first execution. A block that is translated again, after its translation was
   discarded, is recognized by its address until that is unmapped. */

#ifndef TG_CODE_ENTRIES_H
#define TG_CODE_ENTRIES_H

#include "pub_tool_basics.h"

#include "pub_tool_aspacemgr.h"

/* Starts recording; without it the functions below do nothing. */
void tg_code_entries_init(void);

/* Adds the block of `length` bytes at `a`, which is being translated. Length 0: unknown, because
   Valgrind runs other code in its place. */
void tg_code_entries_block(Addr a, UInt length);

/* To be called when the block's translation is discarded: looks up its names, because its code may
   be unmapped next. */
void tg_code_entries_discard(Addr a);

/* To be called when [a, a+len) is unmapped: other code may be mapped there later. */
void tg_code_entries_unmapped(Addr a, SizeT len);

/* The number of the mapping's object: its file, or "???" for anonymous memory. */
UInt tg_code_entries_object(const NSegment* seg);

/* What is done to an object's data for the first time. */
typedef enum {
   TG_READ,         /* before any write */
   TG_WRITTEN,
   TG_WRITTEN_AGAIN /* by others than the dynamic linker, which wrote it first */
} TgDataUse;

/* Adds the first use of that kind of bytes of an object's data, for order/data_uses.h. */
void tg_code_entries_used(UInt object, ULong offset, UInt length, TgDataUse use);

/* Writes the file (docs/internals/formats.md): all entries since the program's start. A forked
   child has its parent's, too, because it runs on the same touched pages. False: that failed, and a
   message has been printed. */
Bool tg_code_entries_write(Int forked_from, const HChar* name);

#endif
