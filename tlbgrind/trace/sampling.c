/* When samples are due. See trace/sampling.h. */

#include "pub_tool_basics.h"

#include "trace/sampling.h"
#include "trace/segment_run.h"

TgSample* tg_sample;
ULong tg_sample_due;

static TgSampler* samplers;

static void find_due(void)
{
   tg_sample_due = ~0ULL >> 1; /* the code compares signs */
   for (const TgSampler* s = samplers; s != NULL; s = s->next) {
      if (s->due < tg_sample_due)
         tg_sample_due = s->due;
   }
}

static void take_all(void)
{
   for (const TgSampler* s = samplers; s != NULL; s = s->next) {
      if (s->due <= tg_clock)
         s->take();
   }
}

void tg_sampler_add(TgSampler* s, TgSample* take)
{
   TgSampler** link = &samplers;
   while (*link != NULL)
      link = &(*link)->next;
   *link = s;
   *s = (TgSampler){ .take = take };
   tg_sample = take_all;
}

void tg_sampler_set(TgSampler* s, ULong due)
{
   s->due = due;
   find_due();
}
