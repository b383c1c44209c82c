/* Makes the client request RUNNING_ON_VALGRIND return 0, as it does natively.

   GLib, Qt, WebKit, Mesa and node make this request, and allocate or start differently under
   Valgrind. The core handles it without the tool, so the tool instruments the code that makes a
   client request: if it is this one, the block is left as if there were none, and the result is
   the default that the macro has set, 0. */

#ifndef TG_RUNNING_ON_VALGRIND_H
#define TG_RUNNING_ON_VALGRIND_H

#include "pub_tool_basics.h"
#include "pub_tool_tooliface.h"

/* To be called before the program runs; until then, and without it, the core answers. */
void tg_running_on_valgrind_init(void);

/* Adds the check to a block that ends in a client request; to be called after the last statement
   has been added. */
void tg_running_on_valgrind_end(IRSB* out);

#endif
