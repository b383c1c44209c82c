/* What has to be said of a machine and its page sizes. See rule_notes.h. */

#include "sim/pages/rule_notes.h"

#include "sim/base/text.h"

const char *tlb_rule_note_of_blocks(const tlb_machine *m, const tlb_page_policy *policy,
                                    const tlb_page_rule *rule)
{
   return rule->how == TLB_CONTIG && tlb_page_rule_shift(policy, rule, m->base_page_shift) == 21
             ? "contig gives blocks of 2M, which are taken for pages of 2M" : NULL;
}

int tlb_rule_note_unheld(const tlb_machine *m, const tlb_page_policy *policy,
                         const tlb_page_rule *rule, int is_described, char note[TLB_RULE_NOTE_SIZE])
{
   const unsigned shift = tlb_page_rule_shift(policy, rule, m->base_page_shift);
   char text[TLB_PATTERN_SIZE + 32];
   if (shift == 0 || tlb_machine_holds_large(m, shift) != TLB_HOLDS_NO)
      return 0;
   tlb_page_rule_print(rule, text, sizeof text);
   tlb_text t = tlb_text_in(note, TLB_RULE_NOTE_SIZE);
   tlb_text_add(&t, "no array holds pages of ");
   tlb_text_add_page_size(&t, shift);
   tlb_text_add(&t, ", which ");
   tlb_text_add(&t, text);
   tlb_text_add(&t, " asks for: they are entered in pieces, or passed by");
   tlb_text_add(&t, is_described ? "" : "; --dtlb=64,4,4K --dtlb=32,4,2M describes one that does");
   return 1;
}

int tlb_machine_has_thp(const tlb_machine *m, const tlb_page_policy *policy)
{
   const unsigned thp = tlb_thp_shift(policy, m->base_page_shift);
   return thp != 0 && (m->host_page_shift != 0 || tlb_machine_holds_large(m, thp) != TLB_HOLDS_NO);
}

void tlb_rule_note_no_thp(const tlb_machine *m, const tlb_page_policy *policy,
                          char note[TLB_RULE_NOTE_SIZE])
{
   tlb_text t = tlb_text_in(note, TLB_RULE_NOTE_SIZE);
   tlb_text_add(&t, "no array holds pages of ");
   tlb_text_add_page_size(&t, tlb_thp_shift(policy, m->base_page_shift));
   tlb_text_add(&t, ": there are no transparent huge pages");
}
