/* The options for recordings. See options/record_options.h. */

#include "pub_tool_basics.h"

#include "pub_tool_libcbase.h"
#include "pub_tool_mallocfree.h"

#include "options/given.h"
#include "options/machine_args.h"
#include "options/machines.h"
#include "options/record_options.h"
#include "options/refuse.h"

static TgRecordOptions record;

/* --- What is not recorded --- */


/* What the run is recorded for: a file, or the processes of --jobs=. NULL: it is not. */
static const HChar* reason(void)
{
   const HChar* arg = tg_given("--record");
   return arg != NULL ? arg : tg_given("--jobs");
}

static const HChar* base_pages_alone(void)
{
   return tg_given("--record") != NULL ? "a recording has base pages alone"
                                       : "the processes see base pages alone";
}

static void check_pages(const TgOptions* o)
{
   const HChar* arg = reason();
   for (UInt i = 0; i < o->n_machines; i++) {
      if (o->machine[i].pages.n_rules > 0)
         tg_refuse(arg, "%s; leave out --pages=, --advice=, and rules for pages behind the '@' of a "
                        "machine", base_pages_alone());
   }
   if (o->pages.policy.thp == TLB_THP_ALWAYS)
      tg_refuse(arg, "%s, and transparent huge pages are always on%s; add --thp=never",
                base_pages_alone(), o->pages.thp_arg == NULL ? " here" : "");
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
      tg_refuse(arg, "'%.40s': %s, so leave out what stands behind '@'", name, base_pages_alone());
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
   if (arg == NULL)
      return;
   check_pages(o);
   find_strength(o);
   if (o->n_machines == TLB_MAX_MMUS)
      tg_refuse(arg, "a run that is recorded has at most %d machines", TLB_MAX_MMUS - 1);
   if (record.strength.base_page_shift != o->page_shift)
      tg_refuse(arg, "the base pages of the run are smaller than those of the machines that the "
                     "recording is for");
   if (tg_given("--cores") == NULL)
      o->kernel.cores = TG_CORES_SHARED;
   o->record = &record;
}
