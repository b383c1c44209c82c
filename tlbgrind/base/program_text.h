/* Texts in the program's memory, such as the paths that it gives to system calls. */

#ifndef TG_PROGRAM_TEXT_H
#define TG_PROGRAM_TEXT_H

#include "pub_tool_basics.h"

/* The text at an address of the program; NULL: it cannot be read. */
const HChar* tg_program_text(Addr a);

#endif
