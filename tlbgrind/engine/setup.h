/* The start of the engine: the MMUs of the run are made, in the order in which their parts
   need each other, and follow what the program does to its page sizes. */

#ifndef TG_SETUP_H
#define TG_SETUP_H

#include "pub_tool_basics.h"

#include "options/options.h"

/* Once the address space is there. */
void tg_engine_init(const TgOptions* options);

/* Adds what was counted for machines together to the costs of each, in all lines. */
void tg_engine_settle(void);

#endif
