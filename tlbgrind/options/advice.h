/* Machines of --advice: one processor, once for each kind of memory in larger pages. */

#ifndef TG_ADVICE_H
#define TG_ADVICE_H

#include "pub_tool_basics.h"

/* The list NAME,NAME@text:SIZE,..., in the form of --machine=; to be freed. The rules stand behind
   those that the name has. */
HChar* tg_advice_machines(const HChar* name, const HChar* size);

#endif
