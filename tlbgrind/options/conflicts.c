/* What goes without what. See options/conflicts.h. */

#include "pub_tool_basics.h"

#include "pub_tool_libcassert.h"
#include "pub_tool_libcbase.h"
#include "pub_tool_libcprint.h"
#include "pub_tool_mallocfree.h"

#include "sim/base/text.h"

#include "options/conflicts.h"
#include "options/features.h"
#include "options/given.h"

static const HChar no_kernel[] = "cachegrind has no kernel";
static const HChar own_faults[] = "page faults are those of the code as it is";
static const HChar references_alone[] = "of a copy nothing but its references is simulated";
static const HChar whole_arrays[] = "what the kernel does is for whole arrays";
static const HChar no_reference[] = "what a prefetch brings is no reference, and is not divided so";

static const HChar one_stream[] = "a recording is one stream of references, not divided by mapping";

static const HChar fed_stream[] = "the processes see the references of one program on one core";

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
   { TG_HAS_RECORDING, TG_HAS_MAPPINGS, one_stream },
   { TG_HAS_RECORDING, TG_HAS_CORES, "it is the stream of one core" },
   { TG_HAS_RECORDING, TG_HAS_COPIES, "it is the stream of one program" },
   { TG_HAS_RECORDING, TG_HAS_CACHEGRIND, "the simulation from it does not count as cachegrind" },
   { TG_HAS_JOBS, TG_HAS_RECORDING,
     "a recording is simulated later, by tg_simulate --jobs=" },
   { TG_HAS_JOBS, TG_HAS_MAPPINGS, fed_stream },
   { TG_HAS_JOBS, TG_HAS_CORES, fed_stream },
   { TG_HAS_JOBS, TG_HAS_COPIES, fed_stream },
   { TG_HAS_JOBS, TG_HAS_CACHEGRIND, "they do not count as cachegrind does" },
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
   case TG_HAS_SWITCHES: return k->switches.every > 0;
   case TG_HAS_PREFETCHES: return k->prefetches;
   case TG_HAS_CORES: return tg_given("--cores") != NULL && k->cores != TG_CORES_SHARED;
   case TG_HAS_SIBLINGS: return k->siblings > 1;
   case TG_HAS_COPIES: return k->copies > 1;
   case TG_HAS_SEPARATE_THREADS: return o->separate_threads;
   case TG_HAS_LATE_START: return !o->region.instr_at_start;
   case TG_HAS_COLLECTION: return o->region.toggle_collect != NULL;
   case TG_HAS_MERGED_CODE: return o->merge_code != NULL;
   case TG_HAS_RECORDING: return tg_given("--record") != NULL;
   case TG_HAS_JOBS: return o->jobs > 0;
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

void tg_conflicts_check(const TgOptions* options)
{
   enum { MAX_ARG = 200, MAX_LINE = 2 * MAX_ARG + 200 };
   const HChar* first = NULL;
   const SizeT room = N_CONFLICTS * MAX_LINE;
   HChar* text = VG_(malloc)("tg.conflicts", room);
   SizeT n = 0;
   for (UInt i = 0; i < N_CONFLICTS; i++) {
      if (!has(options, conflicts[i].a) || !has(options, conflicts[i].b))
         continue;
      HChar a[MAX_ARG], b[MAX_ARG];
      tlb_text shown = tlb_text_in(a, sizeof a);
      tlb_text_add(&shown, shown_arg(conflicts[i].a));
      shown = tlb_text_in(b, sizeof b);
      tlb_text_add(&shown, shown_arg(conflicts[i].b));
      n += VG_(snprintf)(text + n, (Int)(room - n), "%s goes without %s: %s\n", a, b,
                         conflicts[i].why);
      if (first == NULL)
         first = shown_arg(conflicts[i].a);
   }
   if (first != NULL) {
      VG_(fmsg_bad_option)(first, "%s", text);
      VG_(exit)(1);
   }
   VG_(free)(text);
}

void tg_conflicts_print(void)
{
   const HChar *a, *b;
   for (UInt i = 0; i < N_CONFLICTS; i++) {
      for (UInt j = 0; (a = tg_feature_way(conflicts[i].a, j)) != NULL; j++) {
         for (UInt k = 0; (b = tg_feature_way(conflicts[i].b, k)) != NULL; k++)
            VG_(printf)("%s %s\n", a, b);
      }
   }
}
