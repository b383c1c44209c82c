/* Describes the variants of --advice= in which no count is another: for an out-file,
   and for people.

   Part of the simulator: plain C11, no libc, no Valgrind. */

#ifndef TLB_ADVICE_REPORT_H
#define TLB_ADVICE_REPORT_H

#include "sim/machine/machine.h"
#include "sim/pages/backing_report.h"
#include "sim/pages/pagemap.h"

/* Calls `line` with what the out-file of a machine has of its variant number `number`, "KEY:
   WORDS":

      Same: NUMBER WHY RULE
      Same touched: NUMBER BASE-PAGES FAULTS
      Same unheld: NUMBER SIZE
      Same backed: NUMBER SIZE PAGES KIBIBYTES TOUCHED-KIBIBYTES
      Same numbered: NUMBER RULE MAPPINGS KIBIBYTES FIRST [FILE]

   The variant's own rule is the last of its policy. */
void tlb_advice_same_keys(tlb_pagemap *map, unsigned view, const tlb_machine *m,
                          const tlb_page_policy *policy, unsigned number, tlb_backing_line *line,
                          void *opaque);

/* One of the machines of a simulation, `group` of which are a machine and its variants. */
typedef struct {
   const char *name;
   const tlb_page_rule *rule; /* a variant's own, whether it is the same or not */
   unsigned shift;            /* the size that it asks for */
   tlb_rule_effect effect;    /* what it has come to */
   int is_same;               /* a variant in which no count is another */
} tlb_advice_variant;

/* Says which memory they are of, and why nothing changes: a line for each reason. Calls `put` with
   pieces of text. Nothing if there are none. */
void tlb_advice_same_say(const tlb_advice_variant *v, unsigned n, unsigned group,
                         void (*put)(const char *text, void *opaque), void *opaque);

#endif
