/* Names the machines of a run. See options/machine_names.h. */

#include "pub_tool_basics.h"

#include "pub_tool_libcbase.h"
#include "pub_tool_libcprint.h"
#include "pub_tool_mallocfree.h"

#include "options/machine_args.h"
#include "options/machine_names.h"

/* The longest label, in bytes. A file's name, at most 255 bytes, contains the out-file's name and
   the label, and rules for pages can be of any length. */
enum { LABEL_SIZE = 100 };

static Bool is_name(const TgMachine* machines, UInt n, const HChar* name)
{
   for (UInt i = 0; i < n; i++) {
      if (machines[i].name != NULL && VG_(strcmp)(machines[i].name, name) == 0)
         return True;
   }
   return False;
}

/* The machine's name with its overrides and its rules for pages, and with a number before the two
   if another machine has that name. */
static const HChar* name_of(const TgMachine* machines, UInt n,
                            const TgMachine* m)
{
   const TgMachineParts parts = tg_machine_args_parts(m->given);
   const HChar* more = m->given + VG_(strlen)(parts.name);
   const Int room = TLB_NAME_SIZE + (Int)VG_(strlen)(more) + 16;
   HChar* name = VG_(malloc)("tg.machines.name", (SizeT)room);
   VG_(snprintf)(name, room, "%s%s", m->own_name, more);
   for (UInt i = 2; is_name(machines, n, name); i++)
      VG_(snprintf)(name, room, "%s.%u%s", m->own_name, i, more);
   VG_(free)(parts.name);
   VG_(free)(parts.overrides);
   VG_(free)(parts.rules);
   return name;
}

static Bool is_label(const TgMachine* machines, UInt n, const HChar* label)
{
   for (UInt i = 0; i < n; i++) {
      if (VG_(strcmp)(machines[i].label, label) == 0)
         return True;
   }
   return False;
}

/* KCachegrind adds the files NAME-* and NAME.* to NAME: with these two characters,
   the file of apple-m1 would show the sum with that of apple-m1-e. */
static HChar in_label(HChar c)
{
   return c == '-' || c == '.' ? '_' : c;
}

/* Puts "_" and the number behind the first `length` characters, or fewer if there is no room. */
static void append_number(HChar* label, Int length, UInt number)
{
   HChar text[16];
   const Int digits = (Int)VG_(sprintf)(text, "_%u", number);
   VG_(strcpy)(label + (length + digits > LABEL_SIZE ? LABEL_SIZE - digits : length), text);
}

/* The name without characters that a label or a file's name cannot contain. */
static const HChar* label_of(const TgMachine* machines, UInt n,
                             const HChar* name)
{
   HChar* label = VG_(malloc)("tg.machines.label", LABEL_SIZE + 1);
   VG_(snprintf)(label, LABEL_SIZE + 1, "%s", name);
   for (HChar* at = label; *at != '\0'; at++)
      *at = *at == '/' ? '_' : in_label(*at);
   const Int length = (Int)VG_(strlen)(label);
   for (UInt i = 2; is_label(machines, n, label); i++)
      append_number(label, length, i);
   return label;
}

/* Whether another label, or one before, begins with that of machine i. */
static Bool is_beginning(const TgMachine* machines, UInt n, UInt i)
{
   const SizeT length = VG_(strlen)(machines[i].label);
   for (UInt j = 0; j < n; j++) {
      if (j != i && VG_(strncmp)(machines[j].label, machines[i].label, length) == 0)
         return True;
   }
   return False;
}

/* KCachegrind adds up all files whose names begin with that of the one that it opens. */
static void make_ends_differ(TgMachine* machines, UInt n)
{
   for (UInt i = 0; i < n; i++) {
      for (UInt number = 1; is_beginning(machines, n, i); number++) {
         HChar* label = VG_(malloc)("tg.machines.label", LABEL_SIZE + 1);
         VG_(snprintf)(label, LABEL_SIZE + 1, "%s", machines[i].label);
         append_number(label, (Int)VG_(strlen)(label), number);
         machines[i].label = label;
      }
   }
}

void tg_machine_names_give(TgMachine* machines, UInt n)
{
   /* Names from the command line are kept, so they are set before those made here. */
   for (UInt i = 0; i < n; i++)
      machines[i].name = machines[i].file == NULL ? machines[i].given : NULL;
   for (UInt i = 0; i < n; i++) {
      if (machines[i].name == NULL)
         machines[i].name = name_of(machines, n, &machines[i]);
   }
   for (UInt i = 0; i < n; i++)
      machines[i].label = label_of(machines, i, machines[i].name);
   make_ends_differ(machines, n);
}

Bool tg_machine_names_is_label(const TgMachine* m)
{
   const HChar* label = m->label;
   for (const HChar* name = m->name; *name != '\0'; name++, label++) {
      if (*label != in_label(*name))
         return False;
   }
   return *label == '\0';
}
