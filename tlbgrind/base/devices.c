/* Tells the devices of memory from other files. See base/devices.h. */

#include "pub_tool_basics.h"

#include "pub_tool_libcbase.h"
#include "pub_tool_libcfile.h"
#include "pub_tool_vki.h"

#include "base/devices.h"

/* As stat() gives them: drivers/char/mem.c in Linux. */
enum { MEMORY_DEVICES = 1 << 8, NULL_DEVICE = MEMORY_DEVICES | 3,
       ZERO_DEVICE = MEMORY_DEVICES | 5 };

Bool tg_devices_is_zero(const HChar* name)
{
   struct vg_stat st;
   /* Asked for each file that is mapped: most need no look. */
   return name != NULL && VG_(strncmp)(name, "/dev/", 5) == 0
          && !sr_isError(VG_(stat)(name, &st)) && VKI_S_ISCHR(st.mode) && st.rdev == ZERO_DEVICE;
}

Bool tg_devices_read_nothing(Int fd)
{
   struct vg_stat st;
   return VG_(fstat)(fd, &st) == 0 && VKI_S_ISCHR(st.mode)
          && (st.rdev == NULL_DEVICE || st.rdev == ZERO_DEVICE);
}
