/* What a run can have, and which arguments give it that.

   A table in options/features.c: each feature's arguments, the first of them its switch. An option
   implies a feature by standing among its arguments, so there is no other way to a feature than
   those that the conflicts (options/conflicts.h) are checked for. */

#ifndef TG_FEATURES_H
#define TG_FEATURES_H

#include "pub_tool_basics.h"

typedef enum {
   TG_HAS_CALLS,
   TG_HAS_DATA,
   TG_HAS_DATA_OFFSETS,
   TG_HAS_MAPPINGS,
   TG_HAS_REACH,
   TG_HAS_TIMELINE,
   TG_HAS_ENTRIES,
   TG_HAS_FAULTS,
   TG_HAS_FLUSHES,
   TG_HAS_SYSCALLS,
   TG_HAS_TOUCHES,
   TG_HAS_SWITCHES,
   TG_HAS_PREFETCHES,
   TG_HAS_CORES,
   TG_HAS_SIBLINGS,
   TG_HAS_COPIES,
   TG_HAS_SEPARATE_THREADS,
   TG_HAS_LATE_START,
   TG_HAS_COLLECTION,
   TG_HAS_MERGED_CODE,
   TG_HAS_RECORDING,
   TG_HAS_JOBS,
   TG_HAS_MACHINES,
   TG_HAS_CACHEGRIND,
   TG_N_FEATURES
} TgFeature;

/* An argument that would give the feature, its switch first; NULL: there are no more. */
const HChar* tg_feature_way(TgFeature feature, UInt nth);

/* The last argument that gives the feature; NULL: none does. */
const HChar* tg_feature_arg(TgFeature feature);

/* The argument that turns off the feature's switch; NULL: there is none, or a later one turns it
   on. */
const HChar* tg_feature_off_arg(TgFeature feature);

#endif
