/* Makes and checks the names of the outputs. See options/output_names.h. */

#include "pub_tool_basics.h"

#include "pub_tool_libcbase.h"
#include "pub_tool_libcfile.h"
#include "pub_tool_libcprint.h"
#include "pub_tool_mallocfree.h"
#include "pub_tool_options.h"
#include "pub_tool_xarray.h"

#include "pub_tool_clientstate.h" /* needs pub_tool_xarray.h before it */

#include "base/file.h"
#include "base/path.h"
#include "base/streams.h"
#include "options/exec.h"
#include "options/given.h"
#include "options/output_names.h"

static const HChar prefix_option[] = "--out-prefix";

static const struct {
   const HChar* option;
   const HChar* name; /* without it: "tlbgrind", an ending, and the process */
} outputs[TG_N_OUTPUTS] = {
   [TG_COSTS_OUT] = { "--tlbgrind-out-file", "tlbgrind.out.%p" },
   [TG_REACH_OUT] = { "--reach-out-file", "tlbgrind.reach.%p" },
   [TG_TIMELINE_OUT] = { "--timeline-out-file", "tlbgrind.timeline.%p" },
   [TG_ENTRIES_OUT] = { "--entries-out-file", "tlbgrind.entries.%p" },
   [TG_DATA_OUT] = { "--data-out-file", "tlbgrind.data.%p" },
   [TG_FAULTS_OUT] = { "--faults-out-file", "tlbgrind.faults.%p" },
   [TG_RECORDING_OUT] = { "--record", "tlbgrind.recording.%p" },
};

const HChar* tg_output_arg(TgOutput output)
{
   return tg_given(outputs[output].option);
}

/* The default with PREFIX in place of "tlbgrind", and without the process; behind a folder's name
   with a slash, the default itself. To be freed. */
static HChar* with_prefix(const HChar* prefix, const HChar* name)
{
   const SizeT length = VG_(strlen)(prefix);
   const SizeT room = length + VG_(strlen)(name) + 1;
   HChar* whole = VG_(malloc)("tg.outputs.prefix", room);
   if (prefix[length - 1] == '/') {
      VG_(snprintf)(whole, (Int)room, "%s%s", prefix, name);
      return whole;
   }
   VG_(snprintf)(whole, (Int)room, "%s%s", prefix, VG_(strchr)(name, '.'));
   *VG_(strrchr)(whole, '.') = '\0'; /* before %p */
   return whole;
}

/* As it is given, or the default. */
static const HChar* format_of(TgOutput output)
{
   static HChar* prefixed[TG_N_OUTPUTS];
   const HChar* arg = tg_output_arg(output);
   if (arg != NULL)
      return tg_given_value(arg);
   const HChar* prefix = tg_given(prefix_option);
   if (prefix == NULL || tg_given_value(prefix)[0] == '\0')
      return prefix == NULL ? outputs[output].name : "";
   if (prefixed[output] == NULL)
      prefixed[output] = with_prefix(tg_given_value(prefix), outputs[output].name);
   return prefixed[output];
}

/* The argument to blame for the output's name. */
static const HChar* blame(TgOutput output)
{
   const HChar* arg = tg_output_arg(output);
   if (arg == NULL)
      arg = tg_given(prefix_option);
   return arg == NULL ? outputs[output].option : arg;
}

HChar* tg_output_name(TgOutput output)
{
   const HChar* folder = tg_exec_folder();
   const HChar* given = format_of(output);
   if (folder == NULL)
      return VG_(expand_file_name)(outputs[output].option, given);
   /* The core makes a relative name absolute, with this program's first working folder. A slash
      before the name prevents that; an absolute name begins with two slashes then. */
   const SizeT room = VG_(strlen)(given) + 2;
   HChar* format = VG_(malloc)("tg.outputs", room);
   VG_(snprintf)(format, (Int)room, "/%s", given);
   HChar* name = VG_(expand_file_name)(outputs[output].option, format);
   VG_(free)(format);
   HChar* whole = name[1] == '/' ? VG_(strdup)("tg.outputs", name + 1)
                                 : VG_(malloc)("tg.outputs", VG_(strlen)(folder)
                                                                + VG_(strlen)(name) + 1);
   if (name[1] != '/')
      VG_(sprintf)(whole, "%s%s", folder, name);
   VG_(free)(name);
   return whole;
}

HChar* tg_output_name_of(const HChar* name, const TgMachine* machine, UInt n_machines)
{
   if (n_machines == 1 || tg_streams_has(name))
      return VG_(strdup)("tg.outputs", name);
   const SizeT room = VG_(strlen)(name) + VG_(strlen)(machine->label) + 2;
   HChar* whole = VG_(malloc)("tg.outputs", room);
   VG_(snprintf)(whole, (Int)room, "%s_%s", name, machine->label);
   return whole;
}

static Bool stat_folder(const HChar* name, struct vg_stat* st)
{
   const SizeT n = (SizeT)(tg_path_file(name) - name);
   HChar* folder = VG_(strdup)("tg.outputs", n == 0 ? "." : name);
   if (n > 0)
      folder[n] = '\0';
   const Bool is_there = !sr_isError(VG_(stat)(folder, st));
   VG_(free)(folder);
   return is_there;
}

/* Whether both names are one file, which need not exist, in an existing folder. Neither may be a
   link. */
static Bool is_one_target(const HChar* a, const HChar* b)
{
   struct vg_stat of_a, of_b;
   if (VG_(strcmp)(a, b) == 0)
      return True;
   return VG_(strcmp)(tg_path_file(a), tg_path_file(b)) == 0
          && stat_folder(a, &of_a) && stat_folder(b, &of_b)
          && of_a.dev == of_b.dev && of_a.ino == of_b.ino;
}

static Bool is_one_file(const HChar* a, const HChar* b)
{
   HChar* target_of_a = tg_streams_target(a);
   HChar* target_of_b = tg_streams_target(b);
   const Bool is_one = is_one_target(target_of_a, target_of_b);
   VG_(free)(target_of_a);
   VG_(free)(target_of_b);
   return is_one;
}

/* Whether the costs of one of the machines have that file name. */
static Bool has_costs(const HChar* name, const TgMachine* machine, UInt n_machines)
{
   HChar* costs = tg_output_name(TG_COSTS_OUT);
   Bool is_one = False;
   for (UInt i = 0; i < n_machines; i++) {
      HChar* own = tg_output_name_of(costs, &machine[i], n_machines);
      is_one |= is_one_file(own, name);
      VG_(free)(own);
   }
   VG_(free)(costs);
   return is_one;
}

static Bool is_same(TgOutput output, const HChar* name, const TgMachine* machine,
                    UInt n_machines)
{
   if (output == TG_COSTS_OUT)
      return has_costs(name, machine, n_machines);
   HChar* other = tg_output_name(output);
   const Bool is_one = is_one_file(other, name);
   VG_(free)(other);
   return is_one;
}

/* The first output with the same name as `output`, which may be itself. */
static TgOutput first_with_name_of(TgOutput output, const Bool on[TG_N_OUTPUTS],
                                   const TgMachine* machine, UInt n_machines)
{
   HChar* name = tg_output_name(output);
   TgOutput first = output;
   for (TgOutput i = output; i-- > 0 && !tg_streams_has(name);) {
      if (on[i] && is_same(i, name, machine, n_machines))
         first = i;
   }
   VG_(free)(name);
   return first;
}

/* The core's argument for the file of the summary; NULL: the summary goes to no file. */
static const HChar* log_file_arg(void)
{
   static const HChar option[] = "--log-file=";
   const HChar* last = NULL;
   for (Word i = 0; i < VG_(sizeXA)(VG_(args_for_valgrind)); i++) {
      const HChar* arg = *(HChar**)VG_(indexXA)(VG_(args_for_valgrind), i);
      if (VG_(strncmp)(arg, option, sizeof option - 1) == 0)
         last = arg;
      else if (VG_(strncmp)(arg, "--log-fd=", 9) == 0
               || VG_(strncmp)(arg, "--log-socket=", 13) == 0)
         last = NULL;
   }
   return last;
}

/* Whether the output would be renamed over the core's log, which is open and would be lost. */
static Bool is_the_log(TgOutput output, const TgMachine* machine, UInt n_machines)
{
   const HChar* arg = log_file_arg();
   if (arg == NULL)
      return False;
   HChar* log = VG_(expand_file_name)("--log-file", VG_(strchr)(arg, '=') + 1);
   const Bool is_one = !tg_streams_has(log) && is_same(output, log, machine, n_machines);
   VG_(free)(log);
   return is_one;
}

/* The first machine whose file is a link to the same target as an earlier machine's; 0: none. */
static UInt links_to_one_file(const TgMachine* machine, UInt n_machines)
{
   HChar* costs = tg_output_name(TG_COSTS_OUT);
   HChar** links = VG_(calloc)("tg.outputs", n_machines, sizeof *links);
   UInt found = 0;
   for (UInt i = 0; i < n_machines && found == 0 && !tg_streams_has(costs); i++) {
      links[i] = tg_output_name_of(costs, &machine[i], n_machines);
      if (!tg_file_is_special(links[i]) || tg_streams_has(links[i])) {
         VG_(free)(links[i]);
         links[i] = NULL;
      }
      for (UInt j = 0; j < i && links[i] != NULL; j++) {
         if (links[j] != NULL && is_one_file(links[i], links[j]))
            found = i;
      }
   }
   for (UInt i = 0; i < n_machines; i++)
      VG_(free)(links[i]);
   VG_(free)(links);
   VG_(free)(costs);
   return found;
}

static void keep_open(TgOutput output)
{
   HChar* name = tg_output_name(output);
   tg_streams_keep(name);
   VG_(free)(name);
}

/* Why one of the output's files cannot be written. NULL: nothing is against it. A program that the
   process becomes by exec is not refused: by then there are counts to lose. */
static const HChar* obstacle(TgOutput output, const TgMachine* machine, UInt n_machines)
{
   if (tg_exec_count() > 0)
      return NULL;
   HChar* name = tg_output_name(output);
   const HChar* found = output == TG_COSTS_OUT ? NULL : tg_file_obstacle(name);
   for (UInt i = 0; output == TG_COSTS_OUT && i < n_machines && found == NULL; i++) {
      HChar* own = tg_output_name_of(name, &machine[i], n_machines);
      found = tg_file_obstacle(own);
      VG_(free)(own);
   }
   VG_(free)(name);
   return found;
}

const HChar* tg_outputs_check(const Bool on[TG_N_OUTPUTS], const TgMachine* machine,
                              UInt n_machines, tlb_reason* why)
{
   for (TgOutput i = 0; i < TG_N_OUTPUTS; i++) {
      const Bool is_given = tg_output_arg(i) != NULL;
      if (format_of(i)[0] == '\0') {
         VG_(snprintf)(why->text, sizeof why->text, "the name of the file is missing");
         return blame(i);
      }
      if (!on[i] && !is_given)
         continue;
      const TgOutput other = first_with_name_of(i, on, machine, n_machines);
      if (on[i] && other != i) {
         VG_(snprintf)(why->text, sizeof why->text,
                       "%s would go to the same file; give each its own",
                       outputs[is_given ? other : i].option);
         return tg_output_arg(is_given ? i : other);
      }
      if (on[i] && is_the_log(i, machine, n_machines)) {
         VG_(snprintf)(why->text, sizeof why->text,
                       "%s would go to the same file; give each its own",
                       is_given ? "--log-file" : outputs[i].option);
         return is_given ? tg_output_arg(i) : log_file_arg();
      }
      const HChar* found = on[i] ? obstacle(i, machine, n_machines) : NULL;
      if (found != NULL) {
         VG_(snprintf)(why->text, sizeof why->text, "%s%s; give a file that can be written",
                       blame(i) != outputs[i].option
                          ? "" : "the default is a file in the working folder: ",
                       found);
         return blame(i);
      }
      if (on[i])
         keep_open(i);
   }
   const UInt linked = links_to_one_file(machine, n_machines);
   if (linked > 0) {
      VG_(snprintf)(why->text, sizeof why->text,
                    "the file of '%s' is a link to another machine's; remove it",
                    machine[linked].name);
      return blame(TG_COSTS_OUT);
   }
   return NULL;
}
