/* The code that asks whether a sample is due. */

#ifndef TG_SAMPLE_CODE_H
#define TG_SAMPLE_CODE_H

#include "pub_tool_basics.h"
#include "pub_tool_tooliface.h"

/* Adds code that calls tg_sample() if the clock has come to tg_sample_due; none without samples
   (trace/sampling.h). */
void tg_sample_code(IRSB* out);

#endif
