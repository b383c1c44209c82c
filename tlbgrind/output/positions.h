/* Positions of lines in an out-file: object, file and function, each printed where it changes.

   The first mention of a name defines a number, and later ones refer to it. */

#ifndef TG_POSITIONS_H
#define TG_POSITIONS_H

#include "pub_tool_basics.h"

#include "pub_tool_oset.h"

#include "attribution/lines.h"
#include "base/file.h"

typedef struct {
   OSet* objects;
   OSet* files;
   OSet* functions;
   const TgFunction* at; /* of the last line; NULL: none */
   const HChar* file;
   Bool instr; /* addresses of instructions, too */
} TgPositions;

void tg_positions_begin(TgPositions* p, Bool instr);
void tg_positions_end(TgPositions* p);

/* Prints what of the line's position differs from that of the last line. */
void tg_positions_print(TgPositions* p, TgFile* f, const TgLine* line);

/* Prints the line's number, behind its address if there are any, and `end`. */
void tg_positions_print_number(const TgPositions* p, TgFile* f, const TgLine* line, HChar end);

/* Prints the position of what the last line calls: cob=, cfi= where they differ, cfn=. */
void tg_positions_print_called(TgPositions* p, TgFile* f, const TgFunction* to);

#endif
