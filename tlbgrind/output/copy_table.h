/* What each of the copies has missed that share a core: --copies=. */

#ifndef TG_COPY_TABLE_H
#define TG_COPY_TABLE_H

#include "pub_tool_basics.h"

#include "base/file.h"
#include "output/results.h"

/* Prints a row for each copy and machine; the first copy is the program itself. */
void tg_copies_print(const TgResults* results);

/* The same for the out-file of a machine, by its index. */
void tg_copies_describe(const TgResults* results, TgFile* f, UInt machine);

#endif
