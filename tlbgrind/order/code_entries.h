/* Code entries: which code was executed, in the order of its first execution.

   A function order for the linker is made of this (tg_order): not of the pages
   that were touched, for a touched page holds many functions that were never
   entered.

   Valgrind translates a block of code when it is about to be run and not
   before, and with guest_chase off (tool/main.c) a block ends at the first
   branch. So the order in which blocks are translated for the first time is
   the order in which they are run for the first time. A block that is
   translated again, because its translation was thrown away, is recognized by its
   address until that is unmapped. */

#ifndef TG_CODE_ENTRIES_H
#define TG_CODE_ENTRIES_H

#include "pub_tool_basics.h"

#include "pub_tool_aspacemgr.h"

/* Starts recording; without it the functions below do nothing. */
void tg_code_entries_init(void);

/* A block of `length` bytes at `a` is about to be run; 0: the length is not
   known, for it is other code that is run in its place. */
void tg_code_entries_block(Addr a, UInt length);

/* The translation of the block at `a` is thrown away; perhaps because the code
   is, and its names with it. */
void tg_code_entries_discard(Addr a);

/* Code may have stood at [a, a+len) and will not any more. */
void tg_code_entries_unmapped(Addr a, SizeT len);

/* The number of the object that a mapping belongs to. */
UInt tg_code_entries_object(const NSegment* seg);

/* Bytes of an object's data were written for the first time: see order/data_writes.h. */
void tg_code_entries_written(UInt object, ULong offset, UInt length);

/* Writes everything that was executed since the program began. A forked child
   has the past of its parent: it stands on the same touched pages. Says on
   stderr why it failed, if it did. */
Bool tg_code_entries_write(Int forked_from, const HChar* name);

#endif
