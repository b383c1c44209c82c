/* Checks the machines' rules for pages. See options/rule_check.h. */

#include "pub_tool_basics.h"

#include "pub_tool_libcbase.h"
#include "pub_tool_xarray.h"

#include "sim/pages/rule_notes.h"

#include "arch/arch.h"
#include "base/number_format.h"
#include "options/fault_options.h"
#include "options/given.h"
#include "options/refuse.h"
#include "options/rule_check.h"

/* Whether the machine is a processor, built in or the host's, as it is: not a file, `custom` or
   `default`, and without overrides. */
static Bool is_known_processor(const TgMachine* m)
{
   return m->file == NULL && !m->changed && VG_(strcmp)(m->given, "custom") != 0
          && VG_(strcmp)(m->given, "default") != 0 && VG_(strncmp)(m->given, "default@", 8) != 0;
}

/* A rule for pages that no array of the machine holds is reported as an assumption. It ends the run
   if it is in the machine's own rules, and the processor has no pages that large. */
static void check_rule(TgMachine* m, UInt number, Bool is_own)
{
   const tlb_page_rule* rule = &m->pages.rule[number];
   const UInt shift = tlb_page_rule_shift(&m->pages, rule, m->m.base_page_shift);
   const HChar* of_blocks = tlb_rule_note_of_blocks(&m->m, &m->pages, rule);
   HChar note[TLB_RULE_NOTE_SIZE];
   if (of_blocks != NULL)
      tg_machine_assume(m, "%s", of_blocks);
   if (!tlb_rule_note_unheld(&m->m, &m->pages, rule, is_known_processor(m) || m->file != NULL,
                             note))
      return;
   if (is_own && is_known_processor(m) && shift > tlb_machine_largest_page(&m->m))
      tg_refuse(tg_given("--machine"),
                "%s: the processor has no pages of %s; leave out the rule, or describe other "
                "arrays in a machine file (--show-machine=%s prints one to begin with)",
                m->given, tg_page_size(shift).text, m->m.name);
   tg_machine_assume(m, "%s", note);
}

/* The architecture whose Linux runs there: that of this tool for arrays that are of none. */
static const HChar* system_of(const TgMachine* m)
{
   const Bool is_of_any = m->m.isa[0] == '\0' || VG_(strcmp)(m->m.isa, "any") == 0;
   return is_of_any && tg_arch.isa != NULL ? tg_arch.isa : m->m.isa;
}

/* The first read-ahead: of it the header has been read before any code, page by page. */
enum { FIRST_READ = 128 << 10 };

tlb_code_blocks tg_rule_check_code(const TgOptions* o)
{
   tlb_code_blocks c = { .from = FIRST_READ };
   const tlb_kernel_rules* kernel = tg_fault_options_kernel();
   if (tg_arch.code_folio_shift == 0 || !kernel->code_ahead || o->as_cachegrind)
      return c;
   c.shift = tg_arch.code_folio_shift;
   VG_(strncpy)(c.isa, tg_arch.isa, sizeof c.isa - 1);
   VG_(strncpy)(c.kernel, kernel->name, sizeof c.kernel - 1);
   return c;
}

/* A machine without arrays for transparent huge pages gets none: the kernel of such a machine would
   make none. */
void tg_rule_check(TgOptions* o)
{
   const tlb_code_blocks code = tg_rule_check_code(o);
   HChar said[TLB_RULE_NOTE_SIZE];
   for (UInt i = 0; i < o->n_machines; i++) {
      TgMachine* m = &o->machine[i];
      m->pages.thp_shift = tlb_machine_thp_shift(&m->m, system_of(m));
      m->n_own = VG_(sizeXA)(m->assumptions);
      for (UInt j = 0; j < m->pages.n_rules; j++)
         check_rule(m, j, j >= o->pages.policy.n_rules);
      if (tlb_code_blocks_take(&code, &m->m, &m->pages, said))
         tg_machine_assume(m, "%s", said);
      if (o->pages.thp_arg != NULL && m->pages.thp == TLB_THP_NEVER
          && tlb_page_rules_have_thp(&m->pages))
         tg_refuse(tg_given("--machine"),
                   "%s has a rule for transparent huge pages, which %s leaves none for; leave out "
                   "one of the two", m->given, o->pages.thp_arg);
      if (m->pages.thp == TLB_THP_NEVER || tlb_machine_has_thp(&m->m, &m->pages))
         continue;
      if (o->pages.thp_arg != NULL && m->pages.thp == TLB_THP_ALWAYS
          && !tlb_page_rules_have_thp(&m->pages)) {
         HChar note[TLB_RULE_NOTE_SIZE];
         tlb_rule_note_no_thp(&m->m, &m->pages, note);
         tg_machine_assume(m, "%s", note);
      }
      m->pages.thp = TLB_THP_NEVER;
   }
}
