/* How Vex translates the program. See options/vex_settings.h. */

#include "pub_tool_basics.h"

#include "pub_tool_options.h"

#include "options/vex_settings.h"

void tg_vex_settings_as_cachegrind(void)
{
   VexControl stock;
   LibVEX_default_VexControl(&stock);
   VG_(clo_vex_control).guest_chase = stock.guest_chase;
   VG_(clo_vex_control).iropt_unroll_thresh = stock.iropt_unroll_thresh;
   VG_(clo_vex_control).iropt_register_updates_default = VexRegUpdSpAtMemAccess;
   VG_(clo_px_file_backed) = VexRegUpdSpAtMemAccess;
}

void tg_vex_settings_for_prefetches(const TgOptions* o)
{
   if (!o->kernel.prefetches)
      return;
   VG_(clo_vex_control).iropt_register_updates_default = VexRegUpdAllregsAtEachInsn;
   VG_(clo_px_file_backed) = VexRegUpdAllregsAtEachInsn;
}
