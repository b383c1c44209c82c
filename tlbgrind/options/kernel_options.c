/* Options about what changes the TLBs beside references. See options/kernel_options.h. */

#include "pub_tool_basics.h"

#include "pub_tool_libcassert.h"
#include "pub_tool_libcbase.h"
#include "pub_tool_libcprint.h"
#include "pub_tool_mallocfree.h"
#include "pub_tool_options.h"

#include "sim/machine/spaces.h"

#include "options/given.h"
#include "options/kernel_options.h"
#include "options/machine_args.h"

static const HChar* const names[TG_N_KERNEL_RULES] = { "--flush-policy=", "--syscall-tlb=",
                                                      "--prefetch=" };
static const HChar switch_name[] = "--switch-every=";
static const HChar cores_name[] = "--cores=";
static const HChar copies_name[] = "--copies=";

static const HChar* given[TG_N_KERNEL_RULES]; /* arguments */
static const HChar* switch_arg;
static const HChar* cores_arg;
static const HChar* copies_arg;
static Bool shared_context;

static Bool starts_with(const HChar* arg, const HChar* name)
{
   return VG_(strncmp)(arg, name, VG_(strlen)(name)) == 0;
}

static const HChar* value_of(TgKernelRule rule)
{
   return given[rule] == NULL ? NULL : given[rule] + VG_(strlen)(names[rule]);
}

Bool tg_kernel_options_take(const HChar* arg)
{
   for (UInt rule = 0; rule < TG_N_KERNEL_RULES; rule++) {
      if (starts_with(arg, names[rule])) {
         given[rule] = VG_(strdup)("tg.options", arg);
         return True;
      }
   }
   if (starts_with(arg, switch_name))
      switch_arg = VG_(strdup)("tg.options", arg);
   else if (starts_with(arg, cores_name))
      cores_arg = VG_(strdup)("tg.options", arg);
   else if (starts_with(arg, copies_name))
      copies_arg = VG_(strdup)("tg.options", arg);
   else
      return VG_BOOL_CLO(arg, "--shared-context", shared_context);
   return True;
}

void tg_kernel_options_print_usage(void)
{
   VG_(printf)(
"    --flush-policy=POLICY[,...]      which translations munmap, mprotect, fork and so on\n"
"                                     throw away: none, linux (few pages one by one,\n"
"                                     many by a flush of everything), ceiling:PAGES,\n"
"                                     shift:N (up to entries >> N pages one by one)\n"
"                                     or all; of several, each machine with each [none]\n"
"    --syscall-tlb=WHAT[,...]         what each system call does to the TLBs: none,\n"
"                                     flush, or kernel:PAGES (of code and of data that\n"
"                                     the kernel refers to, and the program's buffers);\n"
"                                     of several, each machine with each [none]\n"
"    --switch-every=INSTRUCTIONS[:PAGES]  context switches: everything is flushed, or\n"
"                                     another process refers to so many pages of code\n"
"                                     and of data [none]\n"
"    --cores=shared|per-thread|N[:THREADS]  which cores' TLBs the threads use: one for\n"
"                                     all, each its own, or so many, in turn, and of\n"
"                                     each core so many hardware threads, which share\n"
"                                     or divide its arrays [per-thread]\n"
"    --copies=N[:REFERENCES]          N copies of the program share a core, each with an\n"
"                                     address space of its own, so many references\n"
"                                     behind the one before it [1]\n"
"    --shared-context=no|yes          what copies have mapped from files is the same to\n"
"                                     the TLBs [no]\n"
"    --prefetch=ignore|weak|strong[,...]  what prefetch instructions do: nothing; weak:\n"
"                                     fill what some TLB has, and are dropped else;\n"
"                                     strong: fill as loads do; of several, each\n"
"                                     machine with each [ignore]\n");
}

/* --- Values --- */

/* Calls f for each value; false: f was false for one. */
static Bool each_value(const HChar* values, Bool (*f)(const HChar* value, void* opaque),
                       void* opaque)
{
   HChar* copy = VG_(strdup)("tg.options", values);
   Bool good = True;
   for (HChar* value = copy; value != NULL && good;) {
      HChar* end = VG_(strchr)(value, ',');
      if (end != NULL)
         *end++ = '\0';
      good = f(value, opaque);
      value = end;
   }
   VG_(free)(copy);
   return good;
}

typedef struct {
   TgKernelRule rule;
   tlb_reason* why;
} Check;

static Bool is_value(const HChar* value, void* opaque)
{
   const Check* c = opaque;
   TgKernelPolicy ignored;
   return tg_kernel_policy_parse(c->rule, value, "", &ignored, c->why);
}

static Bool parse_switch(const HChar* value, TgKernelOptions* out)
{
   enum { MOST_PAGES = 1 << 16 };
   HChar* end;
   if (!VG_(isdigit)(value[0]))
      return False;
   out->switch_every = VG_(strtoull10)(value, &end);
   if (*end == '\0')
      return out->switch_every > 0;
   if (*end != ':' || !VG_(isdigit)(end[1]))
      return False;
   const ULong pages = VG_(strtoull10)(end + 1, &end);
   out->switch_pages = (UInt)pages;
   return *end == '\0' && out->switch_every > 0 && pages > 0 && pages <= MOST_PAGES;
}

enum { MOST_CORES = 1000, MOST_SIBLINGS = 8 };

static Bool parse_cores(const HChar* value, TgKernelOptions* out)
{
   HChar* end;
   if (VG_(strcmp)(value, "shared") == 0) {
      out->cores = TG_CORES_SHARED;
      return True;
   }
   if (VG_(strcmp)(value, "per-thread") == 0) {
      out->cores = TG_CORE_PER_THREAD;
      return True;
   }
   const ULong n = VG_(strtoull10)(value, &end);
   out->cores = (UInt)n;
   if (!VG_(isdigit)(value[0]) || n == 0 || n > MOST_CORES)
      return False;
   if (*end == ':' && VG_(isdigit)(end[1])) {
      const ULong siblings = VG_(strtoull10)(end + 1, &end);
      out->siblings = (UInt)siblings;
      return *end == '\0' && siblings > 0 && siblings <= MOST_SIBLINGS;
   }
   return *end == '\0';
}

enum { MOST_BEHIND = 1000000 };

static Bool parse_copies(const HChar* value, TgKernelOptions* out)
{
   HChar* end;
   const ULong n = VG_(strtoull10)(value, &end);
   ULong behind = 0;
   out->copies = (UInt)n;
   if (!VG_(isdigit)(value[0]) || n == 0 || n > TLB_MAX_SPACES)
      return False;
   if (*end == ':' && VG_(isdigit)(end[1]))
      behind = VG_(strtoull10)(end + 1, &end);
   out->copies_behind = (UInt)behind;
   return *end == '\0' && behind <= MOST_BEHIND;
}

const HChar* tg_kernel_options_parse(TgKernelOptions* out, tlb_reason* why)
{
   for (UInt rule = 0; rule < TG_N_KERNEL_RULES; rule++) {
      Check c = { (TgKernelRule)rule, why };
      if (given[rule] != NULL && !each_value(value_of(c.rule), is_value, &c))
         return given[rule];
   }
   out->siblings = 1;
   if (!parse_cores(cores_arg == NULL ? "per-thread" : cores_arg + sizeof cores_name - 1, out)) {
      VG_(snprintf)(why->text, sizeof why->text,
                    "allowed are shared, per-thread, and 1 to %d, and behind it a colon and 1 to %d "
                    "hardware threads of each core, as 2:2", MOST_CORES, MOST_SIBLINGS);
      return cores_arg;
   }
   out->copies = 1;
   out->shared_context = shared_context;
   if (copies_arg != NULL && !parse_copies(copies_arg + sizeof copies_name - 1, out)) {
      VG_(snprintf)(why->text, sizeof why->text,
                    "allowed are 1 to %d copies, and behind them a colon and up to %d references "
                    "that one is behind the next, as 4:1000", TLB_MAX_SPACES, MOST_BEHIND);
      return copies_arg;
   }
   if (out->copies > 1 && cores_arg == NULL)
      out->cores = TG_CORES_SHARED;
   if (switch_arg == NULL || parse_switch(switch_arg + sizeof switch_name - 1, out))
      return NULL;
   VG_(snprintf)(why->text, sizeof why->text,
                 "not a number of instructions above 0, or one and 1 to 65536 pages, as "
                 "1000000:64");
   return switch_arg;
}

/* --- Machines --- */

static HChar* list;
static const HChar* name; /* of a machine, with the rules that it has */
static TgKernelRule rule_at_hand;

static Bool add(const HChar* value, void* opaque)
{
   const SizeT n = list == NULL ? 0 : VG_(strlen)(list);
   (void)opaque;
   list = VG_(realloc)("tg.options", list,
                       n + VG_(strlen)(name) + VG_(strlen)(value) + 16);
   VG_(sprintf)(list + n, "%s%s%c%s:%s", n == 0 ? "" : ",", name,
                VG_(strchr)(name, '@') == NULL ? '@' : '+', tg_kernel_rules[rule_at_hand], value);
   return True;
}

static Bool add_each(const HChar* machine, void* opaque)
{
   name = machine;
   return each_value(value_of(rule_at_hand), add, opaque);
}

HChar* tg_kernel_options_machines(const HChar* machines)
{
   HChar* all = NULL;
   for (UInt rule = 0; rule < TG_N_KERNEL_RULES; rule++) {
      const HChar* values = value_of((TgKernelRule)rule);
      if (values == NULL || VG_(strchr)(values, ',') == NULL)
         continue;
      list = NULL;
      rule_at_hand = (TgKernelRule)rule;
      tg_machine_args_each(all == NULL ? machines : all, add_each, NULL);
      VG_(free)(all);
      all = list;
   }
   return all;
}

void tg_kernel_options_apply(TgMachine* machine, UInt n_machines, TgKernelOptions* out)
{
   for (UInt i = 0; i < n_machines; i++) {
      TgKernelPolicy* p = &machine[i].kernel;
      const Bool own[TG_N_KERNEL_RULES] = { p->has_flush, p->has_syscall, p->has_prefetch };
      for (UInt rule = 0; rule < TG_N_KERNEL_RULES; rule++) {
         tlb_reason ignored;
         if (given[rule] != NULL && !own[rule])
            tg_kernel_policy_parse((TgKernelRule)rule, value_of((TgKernelRule)rule),
                                   machine[i].m.isa, p, &ignored);
      }
      machine[i].shared = out->switch_every > 0 || p->syscall != TG_SYSCALLS_NONE;
      out->flushes |= p->flush.how != TLB_FLUSH_NONE;
      out->syscalls |= p->syscall != TG_SYSCALLS_NONE;
      out->touches |= p->syscall == TG_SYSCALLS_KERNEL;
      out->prefetches |= p->prefetch != TLB_PREFETCH_IGNORE;
   }
}

const HChar* tg_kernel_options_arg(void)
{
   return given[TG_RULE_FLUSH] != NULL ? given[TG_RULE_FLUSH]
          : given[TG_RULE_SYSCALL] != NULL ? given[TG_RULE_SYSCALL]
          : switch_arg != NULL             ? switch_arg
          : given[TG_RULE_PREFETCH] != NULL ? given[TG_RULE_PREFETCH]
                                            : tg_given("--machine");
}
