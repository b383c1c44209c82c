/* Code that is made at run time: what it is called, which may be known only later.

   Such code is in no file with symbols. The program may write its names into a file
   (attribution/code_files.h) before it runs, or at its own end, so a line of it gets its names when
   they are needed. Until then, and if there are none, it is called by the mapping that it is in.

   Code that takes the place of other code has lines of its own. While it runs it is called by what
   the files say last; code that is gone is called by what they said when it first ran, or if that
   was nothing, by what they said first after that. */

#ifndef TG_MADE_CODE_H
#define TG_MADE_CODE_H

#include "pub_tool_basics.h"

#include "attribution/lines.h"

/* Whether there is any. */
extern Bool tg_has_made_code;

/* To be called at the start, and in the child after a fork. */
void tg_made_code_begin(void);

/* Whether there is code at the address at all. */
Bool tg_made_code_is_at(Addr a);

/* A new line for code from `a` on. `object`: the file that it is mapped from, without symbols;
   NULL: it is in anonymous memory. */
TgLine* tg_made_code_line(Addr a, const HChar* object, Addr address);

/* Whether each instruction should have a line of its own, because files may say so. */
Bool tg_made_code_has_lines(void);

/* Other code takes the place of the line's, or nothing. tg_made_code_gone_all() is to be called
   behind the last of these. */
void tg_made_code_gone(const TgLine* line);
void tg_made_code_gone_all(void);

/* Gives all lines the names that are known now. */
void tg_made_code_name(void);

/* Memory was mapped: a jitdump file is known by its page that may be executed. */
void tg_made_code_mapped(Addr a, Bool executable);

/* The file of this path is going to be removed, renamed or emptied. */
void tg_made_code_file_goes(const HChar* path);

#endif
