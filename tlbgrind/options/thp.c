/* Reads the mode of transparent huge pages. See options/thp.h. */

#include "pub_tool_basics.h"

#include "pub_tool_libcbase.h"

#include "base/proc_file.h"
#include "options/thp.h"

static const HChar* const names[] = {
   [TLB_THP_NEVER] = "never", [TLB_THP_MADVISE] = "madvise", [TLB_THP_ALWAYS] = "always",
};

const HChar* tg_thp_name(tlb_thp_mode mode)
{
   return names[mode];
}

Bool tg_thp_read(const HChar* text, tlb_thp_mode* mode)
{
   for (UInt i = 0; i < sizeof names / sizeof names[0]; i++) {
      if (VG_(strcmp)(text, names[i]) == 0) {
         *mode = (tlb_thp_mode)i;
         return True;
      }
   }
   return False;
}

const HChar* tg_thp_chosen(HChar* text)
{
   HChar* open = VG_(strchr)(text, '[');
   HChar* close = open == NULL ? NULL : VG_(strchr)(open, ']');
   if (close == NULL)
      return NULL;
   *close = '\0';
   return open + 1;
}

tlb_thp_mode tg_thp_host(void)
{
   HChar text[128];
   tlb_thp_mode mode = TLB_THP_NEVER;
   if (!tg_proc_read(TG_THP_FOLDER "enabled", text, sizeof text))
      return mode;
   const HChar* word = tg_thp_chosen(text);
   if (word != NULL)
      tg_thp_read(word, &mode);
   return mode;
}
