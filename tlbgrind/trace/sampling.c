/* When samples are due. See trace/sampling.h. */

#include "pub_tool_basics.h"

#include "trace/sampling.h"

TgSample* tg_sample;
ULong tg_sample_due;
