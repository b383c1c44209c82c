/* The devices /dev/null and /dev/zero. */

#ifndef TG_DEVICES_H
#define TG_DEVICES_H

#include "pub_tool_basics.h"

/* Whether a mapping of the file is anonymous memory: that is what the kernel makes of /dev/zero.
   `name`: NULL: no. */
Bool tg_devices_is_zero(const HChar* name);

/* Whether what is written to the descriptor is not even read: /dev/null and /dev/zero. */
Bool tg_devices_read_nothing(Int fd);

#endif
