/* Where data lies that is in no heap block: variables, stacks, mappings.

   Found from the mappings of the address space and from the symbols, one address at a time; what
   was found is kept by data/words.h. */

#ifndef TG_DATA_PLACES_H
#define TG_DATA_PLACES_H

#include "pub_tool_basics.h"

void tg_data_places_init(void);

/* The number of the object at the address. */
UInt tg_data_place(Addr a);

/* The number of the object that all of the 4K page of the address belongs to, heap blocks apart;
   0: that has to be asked for each address. */
UInt tg_data_place_of_page(Addr a);

/* A thread runs for the first time: the mapping of its stack pointer is its stack, if it was mapped
   for that. */
void tg_data_places_thread(ThreadId tid);

#endif
