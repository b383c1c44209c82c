/* The machines of a run. See options/run_machines.h. */

#include "pub_tool_basics.h"

#include "pub_tool_libcbase.h"
#include "pub_tool_libcprint.h"
#include "pub_tool_mallocfree.h"
#include "pub_tool_xarray.h"

#include "sim/machine/siblings.h"
#include "sim/machine/spaces.h"
#include "sim/mmu/mmu.h"

#include "options/advice.h"
#include "options/array_options.h"
#include "options/given.h"
#include "options/machine_args.h"
#include "options/machines.h"
#include "options/refuse.h"
#include "options/run_machines.h"

/* --- The list of their names --- */

/* The machines' names, and those that --advice= sets beside each. */
static const HChar* add_advice(TgOptions* o, const HChar* names)
{
   const HChar* arg = tg_given("--advice");
   tlb_reason why;
   if (arg == NULL)
      return names;
   if (tg_array_options_given() && tg_given("--machine") == NULL)
      tg_refuse(arg, "it is for a machine of --machine=; leave out --itlb, --dtlb and --stlb");
   const HChar* list = tg_advice_machines(names, tg_given_value(arg), &o->advice_group, &why);
   if (list == NULL)
      tg_refuse(arg, "%s", why.text);
   return list;
}

/* The machines with each of the policies, if there are several. */
static const HChar* add_policies(TgOptions* o, const HChar* names)
{
   tlb_reason why;
   const HChar* bad = tg_kernel_options_parse(&o->kernel, &why);
   if (bad != NULL)
      tg_refuse(bad, "%s", why.text);
   const HChar* list = tg_kernel_options_machines(names);
   if (list == NULL)
      return names;
   if (o->advice_group > 0)
      tg_refuse(tg_kernel_options_arg(), "--advice=... is about one policy; give one");
   return list;
}

static const HChar* list_names(TgOptions* o)
{
   const HChar* arg = tg_given("--machine");
   tlb_reason why;
   /* A machine for each value of a range. */
   const HChar* names = tg_machine_args_expand(arg == NULL ? "host" : tg_given_value(arg), &why);
   if (names == NULL)
      tg_refuse(arg, "%s", why.text);
   return add_policies(o, add_advice(o, names));
}

/* --- The machines --- */

/* Room for one more, which `arg` asks for. */
static TgMachine* room_for_one(TgOptions* o, const HChar* arg)
{
   if (o->n_machines == TLB_MAX_MMUS)
      tg_refuse(arg, "a run has at most %d machines", TLB_MAX_MMUS);
   o->machine = VG_(realloc)("tg.options.machines", o->machine,
                             (o->n_machines + 1) * sizeof *o->machine);
   return &o->machine[o->n_machines];
}

static Bool is_taken(const TgOptions* o, const HChar* name)
{
   for (UInt i = 0; i < o->n_machines; i++) {
      if (VG_(strcmp)(o->machine[i].given, name) == 0)
         return True;
   }
   return False;
}

static Bool make_named(const HChar* name, void* opaque)
{
   TgOptions* o = opaque;
   const HChar* arg = tg_given("--machine");
   const UInt base_shift = tg_given("--page-size") == NULL ? 0 : o->page_shift;
   const HChar* where;
   tlb_reason why;
   if (name[0] == '\0')
      tg_refuse(arg, "the name of a machine is missing");
   TgMachine* m = room_for_one(o, arg);
   if (!tg_machine_by_name(name, base_shift, &o->pages.policy, m, &where, &why))
      tg_refuse(arg, "%s%s", where, why.text);
   if (is_taken(o, m->given))
      tg_refuse(arg, "machine '%s' is given twice%s", m->given,
                o->advice_group > 0 ? ", or --advice makes it of another" : "");
   o->n_machines++;
   return True;
}

/* The machine of --itlb=, --dtlb= and --stlb=, with each of several policies. */
static void make_custom(TgOptions* o)
{
   TgMachine custom;
   tlb_reason why;
   const HChar* bad = tg_array_options_finish(o->page_shift, &custom, &why);
   if (bad != NULL)
      tg_refuse(bad, "%s", why.text);
   custom.pages = o->pages.policy;
   HChar* names = tg_kernel_options_machines("custom");
   if (names == NULL) {
      *room_for_one(o, NULL) = custom;
      o->n_machines++;
      return;
   }
   HChar* saved;
   for (HChar* name = VG_(strtok_r)(names, ",", &saved); name != NULL;
        name = VG_(strtok_r)(NULL, ",", &saved)) {
      TgMachine* m = room_for_one(o, tg_kernel_options_arg());
      *m = custom;
      m->given = VG_(strdup)("tg.options", name);
      m->assumptions = VG_(cloneXA)("tg.options", custom.assumptions);
      if (!tg_kernel_policy_take(VG_(strchr)(name, '@') + 1, m->m.isa, &m->kernel, &why))
         tg_refuse(tg_kernel_options_arg(), "%s", why.text);
      o->n_machines++;
   }
   VG_(free)(names);
}

void tg_run_machines_make(TgOptions* o)
{
   const HChar* names = list_names(o);
   if (tg_array_options_given() && tg_given("--machine") == NULL)
      make_custom(o);
   else
      tg_machine_args_each(names, make_named, o);
   tg_kernel_options_apply(o->machine, o->n_machines, &o->kernel);
}

void tg_run_machines_take_base_page(TgOptions* o)
{
   if (tg_given("--page-size") != NULL)
      return;
   o->page_shift = o->machine[0].m.base_page_shift;
   for (UInt i = 1; i < o->n_machines; i++) {
      const UInt shift = o->machine[i].m.base_page_shift;
      o->page_shift = shift < o->page_shift ? shift : o->page_shift;
   }
}

UInt tg_run_machines_huge_shift(const TgOptions* o)
{
   for (UInt i = 0; i < o->n_machines; i++) {
      const TgMachine* m = &o->machine[i];
      const UInt shift = tlb_thp_shift(&m->pages, m->m.base_page_shift);
      if (m->m.base_page_shift == o->page_shift && shift != 0)
         return shift;
   }
   return 2 * o->page_shift - 3;
}

/* --- Hardware threads and copies --- */

/* The machines' arrays become what a hardware thread has of them. */
static void divide_by_siblings(TgOptions* o)
{
   if (o->kernel.siblings == 1)
      return;
   for (UInt i = 0; i < o->n_machines; i++) {
      tlb_reason why;
      if (!tlb_siblings_divide(&o->machine[i].m, o->kernel.siblings, &why))
         tg_refuse(tg_given("--cores"), "%s", why.text);
   }
}

/* Copies are told apart by numbers above the bits of an address. */
static void make_room_for_copies(TgOptions* o)
{
   TgKernelOptions* k = &o->kernel;
   const HChar* arg = tg_given("--copies");
   if (k->copies == 1)
      return;
   if (VG_WORDSIZE == 4)
      tg_refuse(arg, "copies are for 64-bit programs: an address of 32 bits has no room for the "
                     "copy's number");
   k->space_step = 1;
   for (UInt i = 0; i < o->n_machines; i++) {
      tlb_reason why;
      if (!tlb_spaces_step(&o->machine[i].m, k->copies, &k->space_step, &why))
         tg_refuse(arg, "%s", why.text);
   }
}

/* Of a reference to two pages cachegrind looks up both in one level before it goes to the next, and
   its levels do not know each other. */
static void count_as_cachegrind(TgOptions* o)
{
   o->kernel.cores = TG_CORES_SHARED;
   for (UInt i = 0; i < o->n_machines; i++) {
      tlb_machine* m = &o->machine[i].m;
      for (UInt j = 0; j < m->n_arrays; j++)
         m->array[j].inclusion = TLB_NEITHER;
   }
}

void tg_run_machines_share(TgOptions* o)
{
   if (o->as_cachegrind)
      count_as_cachegrind(o);
   divide_by_siblings(o);
   make_room_for_copies(o);
}
