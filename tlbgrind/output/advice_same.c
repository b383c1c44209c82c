/* Variants that change nothing. See output/advice_same.h. */

#include "pub_tool_basics.h"

#include "pub_tool_libcbase.h"
#include "pub_tool_libcprint.h"
#include "pub_tool_mallocfree.h"

#include "sim/pages/advice_report.h"
#include "space/aspace.h"
#include "trace/run_mmus.h"
#include "output/advice_same.h"

static UInt group_of(const TgOptions* o)
{
   return o->advice_group;
}

/* The one without larger pages that machine is a variant of. */
static UInt first_of(const TgOptions* o, UInt machine)
{
   return machine - machine % group_of(o);
}

void tg_advice_same_find(TgResults* results)
{
   const TgOptions* o = results->options;
   for (UInt i = 0; group_of(o) > 0 && i < o->n_machines; i++) {
      const TgResult* first = &results->result[first_of(o, i)];
      TgResult* r = &results->result[i];
      r->is_same = r != first && r->least_cycles == first->least_cycles
                   && VG_(memcmp)(r->total, first->total, sizeof r->total) == 0;
   }
}

static void print_key(const HChar* text, void* opaque)
{
   TgFile* f = opaque;
   tg_file_print(f, "desc: ");
   tg_file_text(f, text);
   tg_file_print(f, "\n");
}

void tg_advice_same_describe(const TgResults* results, UInt machine, TgFile* f)
{
   const UInt group = group_of(results->options);
   if (group == 0 || machine % group != 0)
      return;
   tg_file_print(f, "desc: Variants: %u\n", group - 1);
   for (UInt i = 1; i < group; i++) {
      const TgMachine* m = results->result[machine + i].machine;
      if (results->result[machine + i].is_same)
         tlb_advice_same_keys(tg_aspace_map(), tg_mmus.mmu[machine + i].view, &m->m, &m->pages, i,
                              print_key, f);
   }
}

static void print_piece(const HChar* text, void* opaque)
{
   (void)opaque;
   VG_(umsg)("%s", text);
}

void tg_advice_same_print(const TgResults* results)
{
   const TgOptions* o = results->options;
   if (group_of(o) == 0)
      return;
   tlb_advice_variant* v = VG_(calloc)("tg.advice.same", o->n_machines, sizeof *v);
   for (UInt i = 0; i < o->n_machines; i++) {
      const TgMachine* m = results->result[i].machine;
      const UInt own = m->pages.n_rules - 1;
      v[i].name = m->name;
      v[i].is_same = results->result[i].is_same;
      if (i == first_of(o, i))
         continue;
      v[i].rule = &m->pages.rule[own];
      v[i].shift = tlb_page_rule_shift(&m->pages, v[i].rule, m->m.base_page_shift);
      v[i].effect = tlb_backing_effect(tg_aspace_map(), tg_mmus.mmu[i].view, own);
   }
   tlb_advice_same_say(v, o->n_machines, group_of(o), print_piece, NULL);
   VG_(free)(v);
}
