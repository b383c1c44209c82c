/* Reads the command line. See options/command_line.h. */

#include "pub_tool_basics.h"

#include "pub_tool_libcbase.h"
#include "pub_tool_options.h"
#include "pub_tool_vki.h"

#include "options/command_line.h"
#include "options/conflicts.h"
#include "options/cost_options.h"
#include "options/exec.h"
#include "options/given.h"
#include "options/implied.h"
#include "options/machine_names.h"
#include "options/mapping_pages.h"
#include "options/mistyped.h"
#include "options/option_table.h"
#include "options/output_names.h"
#include "options/record_options.h"
#include "options/refuse.h"
#include "options/rule_check.h"
#include "options/run_machines.h"
#include "options/vex_settings.h"

static TgOptions options;

/* --- One argument --- */

static void* member_of(const TgOption* o)
{
   return (HChar*)&options + o->member;
}

void tg_options_begin(void)
{
   const TgOption* o;
   for (UInt i = 0; (o = tg_option(i)) != NULL; i++) {
      if (o->kind == TG_YES_NO)
         *(Bool*)member_of(o) = o->initial != 0;
      if (o->kind == TG_NUMBER)
         *(Long*)member_of(o) = o->initial;
   }
}

/* The core's own macros for both of these want the option's name as a literal. */
static void take_yes_no(const HChar* arg, const HChar* value, Bool* member)
{
   *member = VG_(strcmp)(value, "yes") == 0;
   if (!*member && VG_(strcmp)(value, "no") != 0)
      tg_refuse(arg, "Invalid boolean value '%s' (should be 'yes' or 'no')", value);
}

static void take_number(const TgOption* o, const HChar* arg, const HChar* value, Long* member)
{
   HChar* end;
   *member = VG_(strtoll10)(value, &end);
   if (*end != '\0')
      tg_refuse(arg, "Invalid integer value '%s'", value);
   if (*member < o->least || *member > o->most)
      tg_refuse(arg, "'%s' argument must be between %lld and %lld", o->name, o->least, o->most);
}

Bool tg_options_take(const HChar* arg)
{
   /* The core asks for options that can be changed in the run, too: none can. */
   if (VG_(Clo_Mode)() != cloP)
      return False;
   const TgOption* o = tg_option_of(arg);
   if (o == NULL) {
      tg_mistyped_refuse(arg);
      return False;
   }
   arg = tg_given_note(arg);
   const HChar* equals = VG_(strchr)(arg, '=');
   const HChar* value = equals == NULL ? NULL : equals + 1;
   if (o->kind == TG_YES_NO)
      take_yes_no(arg, value, member_of(o));
   else if (o->kind == TG_NUMBER)
      take_number(o, arg, value, member_of(o));
   else if (o->kind == TG_TAKEN)
      o->take(arg, value, &options);
   return True;
}

/* --- All together --- */

static void read_page_size(void)
{
   enum { MOST = 30 }; /* a 32-bit address must hold the page */
   const HChar* arg = tg_given("--page-size");
   tlb_reason why;
   options.page_shift = (UInt)__builtin_ctzl(VKI_PAGE_SIZE);
   if (arg == NULL)
      return;
   const HChar* value = tg_given_value(arg);
   options.page_shift = tlb_page_size_parse(value, &why);
   if (options.page_shift == 0 || options.page_shift > MOST)
      tg_refuse(arg, "'%s' is no base page; allowed are powers of two from 4K to 1G, such as "
                     "4K, 64K or 2M", value);
}

/* cachegrind has no huge pages, and under it a program has Valgrind's start and layout. */
static void settle_as_cachegrind(void)
{
   if (!options.as_cachegrind)
      return;
   if (options.pages.thp_arg == NULL) {
      options.pages.policy.thp = TLB_THP_NEVER;
      options.pages.thp_arg = "--as-cachegrind=yes";
   }
   if (tg_given("--native-start") == NULL)
      options.native = False;
   options.fast_path = False;
}

/* What the run writes. Returns NULL, or the invalid argument, with the reason. */
static const HChar* settle_outputs(tlb_reason* why)
{
   options.is_written[TG_COSTS_OUT] = True;
   options.is_written[TG_REACH_OUT] = options.reach;
   options.is_written[TG_TIMELINE_OUT] = options.timeline;
   options.is_written[TG_ENTRIES_OUT] = options.entries;
   options.is_written[TG_DATA_OUT] = options.data;
   options.is_written[TG_FAULTS_OUT] = options.faults.on;
   options.is_written[TG_RECORDING_OUT] = options.record != NULL && options.jobs == 0;
   return tg_outputs_check(options.is_written, options.machine, options.n_machines, why);
}

const TgOptions* tg_options_finish(void)
{
   TgOptions* o = &options;
   tlb_reason why;
   const HChar* bad = tg_exec_init(&why);
   read_page_size();
   if (bad == NULL)
      bad = tg_page_options_finish(o->page_shift, &o->pages, &why);
   if (bad != NULL)
      tg_refuse(bad, "%s", why.text);
   tg_region_options_finish(&o->region);
   tg_implied_turn_on(o);
   settle_as_cachegrind();
   tg_run_machines_make(o);
   tg_conflicts_check(o);
   tg_run_machines_share(o);
   tg_vex_settings_make(o);
   tg_rule_check(o);
   tg_machine_names_give(o->machine, o->n_machines);
   o->shows_cycles = tg_cost_options_any();
   bad = tg_cost_options_apply(o->machine, o->n_machines, &why);
   tg_run_machines_take_base_page(o);
   if (bad == NULL)
      bad = tg_fault_options_finish(o->page_shift, tg_run_machines_huge_shift(o),
                                    o->pages.policy.thp, &o->kernel, &o->faults, &why);
   if (bad != NULL)
      tg_refuse(bad, "%s", why.text);
   tg_large_pages_check(o);
   tg_record_options_finish(o);
   bad = settle_outputs(&why);
   if (bad != NULL)
      tg_refuse(bad, "%s", why.text);
   return o;
}
