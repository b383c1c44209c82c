/* How Vex translates the program. See options/vex_settings.h. */

#include "pub_tool_basics.h"

#include "pub_tool_options.h"

#include "options/vex_settings.h"

void tg_vex_settings_make(const TgOptions* o)
{
   VexControl* c = &VG_(clo_vex_control);
   /* Cachegrind's, which determine which instructions of merged blocks and which dead loads are
      counted. */
   if (o->as_cachegrind) {
      VexControl stock;
      LibVEX_default_VexControl(&stock);
      c->guest_chase = stock.guest_chase;
      c->iropt_unroll_thresh = stock.iropt_unroll_thresh;
      c->iropt_register_updates_default = VexRegUpdSpAtMemAccess;
      VG_(clo_px_file_backed) = VexRegUpdSpAtMemAccess;
   }
   /* A prefetch's operands are read from the guest's registers, of which no update may be left out
      then. */
   if (o->kernel.prefetches) {
      c->iropt_register_updates_default = VexRegUpdAllregsAtEachInsn;
      VG_(clo_px_file_backed) = VexRegUpdAllregsAtEachInsn;
   }
}
