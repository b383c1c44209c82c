/* The code of a prefetch instruction: computes its address, which Vex leaves out, and calls the
   engine. */

#ifndef TG_PREFETCH_CODE_H
#define TG_PREFETCH_CODE_H

#include "pub_tool_basics.h"
#include "pub_tool_tooliface.h"

#include "attribution/sites.h"
#include "arch/prefetch_bytes.h"

/* Whether the instruction of `length` bytes at `a` is a data prefetch whose address can be
   computed; then *p describes it. */
Bool tg_prefetch_code_finds(Addr a, UInt length, tg_prefetch* p);

/* Adds the call for that instruction. The guest's registers must be up to date: see
   options/vex_settings.c. */
void tg_prefetch_code_add(IRSB* out, TgSite* site, Addr a, const tg_prefetch* p);

#endif
