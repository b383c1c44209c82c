/* Parses and checks the command line. See options/command_line.h. */

#include "pub_tool_basics.h"

#include "pub_tool_libcassert.h"
#include "pub_tool_libcbase.h"
#include "pub_tool_libcprint.h"
#include "pub_tool_libcproc.h"
#include "pub_tool_mallocfree.h"
#include "pub_tool_options.h"
#include "pub_tool_vki.h"
#include "pub_tool_xarray.h"

#include "sim/machine/siblings.h"
#include "sim/machine/spaces.h"
#include "sim/mmu/mmu.h"
#include "sim/base/text.h"

#include "options/array_options.h"
#include "options/exec.h"
#include "options/machine_args.h"
#include "options/machine_names.h"
#include "base/number_format.h"
#include "options/advice.h"
#include "options/closest.h"
#include "options/command_line.h"
#include "options/conflicts.h"
#include "options/cost_options.h"
#include "options/features.h"
#include "options/mapping_pages.h"
#include "options/machines.h"
#include "options/output_names.h"

static const HChar* page_size_arg;
static const HChar* machine_arg;
static const HChar* advice_arg;
static Bool native_is_given;
static TgOptions options = {
   .page_shift = 12,
   .region = { .instr_at_start = True },
   .native = True,
   .fast_path = True,
   .data_frames = 8,
};

/* The largest base page: a 32-bit address must hold it. */
enum { MAX_BASE_PAGE_SHIFT = 30 };

/* Ends the run because of an option; the reason is a sentence without line feed. The core's own
   function for this returns after the command line has been read, when most options are
   checked. */
static void refuse(const HChar* arg, const HChar* format, ...)
   PRINTF_CHECK(2, 3) __attribute__((noreturn));

static void refuse(const HChar* arg, const HChar* format, ...)
{
   HChar reason[VKI_PATH_MAX + 512];
   va_list args;
   va_start(args, format);
   VG_(vsnprintf)(reason, sizeof reason, format, args);
   va_end(args);
   HChar option[sizeof reason], shown[sizeof reason];
   tlb_text text = tlb_text_in(option, sizeof option);
   tlb_text_add(&text, arg);
   text = tlb_text_in(shown, sizeof shown);
   tlb_text_add(&text, reason);
   VG_(fmsg_bad_option)(option, "%s\n", shown);
   VG_(exit)(1);
}

static Bool is_option(const HChar* arg, const HChar* option, const HChar** value)
{
   const SizeT n = VG_(strlen)(option);
   if (VG_(strncmp)(arg, option, n) != 0 || arg[n] != '=')
      return False;
   *value = arg + n + 1;
   return True;
}

/* Sets Vex's settings to cachegrind's. They determine which instructions of merged blocks and which
   dead loads are counted. */
static void translate_as_cachegrind(void)
{
   VexControl stock;
   LibVEX_default_VexControl(&stock);
   VG_(clo_vex_control).guest_chase = stock.guest_chase;
   VG_(clo_vex_control).iropt_unroll_thresh = stock.iropt_unroll_thresh;
   VG_(clo_vex_control).iropt_register_updates_default = VexRegUpdSpAtMemAccess;
   VG_(clo_px_file_backed) = VexRegUpdSpAtMemAccess;
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
         refuse(arg, "'%s' is not NAME:BYTES, with 1 to 65536 bytes", one);
      n_found++;
   }
   if (n_found != n)
      refuse(arg, "'%s' is not NAME:BYTES[,NAME:BYTES...]", value);
   VG_(free)(list);
}

/* Ends the run if the argument resembles an option. */
static void refuse_mistyped(const HChar* arg)
{
   const HChar* name = tg_closest_option(arg);
   const HChar* value = VG_(strchr)(arg, '=');
   /* Close to --pages, and in callgrind's and massif's users' minds an option. */
   if (VG_(strncmp)(arg, "--phase", 7) == 0)
      refuse(arg, "there is no such option; the program begins a phase by TLBGRIND_MARK(\"NAME\") of "
                  "tlbgrind.h, and tg_annotate --phase=NAME shows it");
   if (name == NULL)
      return;
   const SizeT n = VG_(strlen)(name);
   if (VG_(strncmp)(arg, name, n) == 0 && (arg[n] == '=' || arg[n] == '\0')) {
      if (value == NULL)
         refuse(arg, "the value is missing: %s=...", name);
      refuse(arg, "it stands alone, behind the command tlbgrind: tlbgrind %s%s", name,
             VG_(strcmp)(name, "--show-machine") == 0 ? value : "");
   }
   if (VG_(strcmp)(name, "--list-machines") == 0)
      value = "";
   refuse(arg, "there is no such option; did you mean %s%s?", name,
          value == NULL ? "=..." : value);
}

Bool tg_options_take(const HChar* arg)
{
   const HChar* value;
   tg_features_note(arg);
   if (tg_array_options_take(arg))
      return True;
   if (VG_(strcmp)(arg, "--list-machines") == 0 || is_option(arg, "--list-machines", &value)) {
      tlb_reason why;
      const HChar* equals = VG_(strchr)(arg, '=');
      if (!tg_machine_print_list(equals == NULL ? NULL : equals + 1, &why))
         refuse(arg, "%s", why.text);
      VG_(exit)(0);
   }
   if (is_option(arg, "--page-size", &value)) {
      page_size_arg = VG_(strdup)("tg.options", arg);
   } else if (is_option(arg, "--machine", &value)) {
      machine_arg = VG_(strdup)("tg.options", arg);
   } else if (is_option(arg, "--advice", &value)) {
      advice_arg = VG_(strdup)("tg.options", arg);
   } else if (tg_cost_options_take(arg)) {
   } else if (VG_BOOL_CLO(arg, "--native-start", options.native)) {
      native_is_given = True;
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
         refuse(arg, "'%s' is none of no, yes, data", value);
   } else if (is_option(arg, "--mappings", &value)) {
      tlb_reason why;
      if (!tg_large_pages_parse(value, &options, &why))
         refuse(arg, "%s", why.text);
   } else if (VG_BOOL_CLO(arg, "--dump-instr", options.dump_instr)) {
   } else if (VG_BOOL_CLO(arg, "--separate-threads", options.separate_threads)) {
   } else if (VG_BOOL_CLO(arg, "--calls", options.calls)) {
   } else if (is_option(arg, "--merge-code", &value)) {
      if (value[0] == '\0')
         refuse(arg, "%s", "a pattern for the names of objects is missing, such as libfoo*.so*");
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
         translate_as_cachegrind();
   } else {
      refuse_mistyped(arg);
      return False;
   }
   return True;
}

/* The logarithm of the size in --page-size. */
static UInt read_page_size(void)
{
   tlb_reason why;
   if (page_size_arg == NULL)
      return options.page_shift;
   const HChar* value = VG_(strchr)(page_size_arg, '=') + 1;
   const UInt shift = tlb_page_size_parse(value, &why);
   if (shift == 0 || shift > MAX_BASE_PAGE_SHIFT) {
      HChar quoted[41] = "";
      VG_(strncpy)(quoted, value, sizeof quoted - 1);
      refuse(page_size_arg, "'%s' is no base page; allowed are powers of two "
                            "from 4K to 1G, such as 4K, 64K or 2M", quoted);
   }
   return shift;
}

static Bool is_taken(const HChar* name)
{
   for (UInt i = 0; i < options.n_machines; i++) {
      if (VG_(strcmp)(options.machine[i].given, name) == 0)
         return True;
   }
   return False;
}

/* Makes the machine of --machine=, and those that --advice= sets beside it. */
static const HChar* add_advice(const HChar* machine)
{
   tlb_reason why;
   if (tg_machine_args_are_many(machine))
      refuse(advice_arg, "it is for one machine at a time, not for %s", machine);
   if (tg_array_options_given() && machine_arg == NULL)
      refuse(advice_arg, "it is for a machine of --machine=; leave out --itlb, --dtlb and --stlb");
   options.advice = True;
   const HChar* list = tg_advice_machines(machine, VG_(strchr)(advice_arg, '=') + 1, &why);
   if (list == NULL)
      refuse(advice_arg, "%s", why.text);
   return list;
}

/* The argument that asks for flushes, or for what system calls and context switches do. */
static const HChar* kernel_arg(void)
{
   return tg_kernel_options_arg() != NULL ? tg_kernel_options_arg() : machine_arg;
}

/* The argument that asks for prefetches. */
static const HChar* prefetch_arg(void)
{
   const HChar* arg = tg_kernel_options_prefetch_arg();
   return arg != NULL ? arg : machine_arg;
}

/* The machines with each of the policies, if there are several. */
static const HChar* add_policies(const HChar* names)
{
   tlb_reason why;
   const HChar* bad = tg_kernel_options_parse(&options.kernel, &why);
   if (bad != NULL)
      refuse(bad, "%s", why.text);
   const HChar* list = tg_kernel_options_machines(names);
   if (list == NULL)
      return names;
   if (options.advice)
      refuse(kernel_arg(), "--advice=... is about one machine; give one policy");
   return list;
}

/* The machine of --itlb=, --dtlb= and --stlb= with each of several policies. */
static void copy_custom(void)
{
   HChar* names = tg_kernel_options_machines("custom");
   if (names == NULL)
      return;
   const TgMachine custom = options.machine[0];
   HChar* saved;
   options.n_machines = 0;
   for (HChar* name = VG_(strtok_r)(names, ",", &saved); name != NULL;
        name = VG_(strtok_r)(NULL, ",", &saved)) {
      if (options.n_machines == TLB_MAX_MMUS)
         refuse(kernel_arg(), "a run has at most %d machines", TLB_MAX_MMUS);
      options.machine = VG_(realloc)("tg.options.machines", options.machine,
                                     (options.n_machines + 1) * sizeof *options.machine);
      TgMachine* m = &options.machine[options.n_machines++];
      tlb_reason why;
      *m = custom;
      m->given = VG_(strdup)("tg.options", name);
      m->assumptions = VG_(cloneXA)("tg.options", custom.assumptions);
      if (!tg_kernel_policy_take(VG_(strchr)(name, '@') + 1, m->m.isa, &m->kernel, &why))
         refuse(kernel_arg(), "%s", why.text);
   }
   VG_(free)(names);
}

/* The machines' arrays become what a hardware thread has of them. */
static void check_siblings(void)
{
   const TgKernelOptions* k = &options.kernel;
   if (k->siblings == 1)
      return;
   for (UInt i = 0; i < options.n_machines; i++) {
      tlb_reason why;
      if (!tlb_siblings_divide(&options.machine[i].m, k->siblings, &why))
         refuse(tg_kernel_options_cores_arg(), "%s", why.text);
   }
}

/* Copies are told apart by numbers above the bits of an address. */
static void check_copies(void)
{
   TgKernelOptions* k = &options.kernel;
   const HChar* arg = tg_kernel_options_copies_arg();
   if (VG_WORDSIZE == 4)
      refuse(arg, "copies are for 64-bit programs: an address of 32 bits has no room for the "
             "copy's number");
   k->space_step = 1;
   for (UInt i = 0; i < options.n_machines; i++) {
      tlb_reason why;
      if (!tlb_spaces_step(&options.machine[i].m, k->copies, &k->space_step, &why))
         refuse(arg, "%s", why.text);
   }
}

static void check_kernel(void)
{
   const TgKernelOptions* k = &options.kernel;
   if (options.as_cachegrind)
      options.kernel.cores = TG_CORES_SHARED;
   check_siblings();
   if (k->copies > 1)
      check_copies();
}

static Bool read_machine(const HChar* name, void* opaque)
{
   const HChar* arg = opaque;
   const HChar* where;
   tlb_reason why;
   if (name[0] == '\0')
      refuse(arg, "the name of a machine is missing");
   if (options.n_machines == TLB_MAX_MMUS)
      refuse(arg, "a run has at most %d machines", TLB_MAX_MMUS);
   options.machine = VG_(realloc)("tg.options.machines", options.machine,
                                  (options.n_machines + 1) * sizeof *options.machine);
   TgMachine* m = &options.machine[options.n_machines];
   if (!tg_machine_by_name(name, page_size_arg == NULL ? 0 : options.page_shift,
                           &options.pages.policy, m, &where, &why))
      refuse(arg, "%s%s", where, why.text);
   if (is_taken(m->given))
      refuse(arg, "machine '%s' is given twice", m->given);
   options.n_machines++;
   return True;
}

/* The list with a machine for each value of a range. */
static const HChar* expand_ranges(const HChar* names)
{
   tlb_reason why;
   const HChar* list = tg_machine_args_expand(names, &why);
   if (list == NULL)
      refuse(machine_arg, "%s", why.text);
   return list;
}

/* Whether the machine is a processor, built in or the host's, as it is: not a file, `custom` or
   `default`, and without overrides. */
static Bool is_known_processor(const TgMachine* m)
{
   return m->file == NULL && !m->changed && VG_(strcmp)(m->given, "custom") != 0
          && VG_(strcmp)(m->given, "default") != 0 && VG_(strncmp)(m->given, "default@", 8) != 0;
}

/* A rule for pages that no array of the machine holds is reported as an assumption. It ends the run
   if it is in the machine's own rules, and the processor has no pages that large. */
static void check_rule(TgMachine* m, UInt number)
{
   const tlb_page_rule* rule = &m->pages.rule[number];
   const UInt shift = tlb_page_rule_shift(rule, m->m.base_page_shift);
   if (rule->how == TLB_CONTIG && shift == 21)
      tg_machine_assume(m, "contig gives blocks of 2M, which are taken for pages of 2M");
   if (shift == 0 || tlb_machine_holds_large(&m->m, shift) != TLB_HOLDS_NO)
      return;
   HChar text[160];
   const TgNumber size = tg_page_size(shift);
   tlb_page_rule_print(rule, text, sizeof text);
   if (number >= options.pages.policy.n_rules && is_known_processor(m)
       && shift > tlb_machine_largest_page(&m->m))
      refuse(machine_arg, "%s: the processor has no pages of %s; leave out the rule, or "
                          "describe other arrays in a machine file (--show-machine=%s prints "
                          "one to begin with)", m->given, size.text, m->m.name);
   tg_machine_assume(m, "no array holds pages of %s, which %s asks for: they are entered in "
                        "pieces, or passed by%s", size.text, text,
                     is_known_processor(m) || m->file != NULL ? ""
                                     : "; --dtlb=64,4,4K --dtlb=32,4,2M describes one that does");
}

/* Reports rules without effect. A machine without arrays for transparent huge pages gets none: the
   kernel of such a machine would make none. */
static void check_large_pages(void)
{
   for (UInt i = 0; i < options.n_machines; i++) {
      TgMachine* m = &options.machine[i];
      m->n_own = VG_(sizeXA)(m->assumptions);
      const UInt thp = tlb_thp_shift(m->m.base_page_shift);
      for (UInt j = 0; j < m->pages.n_rules; j++)
         check_rule(m, j);
      if (options.pages.thp_arg != NULL && m->pages.thp == TLB_THP_NEVER
          && tlb_page_rules_have_thp(&m->pages))
         refuse(machine_arg, "%s has a rule for transparent huge pages, which %s leaves none "
                             "for; leave out one of the two", m->given, options.pages.thp_arg);
      if (m->pages.thp == TLB_THP_NEVER
          || (thp != 0 && tlb_machine_holds_large(&m->m, thp) != TLB_HOLDS_NO))
         continue;
      if (options.pages.thp_arg != NULL && m->pages.thp == TLB_THP_ALWAYS
          && !tlb_page_rules_have_thp(&m->pages))
         tg_machine_assume(m, "no array holds pages of %s: there are no transparent huge pages",
                           tg_page_size(thp).text);
      m->pages.thp = TLB_THP_NEVER;
   }
}

/* An option that is of no use without the feature turns it on. That contradicts the feature's own
   switch if that is off. */
static void imply(Bool* on, TgFeature feature)
{
   const HChar* by = tg_feature_arg(feature);
   const HChar* off = tg_feature_off_arg(feature);
   if (by == NULL || *on)
      return;
   if (off != NULL)
      refuse(by, "%s contradicts it; leave out one of them", off);
   *on = True;
}

static void imply_all(void)
{
   imply(&options.reach, TG_HAS_REACH);
   imply(&options.timeline, TG_HAS_TIMELINE);
   imply(&options.entries, TG_HAS_ENTRIES);
   imply(&options.data_offsets, TG_HAS_DATA_OFFSETS);
   imply(&options.data, TG_HAS_DATA);
   imply(&options.faults.on, TG_HAS_FAULTS);
   /* cachegrind has no huge pages, and under it a program has Valgrind's start and layout. */
   if (options.as_cachegrind && options.pages.thp_arg == NULL) {
      options.pages.policy.thp = TLB_THP_NEVER;
      options.pages.thp_arg = "--as-cachegrind=yes";
   }
   if (options.as_cachegrind && !native_is_given)
      options.native = False;
   options.fast_path &= !options.as_cachegrind;
}

/* Ends the run, with all that contradict each other, if any options do. */
static void check_conflicts(void)
{
   HChar* text;
   const HChar* first = tg_conflicts_find(&options, &text);
   if (first != NULL) {
      VG_(fmsg_bad_option)(first, "%s", text);
      VG_(exit)(1);
   }
   VG_(free)(text);
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
      refuse(bad, "%s", why.text);
}

/* Without --page-size the base page is the smallest of the machines' own: all machines can be
   simulated with it. */
static void take_smallest_base_page(void)
{
   options.page_shift = options.machine[0].m.base_page_shift;
   for (UInt i = 1; i < options.n_machines; i++) {
      const UInt shift = options.machine[i].m.base_page_shift;
      options.page_shift = shift < options.page_shift ? shift
                                                      : options.page_shift;
   }
}

static void read_costs(void)
{
   tlb_reason why;
   const HChar* bad = tg_cost_options_apply(options.machine, options.n_machines, &why);
   options.shows_cycles = tg_cost_options_any();
   if (bad != NULL)
      refuse(bad, "%s", why.text);
}

static void check_mappings(void)
{
   if (!options.mappings)
      return;
   const TgMachine* wrong = tg_large_pages_wrong(&options);
   if (wrong != NULL)
      refuse("--mappings", "the base page of %s is as large as that; give the size of a larger "
                           "page", wrong->name);
}

/* A prefetch's operands are read from the guest's registers, of which no update may be left out
   then. */
static void settle_prefetches(void)
{
   if (!options.kernel.prefetches)
      return;
   VG_(clo_vex_control).iropt_register_updates_default = VexRegUpdAllregsAtEachInsn;
   VG_(clo_px_file_backed) = VexRegUpdAllregsAtEachInsn;
}

/* The machines, with what the kernel does to each of them. */
static void make_machines(const HChar* names)
{
   tlb_reason why;
   if (tg_array_options_given() && machine_arg == NULL) {
      options.machine = VG_(malloc)("tg.options.machines",
                                    sizeof *options.machine);
      const HChar* bad = tg_array_options_finish(options.page_shift, options.machine, &why);
      if (bad != NULL)
         refuse(bad, "%s", why.text);
      options.machine->pages = options.pages.policy;
      options.n_machines = 1;
      copy_custom();
   } else {
      tg_machine_args_each(names, read_machine, CONST_CAST(HChar*, machine_arg));
   }
   tg_kernel_options_apply(options.machine, options.n_machines, &options.kernel);
}

const TgOptions* tg_options_finish(void)
{
   const HChar* names = machine_arg == NULL ? "host"
                                            : VG_(strchr)(machine_arg, '=') + 1;
   tlb_reason why;
   const HChar* bad = tg_exec_init(&why);
   if (bad != NULL)
      refuse(bad, "%s", why.text);
   if (options.merge_code != NULL && VG_WORDSIZE == 4)
      refuse("--merge-code", "there is no room for merged code in 32-bit programs");
   names = expand_ranges(names);
   if (advice_arg != NULL)
      names = add_advice(names);
   names = add_policies(names);
   options.page_shift = read_page_size();
   bad = tg_page_options_finish(options.page_shift, &options.pages, &why);
   if (bad != NULL)
      refuse(bad, "%s", why.text);
   imply_all();
   make_machines(names);
   check_conflicts();
   check_kernel();
   settle_prefetches();
   check_large_pages();
   tg_machine_names_give(options.machine, options.n_machines);
   read_costs();
   if (page_size_arg == NULL)
      take_smallest_base_page();
   bad = tg_fault_options_finish(options.page_shift, options.pages.policy.thp,
                                 options.kernel.flushes || options.kernel.touches ? kernel_arg()
                                                                                  : NULL,
                                 options.kernel.prefetches ? prefetch_arg() : NULL,
                                 &options.faults, &why);
   if (bad != NULL)
      refuse(bad, "%s", why.text);
   check_mappings();
   check_outputs();
   return &options;
}
