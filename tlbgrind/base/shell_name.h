/* Quotes names of files, so that a printed command can be given to a shell. */

#ifndef TG_SHELL_NAME_H
#define TG_SHELL_NAME_H

#include "pub_tool_basics.h"

/* The name, in quotes if it needs them; to be freed. */
HChar* tg_shell_name(const HChar* name);

#endif
