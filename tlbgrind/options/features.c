/* What a run can have. See options/features.h. */

#include "pub_tool_basics.h"

#include "pub_tool_libcbase.h"

#include "options/features.h"
#include "options/given.h"

enum { MAX_WAYS = 10 };

/* Each feature's arguments. One with the value "yes" gives it unless its value is "no"; the others
   stand for any value. */
static const HChar* const ways[TG_N_FEATURES][MAX_WAYS] = {
   [TG_HAS_CALLS] = { "--calls=yes", "--faults-stacks=16" },
   [TG_HAS_DATA] = { "--data=yes", "--data-out-file=data", "--data-offsets=yes",
                     "--data-stride=main:8" },
   [TG_HAS_DATA_OFFSETS] = { "--data-offsets=yes", "--data-stride=main:8" },
   [TG_HAS_MAPPINGS] = { "--mappings=yes" },
   [TG_HAS_REACH] = { "--reach=yes", "--reach-out-file=reach" },
   [TG_HAS_TIMELINE] = { "--timeline=yes", "--timeline-out-file=timeline" },
   [TG_HAS_ENTRIES] = { "--entries=yes", "--entries-out-file=entries" },
   [TG_HAS_FAULTS] = { "--faults=yes", "--faults-out-file=faults", "--faults-used=yes",
                       "--faults-touches=yes", "--faults-stacks=16", "--faults-hidden=yes",
                       "--fault-around=off", "--read-ahead=off", "--mthp=none", "--kernel=6.18" },
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
   [TG_HAS_RECORDING] = { "--record=recording" },
   [TG_HAS_JOBS] = { "--jobs=2" },
   [TG_HAS_MACHINES] = { "--machine=zen4,zen5", "--advice=yes" },
   [TG_HAS_CACHEGRIND] = { "--as-cachegrind=yes" },
};

const HChar* tg_feature_way(TgFeature feature, UInt nth)
{
   return nth < MAX_WAYS ? ways[feature][nth] : NULL;
}

static Bool is_off(const HChar* way, const HChar* arg)
{
   return VG_(strcmp)(tg_given_value(way), "yes") == 0
          && VG_(strcmp)(tg_given_value(arg), "no") == 0;
}

const HChar* tg_feature_arg(TgFeature feature)
{
   const HChar *last = NULL, *way;
   Word last_place = -1;
   for (UInt i = 0; (way = tg_feature_way(feature, i)) != NULL; i++) {
      const Word place = tg_given_place(way);
      if (place > last_place && !is_off(way, tg_given(way))) {
         last = tg_given(way);
         last_place = place;
      }
   }
   return last;
}

const HChar* tg_feature_off_arg(TgFeature feature)
{
   const HChar* arg = tg_given(ways[feature][0]);
   return arg != NULL && is_off(ways[feature][0], arg) ? arg : NULL;
}
