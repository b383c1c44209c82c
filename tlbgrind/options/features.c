/* What a run can have. See options/features.h. */

#include "pub_tool_basics.h"

#include "pub_tool_libcbase.h"
#include "pub_tool_libcprint.h"
#include "pub_tool_mallocfree.h"
#include "pub_tool_xarray.h"

#include "sim/base/text.h"

#include "options/features.h"

enum { MAX_WAYS = 8 };

/* Each feature's arguments. One with the value "yes" gives it unless its value is "no"; the others
   stand for any value. */
static const HChar* const ways[TG_N_FEATURES][MAX_WAYS] = {
   [TG_HAS_CALLS] = { "--calls=yes" },
   [TG_HAS_DATA] = { "--data=yes", "--data-out-file=data", "--data-offsets=yes",
                     "--data-stride=main:8" },
   [TG_HAS_DATA_OFFSETS] = { "--data-offsets=yes", "--data-stride=main:8" },
   [TG_HAS_MAPPINGS] = { "--mappings=yes" },
   [TG_HAS_REACH] = { "--reach=yes", "--reach-out-file=reach" },
   [TG_HAS_TIMELINE] = { "--timeline=yes", "--timeline-out-file=timeline" },
   [TG_HAS_ENTRIES] = { "--entries=yes", "--entries-out-file=entries" },
   [TG_HAS_FAULTS] = { "--faults=yes", "--faults-out-file=faults", "--faults-used=yes",
                       "--faults-hidden=yes", "--fault-around=off", "--read-ahead=off",
                       "--mthp=none" },
   [TG_HAS_FLUSHES] = { "--flush-policy=linux", "--machine=zen4@flush:linux" },
   [TG_HAS_SYSCALLS] = { "--syscall-tlb=flush", "--machine=zen4@syscall:flush" },
   [TG_HAS_TOUCHES] = { "--syscall-tlb=kernel:4", "--machine=zen4@syscall:kernel:4" },
   [TG_HAS_SWITCHES] = { "--switch-every=1000" },
   [TG_HAS_PREFETCHES] = { "--prefetch=weak", "--machine=zen4@prefetch:weak" },
   [TG_HAS_CORES] = { "--cores=2" },
   [TG_HAS_SIBLINGS] = { "--cores=2:2" },
   [TG_HAS_COPIES] = { "--copies=2" },
   [TG_HAS_SEPARATE_THREADS] = { "--separate-threads=yes" },
   [TG_HAS_LATE_START] = { "--instr-at-start=no" },
   [TG_HAS_COLLECTION] = { "--toggle-collect=main" },
   [TG_HAS_MERGED_CODE] = { "--merge-code=lib*" },
   [TG_HAS_MACHINES] = { "--machine=zen4,zen5", "--advice=yes" },
   [TG_HAS_CACHEGRIND] = { "--as-cachegrind=yes" },
};

const HChar* tg_feature_way(TgFeature feature, UInt nth)
{
   return nth < MAX_WAYS ? ways[feature][nth] : NULL;
}

/* --- Arguments --- */

static XArray* given; /* const HChar* */

void tg_features_note(const HChar* arg)
{
   const HChar* kept = VG_(strdup)("tg.features", arg);
   if (given == NULL)
      given = VG_(newXA)(VG_(malloc), "tg.features", VG_(free), sizeof kept);
   VG_(addToXA)(given, &kept);
}

/* The last argument of the same option; NULL: it is not given. */
static const HChar* given_like(const HChar* way, Word* at)
{
   const SizeT n = (SizeT)(VG_(strchr)(way, '=') - way) + 1;
   for (Word i = given == NULL ? 0 : VG_(sizeXA)(given); i > 0; i--) {
      const HChar* arg = *(const HChar**)VG_(indexXA)(given, i - 1);
      *at = i - 1;
      if (VG_(strncmp)(arg, way, n) == 0)
         return arg;
   }
   return NULL;
}

static const HChar* value_of(const HChar* arg)
{
   return VG_(strchr)(arg, '=') + 1;
}

static Bool is_off(const HChar* way, const HChar* arg)
{
   return VG_(strcmp)(value_of(way), "yes") == 0 && VG_(strcmp)(value_of(arg), "no") == 0;
}

const HChar* tg_feature_arg(TgFeature feature)
{
   const HChar* last = NULL;
   Word last_at = -1, at;
   for (UInt i = 0; i < MAX_WAYS && ways[feature][i] != NULL; i++) {
      const HChar* arg = given_like(ways[feature][i], &at);
      if (arg != NULL && at > last_at && !is_off(ways[feature][i], arg)) {
         last = arg;
         last_at = at;
      }
   }
   return last;
}

const HChar* tg_feature_off_arg(TgFeature feature)
{
   Word at;
   const HChar* arg = given_like(ways[feature][0], &at);
   return arg != NULL && is_off(ways[feature][0], arg) ? arg : NULL;
}
