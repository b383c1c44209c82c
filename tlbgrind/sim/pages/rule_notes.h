/* What has to be said of a machine whose memory is in pages of such sizes.

   Part of the simulator: plain C11, no libc, no Valgrind. */

#ifndef TLB_RULE_NOTES_H
#define TLB_RULE_NOTES_H

#include "sim/machine/machine.h"
#include "sim/pages/pagerules.h"

enum { TLB_RULE_NOTE_SIZE = TLB_PATTERN_SIZE + 250 };

/* Of a rule: the blocks that it gives are taken for pages. Returns the assumption, or NULL. */
const char *tlb_rule_note_of_blocks(const tlb_machine *m, const tlb_page_policy *policy,
                                    const tlb_page_rule *rule);

/* Of a rule for pages that no array of the machine holds: writes the assumption and returns 1, or
   returns 0. `is_described`: the machine is a processor as it is, or a file's. */
int tlb_rule_note_unheld(const tlb_machine *m, const tlb_page_policy *policy,
                         const tlb_page_rule *rule, int is_described,
                         char note[TLB_RULE_NOTE_SIZE]);

/* Whether the kernel makes transparent huge pages on such a machine, for it makes none if no array
   holds them. In a guest whose processor cuts them to pieces it does, and its page tables are
   shorter there. */
int tlb_machine_has_thp(const tlb_machine *m, const tlb_page_policy *policy);

/* The assumption of a machine that has none, where they are wished for. */
void tlb_rule_note_no_thp(const tlb_machine *m, const tlb_page_policy *policy,
                          char note[TLB_RULE_NOTE_SIZE]);

#endif
