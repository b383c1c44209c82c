/* The machines of --advice. See options/advice.h. */

#include "pub_tool_basics.h"

#include "pub_tool_libcbase.h"
#include "pub_tool_libcprint.h"
#include "pub_tool_mallocfree.h"

#include "options/advice.h"

/* All kinds of memory that a rule can name, and all memory. With the machine itself these are
   TLB_MAX_VIEWS. */
static const HChar* const kinds[] = { "text", "data", "heap", "anon", "stack", "file", "all" };

enum { N_KINDS = sizeof kinds / sizeof *kinds };

HChar* tg_advice_machines(const HChar* name, const HChar* size)
{
   const SizeT each = VG_(strlen)(name) + VG_(strlen)(size) + sizeof ",@stack:";
   const HChar* before_rule = VG_(strchr)(name, '@') == NULL ? "@" : "+";
   HChar* list = VG_(malloc)("tg.advice", (N_KINDS + 1) * each);
   HChar* at = list + VG_(sprintf)(list, "%s", name);
   for (UInt i = 0; i < N_KINDS; i++)
      at += VG_(sprintf)(at, ",%s%s%s:%s", name, before_rule, kinds[i], size);
   return list;
}
