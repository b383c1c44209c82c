/* The measured region: starts and stops instrumentation, and takes the program's requests.

   The requests are those of tlbgrind.h, and of vgdb's monitor commands. All take effect between two
   blocks of code, when every reference before them has been counted. */

#ifndef TG_REGION_H
#define TG_REGION_H

#include "pub_tool_basics.h"

#include "options/options.h"

void tg_region_init(const TgOptions* options);

/* Executes a client request. False: it is none of this tool's. */
Bool tg_region_take_request(const UWord* args);

/* To be called in a forked child. */
void tg_region_forked(void);

/* Switch instrumentation. False: it is so already. */
Bool tg_region_start(void);
Bool tg_region_stop(void);

/* At the end of the run: prints a hint if instrumentation was never on. */
void tg_region_end(void);

/* Whether nothing may divide the run, since inclusive costs are those of all of it. */
Bool tg_region_is_whole(void);

#endif
