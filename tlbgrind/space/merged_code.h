/* Places the code of several objects in one mapping, one behind the other (--merge-code=).

   The program runs as it is. Only the pages of its fetches are those that the merged code would
   have, so that the instruction side is simulated as if the objects were one. */

#ifndef TG_MERGED_CODE_H
#define TG_MERGED_CODE_H

#include "pub_tool_basics.h"

/* One object's code, in the order in which objects were executed first. */
typedef struct {
   const HChar* name;
   Addr start;   /* where it is */
   Addr end;
   ULong offset; /* of `start` in the file */
   Addr in_file; /* of `start`, as out-files have addresses */
   Addr to;      /* where `start` is in the merged code */
} TgMergedCode;

/* Merges the objects whose names match one of the patterns, which commas part; NULL: none. To be
   called after tg_aspace_init(). */
void tg_merged_code_init(const HChar* patterns);

/* The pattern with that number, from 0; NULL: there are no more. */
const HChar* tg_merged_code_pattern(UInt i);

/* Whether an object of that name matches the pattern. */
Bool tg_merged_code_matches(const HChar* pattern, const HChar* name);

/* The address of an instruction's byte in the merged code; `a` if its object is not merged. */
Addr tg_merged_code_address(Addr a);

/* To be called when mappings have changed. */
void tg_merged_code_changed(void);

/* Prints a line if no object has matched. */
void tg_merged_code_end(void);

UInt tg_merged_code_count(void);
const TgMergedCode* tg_merged_code_number(UInt i);

#endif
