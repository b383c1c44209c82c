/* Page sizes of a simulation. See simulate/pages.h.
   Part of tlbgrind.  GPL-2.0-or-later; see COPYING. */

#include <string.h>

#include "command/load_machine.h"
#include "sim/base/text.h"
#include "simulate/pages.h"

static const char *const thp_names[] = {
   [TLB_THP_NEVER] = "never", [TLB_THP_MADVISE] = "madvise", [TLB_THP_ALWAYS] = "always" };

bool tg_thp_mode(const char *text, size_t n, tlb_thp_mode *out)
{
   for (unsigned i = 0; i < sizeof thp_names / sizeof thp_names[0]; i++) {
      if (strlen(thp_names[i]) == n && memcmp(text, thp_names[i], n) == 0) {
         *out = (tlb_thp_mode)i;
         return true;
      }
   }
   return false;
}

/* --- Of all machines --- */

static void take_thp(const TgSimulateOptions *o, TgSimulatedPages *out)
{
   if (o->thp == NULL)
      return;
   if (!tg_thp_mode(o->thp, strlen(o->thp), &out->policy.thp))
      tg_load_refuse("--thp=%s: '%s' is no mode of transparent huge pages; allowed are never, "
                     "madvise and always", o->thp, o->thp);
   out->thp_is_given = true;
}

/* As options/page_options.c has it: a rule for transparent huge pages of all memory is
   --thp=always, and --thp=never contradicts all such rules. */
static void settle_thp(const TgSimulateOptions *o, const char *with_thp, TgSimulatedPages *out)
{
   tlb_page_policy *const p = &out->policy;
   bool everywhere = false;
   for (unsigned i = 0; i < p->n_rules; i++)
      everywhere |= p->rule[i].how == TLB_THP && p->rule[i].what == TLB_OF_ALL;
   if (with_thp == NULL)
      return;
   if (o->thp != NULL && (p->thp == TLB_THP_NEVER || (everywhere && p->thp != TLB_THP_ALWAYS)))
      tg_load_refuse("--pages=%s: contradicts --thp=%s, which is what the kernel does with "
                     "transparent huge pages; leave out one of the two", with_thp, o->thp);
   if (everywhere && o->thp == NULL) {
      p->thp = TLB_THP_ALWAYS;
      out->thp_is_given = true;
   }
}

TgSimulatedPages tg_simulated_pages(const TgSimulateOptions *o, unsigned base_page_shift,
                                    tlb_thp_mode recorded, const tlb_code_blocks *code)
{
   TgSimulatedPages out = { .policy = { .thp = recorded }, .code = *code };
   const char *with_thp = NULL; /* the first with a rule for transparent huge pages */
   tlb_reason why;
   for (unsigned i = 0; i < o->n_pages; i++) {
      if (!tlb_page_rules_parse(o->pages[i], ',', base_page_shift, &out.policy, &why))
         tg_load_refuse("--pages=%s: %s", o->pages[i], why.text);
      if (with_thp == NULL && tlb_page_rules_have_thp(&out.policy))
         with_thp = o->pages[i];
   }
   for (unsigned i = 0; i < o->n_pools; i++) {
      if (!tlb_page_pools_parse(o->pools[i], base_page_shift, &out.policy, &why))
         tg_load_refuse("--huge-pool=%s: %s", o->pools[i], why.text);
   }
   take_thp(o, &out);
   settle_thp(o, with_thp, &out);
   return out;
}

/* --- Of one --- */

static char *new_note(TgPageNotes *notes)
{
   return notes->text[notes->n++];
}

static void note_rule(const tlb_machine *m, const tlb_page_policy *p, const tlb_page_rule *rule,
                      const char *given, bool is_own, bool is_known, bool is_file,
                      TgPageNotes *notes)
{
   const unsigned shift = tlb_page_rule_shift(p, rule, m->base_page_shift);
   const char *const of_blocks = tlb_rule_note_of_blocks(m, p, rule);
   char note[TLB_RULE_NOTE_SIZE], size[16];
   if (of_blocks != NULL)
      strcpy(new_note(notes), of_blocks);
   if (!tlb_rule_note_unheld(m, p, rule, is_known || is_file, note))
      return;
   if (is_own && is_known && shift > tlb_machine_largest_page(m)) {
      tlb_text t = tlb_text_in(size, sizeof size);
      tlb_text_add_page_size(&t, shift);
      tg_load_refuse("--machine: %s: the processor has no pages of %s; leave out the rule, or "
                     "describe other arrays in a machine file (tlbgrind --show-machine=%s prints "
                     "one to begin with)", given, size, m->name);
   }
   strcpy(new_note(notes), note);
}

/* A machine without arrays for transparent huge pages gets none: the kernel of such a machine would
   make none. */
static void settle_machine(const TgSimulatedPages *all, const tlb_machine *m, const char *given,
                           tlb_page_policy *p, TgPageNotes *notes)
{
   const bool has_rules = tlb_page_rules_have_thp(p);
   if (all->thp_is_given && p->thp == TLB_THP_NEVER && has_rules)
      tg_load_refuse("--machine: %s has a rule for transparent huge pages, which --thp=never "
                     "leaves none for; leave out one of the two", given);
   if (p->thp == TLB_THP_NEVER || tlb_machine_has_thp(m, p))
      return;
   if (all->thp_is_given && p->thp == TLB_THP_ALWAYS && !has_rules)
      tlb_rule_note_no_thp(m, p, new_note(notes));
   p->thp = TLB_THP_NEVER;
}

tlb_page_policy tg_machines_pages(const TgSimulatedPages *all, const tlb_machine *m,
                                  const char *given, const char *rules, bool is_known, bool is_file,
                                  TgPageNotes *notes)
{
   tlb_page_policy p = all->policy;
   char note[TLB_RULE_NOTE_SIZE];
   tlb_reason why;
   p.thp_shift = tlb_machine_thp_shift(m, m->isa);
   notes->n = 0;
   if (rules != NULL && !tlb_page_rules_parse(rules, '+', m->base_page_shift, &p, &why))
      tg_load_refuse("--machine: %s: %s", given, why.text);
   for (unsigned i = 0; i < p.n_rules; i++)
      note_rule(m, &p, &p.rule[i], given, i >= all->policy.n_rules, is_known, is_file, notes);
   if (tlb_code_blocks_take(&all->code, m, &p, note))
      strcpy(new_note(notes), note);
   settle_machine(all, m, given, &p, notes);
   return p;
}
