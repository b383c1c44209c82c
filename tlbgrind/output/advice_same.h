/* With --advice=: the variants of a machine in which no count is another. They have no row in the
   table and no out-file: the out-file of their machine names them. */

#ifndef TG_ADVICE_SAME_H
#define TG_ADVICE_SAME_H

#include "pub_tool_basics.h"

#include "base/file.h"
#include "output/results.h"

/* Finds them, by all counts and by what misses cost; to be called when these are added up. Without
   --advice= there are none. */
void tg_advice_same_find(TgResults* results);

/* Writes their lines to the out-file of that machine (docs/internals/formats.md), if it is one that
   has variants. */
void tg_advice_same_describe(const TgResults* results, UInt machine, TgFile* f);

/* Prints which memory they are of, and why nothing changes: a line for each reason. */
void tg_advice_same_print(const TgResults* results);

#endif
