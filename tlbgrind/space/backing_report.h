/* Describes which page sizes backed the client's memory, as text. */

#ifndef TG_BACKING_REPORT_H
#define TG_BACKING_REPORT_H

#include "pub_tool_basics.h"

/* Whether the view has rules or transparent huge pages everywhere, or the program has asked
   for large pages itself and was given some. */
Bool tg_backing_report_is_of_interest(UInt view);

/* Calls with a line of text for each page size of the view, at the moment when
   most was backed, and for what could not be had. */
void tg_backing_report_describe(UInt view,
                        void (*line)(const HChar* text, void* opaque),
                        void* opaque);

#endif
