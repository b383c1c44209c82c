/* Options that are implied. See options/implied.h. */

#include "pub_tool_basics.h"

#include "pub_tool_libcprint.h"

#include "sim/base/text.h"

#include "options/features.h"
#include "options/implied.h"
#include "options/refuse.h"

/* The features that have a switch and other arguments, which imply it. */
static const struct {
   TgFeature feature;
   SizeT member; /* of TgOptions, a Bool: the feature is on */
} implied[] = {
   { TG_HAS_REACH, offsetof(TgOptions, reach) },
   { TG_HAS_TIMELINE, offsetof(TgOptions, timeline) },
   { TG_HAS_ENTRIES, offsetof(TgOptions, entries) },
   { TG_HAS_DATA_OFFSETS, offsetof(TgOptions, data_offsets) },
   { TG_HAS_DATA, offsetof(TgOptions, data) },
   { TG_HAS_CALLS, offsetof(TgOptions, calls) },
   { TG_HAS_FAULTS, offsetof(TgOptions, faults.on) },
};

enum { N_IMPLIED = sizeof implied / sizeof implied[0] };

void tg_implied_turn_on(TgOptions* o)
{
   for (UInt i = 0; i < N_IMPLIED; i++) {
      Bool* on = (Bool*)((HChar*)o + implied[i].member);
      const HChar* by = tg_feature_arg(implied[i].feature);
      const HChar* off = tg_feature_off_arg(implied[i].feature);
      if (by == NULL || *on)
         continue;
      if (off != NULL)
         tg_refuse(by, "%s contradicts it; leave out one of them", off);
      *on = True;
   }
}

void tg_implied_print(void)
{
   const HChar* by;
   for (UInt i = 0; i < N_IMPLIED; i++) {
      for (UInt j = 1; (by = tg_feature_way(implied[i].feature, j)) != NULL; j++)
         VG_(printf)("%s %s\n", tg_feature_way(implied[i].feature, 0), by);
   }
}
