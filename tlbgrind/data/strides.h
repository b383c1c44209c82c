/* Strides that references show: the size of the records of an object for which nothing states it.

   Each instruction that refers to such an object has a place of its own with a cell, and the
   greatest common divisor of the distances between its references. An instruction in a loop over
   records has a multiple of their size there. Once the sizes that the instructions show agree, the
   object's records have that size, and all that was counted at an instruction's cell belongs to
   the one offset that the instruction refers to. Counts are exact either way: those of an
   instruction that refers to several offsets have none. */

#ifndef TG_DATA_STRIDES_H
#define TG_DATA_STRIDES_H

#include "pub_tool_basics.h"

#include "attribution/sites.h"
#include "data/objects.h"

/* `learnt` gets what has been found of an object; 0: it has no stride. */
void tg_strides_init(void (*learnt)(TgDataObject* o, SizeT record));

/* Looks for the object's stride from now on, unless that was done before. */
void tg_strides_begin(TgDataObject* o);

/* Whether the object's stride is being looked for: each of its references is to be noted. */
static inline Bool tg_strides_wanted(const TgDataObject* o)
{
   return o->learning != NULL;
}

/* Notes a reference of that many bytes, at an offset from the start of its block or variable.
   Returns the number of the cell that it counts at. */
UInt tg_strides_note(TgDataObject* o, TgSite* site, UWord offset, UInt size);

/* Decides for the objects whose strides are still looked for and are evident by now. */
void tg_strides_end(void);

#endif
