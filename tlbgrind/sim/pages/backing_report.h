/* Describes which page sizes backed the memory of a view: for people, and for programs.

   Part of the simulator: plain C11, no libc, no Valgrind. */

#ifndef TLB_BACKING_REPORT_H
#define TLB_BACKING_REPORT_H

#include "sim/machine/machine.h"
#include "sim/pages/pagemap.h"

/* Whether the view can differ from base pages alone: it has rules or --thp=always, or large pages
   back memory for which the program requested them. */
int tlb_backing_is_of_interest(tlb_pagemap *map, unsigned view);

/* Called with a text, which is complete. */
typedef void tlb_backing_line(const char *text, void *opaque);

/* Calls `line` for each page size of the view, about the moment with the most memory backed, and
   for requests that could not be met. */
void tlb_backing_describe(tlb_pagemap *map, unsigned view, tlb_backing_line *line, void *opaque);

/* Calls `line` with the same for programs, "KEY: WORDS": for each page size

      Backed: SIZE PAGES KIBIBYTES TOUCHED-KIBIBYTES

   and for each rule that names a large mapping by its number what it has found, where FIRST is the
   address of the first mapping, and FILE its file, if it has one:

      Numbered: RULE MAPPINGS KIBIBYTES FIRST [FILE] */
void tlb_backing_keys(tlb_pagemap *map, unsigned view, tlb_backing_line *line, void *opaque);

/* What a rule of the view has come to. */
typedef enum {
   TLB_RULE_EFFECTIVE, /* some memory was in such pages */
   TLB_RULE_UNMET,     /* no such memory was touched */
   TLB_RULE_OVERRULED, /* later rules speak of all such memory that was touched */
   TLB_RULE_NO_ROOM    /* no mapping had room for a page of that size */
} tlb_rule_effect;

tlb_rule_effect tlb_backing_effect(const tlb_pagemap *map, unsigned view, unsigned rule);

/* All of that for an out-file, and what the rules of the machine's policy say: each line with its
   key, such as "Memory: ..." and "Rule: heap:2M". Nothing if it is of no interest. */
void tlb_backing_out_file(tlb_pagemap *map, unsigned view, const tlb_machine *m,
                          const tlb_page_policy *policy, tlb_backing_line *line, void *opaque);

#endif
