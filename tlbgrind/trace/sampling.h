/* What is called between two segments, when so many instructions have been executed: samples of
   the run's counts for --timeline=yes, and context switches.

   Segments with a fetch ask whether something is due (tool/instrument.c): between these no page of
   code begins that is not looked up. If nothing was ever added no segment asks. */

#ifndef TG_SAMPLING_H
#define TG_SAMPLING_H

#include "pub_tool_basics.h"

typedef void TgSample(void);

/* One kind of them. */
typedef struct _TgSampler {
   struct _TgSampler* next;
   TgSample* take;
   ULong due; /* tg_clock at which it is to be called */
} TgSampler;

/* To be called before the program starts. The sampler must stay. */
void tg_sampler_add(TgSampler* s, TgSample* take);

/* Sets when it is due next; to be called by `take`, and at the start. */
void tg_sampler_set(TgSampler* s, ULong due);

/* For the instrumented code: calls what is due, at tg_sample_due; NULL: there is none. */
extern TgSample* tg_sample;
extern ULong tg_sample_due;

#endif
