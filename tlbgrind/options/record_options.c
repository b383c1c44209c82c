/* The options for recordings. See options/record_options.h. */

#include "pub_tool_basics.h"

#include "pub_tool_libcbase.h"
#include "pub_tool_mallocfree.h"

#include "options/given.h"
#include "options/machine_args.h"
#include "options/machines.h"
#include "options/record_options.h"
#include "options/refuse.h"
#include "options/rule_check.h"
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
      has |= o->machine[i].pages.n_rules > 0 || o->machine[i].pages.thp == TLB_THP_ALWAYS
             || o->machine[i].pages.code_shift != 0;
   return has;
}

/* --- The machines that it is for --- */

/* m NULL: for the reach curve. */
typedef void TgForMachine(TgOptions* o, const tlb_machine* m, const HChar* arg);

typedef struct {
   TgOptions* options;
   TgForMachine* each;
   const HChar* arg; /* that names them; NULL: nobody does */
} Named;

/* Beside those of the run, where nothing is said: a server or desktop of each kind. What they cost
   and which others they cover is in docs/processor.md. */
static const HChar usual_machines[] = "skylake,zen4,neoverse-n1";

static Bool each_named(const HChar* name, void* opaque)
{
   const Named* n = opaque;
   const TgOptions* o = n->options;
   const HChar* arg = n->arg;
   const UInt base_shift = tg_given("--page-size") == NULL ? 0 : o->page_shift;
   const HChar* where;
   tlb_reason why;
   TgMachine m;
   if (arg == NULL) {
      if (tg_machine_by_name(name, base_shift, &o->pages.policy, &m, &where, &why)
          && m.m.base_page_shift >= o->page_shift)
         n->each(n->options, &m.m, reason());
      return True;
   }
   if (name[0] == '\0')
      tg_refuse(arg, "the name of a machine is missing");
   if (VG_(strcmp)(name, "reach") == 0) {
      n->each(n->options, NULL, arg);
      return True;
   }
   if (!tg_machine_by_name(name, base_shift, &o->pages.policy, &m, &where, &why))
      tg_refuse(arg, "%s%s", where, why.text);
   if (VG_(strchr)(name, '@') != NULL)
      tg_refuse(arg, "'%s': a recording is for all policies; leave out what stands behind '@' "
                     "(--record-pages= has the sizes)", name);
   n->each(n->options, &m.m, arg);
   return True;
}

static void each_machine(TgOptions* o, TgForMachine* each)
{
   const HChar* arg = tg_given("--record-for");
   Named named = { o, each, arg };
   tlb_reason why;
   if (arg == NULL) {
      for (UInt i = 0; i < o->n_machines; i++)
         each(o, &o->machine[i].m, reason());
      if (tg_given("--record") != NULL)
         tg_machine_args_each(usual_machines, each_named, &named);
      return;
   }
   HChar* names = tg_machine_args_expand(tg_given_value(arg), &why);
   if (names == NULL)
      tg_refuse(arg, "%s", why.text);
   tg_machine_args_each(names, each_named, &named);
   VG_(free)(names);
}

/* --- Sizes of pages --- */

/* The sizes that the recording is for, where nothing is said: transparent huge pages, and what the
   rules of the run's machines give. */
static ULong usual_sizes(const TgOptions* o)
{
   ULong sizes = 1ULL << tg_run_machines_huge_shift(o);
   if (tg_given("--record") != NULL)
      sizes |= 1ULL << record.code.shift;
   for (UInt i = 0; i < o->n_machines; i++)
      sizes |= tlb_policy_sizes(&o->machine[i].pages, o->machine[i].m.base_page_shift);
   sizes &= ~((2ULL << o->page_shift) - 1) & ((2ULL << TLB_MAX_PAGE_SHIFT) - 1);
   /* Very large base pages have no huge ones. Mappings are told of with some size. */
   return sizes != 0 ? sizes : 1ULL << TLB_MAX_PAGE_SHIFT;
}

/* What a machine with larger base pages has is for such machines alone. */
static void add_own_sizes(TgOptions* o, const tlb_machine* m, const HChar* arg)
{
   if (m == NULL)
      return;
   ULong sizes = tlb_strength_own_sizes(&record.strength, m);
   if (tg_given("--record") != NULL && tg_given("--record-pages") == NULL
       && m->base_page_shift > o->page_shift)
      sizes |= 1ULL << tlb_machine_thp_shift(m, m->isa);
   (void)arg;
   record.strength.not_for_all |= sizes & ~record.strength.large;
   record.strength.large |= sizes;
}

static void check_n_sizes(void)
{
   if (__builtin_popcountll(record.strength.large) > TLB_MAX_RECORD_SIZES)
      tg_refuse(reason(), "the machines have pages of more than %d sizes%s",
                TLB_MAX_RECORD_SIZES, tg_given("--record") == NULL
                                         ? "" : "; --record-pages= names those of the recording");
}

static void find_sizes(TgOptions* o)
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
   each_machine(o, add_own_sizes);
   check_n_sizes();
}

/* --- The strength --- */

static void add(TgOptions* o, const tlb_machine* m, const HChar* arg)
{
   tlb_reason why;
   (void)o;
   if (m == NULL ? !tlb_strength_add_reach(&record.strength, &why)
                 : !tlb_strength_add(&record.strength, m, &why))
      tg_refuse(arg, "%s%s", why.text,
                tg_given("--record-for") == NULL && tg_given("--record") != NULL
                   ? "; --record-for= names other machines" : "");
}

void tg_record_options_finish(TgOptions* o)
{
   const HChar* arg = reason();
   if (tg_given("--record") == NULL && tg_given("--record-for") != NULL)
      tg_refuse(tg_given("--record-for"), "there is no recording; add --record=FILE");
   if (arg == NULL && tg_given("--record-pages") != NULL)
      tg_refuse(tg_given("--record-pages"),
                "there is no recording; add --record=FILE, or --jobs=N");
   if (arg == NULL)
      return;
   record.strength.base_page_shift = o->page_shift;
   record.base = tg_machine_base_pages(tg_given("--page-size") == NULL ? 0 : o->page_shift);
   record.code = tg_rule_check_code(o);
   find_sizes(o);
   if ((record.strength.large >> record.code.shift & 1) == 0)
      record.code.shift = 0;
   each_machine(o, add);
   tlb_strength_complete(&record.strength);
   if (o->kernel.prefetches)
      tlb_strength_add_prefetches(&record.strength);
   if (o->n_machines == TLB_MAX_MMUS)
      tg_refuse(arg, "a run that is recorded has at most %d machines", TLB_MAX_MMUS - 1);
   if (tg_given("--cores") == NULL)
      o->kernel.cores = TG_CORES_SHARED;
   record.thp_shift = tg_run_machines_huge_shift(o);
   o->record = &record;
}
