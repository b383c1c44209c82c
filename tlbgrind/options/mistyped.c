/* Compares mistyped options with the tool's. See options/mistyped.h. */

#include "pub_tool_basics.h"

#include "pub_tool_libcbase.h"

#include "sim/base/closeness.h"

#include "options/mistyped.h"
#include "options/option_table.h"
#include "options/refuse.h"

enum { MAX_NAME = 40 };

/* The option that the name resembles; NULL: none. What is for debugging is not suggested. */
static const TgOption* closest_to(const HChar* name)
{
   const TgOption *closest = NULL, *o;
   UInt least = TLB_FAR;
   for (UInt i = 0; (o = tg_option(i)) != NULL; i++) {
      const UInt d = o->is_for_debugging ? TLB_FAR : tlb_distance(name, o->name);
      /* Of several that begin so, the shortest. */
      if (d < least || (d < TLB_FAR && d == least
                        && VG_(strlen)(o->name) < VG_(strlen)(closest->name))) {
         least = d;
         closest = o;
      }
   }
   return closest;
}

void tg_mistyped_refuse(const HChar* arg)
{
   HChar name[MAX_NAME] = "";
   const HChar* value = VG_(strchr)(arg, '=');
   if (arg[0] != '-' || arg[1] != '-')
      return;
   /* Close to --pages, and in callgrind's and massif's users' minds an option. */
   if (VG_(strncmp)(arg, "--phase", 7) == 0)
      tg_refuse(arg, "there is no such option; the program begins a phase by "
                     "TLBGRIND_MARK(\"NAME\") of tlbgrind.h, and tg_annotate --phase=NAME shows "
                     "it");
   for (UInt i = 0; i < MAX_NAME - 1 && arg[i] != '\0' && arg[i] != '='; i++)
      name[i] = arg[i];
   const TgOption* o = closest_to(name);
   if (o == NULL)
      return;
   if (VG_(strcmp)(name, o->name) == 0 && value == NULL)
      tg_refuse(arg, "the value is missing: %s=...", o->name);
   if (VG_(strcmp)(name, o->name) == 0)
      tg_refuse(arg, "it stands alone, behind the command tlbgrind: tlbgrind %s", arg);
   /* Where no value has to be, it is left away. */
   tg_refuse(arg, "there is no such option; did you mean %s%s?", o->name,
             o->values[0] != '=' ? "" : value == NULL ? "=..." : value);
}
