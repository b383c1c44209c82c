/* The options that print a list and end. See options/lists.h. */

#include "pub_tool_basics.h"

#include "pub_tool_libcassert.h"

#include "options/conflicts.h"
#include "options/implied.h"
#include "options/lists.h"
#include "options/machines.h"
#include "options/refuse.h"

void tg_lists_take_machines(const HChar* arg, const HChar* pattern, TgOptions* o)
{
   tlb_reason why;
   (void)o;
   if (!tg_machine_print_list(pattern, &why))
      tg_refuse(arg, "%s", why.text);
   VG_(exit)(0);
}

void tg_lists_take_conflicts(const HChar* arg, const HChar* value, TgOptions* o)
{
   (void)arg, (void)value, (void)o;
   tg_conflicts_print();
   VG_(exit)(0);
}

void tg_lists_take_implied(const HChar* arg, const HChar* value, TgOptions* o)
{
   (void)arg, (void)value, (void)o;
   tg_implied_print();
   VG_(exit)(0);
}
