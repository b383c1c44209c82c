/* Prints the options for --help. See options/usage.h. */

#include "pub_tool_basics.h"

#include "pub_tool_libcbase.h"
#include "pub_tool_libcprint.h"
#include "pub_tool_libcproc.h"

#include "options/option_table.h"
#include "options/usage.h"

enum { HELP_FROM = 33 }; /* column behind the margin of all options */

/* The option, and beside it what it is for, in lines that begin below each other. */
static void print_option(const TgOption* o)
{
   HChar head[80];
   const UInt n = VG_(snprintf)(head, sizeof head, "%s%s", o->name, o->values);
   VG_(printf)(n < HELP_FROM ? "    %-33s" : "    %s  ", head);
   for (const HChar* c = o->help; *c != '\0'; c++) {
      VG_(printf)("%c", *c);
      if (*c == '\n')
         VG_(printf)("%37s", "");
   }
   VG_(printf)("\n");
}

static void print_all(Bool for_debugging)
{
   const TgOption* o;
   for (UInt i = 0; (o = tg_option(i)) != NULL; i++) {
      if (o->is_for_debugging != for_debugging)
         continue;
      if (o->subject != NULL && !for_debugging)
         VG_(printf)("  %s:\n", o->subject);
      print_option(o);
   }
}

static void print_everyday(void)
{
   const TgOption* o;
   for (UInt i = 0; (o = tg_option(i)) != NULL; i++) {
      if (o->is_everyday)
         print_option(o);
   }
}

void tg_usage_print(void)
{
   const HChar* which = VG_(getenv)("TLBGRIND_HELP"); /* of the launcher, tlbgrind.in */
   if (which != NULL && VG_(strcmp)(which, "everyday") == 0)
      print_everyday();
   else
      print_all(False);
}

void tg_usage_print_debug(void)
{
   print_all(True);
}
