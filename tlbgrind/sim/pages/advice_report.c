/* Variants that change nothing. See sim/pages/advice_report.h. */

#include "sim/pages/advice_report.h"

#include "sim/base/text.h"
#include "sim/pages/pagerules.h"

/* Of a line: a file's name, and some words. */
enum { ROOM = 4096 + 400 };

/* As it is, in whatever encoding. */
static void add_name(tlb_text *t, const char *name)
{
   while (*name != '\0' && t->at < t->end)
      *t->at++ = *name++;
   *t->at = '\0';
}

/* --- For an out-file --- */

typedef struct {
   tlb_backing_line *line;
   void *opaque;
   unsigned number; /* among the variants of its machine */
   int is_backed;   /* some memory is in its pages */
} variant;

static tlb_text begin(char text[ROOM], const char *key, unsigned number)
{
   tlb_text t = tlb_text_in(text, ROOM);
   tlb_text_add(&t, "Same");
   tlb_text_add(&t, key);
   tlb_text_add(&t, ": ");
   tlb_text_add_number(&t, number);
   tlb_text_add(&t, " ");
   return t;
}

/* "Backed: 4K 7 28 28" becomes "Same backed: 3 4K 7 28 28". */
static void put_key(const char *given, void *opaque)
{
   const variant *const v = opaque;
   char text[ROOM];
   const int is_backed = tlb_text_begins(given, "Backed: ");
   if (is_backed && !v->is_backed)
      return;
   tlb_text t = begin(text, is_backed ? " backed" : " numbered", v->number);
   add_name(&t, given + tlb_text_length(is_backed ? "Backed: " : "Numbered: "));
   v->line(text, v->opaque);
}

static void put_touched(const variant *v, const tlb_view_counts *c)
{
   char text[ROOM];
   tlb_text t = begin(text, " touched", v->number);
   tlb_text_add_number(&t, c->first_touches);
   tlb_text_add(&t, " ");
   tlb_text_add_number(&t, c->faults);
   v->line(text, v->opaque);
}

void tlb_advice_same_keys(tlb_pagemap *map, unsigned view, const tlb_machine *m,
                          const tlb_page_policy *policy, unsigned number, tlb_backing_line *line,
                          void *opaque)
{
   static const char *const why[] = {
      [TLB_RULE_EFFECTIVE] = "none ",
      [TLB_RULE_UNMET] = "untouched ",
      [TLB_RULE_OVERRULED] = "overruled ",
      [TLB_RULE_NO_ROOM] = "room ",
   };
   const tlb_page_rule *const own = &policy->rule[policy->n_rules - 1];
   const unsigned shift = tlb_page_rule_shift(policy, own, m->base_page_shift);
   const tlb_rule_effect effect = tlb_backing_effect(map, view, policy->n_rules - 1);
   variant v = { line, opaque, number, effect == TLB_RULE_EFFECTIVE };
   char text[ROOM], rule[TLB_PATTERN_SIZE + 40];
   tlb_page_rule_print(own, rule, sizeof rule);
   tlb_text t = begin(text, "", number);
   tlb_text_add(&t, why[effect]);
   add_name(&t, rule);
   line(text, opaque);
   put_touched(&v, tlb_pagemap_counts(map, view));
   if (shift != 0 && tlb_machine_holds_large(m, shift) == TLB_HOLDS_NO) {
      t = begin(text, " unheld", number);
      tlb_text_add_page_size(&t, shift);
      line(text, opaque);
   }
   tlb_backing_keys(map, view, put_key, &v);
}

/* --- For people --- */

typedef struct {
   const tlb_advice_variant *v;
   unsigned n, group;
   void (*put)(const char *text, void *opaque);
   void *opaque;
} all_variants;

/* Large mappings by number are tried unasked: where there are none, nothing is said. */
static int is_said(const tlb_advice_variant *v, tlb_rule_effect effect, unsigned shift)
{
   return v->is_same && v->effect == effect && v->shift == shift
          && !(v->rule->number != 0 && effect == TLB_RULE_UNMET);
}

/* On how many machines it is so of their variant number i. */
static unsigned machines_with(const all_variants *all, unsigned i, tlb_rule_effect effect,
                              unsigned shift)
{
   unsigned n_so = 0;
   for (unsigned first = 0; first < all->n; first += all->group)
      n_so += is_said(&all->v[first + i], effect, shift) ? 1 : 0;
   return n_so;
}

/* The memory of variant number i, with the machines, if it is not so on all. */
static void say_memory(const all_variants *all, unsigned i, tlb_rule_effect effect, unsigned shift)
{
   char text[TLB_PATTERN_SIZE + 40];
   tlb_page_rule_print(all->v[i].rule, text, sizeof text);
   char *colon = text;
   for (char *at = text; *at != '\0'; at++)
      colon = *at == ':' ? at : colon;
   *colon = '\0';
   all->put(text, all->opaque);
   if (machines_with(all, i, effect, shift) == all->n / all->group)
      return;
   const char *before = " (";
   for (unsigned first = 0; first < all->n; first += all->group) {
      if (!is_said(&all->v[first + i], effect, shift))
         continue;
      all->put(before, all->opaque);
      all->put(all->v[first].name, all->opaque);
      before = ", ";
   }
   all->put(")", all->opaque);
}

static void say_reason(const all_variants *all, tlb_rule_effect effect, unsigned shift)
{
   static const char *const words[] = {
      [TLB_RULE_EFFECTIVE] = "the same misses in pages of",
      [TLB_RULE_UNMET] = "no such memory for pages of",
      [TLB_RULE_OVERRULED] = "all of it in other pages than those of",
      [TLB_RULE_NO_ROOM] = "no room for a page of",
   };
   char text[100];
   int any = 0;
   for (unsigned i = 1; i < all->group; i++) {
      if (machines_with(all, i, effect, shift) == 0)
         continue;
      tlb_text t = tlb_text_in(text, sizeof text);
      tlb_text_add(&t, any ? ", " : "  ");
      if (!any) {
         tlb_text_add(&t, words[effect]);
         tlb_text_add(&t, " ");
         tlb_text_add_page_size(&t, shift);
         tlb_text_add(&t, ": ");
      }
      all->put(text, all->opaque);
      say_memory(all, i, effect, shift);
      any = 1;
   }
   if (any)
      all->put("\n", all->opaque);
}

void tlb_advice_same_say(const tlb_advice_variant *v, unsigned n, unsigned group,
                         void (*put)(const char *text, void *opaque), void *opaque)
{
   const all_variants all = { v, n, group, put, opaque };
   char text[120];
   unsigned n_same = 0;
   for (unsigned i = 0; i < n; i++)
      n_same += v[i].is_same ? 1 : 0;
   if (n_same == 0)
      return;
   tlb_text t = tlb_text_in(text, sizeof text);
   tlb_text_add(&t, "No row and no file of their own, as no count is another: ");
   tlb_text_add_number(&t, n_same);
   tlb_text_add(&t, " of ");
   tlb_text_add_number(&t, n - n / group);
   tlb_text_add(&t, " variants");
   put(text, opaque);
   put("\n", opaque);
   for (unsigned shift = 1; shift < TLB_N_PAGE_SHIFTS; shift++) {
      for (unsigned effect = 0; effect <= TLB_RULE_NO_ROOM; effect++)
         say_reason(&all, (tlb_rule_effect)effect, shift);
   }
}
