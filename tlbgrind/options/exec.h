/* The option --was=: number and instructions of the process's programs before exec.

   When the tool follows an exec (tool/exec_calls.h), it passes this option to its next instance.
   From it come the numbers of missing instructions in the summary and the out-file, and the
   folder of relative file names. */

#ifndef TG_EXEC_H
#define TG_EXEC_H

#include "pub_tool_basics.h"

#include "sim/machine/geometry.h"

/* Parses the option, after the whole command line has been read. Returns NULL, or the invalid
   argument, with the reason. */
const HChar* tg_exec_init(tlb_reason* why);

/* Prints the number of earlier programs whose counts are missing, if there are any. */
void tg_exec_print(void);

/* The number of earlier programs whose counts are missing; `instructions`: their instructions. */
UInt tg_exec_n_before(ULong* instructions);

/* The number of execs of the process so far. */
UInt tg_exec_count(void);

/* The last argument --trace-children= on the command line; NULL: none. */
const HChar* tg_exec_trace_arg(void);

/* The folder to which relative names refer: the working folder of the process's first program.
   NULL: it is that of this program. */
const HChar* tg_exec_folder(void);

/* To be called in a forked child, whose counts begin at zero. */
void tg_exec_forked(void);

/* Adds the option to the arguments for the next program. `is_missing`: no file has the counts so
   far, which are of `instructions` instructions. */
void tg_exec_pass_on(Bool is_missing, ULong instructions);

/* Reverts tg_exec_pass_on(), after an exec that failed. */
void tg_exec_take_back(void);

#endif
