/* Options: the command line and its errors. */

#include "pub_tool_basics.h"

#include "pub_tool_libcassert.h"
#include "pub_tool_libcbase.h"
#include "pub_tool_libcprint.h"
#include "pub_tool_libcproc.h"
#include "pub_tool_mallocfree.h"
#include "pub_tool_options.h"

#include "tg_host.h"
#include "tg_options.h"

/* An array option: its texts in the order given. They can only be read once
   the base page is known. */
typedef struct {
   const HChar* option; /* "--itlb" */
   UInt level;
   tlb_side side;
   Bool unified;
   const HChar* arg; /* the whole argument, NULL: not given */
} ArrayOption;

static ArrayOption arrays[] = {
   { "--itlb", 0, TLB_INSTRUCTION, False, NULL },
   { "--dtlb", 0, TLB_DATA, False, NULL },
   { "--stlb", 1, TLB_DATA, True, NULL },
};

enum { N_ARRAYS = sizeof arrays / sizeof arrays[0] };

static const HChar* page_size_arg;
static const HChar* machine_arg;
static TgOptions options = {
   .page_shift = 12,
   .fast_path = True,
   .out_file = "tlbgrind.out.%p",
   .entries_out_file = "tlbgrind.entries.%p",
};

/* The largest base page: a 32-bit address must hold it. */
enum { MAX_BASE_PAGE_SHIFT = 30 };

/* Ends the run because of an option; the reason is a sentence without line
   feed. The core's own function returns when the command line has been read,
   which is when most of ours are checked. */
static void refuse(const HChar* arg, const HChar* format, ...)
   PRINTF_CHECK(2, 3) __attribute__((noreturn));

static void refuse(const HChar* arg, const HChar* format, ...)
{
   HChar reason[512];
   va_list args;
   va_start(args, format);
   VG_(vsnprintf)(reason, sizeof reason, format, args);
   va_end(args);
   VG_(fmsg_bad_option)(arg, "%s\n", reason);
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

/* Vex's own settings as cachegrind has them: they decide which instructions of
   merged blocks and which dead loads there are. */
static void translate_as_cachegrind(void)
{
   VexControl stock;
   LibVEX_default_VexControl(&stock);
   VG_(clo_vex_control).guest_chase = stock.guest_chase;
   VG_(clo_vex_control).iropt_unroll_thresh = stock.iropt_unroll_thresh;
   VG_(clo_vex_control).iropt_register_updates_default = VexRegUpdSpAtMemAccess;
   VG_(clo_px_file_backed) = VexRegUpdSpAtMemAccess;
}

/* Options can come a second time in the other modes of the core's parser; to
   read a text twice does no harm. */
Bool tg_process_option(const HChar* arg)
{
   const HChar* value;
   for (UInt i = 0; i < N_ARRAYS; i++) {
      if (!is_option(arg, arrays[i].option, &value))
         continue;
      if (arrays[i].arg != NULL && VG_(strcmp)(arrays[i].arg, arg) != 0)
         refuse(arg, "%s is given twice, and was '%s' before; allowed is one "
                     "array per level and side",
                arrays[i].option, arrays[i].arg);
      arrays[i].arg = VG_(strdup)("tg.options", arg);
      return True;
   }
   if (is_option(arg, "--page-size", &value)) {
      page_size_arg = VG_(strdup)("tg.options", arg);
   } else if (is_option(arg, "--machine", &value)) {
      machine_arg = VG_(strdup)("tg.options", arg);
   } else if (VG_STR_CLO(arg, "--tlbgrind-out-file", options.out_file)) {
      if (options.out_file[0] == '\0')
         refuse(arg, "the name of the file is missing");
   } else if (is_option(arg, "--entries", &value)) {
      options.entries_data = VG_(strcmp)(value, "data") == 0;
      options.entries = options.entries_data || VG_(strcmp)(value, "yes") == 0;
      if (!options.entries && VG_(strcmp)(value, "no") != 0)
         refuse(arg, "'%s' is none of no, yes, data", value);
   } else if (VG_STR_CLO(arg, "--entries-out-file",
                         options.entries_out_file)) {
      if (options.entries_out_file[0] == '\0')
         refuse(arg, "the name of the file is missing");
   } else if (VG_BOOL_CLO(arg, "--fast-path", options.fast_path)) {
   } else if (tg_pages_option(arg)) {
   } else if (VG_BOOL_CLO(arg, "--trace-aspace", options.trace_aspace)) {
   } else if (VG_BOOL_CLO(arg, "--as-cachegrind", options.as_cachegrind)) {
      if (options.as_cachegrind)
         translate_as_cachegrind();
   } else {
      return False;
   }
   return True;
}

void tg_print_usage(void)
{
   VG_(printf)(
"    --machine=host|default           which processor's TLBs to simulate [host]\n"
"    --itlb=ENTRIES,WAYS[,SIZES[,POLICY]]  first-level instruction TLB\n"
"    --dtlb=ENTRIES,WAYS[,SIZES[,POLICY]]  first-level data TLB\n"
"    --stlb=ENTRIES,WAYS[,SIZES[,POLICY]]  second-level TLB of both sides\n"
"                                     WAYS: a number or full; SIZES: such as\n"
"                                     4K or 4K+2M [the base page]; POLICY: lru,\n"
"                                     plru, fifo, nru, random[:SEED] [lru]\n"
"    --page-size=SIZE                 the base page, 4K to 1G [4K]\n");
   tg_pages_print_usage();
   VG_(printf)(
"    --tlbgrind-out-file=FILE         write costs to FILE [tlbgrind.out.%%p]\n"
"    --entries=no|yes|data            record which code is executed, in order of\n"
"                                     its first execution, for tg_order; data:\n"
"                                     and which data is written (slow) [no]\n"
"    --entries-out-file=FILE          where to [tlbgrind.entries.%%p]\n"
"    --fast-path=no|yes               answer known hits without the simulator;\n"
"                                     the counts are the same [yes]\n");
}

void tg_print_debug_usage(void)
{
   VG_(printf)(
"    --as-cachegrind=no|yes           count as cachegrind does, to compare the\n"
"                                     two: at most one miss for a reference that\n"
"                                     crosses a page, both of its pages looked up\n"
"                                     in the second level if one misses the first,\n"
"                                     guarded helpers always performed, and code\n"
"                                     translated with cachegrind's settings; implies\n"
"                                     --fast-path=no [no]\n"
"    --trace-aspace=no|yes            print what happens to the client's mappings\n"
"                                     [no]\n");
}

static Bool holds(const TgMachine* m, const ArrayOption* a)
{
   return m->design.at[a->level][a->side].present != 0;
}

/* The page size in --page-size, as its logarithm. */
static UInt read_page_size(void)
{
   tlb_reason why;
   if (page_size_arg == NULL)
      return options.page_shift;
   const HChar* value = VG_(strchr)(page_size_arg, '=') + 1;
   const UInt shift = tlb_page_size_parse(value, &why);
   if (shift == 0)
      refuse(page_size_arg, "%s", why.text);
   if (shift > MAX_BASE_PAGE_SHIFT)
      refuse(page_size_arg,
             "'%s' is too large a base page; allowed are 4K to 1G", value);
   return shift;
}

/* The machine called `custom`: what the array options say, and a first level
   of the default machine where they say nothing. */
static void read_arrays(TgMachine* m)
{
   TgMachine fallback = { .assumptions = m->assumptions };
   tg_machine_default(&fallback, options.page_shift);
   m->name = "custom";
   m->design = (tlb_design){ .levels = 1 };
   for (UInt i = 0; i < N_ARRAYS; i++) {
      const ArrayOption* a = &arrays[i];
      tlb_reason why;
      if (a->arg == NULL)
         continue;
      if (!tlb_geometry_parse(VG_(strchr)(a->arg, '=') + 1, options.page_shift,
                              &m->design.at[a->level][a->side].g, &why))
         refuse(a->arg, "%s", why.text);
      if ((m->design.at[a->level][a->side].g.page_sizes
           >> options.page_shift & 1) == 0)
         refuse(a->arg, "the array does not hold pages of %llu bytes, the base "
                        "page of this run", 1ULL << options.page_shift);
      m->design.at[a->level][a->side].present = 1;
      m->design.unified[a->level] = a->unified;
      if (m->design.levels <= a->level)
         m->design.levels = a->level + 1;
   }
   for (UInt i = 0; i < N_ARRAYS; i++) {
      const ArrayOption* a = &arrays[i];
      if (a->level > 0 || holds(m, a))
         continue;
      m->design.at[a->level][a->side] = fallback.design.at[a->level][a->side];
      tg_machine_assume(m, "%s is not given; the default machine's is taken",
                        a->option);
   }
}

static Bool any_array_given(void)
{
   for (UInt i = 0; i < N_ARRAYS; i++) {
      if (arrays[i].arg != NULL)
         return True;
   }
   return False;
}

/* A name is expanded at the end, when the pid is the right one; what is wrong
   with it should not come to light only then. */
static void check_out_files(void)
{
   VG_(free)(VG_(expand_file_name)("--tlbgrind-out-file", options.out_file));
   VG_(free)(VG_(expand_file_name)("--entries-out-file",
                                   options.entries_out_file));
}

const TgOptions* tg_finish_options(void)
{
   TgMachine* m = &options.machine;
   tlb_reason why;
   const HChar* name = machine_arg == NULL ? "host"
                                           : VG_(strchr)(machine_arg, '=') + 1;

   options.page_shift = read_page_size();
   const HChar* bad = tg_pages_finish(options.page_shift, &options.pages, &why);
   if (bad != NULL)
      refuse(bad, "%s", why.text);
   options.fast_path &= !options.as_cachegrind;
   m->assumptions = VG_(newXA)(VG_(malloc), "tg.options", VG_(free),
                               sizeof(HChar*));
   if (any_array_given()) {
      if (machine_arg != NULL)
         refuse(machine_arg, "a machine has its own arrays; leave out either "
                             "--machine or --itlb, --dtlb, --stlb");
      read_arrays(m);
   } else if (VG_(strcmp)(name, "host") == 0) {
      tg_machine_host(m, options.page_shift);
   } else if (VG_(strcmp)(name, "default") == 0) {
      tg_machine_default(m, options.page_shift);
   } else {
      refuse(machine_arg, "'%s' is no machine; allowed are host and default",
             name);
   }
   tl_assert(tlb_design_check(&m->design, options.page_shift, &why));
   check_out_files();
   return &options;
}
