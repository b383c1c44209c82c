/* Variants that change nothing. See output/advice_same.h. */

#include "pub_tool_basics.h"

#include "pub_tool_libcbase.h"
#include "pub_tool_libcprint.h"
#include "pub_tool_options.h"

#include "sim/pages/backing_report.h"
#include "space/aspace.h"
#include "trace/run_mmus.h"
#include "base/number_format.h"
#include "output/advice_same.h"

/* --- Which they are --- */

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

static const tlb_page_rule* own_rule(const TgResult* r)
{
   return &r->machine->pages.rule[r->machine->pages.n_rules - 1];
}

static tlb_rule_effect effect_of(const TgResults* results, UInt machine)
{
   return tlb_backing_effect(tg_aspace_map(), tg_mmus.mmu[machine].view,
                                   results->result[machine].machine->pages.n_rules - 1);
}

/* --- In the out-file --- */

/* Where the keys of a variant go, with its number among those of its machine. */
typedef struct {
   TgFile* file;
   UInt number;
   Bool is_backed; /* some memory is in its pages */
} Place;

/* "Backed: 4K 7 28 28" becomes "desc: Same backed: 3 4K 7 28 28". */
static void print_key(const HChar* text, void* opaque)
{
   const Place* place = opaque;
   HChar key[16];
   const HChar* colon = VG_(strchr)(text, ':');
   if (!place->is_backed && VG_(strncmp)(text, "Backed:", 7) == 0)
      return;
   VG_(snprintf)(key, sizeof key, "%s", text);
   key[0] = VG_(tolower)(key[0]);
   key[colon - text] = '\0';
   tg_file_print(place->file, "desc: Same %s: %u", key, place->number);
   tg_file_text(place->file, colon + 1);
   tg_file_print(place->file, "\n");
}

static void describe_one(const TgResults* results, UInt machine, UInt number, TgFile* f)
{
   static const HChar* const why[] = {
      [TLB_RULE_EFFECTIVE] = "none",
      [TLB_RULE_UNMET] = "untouched",
      [TLB_RULE_OVERRULED] = "overruled",
      [TLB_RULE_NO_ROOM] = "room",
   };
   const TgMachine* m = results->result[machine].machine;
   const tlb_page_rule* rule = own_rule(&results->result[machine]);
   const UInt shift = tlb_page_rule_shift(&m->pages, rule, m->m.base_page_shift);
   const tlb_view_counts* c = tlb_pagemap_counts(tg_aspace_map(), tg_mmus.mmu[machine].view);
   HChar text[TLB_PATTERN_SIZE + 40];
   const tlb_rule_effect effect = effect_of(results, machine);
   Place place = { f, number, effect == TLB_RULE_EFFECTIVE };
   tlb_page_rule_print(rule, text, sizeof text);
   tg_file_print(f, "desc: Same: %u %s ", number, why[effect]);
   tg_file_text(f, text);
   tg_file_print(f, "\ndesc: Same touched: %u %llu %llu\n", number, (ULong)c->first_touches,
                 (ULong)c->faults);
   if (shift != 0 && tlb_machine_holds_large(&m->m, shift) == TLB_HOLDS_NO)
      tg_file_print(f, "desc: Same unheld: %u %s\n", number, tg_page_size(shift).text);
   tlb_backing_keys(tg_aspace_map(), tg_mmus.mmu[machine].view, print_key, &place);
}

void tg_advice_same_describe(const TgResults* results, UInt machine, TgFile* f)
{
   const UInt group = group_of(results->options);
   if (group == 0 || machine % group != 0)
      return;
   tg_file_print(f, "desc: Variants: %u\n", group - 1);
   for (UInt i = 1; i < group; i++) {
      if (results->result[machine + i].is_same)
         describe_one(results, machine + i, i, f);
   }
}

/* --- On the terminal --- */

/* Large mappings by number are tried unasked: where there are none, nothing is said. */
static Bool is_said(const TgResults* results, UInt machine, tlb_rule_effect effect, UInt shift)
{
   const TgResult* r = &results->result[machine];
   const tlb_page_rule* rule = own_rule(r);
   return r->is_same && effect_of(results, machine) == effect
          && tlb_page_rule_shift(&r->machine->pages, rule, r->machine->m.base_page_shift) == shift
          && !(rule->number != 0 && effect == TLB_RULE_UNMET);
}

/* The memory of one variant, with the machines, if it is not so on all. */
static void print_memory(const TgResults* results, UInt variant, tlb_rule_effect effect, UInt shift,
                         UInt n_so)
{
   const UInt group = group_of(results->options);
   HChar text[TLB_PATTERN_SIZE + 40];
   tlb_page_rule_print(own_rule(&results->result[variant]), text, sizeof text);
   *VG_(strrchr)(text, ':') = '\0';
   VG_(umsg)("%s", text);
   if (n_so == results->options->n_machines / group)
      return;
   const HChar* before = " (";
   for (UInt first = 0; first < results->options->n_machines; first += group) {
      if (!is_said(results, first + variant, effect, shift))
         continue;
      VG_(umsg)("%s%s", before, results->result[first].machine->name);
      before = ", ";
   }
   VG_(umsg)(")");
}

static void print_reason(const TgResults* results, tlb_rule_effect effect, UInt shift)
{
   static const HChar* const words[] = {
      [TLB_RULE_EFFECTIVE] = "the same misses in pages of",
      [TLB_RULE_UNMET] = "no such memory for pages of",
      [TLB_RULE_OVERRULED] = "all of it in other pages than those of",
      [TLB_RULE_NO_ROOM] = "no room for a page of",
   };
   const UInt group = group_of(results->options);
   Bool any = False;
   for (UInt i = 1; i < group; i++) {
      UInt n_so = 0;
      for (UInt first = 0; first < results->options->n_machines; first += group)
         n_so += is_said(results, first + i, effect, shift) ? 1 : 0;
      if (n_so == 0)
         continue;
      if (!any)
         VG_(umsg)("  %s %s: ", words[effect], tg_page_size(shift).text);
      else
         VG_(umsg)(", ");
      print_memory(results, i, effect, shift, n_so);
      any = True;
   }
   if (any)
      VG_(umsg)("\n");
}

void tg_advice_same_print(const TgResults* results)
{
   const TgOptions* o = results->options;
   UInt n = 0;
   for (UInt i = 0; i < o->n_machines; i++)
      n += results->result[i].is_same ? 1 : 0;
   if (n == 0)
      return;
   VG_(umsg)("No row and no file of their own, as no count is another: %u of %u variants\n", n,
             o->n_machines - o->n_machines / group_of(o));
   for (UInt shift = 1; shift < TLB_N_PAGE_SHIFTS; shift++) {
      for (UInt effect = 0; effect <= TLB_RULE_NO_ROOM; effect++)
         print_reason(results, (tlb_rule_effect)effect, shift);
   }
}
