/* Describes the page sizes of a view's memory. See backing_report.h. */

#include "sim/pages/backing_report.h"

#include "sim/base/text.h"

/* Of a line: a file's name, and some words. */
enum { ROOM = 4096 + 400 };

typedef struct {
   char text[ROOM];
   tlb_text t;
} sentence;

static void begin(sentence *s)
{
   s->t = tlb_text_in(s->text, sizeof s->text);
}

static void add(sentence *s, const char *words)
{
   tlb_text_add(&s->t, words);
}

static void add_number(sentence *s, uint64_t n)
{
   tlb_text_add_number(&s->t, n);
}

/* As it is, in whatever encoding. */
static void add_name(sentence *s, const char *name)
{
   while (*name != '\0' && s->t.at < s->t.end)
      *s->t.at++ = *name++;
   *s->t.at = '\0';
}

static void add_address(sentence *s, uint64_t a)
{
   unsigned shift = 60;
   add(s, "0x");
   while (shift > 0 && a >> shift == 0)
      shift -= 4;
   for (;; shift -= 4) {
      tlb_text_add_n(&s->t, &"0123456789abcdef"[a >> shift & 15], 1);
      if (shift == 0)
         return;
   }
}

static void add_rule(sentence *s, const tlb_page_rule *rule)
{
   char text[TLB_PATTERN_SIZE + 40];
   tlb_page_rule_print(rule, text, sizeof text);
   add(s, text);
}

/* --- Rules --- */

static tlb_rule_effect effect(const tlb_view *v, unsigned rule)
{
   if ((v->unmet >> rule & 1) != 0)
      return TLB_RULE_UNMET;
   if ((v->decided >> rule & 1) == 0)
      return TLB_RULE_OVERRULED;
   return (v->had_effect >> rule & 1) == 0 ? TLB_RULE_NO_ROOM : TLB_RULE_EFFECTIVE;
}

tlb_rule_effect tlb_backing_effect(const tlb_pagemap *map, unsigned view, unsigned rule)
{
   return effect(map->view[view], rule);
}

/* The reason why the rule had no effect; NULL: it had one. */
static const char *without_effect(const tlb_view *v, unsigned rule)
{
   switch (effect(v, rule)) {
   case TLB_RULE_UNMET:     return "no such memory was touched";
   case TLB_RULE_OVERRULED: return "later rules speak of all such memory that was touched";
   case TLB_RULE_NO_ROOM:   return "no mapping had room for a page of that size";
   case TLB_RULE_EFFECTIVE: break;
   }
   return NULL;
}

int tlb_backing_is_of_interest(tlb_pagemap *map, unsigned view)
{
   const tlb_view_counts *const c = tlb_pagemap_counts(map, view);
   const tlb_page_policy *const policy = &map->view[view]->policy;
   uint64_t small[TLB_N_SMALL_REASONS];
   if (policy->n_rules > 0 || policy->n_pools > 0 || policy->thp == TLB_THP_ALWAYS)
      return 1;
   for (unsigned shift = map->view[view]->base_shift + 1; shift < TLB_N_PAGE_SHIFTS; shift++) {
      if (c->taken[shift] != 0 || c->fallbacks[shift] != 0)
         return 1;
   }
   tlb_pagemap_small(map, view, small);
   for (unsigned i = 0; i < TLB_N_SMALL_REASONS; i++) {
      if (small[i] != 0)
         return 1;
   }
   return 0;
}

/* --- Mappings by number --- */

/* The large mappings that a rule names by number. */
typedef struct {
   char words[TLB_PATTERN_SIZE + 40]; /* the rule's, without the size */
   uint64_t count, bytes;
   uint64_t start; /* of the first */
   const char *name;
} numbered;

/* 0: it names none by number, or there are none. */
static int find_numbered(const tlb_pagemap *map, const tlb_page_rule *rule, numbered *out)
{
   const tlb_large *const l = &map->large;
   *out = (numbered){ .count = 0 };
   if (rule->number == 0)
      return 0;
   for (unsigned n = rule->number; n == rule->number || (rule->and_later && n <= TLB_LAST_NUMBER);
        n++) {
      out->bytes += l->by_number[rule->what][n].bytes;
      out->count += l->by_number[rule->what][n].count;
   }
   const tlb_large_mapping *const first = &l->by_number[rule->what][rule->number];
   out->name = first->name == NULL ? "" : first->name;
   out->start = first->start;
   tlb_page_rule any_size = *rule;
   any_size.how = TLB_THP;
   tlb_page_rule_print(&any_size, out->words, sizeof out->words);
   char *colon = out->words;
   while (*colon != ':')
      colon++;
   *colon = '\0';
   return out->count != 0;
}

/* Which memory a rule that names a large mapping by its number has found. */
static void say_large(const tlb_pagemap *map, const tlb_page_rule *rule, tlb_backing_line *line,
                      void *opaque)
{
   numbered n;
   sentence s;
   if (!find_numbered(map, rule, &n))
      return;
   begin(&s);
   add(&s, n.words);
   add(&s, n.count > 1 ? " is " : " is a mapping of ");
   if (n.count > 1) {
      add_number(&s, n.count);
      add(&s, " mappings, ");
   }
   add_number(&s, n.bytes >> 10);
   add(&s, "K");
   if (n.count == 1) {
      add(&s, " at ");
      add_address(&s, n.start);
      add(&s, *n.name == '\0' ? "" : ", ");
      add_name(&s, n.name);
   }
   line(s.text, opaque);
}

/* --- For people --- */

/* What could be huge and is not, with the way to have it huge. */
static void describe_small(tlb_pagemap *map, unsigned view, tlb_backing_line *line, void *opaque)
{
   static const struct {
      const char *why;
      const char *remedy;
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
   int any = 0;
   uint64_t small[TLB_N_SMALL_REASONS];
   tlb_pagemap_small(map, view, small);
   for (unsigned i = 0; i < TLB_N_SMALL_REASONS; i++) {
      sentence s;
      if (small[i] == 0)
         continue;
      begin(&s);
      add(&s, "in small pages, as ");
      add(&s, reasons[i].why);
      add(&s, ": ");
      add_number(&s, small[i]);
      add(&s, " blocks of ");
      tlb_text_add_page_size(&s.t, tlb_thp_shift(&map->view[view]->policy,
                                                  map->view[view]->base_shift));
      add(&s, "; ");
      add(&s, reasons[i].remedy);
      line(s.text, opaque);
      any = 1;
   }
   if (any)
      line("khugepaged, which is not modelled, may make these huge in time", opaque);
}

/* Of the moment with the most memory backed. */
static void describe_peak(const tlb_view_counts *c, tlb_backing_line *line, void *opaque)
{
   for (unsigned shift = 0; shift < TLB_N_PAGE_SHIFTS; shift++) {
      sentence s;
      if (c->peak.pages[shift] == 0)
         continue;
      begin(&s);
      add(&s, "backed at the peak: ");
      add_number(&s, c->peak.pages[shift]);
      add(&s, " pages of ");
      tlb_text_add_page_size(&s.t, shift);
      add(&s, ", ");
      add_number(&s, (c->peak.pages[shift] << shift) >> 10);
      add(&s, "K, of which ");
      add_number(&s, c->peak.touched[shift] >> 10);
      add(&s, "K touched");
      line(s.text, opaque);
   }
}

static void describe_pools(const tlb_view *v, const tlb_view_counts *c, tlb_backing_line *line,
                           void *opaque)
{
   sentence s;
   for (unsigned shift = 0; shift < TLB_N_PAGE_SHIFTS; shift++) {
      if (c->fallbacks[shift] == 0)
         continue;
      begin(&s);
      add(&s, "the pool of ");
      tlb_text_add_page_size(&s.t, shift);
      add(&s, " pages was empty ");
      add_number(&s, c->fallbacks[shift]);
      add(&s, " times; base pages were taken");
      line(s.text, opaque);
   }
   for (unsigned i = 0; i < v->policy.n_pools; i++) {
      const unsigned shift = v->policy.pool[i].shift;
      if (c->taken[shift] != 0 || c->fallbacks[shift] != 0)
         continue;
      begin(&s);
      add(&s, "no page was taken from the pool of ");
      tlb_text_add_page_size(&s.t, shift);
      add(&s, " pages");
      line(s.text, opaque);
   }
}

void tlb_backing_describe(tlb_pagemap *map, unsigned view, tlb_backing_line *line, void *opaque)
{
   const tlb_view_counts *const c = tlb_pagemap_counts(map, view);
   const tlb_view *const v = map->view[view];
   sentence s;
   describe_peak(c, line, opaque);
   describe_pools(v, c, line, opaque);
   if (c->broken != 0) {
      begin(&s);
      add(&s, "large pages broken: ");
      add_number(&s, c->broken);
      line(s.text, opaque);
   }
   describe_small(map, view, line, opaque);
   for (unsigned i = 0; i < v->policy.n_rules; i++)
      say_large(map, &v->policy.rule[i], line, opaque);
   for (unsigned i = 0; i < v->policy.n_rules; i++) {
      const char *const why = without_effect(v, i);
      if (why == NULL)
         continue;
      begin(&s);
      add(&s, why);
      add(&s, ": ");
      add_rule(&s, &v->policy.rule[i]);
      line(s.text, opaque);
   }
}

/* --- For programs --- */

void tlb_backing_keys(tlb_pagemap *map, unsigned view, tlb_backing_line *line, void *opaque)
{
   const tlb_view *const v = map->view[view];
   const tlb_view_counts *const c = tlb_pagemap_counts(map, view);
   sentence s;
   for (unsigned shift = 0; shift < TLB_N_PAGE_SHIFTS; shift++) {
      const uint64_t pages = c->peak.pages[shift];
      if (pages == 0)
         continue;
      begin(&s);
      add(&s, "Backed: ");
      tlb_text_add_page_size(&s.t, shift);
      const uint64_t number[] = { pages, (pages << shift) >> 10, c->peak.touched[shift] >> 10 };
      for (unsigned i = 0; i < 3; i++) {
         add(&s, " ");
         add_number(&s, number[i]);
      }
      line(s.text, opaque);
   }
   for (unsigned i = 0; i < v->policy.n_rules; i++) {
      numbered n;
      if (!find_numbered(map, &v->policy.rule[i], &n))
         continue;
      begin(&s);
      add(&s, "Numbered: ");
      add(&s, n.words);
      add(&s, " ");
      add_number(&s, n.count);
      add(&s, " ");
      add_number(&s, n.bytes >> 10);
      add(&s, " ");
      add_address(&s, n.start);
      add(&s, *n.name == '\0' ? "" : " ");
      add_name(&s, n.name);
      line(s.text, opaque);
   }
}

/* --- For an out-file --- */

typedef struct {
   tlb_backing_line *line;
   void *opaque;
} with_key;

static void put_memory(const char *text, void *opaque)
{
   const with_key *const k = opaque;
   sentence s;
   begin(&s);
   add(&s, "Memory: ");
   add_name(&s, text);
   k->line(s.text, k->opaque);
}

static void put_policy(const tlb_machine *m, const tlb_page_policy *policy, tlb_backing_line *line,
                       void *opaque)
{
   sentence s;
   for (unsigned i = 0; i < policy->n_rules; i++) {
      begin(&s);
      add(&s, "Rule: ");
      add_rule(&s, &policy->rule[i]);
      line(s.text, opaque);
   }
   for (unsigned i = 0; i < policy->n_rules; i++) {
      const unsigned shift = tlb_page_rule_shift(policy, &policy->rule[i], m->base_page_shift);
      if (shift == 0 || tlb_machine_holds_large(m, shift) != TLB_HOLDS_NO)
         continue;
      begin(&s);
      add(&s, "Unheld: ");
      tlb_text_add_page_size(&s.t, shift);
      line(s.text, opaque);
   }
}

static void put_touches(const char *before, const char *between, const char *after,
                        const tlb_view_counts *c, tlb_backing_line *line, void *opaque)
{
   sentence s;
   begin(&s);
   add(&s, before);
   add_number(&s, c->first_touches);
   add(&s, between);
   add_number(&s, c->faults);
   add(&s, after);
   line(s.text, opaque);
}

void tlb_backing_out_file(tlb_pagemap *map, unsigned view, const tlb_machine *m,
                          const tlb_page_policy *policy, tlb_backing_line *line, void *opaque)
{
   with_key memory = { line, opaque };
   if (!tlb_backing_is_of_interest(map, view))
      return;
   tlb_backing_describe(map, view, put_memory, &memory);
   const tlb_view_counts *const c = tlb_pagemap_counts(map, view);
   put_touches("First touches: ", " base pages, ", " faults", c, line, opaque);
   put_policy(m, policy, line, opaque);
   tlb_backing_keys(map, view, line, opaque);
   put_touches("Touched: ", " ", "", c, line, opaque);
}
