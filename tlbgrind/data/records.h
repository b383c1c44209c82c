/* Offsets within records: --data-offsets=yes.

   An object whose memory is records of one size, as blocks of one call stack, is counted by word of
   the record, too. Such a word is a cell, with a number like those of objects, so that lines have
   parts for cells (attribution/lines.h). Records are, in this order:
   - what --data-stride says of the object;
   - the elements that calloc() or reallocarray() allocate, if they are larger than a word;
   - blocks, variables and named ranges of up to 4 KiB;
   - in larger blocks and variables, what references show (data/strides.h).
   What lies in no record counts for the object alone. */

#ifndef TG_DATA_RECORDS_H
#define TG_DATA_RECORDS_H

#include "pub_tool_basics.h"

#include "attribution/sites.h"
#include "data/objects.h"
#include "data/ranges.h"

/* Whether this is done. */
extern Bool tg_records_on;

/* `strides`: the value of --data-stride, which has been checked; NULL: none. */
void tg_records_init(Bool on, const HChar* strides);
/* Reports what of --data-stride has matched nothing. */
void tg_records_end(void);

/* A heap block of the object has been allocated, as elements of so many bytes; 0: unknown. */
void tg_record_block(TgDataObject* o, Addr a, SizeT bytes, SizeT element);
/* The block is free, or there is none any more. */
void tg_record_no_block(Addr start, Addr end);

/* The size of the records in memory [a, a + bytes) that is named as the object. */
SizeT tg_record_of_named(TgDataObject* o, SizeT bytes);

/* The number of the cell at `a` in the range, or that of its object. Lowers *end to where that
   changes. */
UInt tg_record_in_range(const TgRange* range, Addr a, Addr* end);

/* Likewise of the object at `a`: of a block, or of a variable. `start`: of a block that has up to
   4 KiB. */
UInt tg_record_in_block(UInt object, Addr start, Addr a, Addr* end);
UInt tg_record_in_variable(UInt object, Addr a, Addr* end);

/* Whether the size of the records of the object, or of the cell's, is looked for. Then each
   reference is to be noted: this returns the number that it counts at. */
Bool tg_record_is_sought(UInt number);
UInt tg_record_note(UInt number, TgSite* site, Addr a, UInt size);

#endif
