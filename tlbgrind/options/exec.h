/* The option --was=: what the process was before it became this program by exec.

   The tool gives it to itself when it follows an exec (tool/exec_calls.h), so that the summary and
   the out-file can say how much is missing in them, and relative file names keep their folder. */

#ifndef TG_EXEC_H
#define TG_EXEC_H

#include "pub_tool_basics.h"

#include "sim/machine/geometry.h"

/* Takes one command line argument. False: it is another option. */
Bool tg_exec_option(const HChar* arg);

/* All options have been seen. Returns NULL, or the argument that can not be, with the
   reason. */
const HChar* tg_exec_init(tlb_reason* why);

/* Prints what the process was before, if it was anything whose counts are missing. */
void tg_exec_print(void);

/* How often the process became another program whose counts are missing, and how many
   instructions those before it took. */
UInt tg_exec_n_before(ULong* instructions);

/* How often the process has become another program. */
UInt tg_exec_count(void);

/* The last --trace-children on the command line; NULL: there is none. */
const HChar* tg_exec_trace_arg(void);

/* The folder that relative names are meant from, if it is not the one that this program was
   started in: the first one's. NULL: it is. */
const HChar* tg_exec_folder(void);

/* The process is a child from now on, with counts of its own. */
void tg_exec_forked(void);

/* Passes the option on to the next program. `is_missing`: the counts so far, of so many
   instructions, will be in no file. */
void tg_exec_pass_on(Bool is_missing, ULong instructions);

/* The exec has failed: nothing is passed on. */
void tg_exec_take_back(void);

#endif
