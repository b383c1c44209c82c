/* Makes a machine file of facts. See measure/facts.h. */

#include <stdio.h>
#include <string.h>

#include "measure/to_machine_parts.h"
#include "sim/machine/machine_file.h"

static void set_head(tlb_machine *m, const TgFacts *f)
{
   memset(m, 0, sizeof *m);
   snprintf(m->name, sizeof m->name, "%s", f->name[0] != '\0' ? f->name : "measured");
   snprintf(m->title, sizeof m->title, "%s", f->title[0] != '\0' ? f->title : "a machine measured");
   snprintf(m->isa, sizeof m->isa, "%s", f->isa[0] != '\0' ? f->isa : "unknown");
   snprintf(m->source, sizeof m->source, "%s", f->when[0] != '\0' ? f->when : "tg_measure");
   m->year = f->year;
   m->confidence = TLB_MEASURED;
   m->base_page_shift = f->base_page_shift;
}

static void note_pieces(tlb_machine *m, const TgFacts *f)
{
   for (unsigned i = 0; i < f->n_large && m->n_notes < TLB_MAX_NOTES; i++) {
      const TgLargeFacts *const l = &f->large[i];
      char *const text = m->note[m->n_notes].text;
      const size_t size = sizeof m->note[0].text;
      if (l->whole != TG_IN_PIECES)
         continue;
      m->n_notes++;
      const int n = snprintf(text, size, "pages of %u%s are translated in base pages here, as a "
                             "hypervisor with such pages has it",
                             1u << l->page_shift % 10, l->page_shift >= 30 ? "G"
                             : l->page_shift >= 20                        ? "M"
                                                                          : "K");
      if (l->walk_cycles.sure != TG_NOT_TOLD && n > 0 && (size_t)n < size)
         snprintf(text + n, size - (size_t)n, "; a walk there costs %.0f cycles",
                  l->walk_cycles.value);
   }
}

int tg_to_machine(const TgFacts *f, const tlb_machine *known, char *out, size_t size,
                  tlb_reason *why)
{
   static tlb_machine m;
   set_head(&m, f);
   if (!tg_machine_add_arrays(&m, f, known, why))
      return 0;
   tg_machine_add_walk(&m, f, known);
   note_pieces(&m, f);
   tlb_machine_note_unknowns(&m);
   if (!tlb_machine_check(&m, why))
      return 0;
   tlb_machine_print(&m, out, size);
   return 1;
}
