/* Progress: prints the counts so far every so many seconds, for --progress=SECONDS. */

#ifndef TG_PROGRESS_H
#define TG_PROGRESS_H

#include "pub_tool_basics.h"

#include "options/options.h"

void tg_progress_init(const TgOptions* options);

/* To be called whenever a thread begins to run client code. */
void tg_progress_started(void);

#endif
