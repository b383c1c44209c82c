/* The files in which a program writes what its own code is called: perf maps and jitdump files.

   A file is read when new code runs, when a name may be lost, which is before the program removes
   the file and when code vanishes, and before output is written. Then only what it has more than
   the last time is read.

   Only a regular file is read that belongs to the user or to root, as perf does, and that has been
   written since the process began: another process may have had its number before. */

#ifndef TG_CODE_FILES_H
#define TG_CODE_FILES_H

#include "pub_tool_basics.h"

#include "attribution/code_names.h"

/* The process has the number `pid` from now on. `added` is called for each name that is read. */
void tg_code_files_begin(Int pid, void (*added)(const TgCodeName* name));

/* The file is a jitdump file of the process. */
void tg_code_files_add_dump(const HChar* path);

/* Whether there is a jitdump file. */
Bool tg_code_files_have_lines(void);

/* Whether a file of that path may be one of them. */
Bool tg_code_files_have(const HChar* path);

/* Reads what is new. `at_end`: a last line that is not complete is one, too. */
void tg_code_files_read(Bool at_end);

/* The address's latest name; NULL: it has none. */
const TgCodeName* tg_code_files_name_at(Addr a);

#endif
