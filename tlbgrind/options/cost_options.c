/* Options about what misses cost. See options/cost_options.h. */

#include "pub_tool_basics.h"

#include "pub_tool_libcbase.h"
#include "pub_tool_libcprint.h"
#include "pub_tool_mallocfree.h"
#include "pub_tool_xarray.h"

#include "sim/base/text.h"
#include "sim/machine/cost.h"

#include "options/cost_options.h"
#include "options/given.h"

Bool tg_cost_options_any(void)
{
   return tg_given("--miss-cost") != NULL || tg_given("--cycles") != NULL;
}

/* The user knows what the machine's file assumes. */
static void forget_assumed_walk(TgMachine* m)
{
   for (Word i = m->n_own; i-- > 0;) {
      if (!tlb_machine_note_is_of_walk(&m->m, *(HChar**)VG_(indexXA)(m->assumptions, i)))
         continue;
      VG_(removeIndexXA)(m->assumptions, i);
      m->n_own--;
   }
}

static Bool apply_cost(const HChar* value, TgMachine* machine, UInt n, tlb_reason* why)
{
   uint32_t cost;
   if (!tlb_miss_cost_parse(value, &cost, why))
      return False;
   for (UInt i = 0; i < n; i++) {
      forget_assumed_walk(&machine[i]);
      tlb_cost_set_walk(&machine[i].m, cost);
   }
   return True;
}

static Bool refuse_machine(const HChar* name, tlb_reason* why)
{
   tlb_text t = tlb_text_in(why->text, sizeof why->text);
   tlb_text_add(&t, "'");
   tlb_text_add_n(&t, name, VG_(strlen)(name) > 60 ? 60 : VG_(strlen)(name));
   tlb_text_add(&t, "' is no machine of this run");
   return False;
}

/* NAME:NUMBER. Names have colons, too. */
static Bool apply_to_one(TgMachine* machine, UInt n, HChar* text, tlb_reason* why)
{
   HChar* colon = VG_(strrchr)(text, ':');
   uint64_t cycles;
   if (colon == NULL)
      return tlb_cycles_parse(text, &cycles, why)
             && refuse_machine(text, why);
   *colon = '\0';
   if (!tlb_cycles_parse(colon + 1, &cycles, why))
      return False;
   for (UInt i = 0; i < n; i++) {
      if (VG_(strcmp)(machine[i].name, text) == 0) {
         machine[i].cycles = cycles;
         return True;
      }
   }
   return refuse_machine(text, why);
}

static Bool apply_cycles(const HChar* value, TgMachine* machine, UInt n, tlb_reason* why)
{
   uint64_t cycles;
   if (VG_(strchr)(value, ':') == NULL) {
      if (!tlb_cycles_parse(value, &cycles, why))
         return False;
      for (UInt i = 0; i < n; i++)
         machine[i].cycles = cycles;
      return True;
   }
   HChar* copy = VG_(strdup)("tg.options", value);
   HChar* saved;
   Bool good = True;
   for (HChar* one = VG_(strtok_r)(copy, ",", &saved); one != NULL && good;
        one = VG_(strtok_r)(NULL, ",", &saved))
      good = apply_to_one(machine, n, one, why);
   VG_(free)(copy);
   return good;
}

/* The host's walks would be there twice. */
static Bool refuse_guests(const TgMachine* machine, UInt n, tlb_reason* why)
{
   for (UInt i = 0; i < n; i++) {
      if (machine[i].m.host_page_shift == 0)
         continue;
      tlb_text t = tlb_text_in(why->text, sizeof why->text);
      tlb_text_add(&t, "the walks of ");
      tlb_text_add(&t, machine[i].m.name);
      tlb_text_add(&t, " are those of a guest already, as measured (line nested of its file); "
                       "leave it out");
      return True;
   }
   return False;
}

const HChar* tg_cost_options_apply(TgMachine* machine, UInt n, tlb_reason* why)
{
   const HChar* cycles = tg_given("--cycles");
   const HChar* cost = tg_given("--miss-cost");
   const HChar* nested = tg_given("--nested");
   if (nested != NULL && VG_(strcmp)(tg_given_value(nested), "yes") == 0
       && refuse_guests(machine, n, why))
      return nested;
   if (cycles != NULL && !apply_cycles(tg_given_value(cycles), machine, n, why))
      return cycles;
   if (cost != NULL && !apply_cost(tg_given_value(cost), machine, n, why))
      return cost;
   return NULL;
}
