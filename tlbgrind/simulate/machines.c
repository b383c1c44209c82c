/* The machines of a simulation. See simulate/machines.h.
   Part of tlbgrind.  GPL-2.0-or-later; see COPYING. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command/load_machine.h"
#include "sim/base/text.h"
#include "sim/machine/machine_argument.h"
#include "sim/pages/advice_rules.h"
#include "sim/pages/pagerules.h"
#include "sim/mmu/mmu.h"
#include "sim/tlb/hierarchy.h"
#include "simulate/machines.h"

/* As options/machine_names.c has it. */
enum { LABEL_SIZE = 100, MOST_MACHINES = 960 };

static void *room(size_t bytes)
{
   void *const memory = calloc(1, bytes);
   if (memory == NULL)
      tg_load_refuse("no memory");
   return memory;
}

static char *copy_of(const char *text, size_t n)
{
   char *const copy = room(n + 1);
   memcpy(copy, text, n);
   return copy;
}

/* --- Loading --- */

/* What the list of machines is, and becomes. */
typedef struct {
   TgSimulatedList *list;
   const TgSimulatedPages *pages;
   const TgSimulatedKernel *kernel;
   unsigned n; /* without variants */
   tlb_advice advice;
} loading;

/* What stands behind the word, if the rule begins with it, or NULL. */
static const char *behind(const char *rule, const char *word)
{
   const size_t n = strlen(word);
   return strncmp(rule, word, n) == 0 ? rule + n : NULL;
}

/* Whether it is a rule flush:POLICY, syscall:WHAT or prefetch:KIND, which is taken. */
static bool take_rule(const char *rule, TgSimulated *s)
{
   const char *const flush = behind(rule, "flush:"), *const syscall = behind(rule, "syscall:");
   const char *const prefetch = behind(rule, "prefetch:");
   tlb_reason why;
   if ((flush != NULL && !tlb_flush_policy_parse(flush, s->m.isa, &s->flush, &why))
       || (syscall != NULL && !tlb_syscalls_parse(syscall, &s->syscalls, &why))
       || (prefetch != NULL && !tlb_prefetch_policy_parse(prefetch, &s->prefetch, &why)))
      tg_load_refuse("--machine=%s: %s", s->given, why.text);
   return flush != NULL || syscall != NULL || prefetch != NULL;
}

/* Takes such rules out of the others, which are joined by +. */
static void take_kernel(char *rules, TgSimulated *s)
{
   char *to = rules;
   for (char *rule = rules, *next; rule != NULL; rule = next) {
      next = strchr(rule, '+');
      if (next != NULL)
         *next++ = '\0';
      if (take_rule(rule, s))
         continue;
      const size_t n = strlen(rule);
      if (to != rules)
         *to++ = '+';
      memmove(to, rule, n);
      to += n;
   }
   *to = '\0';
}

/* `given` stays. */
static void load(const loading *l, char *given)
{
   TgSimulatedList *const list = l->list;
   char own_name[TLB_NAME_SIZE];
   tlb_reason why;
   if (given[0] == '\0')
      tg_load_refuse("--machine: the name of a machine is missing");
   for (unsigned i = 0; i < list->n; i++) {
      if (strcmp(list->machine[i].given, given) == 0)
         tg_load_refuse("--machine: machine '%s' is given twice%s", given,
                        list->group > 0 ? ", or --advice makes it of another" : "");
   }
   if (list->n == MOST_MACHINES)
      tg_load_refuse("--machine: at most %d machines at once", MOST_MACHINES);
   TgSimulated *const s = &list->machine[list->n++];
   s->given = given;
   const tlb_argument_overrides o = tlb_argument_split(given);
   const char *const rest = given + o.from + o.length;
   char *const rules = *rest == '@' ? copy_of(rest + 1, strlen(rest + 1)) : NULL;
   char *const plain = copy_of(given, (size_t)(rest - given));
   const bool is_file = tg_load_machine(plain, &s->m, own_name);
   if (is_file)
      s->file = copy_of(given, o.name);
   const bool can_be = tlb_machine_check(&s->m, &why) != 0; /* with its own base pages */
   s->n_base_notes = tlb_base_pages_take(&l->pages->base, &s->m, s->base_note);
   tlb_machine_note_unknowns(&s->m);
   if (!can_be || !tlb_machine_holds(&s->m, s->m.base_page_shift, &why))
      tg_load_refuse("--machine=%s: %s", given, why.text);
   s->syscalls = l->kernel->syscalls;
   s->prefetch = l->kernel->prefetch;
   if (l->kernel->flush != NULL
       && !tlb_flush_policy_parse(l->kernel->flush, s->m.isa, &s->flush, &why))
      tg_load_refuse("--flush-policy=%s: %s", l->kernel->flush, why.text);
   if (rules != NULL)
      take_kernel(rules, s);
   const bool is_known = !is_file && o.length == 0 && strcmp(plain, "default") != 0;
   s->pages = tg_machines_pages(l->pages, &s->m, given,
                                rules == NULL || *rules == '\0' ? NULL : rules, is_known, is_file,
                                &s->notes);
   free(rules);
   free(plain);
   s->name = room(TLB_NAME_SIZE + strlen(given) + 16);
   sprintf(s->name, "%s%s", own_name, given + o.name);
   for (unsigned number = 2, i = 0; i + 1 < list->n; i++) {
      if (strcmp(list->machine[i].name, s->name) == 0) {
         sprintf(s->name, "%s.%u%s", own_name, number++, given + o.name);
         i = UINT32_MAX; /* from the first again */
      }
   }
}

static void count_one(loading *l, const char *name)
{
   (void)name;
   l->n++;
}

/* The machine, and its variants, if there are any. */
static void load_group(loading *l, const char *name)
{
   const size_t n = strlen(name) + TLB_PATTERN_SIZE + 100; /* longer rules have been refused */
   load(l, copy_of(name, strlen(name)));
   for (unsigned i = 1; i < l->list->group; i++) {
      char *const given = room(n);
      tlb_text t = tlb_text_in(given, n);
      t.at += sprintf(given, "%s%c", name, strchr(name, '@') == NULL ? '@' : '+');
      tlb_advice_add_rule(&l->advice, i, &t);
      load(l, given);
   }
}

/* Each machine of the list, and each of a range. */
static void each_machine(loading *l, const char *text, void (*each)(loading *l, const char *name))
{
   tlb_reason why;
   for (;;) {
      const size_t n = tlb_argument_length(text);
      char *const one = copy_of(text, n), *const name = room(n + 2);
      const unsigned count = tlb_argument_count(one, &why);
      if (count == 0)
         tg_load_refuse("--machine=%s: %s", one, why.text);
      if (count > MOST_MACHINES)
         tg_load_refuse("--machine=%s: the range makes %s%u machines; at most %d at once", one,
                        count == TLB_ARGUMENT_MOST ? "at least " : "", count, MOST_MACHINES);
      for (unsigned i = 0; i < count; i++) {
         tlb_argument_write(one, i, name, n + 2);
         each(l, name);
      }
      free(one);
      free(name);
      if (text[n] == '\0')
         return;
      text += n + 1;
   }
}

/* A run has large mappings by number among its variants only if there is room for them. So it is
   here, though there were more room. */
static void read_advice(loading *l, const char *text, const char *advice)
{
   tlb_reason why;
   each_machine(l, text, count_one);
   if (!tlb_advice_parse(&l->advice, advice, l->n, MOST_MACHINES, TLB_MAX_MMUS, &why))
      tg_load_refuse("--advice=%s: %s", advice, why.text);
   l->list->group = tlb_advice_group(&l->advice);
}

/* --- Labels, as options/machine_names.c makes them --- */

static bool is_label(const TgSimulatedList *list, unsigned n, const char *label)
{
   for (unsigned i = 0; i < n; i++) {
      if (strcmp(list->machine[i].label, label) == 0)
         return true;
   }
   return false;
}

/* Puts "_" and the number behind the first `length` characters, or fewer if there is no room. */
static void append_number(char *label, size_t length, unsigned number)
{
   char text[16];
   const size_t digits = (size_t)sprintf(text, "_%u", number);
   strcpy(label + (length + digits > LABEL_SIZE ? LABEL_SIZE - digits : length), text);
}

static bool is_beginning(const TgSimulatedList *list, unsigned i)
{
   const size_t length = strlen(list->machine[i].label);
   for (unsigned j = 0; j < list->n; j++) {
      if (j != i && strncmp(list->machine[j].label, list->machine[i].label, length) == 0)
         return true;
   }
   return false;
}

static void give_labels(TgSimulatedList *list)
{
   for (unsigned i = 0; i < list->n; i++) {
      char *const label = room(LABEL_SIZE + 1);
      strncpy(label, list->machine[i].name, LABEL_SIZE);
      for (char *at = label; *at != '\0'; at++)
         *at = *at == '/' || *at == '-' || *at == '.' ? '_' : *at;
      const size_t length = strlen(label);
      for (unsigned number = 2; is_label(list, i, label); number++)
         append_number(label, length, number);
      list->machine[i].label = label;
   }
   for (unsigned i = 0; i < list->n; i++) {
      char *const label = list->machine[i].label;
      for (unsigned number = 1; is_beginning(list, i); number++)
         append_number(label, strlen(label), number);
   }
}

TgSimulatedList tg_simulated_load(const char *text, const char *advice,
                                  const TgSimulatedPages *pages, const TgSimulatedKernel *kernel)
{
   TgSimulatedList list = { .machine = room(MOST_MACHINES * sizeof *list.machine) };
   loading l = { .list = &list, .pages = pages, .kernel = kernel };
   tg_load_for("tg_simulate", "--machine");
   if (pages->base.shift != 0 && pages->base.isa[0] == '\0')
      tg_load_default_page(pages->base.shift);
   if (advice != NULL)
      read_advice(&l, text, advice);
   each_machine(&l, text, load_group);
   give_labels(&list);
   return list;
}

/* --- The strength --- */

/* The length of a machine's name without rules for pages. */
static size_t plain_length(const TgSimulated *s)
{
   return strcspn(s->given, "@");
}

static bool is_named_before(const TgSimulatedList *list, unsigned i)
{
   const size_t n = plain_length(&list->machine[i]);
   for (unsigned j = 0; j < i; j++) {
      if (plain_length(&list->machine[j]) == n
          && memcmp(list->machine[j].given, list->machine[i].given, n) == 0)
         return true;
   }
   return false;
}

/* The names of all, each once, for a recording that is good for them. */
static char *names_of(const TgSimulatedList *list)
{
   size_t bytes = 1;
   for (unsigned i = 0; i < list->n; i++)
      bytes += strlen(list->machine[i].given) + 1;
   char *const names = room(bytes);
   for (unsigned i = 0; i < list->n; i++) {
      if (is_named_before(list, i))
         continue;
      strcat(names, i > 0 ? "," : "");
      strncat(names, list->machine[i].given, plain_length(&list->machine[i]));
   }
   return names;
}

/* The sizes of large pages, as --record-pages= takes them. */
static char *sizes_of(uint64_t large)
{
   char *const text = room(300);
   tlb_text t = tlb_text_in(text, 300);
   for (uint64_t rest = large; rest != 0; rest &= rest - 1) {
      tlb_text_add(&t, rest == large ? "" : ",");
      tlb_text_add_page_size(&t, (unsigned)__builtin_ctzll(rest));
   }
   return text;
}

/* All that the machines' policies, and others, have beyond base pages. */
static uint64_t large_pages(const TgSimulatedList *list, const tlb_strength *s, uint64_t large)
{
   for (unsigned i = 0; i < list->n; i++)
      large |= tlb_policy_sizes(&list->machine[i].pages, list->machine[i].m.base_page_shift);
   return (large | s->large) & ~((UINT64_C(2) << s->base_page_shift) - 1);
}

/* Without large pages a recording has no mappings, and then rules for base pages find none. */
static void refuse_rules(const TgSimulated *one, unsigned base_page_shift, const char *recording)
{
   char size[16];
   tlb_text t = tlb_text_in(size, sizeof size);
   tlb_text_add_page_size(&t, base_page_shift < 21 ? 21
                              : base_page_shift < 30 ? 30 : TLB_MAX_PAGE_SHIFT);
   tg_load_refuse("%s: %s: the recording has no mappings, which rules for pages are about; record "
                  "the program with --record-pages=%s", recording, one->given, size);
}

/* The pages that a machine can have: by its policy, and by what the program has asked for. */
static uint64_t pages_of(const TgSimulated *one, const TgAsked *asked)
{
   const unsigned base = one->m.base_page_shift;
   uint64_t sizes = tlb_policy_sizes(&one->pages, base) | asked->sizes;
   if (asked->thp && one->pages.thp != TLB_THP_NEVER)
      sizes |= UINT64_C(1) << tlb_thp_shift(&one->pages, base);
   return sizes;
}

void tg_simulated_check(const TgSimulatedList *list, const tlb_strength *s, const TgAsked *asked,
                        const char *recording)
{
   for (unsigned i = 0; i < list->n; i++) {
      const TgSimulated *const one = &list->machine[i];
      const char *with_pages = "";
      uint64_t missing;
      tlb_reason why;
      const tlb_covered covered = tlb_strength_covers(s, &one->m, pages_of(one, asked),
                                                      &missing, &why);
      if (covered == TLB_COVERED && s->large == 0 && tlb_mmus_asks(&one->m, &one->pages))
         refuse_rules(one, s->base_page_shift, recording);
      switch (covered) {
      case TLB_COVERED:
         continue;
      case TLB_COVERED_BY_NONE:
         tg_load_refuse("%s: %s", recording, why.text);
      case TLB_COVERED_BY_PAGES:
         with_pages = sizes_of(large_pages(list, s, asked->sizes | missing));
         break;
      case TLB_COVERED_BY_MACHINES:
         break;
      }
      tg_load_refuse("%s: %s; record the program with --record-for=%s%s%s", recording, why.text,
                     names_of(list), *with_pages != '\0' ? " --record-pages=" : "", with_pages);
   }
}

/* --- Pages of a trace --- */

static unsigned size_for_all(const char *text, unsigned base_page_shift)
{
   tlb_page_policy policy = { .n_rules = 0 };
   tlb_reason why;
   if (!tlb_page_rules_parse(text, ',', base_page_shift, &policy, &why))
      tg_load_refuse("--pages=%s: %s", text, why.text);
   if (policy.n_rules != 1 || policy.rule[0].what != TLB_OF_ALL || policy.rule[0].number != 0
       || policy.rule[0].how != TLB_FIXED)
      tg_load_refuse("--pages=%s: a trace has no mappings; allowed is all:SIZE, with one size",
                     text);
   return policy.rule[0].shift;
}

void tg_simulated_take_pages(TgSimulatedList *list, unsigned told, const char *pages, bool is_told,
                             unsigned *page_shift, unsigned *backing)
{
   tlb_reason why;
   *page_shift = TLB_MAX_PAGE_SHIFT;
   for (unsigned i = 0; i < list->n; i++) {
      tlb_machine *const m = &list->machine[i].m;
      if (strchr(list->machine[i].given, '@') != NULL)
         tg_load_refuse("--machine=%s: a trace has no mappings; leave out what stands behind '@'",
                        list->machine[i].given);
      if (told != 0)
         m->base_page_shift = told;
      if (!tlb_machine_holds(m, m->base_page_shift, &why))
         tg_load_refuse("--machine=%s: %s (the trace has such pages)", list->machine[i].given,
                        why.text);
      if (tlb_machine_largest_block(m) != 0 && !is_told)
         tg_load_refuse("--machine=%s: its entries cover several pages (coalescing), which depends "
                        "on where these lie: --v2p=FILE tells", list->machine[i].given);
      *page_shift = m->base_page_shift < *page_shift ? m->base_page_shift : *page_shift;
   }
   *backing = pages == NULL ? *page_shift : size_for_all(pages, *page_shift);
}
