/* The options for recordings. See options/record_options.h. */

#include "pub_tool_basics.h"

#include "pub_tool_libcbase.h"
#include "pub_tool_mallocfree.h"

#include "options/given.h"
#include "options/machine_args.h"
#include "options/machines.h"
#include "options/record_options.h"
#include "options/refuse.h"
#include "options/run_machines.h"

static TgRecordOptions record;

/* What the run is recorded for: a file, or the processes of --jobs=. NULL: it is not. */
static const HChar* reason(void)
{
   const HChar* arg = tg_given("--record");
   return arg != NULL ? arg : tg_given("--jobs");
}

/* Whether some memory has large pages without the program's asking. */
static Bool has_large(const TgOptions* o)
{
   Bool has = False;
   for (UInt i = 0; i < o->n_machines; i++)
      has |= o->machine[i].pages.n_rules > 0 || o->machine[i].pages.thp == TLB_THP_ALWAYS;
   return has;
}

/* The sizes that the recording is for, where nothing is said: transparent huge pages, and what the
   rules of the run's machines give. */
static ULong usual_sizes(const TgOptions* o)
{
   ULong sizes = 1ULL << tg_run_machines_huge_shift(o);
   for (UInt i = 0; i < o->n_machines; i++)
      sizes |= tlb_policy_sizes(&o->machine[i].pages, o->page_shift);
   return sizes & ~((2ULL << o->page_shift) - 1);
}

static void check_n_sizes(void)
{
   if (__builtin_popcountll(record.strength.large) > TLB_MAX_RECORD_SIZES)
      tg_refuse(reason(), "the rules of the machines have pages of more than %d sizes%s",
                TLB_MAX_RECORD_SIZES, tg_given("--record") == NULL
                                         ? "" : "; --record-pages= names those of the recording");
}

static void find_sizes(const TgOptions* o)
{
   const HChar* arg = tg_given("--record-pages");
   uint64_t sizes = 0;
   tlb_reason why;
   const Bool jobs = tg_given("--record") == NULL;
   record.strength.large = 0;
   /* With --jobs= others see what the run's machines would. But to see what the program may ask for
      takes time. */
   if (jobs ? has_large(o) : arg == NULL)
      record.strength.large = usual_sizes(o);
   if (arg != NULL && !tlb_record_sizes_parse(tg_given_value(arg), o->page_shift, &sizes, &why))
      tg_refuse(arg, "%s", why.text);
   record.strength.large |= sizes;
   check_n_sizes();
}

/* --- The strength --- */

static void add(const tlb_machine* m, const HChar* arg)
{
   tlb_reason why;
   if (!tlb_strength_add(&record.strength, m, &why))
      tg_refuse(arg, "%s%s", why.text,
                tg_given("--record-for") == NULL && tg_given("--record") != NULL
                   ? "; --record-for= names other machines" : "");
}

static Bool add_named(const HChar* name, void* opaque)
{
   const TgOptions* o = opaque;
   const HChar* arg = tg_given("--record-for");
   const UInt base_shift = tg_given("--page-size") == NULL ? 0 : o->page_shift;
   const HChar* where;
   tlb_reason why;
   TgMachine m;
   if (name[0] == '\0')
      tg_refuse(arg, "the name of a machine is missing");
   if (!tg_machine_by_name(name, base_shift, &o->pages.policy, &m, &where, &why))
      tg_refuse(arg, "%s%s", where, why.text);
   if (VG_(strchr)(name, '@') != NULL)
      tg_refuse(arg, "'%.40s': a recording is for all policies; leave out what stands behind '@' "
                     "(--record-pages= has the sizes)", name);
   add(&m.m, arg);
   return True;
}

static void find_strength(TgOptions* o)
{
   const HChar* arg = tg_given("--record-for");
   tlb_reason why;
   if (arg == NULL) {
      for (UInt i = 0; i < o->n_machines; i++)
         add(&o->machine[i].m, reason());
      return;
   }
   HChar* names = tg_machine_args_expand(tg_given_value(arg), &why);
   if (names == NULL)
      tg_refuse(arg, "%s", why.text);
   tg_machine_args_each(names, add_named, o);
   VG_(free)(names);
}

void tg_record_options_finish(TgOptions* o)
{
   const HChar* arg = reason();
   if (tg_given("--record") == NULL && tg_given("--record-for") != NULL)
      tg_refuse(tg_given("--record-for"), "there is no recording; add --record=FILE");
   if (arg == NULL && tg_given("--record-pages") != NULL)
      tg_refuse(tg_given("--record-pages"), "there is no recording; add --record=FILE, or --jobs=N");
   if (arg == NULL)
      return;
   find_sizes(o);
   find_strength(o);
   if (o->n_machines == TLB_MAX_MMUS)
      tg_refuse(arg, "a run that is recorded has at most %d machines", TLB_MAX_MMUS - 1);
   if (record.strength.base_page_shift != o->page_shift)
      tg_refuse(arg, "the base pages of the run are smaller than those of the machines that the "
                     "recording is for");
   if (tg_given("--cores") == NULL)
      o->kernel.cores = TG_CORES_SHARED;
   record.thp_shift = tg_run_machines_huge_shift(o);
   o->record = &record;
}
