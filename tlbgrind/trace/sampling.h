/* Samples of the run's counts, taken at instructions of equal distance, for --timeline=yes.

   Segments with a fetch ask whether one is due (tool/instrument.c): between these no page of code
   begins that is not looked up. Without the option no segment asks. */

#ifndef TG_SAMPLING_H
#define TG_SAMPLING_H

#include "pub_tool_basics.h"

typedef void TgSample(void);

extern TgSample* tg_sample; /* takes a sample between two segments; NULL: none are taken */
extern ULong tg_sample_due; /* tg_clock at which it is to be called */

#endif
