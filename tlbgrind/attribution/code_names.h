/* Names of code by address, of which later ones take the place of earlier ones. */

#ifndef TG_CODE_NAMES_H
#define TG_CODE_NAMES_H

#include "pub_tool_basics.h"

#include "pub_tool_oset.h"

/* The texts are interned. */
typedef struct {
   Addr first, last;
   const HChar* name;
   const HChar* own_file; /* of the function that it is a part of; NULL: unknown */
   const HChar* file;     /* of its line; NULL: unknown */
   UInt line;             /* 0: unknown */
} TgCodeName;

/* The most pieces that are kept, so that a file without end does not take all memory. */
enum { TG_MOST_CODE_NAMES = 1 << 20 };

typedef struct {
   OSet* pieces; /* TgCodeName, none of which overlap */
} TgCodeNames;

void tg_code_names_init(TgCodeNames* names);

/* Names the addresses, whatever their names were. False: there are too many names. */
Bool tg_code_names_add(TgCodeNames* names, const TgCodeName* more);

/* The addresses from `first` to `last` get the names of those from `from` on, which keep them. */
void tg_code_names_move(TgCodeNames* names, Addr from, Addr first, Addr last);

/* NULL: the address has no name. */
const TgCodeName* tg_code_names_at(const TgCodeNames* names, Addr a);

#endif
