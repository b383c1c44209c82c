/* The options for page sizes: --thp=, --pages=, --huge-pool= and --hugetlb=. */

#ifndef TG_PAGE_OPTIONS_H
#define TG_PAGE_OPTIONS_H

#include "pub_tool_basics.h"

#include "sim/pages/pagerules.h"

typedef struct {
   tlb_page_policy policy; /* of every machine; rules behind the @ of --machine=
                              come after these */
   Bool fake_hugetlb; /* calls that ask for huge pages succeed on small ones */
   const HChar* thp_arg; /* that policy.thp comes from; NULL: it is the host's */
} TgPageOptions;

/* Takes one command line argument. False: it is not an option of ours. Each
   may come several times; the text is read by tg_page_options_finish(). */
Bool tg_page_options_take(const HChar* arg);

void tg_page_options_print_usage(void);

/* The base page is known: reads the texts. Returns NULL, or the argument that
   can not be, with the reason. */
const HChar* tg_page_options_finish(UInt page_shift, TgPageOptions* out, tlb_reason* why);

#endif
