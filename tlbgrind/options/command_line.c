/* Parses and checks the command line. See options/command_line.h. */

#include "pub_tool_basics.h"

#include "pub_tool_libcbase.h"
#include "pub_tool_libcproc.h"
#include "pub_tool_mallocfree.h"
#include "pub_tool_options.h"

#include "sim/base/text.h"

#include "options/array_options.h"
#include "options/exec.h"
#include "options/closest.h"
#include "options/command_line.h"
#include "options/conflicts.h"
#include "options/cost_options.h"
#include "options/given.h"
#include "options/implied.h"
#include "options/machine_names.h"
#include "options/machines.h"
#include "options/mapping_pages.h"
#include "options/output_names.h"
#include "options/refuse.h"
#include "options/rule_check.h"
#include "options/run_machines.h"
#include "options/vex_settings.h"

static TgOptions options = {
   .page_shift = 12,
   .region = { .instr_at_start = True },
   .native = True,
   .fast_path = True,
   .data_frames = 8,
};

/* The largest base page: a 32-bit address must hold it. */
enum { MAX_BASE_PAGE_SHIFT = 30 };

static Bool is_option(const HChar* arg, const HChar* option, const HChar** value)
{
   const SizeT n = VG_(strlen)(option);
   if (VG_(strncmp)(arg, option, n) != 0 || arg[n] != '=')
      return False;
   *value = arg + n + 1;
   return True;
}

/* Ends the run unless the value is NAME:BYTES[,NAME:BYTES...]. */
static void check_strides(const HChar* arg, const HChar* value)
{
   HChar* list = VG_(strdup)("tg.options", value);
   UInt n = 1, n_found = 0;
   for (const HChar* c = value; *c != '\0'; c++)
      n += *c == ',';
   HChar* saved;
   for (HChar* one = VG_(strtok_r)(list, ",", &saved); one != NULL;
        one = VG_(strtok_r)(NULL, ",", &saved)) {
      const HChar* colon = VG_(strrchr)(one, ':');
      HChar* end;
      const ULong bytes = colon == NULL ? 0 : VG_(strtoull10)(colon + 1, &end);
      if (colon == NULL || colon == one || *end != '\0' || bytes == 0 || bytes > 65536)
         tg_refuse(arg, "'%s' is not NAME:BYTES, with 1 to 65536 bytes", one);
      n_found++;
   }
   if (n_found != n)
      tg_refuse(arg, "'%s' is not NAME:BYTES[,NAME:BYTES...]", value);
   VG_(free)(list);
}

/* Ends the run if the argument resembles an option. */
static void refuse_mistyped(const HChar* arg)
{
   const HChar* name = tg_closest_option(arg);
   const HChar* value = VG_(strchr)(arg, '=');
   /* Close to --pages, and in callgrind's and massif's users' minds an option. */
   if (VG_(strncmp)(arg, "--phase", 7) == 0)
      tg_refuse(arg, "there is no such option; the program begins a phase by TLBGRIND_MARK(\"NAME\") of "
                  "tlbgrind.h, and tg_annotate --phase=NAME shows it");
   if (name == NULL)
      return;
   const SizeT n = VG_(strlen)(name);
   if (VG_(strncmp)(arg, name, n) == 0 && (arg[n] == '=' || arg[n] == '\0')) {
      if (value == NULL)
         tg_refuse(arg, "the value is missing: %s=...", name);
      tg_refuse(arg, "it stands alone, behind the command tlbgrind: tlbgrind %s%s", name,
             VG_(strcmp)(name, "--show-machine") == 0 ? value : "");
   }
   if (VG_(strcmp)(name, "--list-machines") == 0)
      value = "";
   tg_refuse(arg, "there is no such option; did you mean %s%s?", name,
          value == NULL ? "=..." : value);
}

Bool tg_options_take(const HChar* arg)
{
   const HChar* value;
   tg_given_note(arg);
   if (tg_array_options_take(arg))
      return True;
   if (VG_(strcmp)(arg, "--list-machines") == 0 || is_option(arg, "--list-machines", &value)) {
      tlb_reason why;
      const HChar* equals = VG_(strchr)(arg, '=');
      if (!tg_machine_print_list(equals == NULL ? NULL : equals + 1, &why))
         tg_refuse(arg, "%s", why.text);
      VG_(exit)(0);
   }
   if (is_option(arg, "--page-size", &value) || is_option(arg, "--machine", &value)
       || is_option(arg, "--advice", &value)) {
   } else if (tg_cost_options_take(arg)) {
   } else if (VG_BOOL_CLO(arg, "--native-start", options.native)) {
   } else if (VG_BOOL_CLO(arg, "--nested", options.nested)) {
   } else if (tg_output_option(arg)) {
   } else if (VG_BOOL_CLO(arg, "--reach", options.reach)) {
   } else if (VG_BOOL_CLO(arg, "--timeline", options.timeline)) {
   } else if (VG_BOOL_CLO(arg, "--data", options.data)) {
   } else if (VG_BINT_CLO(arg, "--data-frames", options.data_frames, 1, 64)) {
   } else if (VG_BOOL_CLO(arg, "--data-offsets", options.data_offsets)) {
   } else if (is_option(arg, "--data-stride", &value)) {
      check_strides(arg, value);
      options.data_strides = VG_(strdup)("tg.options", value);
   } else if (is_option(arg, "--entries", &value)) {
      options.entries_data = VG_(strcmp)(value, "data") == 0;
      options.entries = options.entries_data || VG_(strcmp)(value, "yes") == 0;
      if (!options.entries && VG_(strcmp)(value, "no") != 0)
         tg_refuse(arg, "'%s' is none of no, yes, data", value);
   } else if (is_option(arg, "--mappings", &value)) {
      tlb_reason why;
      if (!tg_large_pages_parse(value, &options, &why))
         tg_refuse(arg, "%s", why.text);
   } else if (VG_BOOL_CLO(arg, "--dump-instr", options.dump_instr)) {
   } else if (VG_BOOL_CLO(arg, "--separate-threads", options.separate_threads)) {
   } else if (VG_BOOL_CLO(arg, "--calls", options.calls)) {
   } else if (is_option(arg, "--merge-code", &value)) {
      if (value[0] == '\0')
         tg_refuse(arg, "%s", "a pattern for the names of objects is missing, such as libfoo*.so*");
      options.merge_code = VG_(strdup)("tg.options", value);
   } else if (VG_BOOL_CLO(arg, "--fast-path", options.fast_path)) {
   } else if (tg_page_options_take(arg)) {
   } else if (tg_kernel_options_take(arg)) {
   } else if (tg_fault_options_take(arg, &options.faults)) {
   } else if (tg_region_options_take(arg, &options.region)) {
   } else if (tg_exec_option(arg)) {
   } else if (VG_STREQ(arg, "--list-conflicts")) {
      tg_conflicts_print();
      VG_(exit)(0);
   } else if (VG_BOOL_CLO(arg, "--trace-aspace", options.trace_aspace)) {
   } else if (VG_BOOL_CLO(arg, "--debug-check", options.debug_check)) {
   } else if (VG_BOOL_CLO(arg, "--as-cachegrind", options.as_cachegrind)) {
      if (options.as_cachegrind)
         tg_vex_settings_as_cachegrind();
   } else {
      refuse_mistyped(arg);
      return False;
   }
   return True;
}

static void read_page_size(void)
{
   const HChar* arg = tg_given("--page-size");
   tlb_reason why;
   if (arg == NULL)
      return;
   const HChar* value = tg_given_value(arg);
   options.page_shift = tlb_page_size_parse(value, &why);
   if (options.page_shift != 0 && options.page_shift <= MAX_BASE_PAGE_SHIFT)
      return;
   tg_refuse(arg, "'%.40s' is no base page; allowed are powers of two from 4K to 1G, such as 4K, "
                  "64K or 2M", value);
}

static void check_outputs(void)
{
   options.is_written[TG_COSTS_OUT] = True;
   options.is_written[TG_REACH_OUT] = options.reach;
   options.is_written[TG_TIMELINE_OUT] = options.timeline;
   options.is_written[TG_ENTRIES_OUT] = options.entries;
   options.is_written[TG_DATA_OUT] = options.data;
   options.is_written[TG_FAULTS_OUT] = options.faults.on;
   tlb_reason why;
   const HChar* bad = tg_outputs_check(options.is_written, options.machine, options.n_machines,
                                       &why);
   if (bad != NULL)
      tg_refuse(bad, "%s", why.text);
}

static void read_costs(void)
{
   tlb_reason why;
   const HChar* bad = tg_cost_options_apply(options.machine, options.n_machines, &why);
   options.shows_cycles = tg_cost_options_any();
   if (bad != NULL)
      tg_refuse(bad, "%s", why.text);
}

static void check_mappings(void)
{
   if (!options.mappings)
      return;
   const TgMachine* wrong = tg_large_pages_wrong(&options);
   if (wrong != NULL)
      tg_refuse("--mappings", "the base page of %s is as large as that; give the size of a larger "
                           "page", wrong->name);
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

const TgOptions* tg_options_finish(void)
{
   tlb_reason why;
   const HChar* bad = tg_exec_init(&why);
   if (bad != NULL)
      tg_refuse(bad, "%s", why.text);
   if (options.merge_code != NULL && VG_WORDSIZE == 4)
      tg_refuse("--merge-code", "there is no room for merged code in 32-bit programs");
   read_page_size();
   bad = tg_page_options_finish(options.page_shift, &options.pages, &why);
   if (bad != NULL)
      tg_refuse(bad, "%s", why.text);
   tg_implied_turn_on(&options);
   settle_as_cachegrind();
   tg_run_machines_make(&options);
   tg_conflicts_check(&options);
   tg_run_machines_share(&options);
   tg_vex_settings_for_prefetches(&options);
   tg_rule_check(&options);
   tg_machine_names_give(options.machine, options.n_machines);
   read_costs();
   tg_run_machines_take_base_page(&options);
   bad = tg_fault_options_finish(options.page_shift, options.pages.policy.thp, &options.kernel,
                                 &options.faults, &why);
   if (bad != NULL)
      tg_refuse(bad, "%s", why.text);
   check_mappings();
   check_outputs();
   return &options;
}
