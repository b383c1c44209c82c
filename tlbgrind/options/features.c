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

static const HChar no_kernel[] = "cachegrind has no kernel";
static const HChar own_faults[] = "page faults are those of the code as it is";
static const HChar references_alone[] = "of a copy nothing but its references is simulated";
static const HChar whole_arrays[] = "what the kernel does is for whole arrays";
static const HChar no_reference[] = "what a prefetch brings is no reference, and is not divided so";

/* What excludes what. */
static const struct {
   TgFeature a, b;
   const HChar* why;
} conflicts[] = {
   { TG_HAS_CALLS, TG_HAS_LATE_START, "inclusive costs are those of the whole run" },
   { TG_HAS_CALLS, TG_HAS_FLUSHES, "flushes are no part of inclusive costs" },
   { TG_HAS_CALLS, TG_HAS_PREFETCHES, no_reference },
   { TG_HAS_DATA, TG_HAS_PREFETCHES, no_reference },
   { TG_HAS_DATA, TG_HAS_COLLECTION,
     "data is attributed in the whole run (tg_annotate --by=data --of=FUNCTION shows one "
     "function's)" },
   { TG_HAS_TIMELINE, TG_HAS_COLLECTION, "the timeline is that of the whole run" },
   { TG_HAS_MAPPINGS, TG_HAS_COLLECTION, "mappings are counted in the whole run" },
   { TG_HAS_MAPPINGS, TG_HAS_PREFETCHES, no_reference },
   { TG_HAS_REACH, TG_HAS_PREFETCHES, "the curve is that of references" },
   { TG_HAS_SIBLINGS, TG_HAS_FLUSHES, whole_arrays },
   { TG_HAS_SIBLINGS, TG_HAS_SYSCALLS, whole_arrays },
   { TG_HAS_SIBLINGS, TG_HAS_SWITCHES, whole_arrays },
   { TG_HAS_COPIES, TG_HAS_FLUSHES, references_alone },
   { TG_HAS_COPIES, TG_HAS_SYSCALLS, references_alone },
   { TG_HAS_COPIES, TG_HAS_SWITCHES, references_alone },
   { TG_HAS_COPIES, TG_HAS_PREFETCHES, references_alone },
   { TG_HAS_COPIES, TG_HAS_CORES, "copies share one core" },
   { TG_HAS_COPIES, TG_HAS_COLLECTION, "copies are counted in the whole run" },
   { TG_HAS_COPIES, TG_HAS_CACHEGRIND, "cachegrind has one program" },
   { TG_HAS_MERGED_CODE, TG_HAS_FAULTS, own_faults },
   { TG_HAS_MERGED_CODE, TG_HAS_FLUSHES, own_faults },
   { TG_HAS_MERGED_CODE, TG_HAS_TOUCHES, own_faults },
   { TG_HAS_MERGED_CODE, TG_HAS_PREFETCHES, own_faults },
   { TG_HAS_CACHEGRIND, TG_HAS_FLUSHES, no_kernel },
   { TG_HAS_CACHEGRIND, TG_HAS_SYSCALLS, no_kernel },
   { TG_HAS_CACHEGRIND, TG_HAS_SWITCHES, no_kernel },
   { TG_HAS_CACHEGRIND, TG_HAS_PREFETCHES, "cachegrind has no prefetches" },
   { TG_HAS_CACHEGRIND, TG_HAS_CORES, "cachegrind has one core" },
   { TG_HAS_CACHEGRIND, TG_HAS_MACHINES, "cachegrind has one machine" },
   { TG_HAS_CACHEGRIND, TG_HAS_REACH,
     "the curve can not be measured in a run that counts as cachegrind does" },
   { TG_HAS_CACHEGRIND, TG_HAS_TIMELINE,
     "a run that counts as cachegrind does notes no pages" },
};

enum { N_CONFLICTS = sizeof conflicts / sizeof conflicts[0] };

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

/* --- Conflicts --- */

static Bool has(const TgOptions* o, TgFeature feature)
{
   const TgKernelOptions* k = &o->kernel;
   switch (feature) {
   case TG_HAS_CALLS: return o->calls;
   case TG_HAS_DATA: return o->data;
   case TG_HAS_DATA_OFFSETS: return o->data_offsets;
   case TG_HAS_MAPPINGS: return o->mappings;
   case TG_HAS_REACH: return o->reach;
   case TG_HAS_TIMELINE: return o->timeline;
   case TG_HAS_ENTRIES: return o->entries;
   case TG_HAS_FAULTS: return o->faults.on;
   case TG_HAS_FLUSHES: return k->flushes;
   case TG_HAS_SYSCALLS: return k->syscalls;
   case TG_HAS_TOUCHES: return k->touches;
   case TG_HAS_SWITCHES: return k->switch_every > 0;
   case TG_HAS_PREFETCHES: return k->prefetches;
   case TG_HAS_CORES: return tg_kernel_options_cores_arg() != NULL && k->cores != TG_CORES_SHARED;
   case TG_HAS_SIBLINGS: return k->siblings > 1;
   case TG_HAS_COPIES: return k->copies > 1;
   case TG_HAS_SEPARATE_THREADS: return o->separate_threads;
   case TG_HAS_LATE_START: return !o->region.instr_at_start;
   case TG_HAS_COLLECTION: return o->region.toggle_collect != NULL;
   case TG_HAS_MERGED_CODE: return o->merge_code != NULL;
   case TG_HAS_MACHINES: return o->n_machines > 1;
   case TG_HAS_CACHEGRIND: return o->as_cachegrind;
   default: return False;
   }
}

/* What the user has to leave out. No argument: several machines, which several values of one
   policy have made. */
static const HChar* shown_arg(TgFeature feature)
{
   const HChar* arg = tg_feature_arg(feature);
   return arg != NULL ? arg : "several machines";
}

const HChar* tg_features_conflicts(const TgOptions* options, HChar** text)
{
   enum { MAX_ARG = 200, MAX_LINE = 2 * MAX_ARG + 200 };
   const HChar* first = NULL;
   const SizeT room = N_CONFLICTS * MAX_LINE;
   *text = VG_(calloc)("tg.features.text", 1, room);
   SizeT n = 0;
   for (UInt i = 0; i < N_CONFLICTS; i++) {
      if (!has(options, conflicts[i].a) || !has(options, conflicts[i].b))
         continue;
      HChar a[MAX_ARG], b[MAX_ARG];
      tlb_text shown = tlb_text_in(a, sizeof a);
      tlb_text_add(&shown, shown_arg(conflicts[i].a));
      shown = tlb_text_in(b, sizeof b);
      tlb_text_add(&shown, shown_arg(conflicts[i].b));
      n += VG_(snprintf)(*text + n, (Int)(room - n), "%s goes without %s: %s\n", a, b,
                         conflicts[i].why);
      if (first == NULL)
         first = shown_arg(conflicts[i].a);
   }
   return first;
}

void tg_features_print_conflicts(void)
{
   for (UInt i = 0; i < N_CONFLICTS; i++) {
      const HChar* const* a = ways[conflicts[i].a];
      const HChar* const* b = ways[conflicts[i].b];
      for (UInt j = 0; j < MAX_WAYS && a[j] != NULL; j++) {
         for (UInt k = 0; k < MAX_WAYS && b[k] != NULL; k++)
            VG_(printf)("%s %s\n", a[j], b[k]);
      }
   }
}
