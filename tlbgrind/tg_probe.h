/* A probe: what is known of one page without asking the simulator.

   A hit in the first level changes nothing but the time of the entry's last
   reference (LRU, PLRU), or nothing at all (FIFO, random, and NRU as long as
   the used bit is on). So while a page is known to be there, all that a
   reference to it does is to note the time in the page's probe. The simulator
   reads the time from there when it chooses a victim, and takes the knowledge
   back when it stops being true (sim/array.h). */

#ifndef TG_PROBE_H
#define TG_PROBE_H

#include "pub_tool_basics.h"

#include <stdint.h>

typedef struct {
   UWord tag;     /* of a page of code: 0 if it is known, else TG_UNKNOWN; of
                     data: the address of the known page, or of one that no
                     look-up in this place is for */
   uint64_t time; /* of the last reference while known */
} TgProbe;

#define TG_UNKNOWN (~(UWord)0)

/* No page has this number. */
#define TG_NO_PAGE (~(UWord)0)

#endif
