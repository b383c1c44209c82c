/* The kernel's modes of transparent huge pages, and the host's. */

#ifndef TG_THP_H
#define TG_THP_H

#include "pub_tool_basics.h"

#include "sim/pages/mappings.h"

#define TG_THP_FOLDER "/sys/kernel/mm/transparent_hugepage/"

/* The mode's name: "never", "madvise", "always". */
const HChar* tg_thp_name(tlb_thp_mode mode);

/* Whether the text is the name of a mode; `mode`: that mode. */
Bool tg_thp_read(const HChar* text, tlb_thp_mode* mode);

/* The word in brackets of a file such as "always [madvise] never"; NULL: there is none. Changes
   the text. */
const HChar* tg_thp_chosen(HChar* text);

/* The host's mode; TLB_THP_NEVER if it cannot be read. */
tlb_thp_mode tg_thp_host(void);

#endif
