/* Describes the page sizes of the client's memory. See space/backing_report.h. */

#include "pub_tool_basics.h"

#include "pub_tool_libcbase.h"
#include "pub_tool_libcprint.h"
#include "pub_tool_mallocfree.h"

#include "sim/base/text.h"

#include "space/aspace.h"
#include "space/backing_report.h"

/* "2M" */
static const HChar* size_name(HChar out[16], UInt shift)
{
   tlb_text t = tlb_text_in(out, 16);
   tlb_text_add_page_size(&t, shift);
   return out;
}

static TgRuleEffect effect(const tlb_view* v, UInt rule)
{
   if ((v->unmet >> rule & 1) != 0)
      return TG_RULE_UNMET;
   if ((v->decided >> rule & 1) == 0)
      return TG_RULE_OVERRULED;
   return (v->had_effect >> rule & 1) == 0 ? TG_RULE_NO_ROOM : TG_RULE_EFFECTIVE;
}

TgRuleEffect tg_backing_report_effect(UInt view, UInt rule)
{
   return effect(tg_aspace_map()->view[view], rule);
}

/* The reason why the rule had no effect; NULL: it had one. */
static const HChar* without_effect(const tlb_view* v, UInt rule)
{
   switch (effect(v, rule)) {
   case TG_RULE_UNMET:     return "no such memory was touched";
   case TG_RULE_OVERRULED: return "later rules speak of all such memory that was touched";
   case TG_RULE_NO_ROOM:   return "no mapping had room for a page of that size";
   case TG_RULE_EFFECTIVE: break;
   }
   return NULL;
}

Bool tg_backing_report_is_of_interest(UInt view)
{
   tlb_pagemap* map = tg_aspace_map();
   const tlb_view_counts* c = tlb_pagemap_counts(map, view);
   const tlb_page_policy* policy = &map->view[view]->policy;
   uint64_t small[TLB_N_SMALL_REASONS];
   if (policy->n_rules > 0 || policy->n_pools > 0 || policy->thp == TLB_THP_ALWAYS)
      return True;
   for (UInt shift = map->view[view]->base_shift + 1; shift < TLB_N_PAGE_SHIFTS; shift++) {
      if (c->taken[shift] != 0 || c->fallbacks[shift] != 0)
         return True;
   }
   tlb_pagemap_small(map, view, small);
   for (UInt i = 0; i < TLB_N_SMALL_REASONS; i++) {
      if (small[i] != 0)
         return True;
   }
   return False;
}

TgFirstTouches tg_backing_report_first_touches(UInt view)
{
   const tlb_view_counts* c = tlb_pagemap_counts(tg_aspace_map(), view);
   return (TgFirstTouches){ c->first_touches, c->faults };
}

/* The large mappings that a rule names by number. */
typedef struct {
   HChar words[160]; /* the rule's, without the size */
   ULong count, bytes;
   ULong start; /* of the first */
   const HChar* name;
} Numbered;

/* False: it names none by number, or there are none. */
static Bool find_numbered(const tlb_pagemap* map, const tlb_page_rule* rule, Numbered* out)
{
   const tlb_large* l = &map->large;
   *out = (Numbered){ .count = 0 };
   if (rule->number == 0)
      return False;
   for (UInt n = rule->number; n == rule->number || (rule->and_later && n <= TLB_LAST_NUMBER); n++) {
      out->bytes += l->by_number[rule->what][n].bytes;
      out->count += l->by_number[rule->what][n].count;
   }
   const tlb_large_mapping* first = &l->by_number[rule->what][rule->number];
   out->name = first->name == NULL ? "" : first->name;
   out->start = first->start;
   tlb_page_rule any_size = *rule;
   any_size.how = TLB_THP;
   tlb_page_rule_print(&any_size, out->words, sizeof out->words);
   *VG_(strchr)(out->words, ':') = '\0';
   return out->count != 0;
}

/* Which memory a rule that names a large mapping by its number has found. */
static void say_large(const tlb_pagemap* map, const tlb_page_rule* rule,
                      void (*line)(const HChar* text, void* opaque), void* opaque)
{
   Numbered n;
   if (!find_numbered(map, rule, &n))
      return;
   HChar* text = VG_(malloc)("tg.backing", VG_(strlen)(n.name) + 300);
   if (n.count > 1)
      VG_(sprintf)(text, "%s is %llu mappings, %lluK", n.words, n.count, n.bytes >> 10);
   else
      VG_(sprintf)(text, "%s is a mapping of %lluK at 0x%llx%s%s", n.words, n.bytes >> 10, n.start,
                   *n.name == '\0' ? "" : ", ", n.name);
   line(text, opaque);
   VG_(free)(text);
}

/* What could be huge and is not, with the way to have it huge. */
static void describe_small(tlb_pagemap* map, UInt view,
                           void (*line)(const HChar* text, void* opaque), void* opaque)
{
   static const struct {
      const HChar* why;
      const HChar* remedy;
   } reasons[TLB_N_SMALL_REASONS] = {
      [TLB_SMALL_GREW] = { "their mapping grew later", "map the whole at once, aligned" },
      [TLB_SMALL_LATE] = { "they were touched before the advice", "advise before the first touch" },
      [TLB_SMALL_CUT] = { "mprotect or advice of a part cut them", "change whole blocks" },
      [TLB_SMALL_PURGED] = { "a part of each was given back", "give back whole blocks" },
      [TLB_SMALL_MARKED] = { "MADV_FREE, COLD or PAGEOUT broke them",
                             "whole blocks for FREE and COLD, no PAGEOUT" },
      [TLB_SMALL_MOVED] = { "mremap moved them", "move whole blocks by multiples of their size" },
      [TLB_SMALL_FORKED] = { "they were written to after a fork",
                             "MADV_DONTFORK, or vfork and posix_spawn" },
   };
   HChar text[200], name[16];
   Bool any = False;
   const tlb_view* v = map->view[view];
   uint64_t small[TLB_N_SMALL_REASONS];
   tlb_pagemap_small(map, view, small);
   for (UInt i = 0; i < TLB_N_SMALL_REASONS; i++) {
      if (small[i] == 0)
         continue;
      VG_(snprintf)(text, sizeof text, "in small pages, as %s: %llu blocks of %s; %s",
                    reasons[i].why, (ULong)small[i],
                    size_name(name, tlb_thp_shift(&v->policy, v->base_shift)),
                    reasons[i].remedy);
      line(text, opaque);
      any = True;
   }
   if (any)
      line("khugepaged, which is not modelled, may make these huge in time", opaque);
}

void tg_backing_report_describe(UInt view,
                        void (*line)(const HChar* text, void* opaque),
                        void* opaque)
{
   tlb_pagemap* map = tg_aspace_map();
   const tlb_view_counts* c = tlb_pagemap_counts(map, view);
   HChar text[200], name[16], rule[160];
   for (UInt shift = 0; shift < TLB_N_PAGE_SHIFTS; shift++) {
      const ULong pages = c->peak.pages[shift];
      if (pages == 0)
         continue;
      VG_(snprintf)(text, sizeof text,
                    "backed at the peak: %llu pages of %s, %lluK, of which %lluK "
                    "touched",
                    pages, size_name(name, shift), (pages << shift) >> 10,
                    (ULong)c->peak.touched[shift] >> 10);
      line(text, opaque);
   }
   for (UInt shift = 0; shift < TLB_N_PAGE_SHIFTS; shift++) {
      if (c->fallbacks[shift] == 0)
         continue;
      VG_(snprintf)(text, sizeof text,
                    "the pool of %s pages was empty %llu times; base pages were "
                    "taken",
                    size_name(name, shift), (ULong)c->fallbacks[shift]);
      line(text, opaque);
   }
   const tlb_view* v = map->view[view];
   for (UInt i = 0; i < v->policy.n_pools; i++) {
      const UInt shift = v->policy.pool[i].shift;
      if (c->taken[shift] != 0 || c->fallbacks[shift] != 0)
         continue;
      VG_(snprintf)(text, sizeof text,
                    "no page was taken from the pool of %s pages",
                    size_name(name, shift));
      line(text, opaque);
   }
   if (c->broken != 0) {
      VG_(snprintf)(text, sizeof text, "large pages broken: %llu",
                    (ULong)c->broken);
      line(text, opaque);
   }
   describe_small(map, view, line, opaque);
   for (UInt i = 0; i < v->policy.n_rules; i++)
      say_large(map, &v->policy.rule[i], line, opaque);
   for (UInt i = 0; i < v->policy.n_rules; i++) {
      const HChar* why = without_effect(v, i);
      if (why == NULL)
         continue;
      tlb_page_rule_print(&v->policy.rule[i], rule, sizeof rule);
      VG_(snprintf)(text, sizeof text, "%s: %s", why, rule);
      line(text, opaque);
   }
}

void tg_backing_report_keys(UInt view, void (*line)(const HChar* text, void* opaque), void* opaque)
{
   tlb_pagemap* map = tg_aspace_map();
   const tlb_view* v = map->view[view];
   const tlb_view_counts* c = tlb_pagemap_counts(map, view);
   for (UInt shift = 0; shift < TLB_N_PAGE_SHIFTS; shift++) {
      HChar text[120], name[16];
      const ULong pages = c->peak.pages[shift];
      if (pages == 0)
         continue;
      VG_(snprintf)(text, sizeof text, "Backed: %s %llu %llu %llu", size_name(name, shift), pages,
                    (pages << shift) >> 10, (ULong)c->peak.touched[shift] >> 10);
      line(text, opaque);
   }
   for (UInt i = 0; i < v->policy.n_rules; i++) {
      Numbered n;
      if (!find_numbered(map, &v->policy.rule[i], &n))
         continue;
      HChar* text = VG_(malloc)("tg.backing", VG_(strlen)(n.name) + 300);
      VG_(sprintf)(text, "Numbered: %s %llu %llu 0x%llx%s%s", n.words, n.count, n.bytes >> 10,
                   n.start, *n.name == '\0' ? "" : " ", n.name);
      line(text, opaque);
      VG_(free)(text);
   }
}
