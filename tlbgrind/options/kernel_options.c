/* Options about what changes the TLBs beside references. See options/kernel_options.h. */

#include "pub_tool_basics.h"

#include "pub_tool_libcbase.h"
#include "pub_tool_libcprint.h"
#include "pub_tool_mallocfree.h"

#include "sim/machine/spaces.h"

#include "options/given.h"
#include "options/kernel_options.h"
#include "options/machine_args.h"

static const HChar* const rule_options[TG_N_KERNEL_RULES] = {
   [TG_RULE_FLUSH] = "--flush-policy", [TG_RULE_SYSCALL] = "--syscall-tlb",
   [TG_RULE_PREFETCH] = "--prefetch",
};

/* Of the option's argument; NULL: it is not given. */
static const HChar* value_of(const HChar* option)
{
   const HChar* arg = tg_given(option);
   return arg == NULL ? NULL : tg_given_value(arg);
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
      const HChar* values = value_of(rule_options[rule]);
      if (values != NULL && !each_value(values, is_value, &c))
         return tg_given(rule_options[rule]);
   }
   const HChar* cores = value_of("--cores");
   const HChar* copies = value_of("--copies");
   const HChar* every = value_of("--switch-every");
   out->siblings = 1;
   if (!parse_cores(cores == NULL ? "per-thread" : cores, out)) {
      VG_(snprintf)(why->text, sizeof why->text,
                    "allowed are shared, per-thread, and 1 to %d, and behind it a colon and 1 to "
                    "%d hardware threads of each core, as 2:2", MOST_CORES, MOST_SIBLINGS);
      return tg_given("--cores");
   }
   out->copies = 1;
   if (copies != NULL && !parse_copies(copies, out)) {
      VG_(snprintf)(why->text, sizeof why->text,
                    "allowed are 1 to %d copies, and behind them a colon and up to %d references "
                    "that one is behind the next, as 4:1000", TLB_MAX_SPACES, MOST_BEHIND);
      return tg_given("--copies");
   }
   if (out->copies > 1 && cores == NULL)
      out->cores = TG_CORES_SHARED;
   if (every == NULL || tlb_switches_parse(every, &out->switches, why))
      return NULL;
   return tg_given("--switch-every");
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
   return each_value(value_of(rule_options[rule_at_hand]), add, opaque);
}

HChar* tg_kernel_options_machines(const HChar* machines)
{
   HChar* all = NULL;
   for (UInt rule = 0; rule < TG_N_KERNEL_RULES; rule++) {
      const HChar* values = value_of(rule_options[rule]);
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
         const HChar* value = value_of(rule_options[rule]);
         if (value != NULL && !own[rule])
            tg_kernel_policy_parse((TgKernelRule)rule, value, machine[i].m.isa, p, &ignored);
      }
      machine[i].shared = out->switches.every > 0 || p->syscalls.how != TLB_SYSCALLS_NONE;
      out->flushes |= p->flush.how != TLB_FLUSH_NONE;
      out->syscalls |= p->syscalls.how != TLB_SYSCALLS_NONE;
      out->touches |= p->syscalls.how == TLB_SYSCALLS_KERNEL;
      out->prefetches |= p->prefetch != TLB_PREFETCH_IGNORE;
   }
}

const HChar* tg_kernel_options_arg(void)
{
   static const HChar* const by[]
      = { "--flush-policy", "--syscall-tlb", "--switch-every", "--prefetch" };
   for (UInt i = 0; i < sizeof by / sizeof by[0]; i++) {
      if (tg_given(by[i]) != NULL)
         return tg_given(by[i]);
   }
   return tg_given("--machine");
}
