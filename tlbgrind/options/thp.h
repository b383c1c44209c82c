/* The kernel's modes of transparent huge pages, and the host's. */

#ifndef TG_THP_H
#define TG_THP_H

#include "pub_tool_basics.h"

#include "sim/pages/mappings.h"

#define TG_THP_FOLDER "/sys/kernel/mm/transparent_hugepage/"

/* "never", "madvise", "always" */
const HChar* tg_thp_name(tlb_thp_mode mode);

/* Whether the text is such a word, and the mode that it stands for. */
Bool tg_thp_read(const HChar* text, tlb_thp_mode* mode);

/* The word in brackets of a file such as "always [madvise] never", cut out of the text; NULL:
   there is none. */
const HChar* tg_thp_chosen(HChar* text);

/* The host's mode; never where it does not say. */
tlb_thp_mode tg_thp_host(void);

#endif
