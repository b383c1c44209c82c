/* The options for page sizes: --thp=, --pages=, --huge-pool= and --hugetlb=. */

#ifndef TG_PAGE_OPTIONS_H
#define TG_PAGE_OPTIONS_H

#include "pub_tool_basics.h"

#include "sim/pages/pagerules.h"

typedef struct {
   tlb_page_policy policy; /* of every machine; rules after the @ of --machine=
                              come after these */
   Bool fake_hugetlb; /* --hugetlb=fake: space/hugetlb.h */
   const HChar* thp_arg; /* the argument that sets policy.thp; NULL: the host's mode */
} TgPageOptions;

/* Parses the options, each of which may be given several times; to be called when the base page is
   set. Returns NULL, or the invalid argument, with the reason. */
const HChar* tg_page_options_finish(UInt page_shift, TgPageOptions* out, tlb_reason* why);

#endif
