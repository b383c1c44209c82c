/* Parses and passes on the option --was=. See options/exec.h. */

#include "pub_tool_basics.h"

#include "pub_tool_libcbase.h"
#include "pub_tool_libcfile.h"
#include "pub_tool_libcprint.h"
#include "pub_tool_mallocfree.h"
#include "pub_tool_options.h"
#include "pub_tool_xarray.h"

#include "pub_tool_clientstate.h" /* needs pub_tool_xarray.h before it */

#include "options/exec.h"
#include "options/given.h"

static const HChar was_option[] = "--was=";

/* The option's value. */
static struct {
   UInt execs;         /* of the process so far */
   UInt n_missing;     /* earlier programs whose counts are in no file */
   ULong instructions; /* of these programs */
   const HChar* folder;
} before;

static const HChar* trace_arg; /* the last --trace-children; NULL: none is given */
static Bool added_arg;         /* to the core's, by tg_exec_pass_on() */

/* Reads a number and the comma after it. */
static Bool read_number(const HChar** at, ULong* number)
{
   HChar* end;
   if (!VG_(isdigit)(**at))
      return False;
   *number = VG_(strtoull10)(*at, &end);
   *at = end + 1;
   return *end == ',';
}

static Bool read_before(const HChar* at)
{
   ULong execs, n_missing;
   if (!read_number(&at, &execs) || !read_number(&at, &n_missing)
       || !read_number(&at, &before.instructions) || (*at != '/' && *at != '\0'))
      return False;
   before.execs = (UInt)execs;
   before.n_missing = (UInt)n_missing;
   before.folder = *at == '/' ? at : NULL;
   return True;
}

/* Removes --was= from the core's arguments, because the core passes them on at an exec, where the
   option gets another value. Finds --trace-children=. */
static void read_arguments(void)
{
   static const HChar trace_option[] = "--trace-children=";
   for (Word i = VG_(sizeXA)(VG_(args_for_valgrind)) - 1; i >= 0; i--) {
      const HChar* arg = *(HChar**)VG_(indexXA)(VG_(args_for_valgrind), i);
      if (VG_(strncmp)(arg, was_option, sizeof was_option - 1) == 0)
         VG_(removeIndexXA)(VG_(args_for_valgrind), i);
      else if (trace_arg == NULL
               && VG_(strncmp)(arg, trace_option, sizeof trace_option - 1) == 0)
         trace_arg = arg;
   }
}

const HChar* tg_exec_init(tlb_reason* why)
{
   const HChar* arg = tg_given(was_option);
   read_arguments();
   if (arg == NULL || read_before(tg_given_value(arg)))
      return NULL;
   VG_(snprintf)(why->text, sizeof why->text,
                 "it is the tool's own, to tell itself what a process was before exec");
   return arg;
}

UInt tg_exec_n_before(ULong* instructions)
{
   *instructions = before.instructions;
   return before.n_missing;
}

void tg_exec_print(void)
{
   if (before.n_missing == 0 || VG_(clo_verbosity) == 0)
      return;
   VG_(umsg)("This process was %u other program%s before, of %llu instructions that "
             "are not counted\n", before.n_missing, before.n_missing == 1 ? "" : "s",
             before.instructions);
   VG_(umsg)("  (--trace-children=yes writes a file for each).\n");
   VG_(umsg)("\n");
}

UInt tg_exec_count(void)
{
   return before.execs;
}

const HChar* tg_exec_trace_arg(void)
{
   return trace_arg;
}

const HChar* tg_exec_folder(void)
{
   return before.folder;
}

void tg_exec_forked(void)
{
   before.execs = 0;
   before.n_missing = 0;
   before.instructions = 0;
}

void tg_exec_pass_on(Bool is_missing, ULong instructions)
{
   const HChar* folder = before.folder != NULL ? before.folder : VG_(get_startup_wd)();
   const SizeT room = (folder == NULL ? 0 : VG_(strlen)(folder)) + 80;
   HChar* arg = VG_(malloc)("tg.exec", room);
   VG_(snprintf)(arg, (Int)room, "%s%u,%u,%llu,%s", was_option, before.execs + 1,
                 before.n_missing + is_missing,
                 before.instructions + (is_missing ? instructions : 0),
                 folder == NULL ? "" : folder);
   VG_(addToXA)(VG_(args_for_valgrind), &arg);
   added_arg = True;
}

void tg_exec_take_back(void)
{
   if (added_arg)
      VG_(dropTailXA)(VG_(args_for_valgrind), 1);
   added_arg = False;
}
