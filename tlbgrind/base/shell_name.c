/* Quotes names for a shell. See base/shell_name.h. */

#include "pub_tool_basics.h"

#include "pub_tool_libcbase.h"
#include "pub_tool_libcprint.h"
#include "pub_tool_mallocfree.h"

#include "base/shell_name.h"

/* Whether the name needs no quotes in a shell. */
static Bool is_plain(const HChar* name)
{
   for (; *name != '\0'; name++) {
      const HChar lower = VG_(tolower)(*name);
      if ((lower < 'a' || lower > 'z') && !VG_(isdigit)(*name)
          && VG_(strchr)("_./+-@:", *name) == NULL)
         return False;
   }
   return True;
}

HChar* tg_shell_name(const HChar* name)
{
   if (is_plain(name))
      return VG_(strdup)("tg.shell.name", name);
   /* A quote becomes four characters: '\'' ends the quotation, escapes the quote, begins again. */
   HChar* text = VG_(malloc)("tg.shell.name", 4 * VG_(strlen)(name) + 3);
   HChar* at = text;
   *at++ = '\'';
   for (; *name != '\0'; name++) {
      if (*name == '\'')
         at += VG_(sprintf)(at, "'\\''");
      else
         *at++ = *name;
   }
   *at++ = '\'';
   *at = '\0';
   return text;
}
