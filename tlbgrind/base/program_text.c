/* Finds texts in the program's memory. See base/program_text.h. */

#include "pub_tool_basics.h"

#include "pub_tool_aspacemgr.h"
#include "pub_tool_libcbase.h"
#include "pub_tool_vki.h"

#include "base/program_text.h"

const HChar* tg_program_text(Addr a)
{
   for (Addr at = a;; at++) {
      if ((at == a || VG_IS_PAGE_ALIGNED(at))
          && !VG_(am_is_valid_for_client)(at, 1, VKI_PROT_READ))
         return NULL;
      if (*(const HChar*)at == '\0')
         return (const HChar*)a;
   }
}
