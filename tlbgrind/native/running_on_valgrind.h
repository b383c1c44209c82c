/* Makes the client request RUNNING_ON_VALGRIND return 0, as it does natively.

   GLib, Qt, WebKit, Mesa and node ask, and allocate or start otherwise when they run under
   Valgrind. The core answers that client request by itself, so the code that makes one is
   instrumented: if it is this request, the block is left as if it had been none, and the result is
   the default that the macro has set, 0. */

#ifndef TG_RUNNING_ON_VALGRIND_H
#define TG_RUNNING_ON_VALGRIND_H

#include "pub_tool_basics.h"
#include "pub_tool_tooliface.h"

/* From now on. */
void tg_running_on_valgrind_init(void);

/* Behind the last statement of a block. */
void tg_running_on_valgrind_end(IRSB* out);

#endif
