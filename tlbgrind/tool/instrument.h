/* Instruments a superblock: adds simulation of its references to Vex's IR.

   Finds the references of the block, records them (trace/superblocks.h), and adds calls that look
   them up in the simulated TLBs (engine/check.h). */

#ifndef TG_INSTRUMENT_H
#define TG_INSTRUMENT_H

#include "pub_tool_basics.h"
#include "pub_tool_tooliface.h"

#include "options/options.h"

void tg_instrument_init(const TgOptions* options);

IRSB* tg_instrument(VgCallbackClosure* closure, IRSB* in,
                    const VexGuestLayout* layout, const VexGuestExtents* vge,
                    const VexArchInfo* archinfo_host, IRType guest_word,
                    IRType host_word);

#endif
