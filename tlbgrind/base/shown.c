/* Makes names printable. See base/shown.h. */

#include "pub_tool_basics.h"

#include "pub_tool_libcprint.h"
#include "pub_tool_vki.h"

#include "sim/base/text.h"

#include "base/shown.h"

const HChar* tg_shown(const HChar* name)
{
   static HChar shown[VKI_PATH_MAX + 512];
   tlb_text text = tlb_text_in(shown, sizeof shown);
   tlb_text_add(&text, name);
   return shown;
}

void tg_shown_unwritten(const HChar* what, const HChar* name, const HChar* why,
                        const HChar* missing)
{
   VG_(umsg)("error: can't write %s '%s': %s\n", what, tg_shown(name), why);
   VG_(umsg)("       ... so %s will be missing.\n", missing);
}
