/* The variants of --advice=. See sim/pages/advice_rules.h. */

#include "sim/pages/advice_rules.h"

#include "sim/pages/pagerules.h"

/* All kinds of memory that a rule can name, and all memory. */
static const char *const kinds[] = { "text", "data", "heap", "anon", "stack", "file", "all" };

/* The large mappings that are tried by themselves, without a word of the list. */
static const char *const mappings[]
   = { "anon#1", "anon#2", "anon#3", "anon#4+", "text#1", "text#2+" };

enum { N_KINDS = sizeof kinds / sizeof *kinds, N_MAPPINGS = sizeof mappings / sizeof *mappings };

static tlb_advice_word word_of(const char *text)
{
   return (tlb_advice_word){ text, tlb_text_length(text) };
}

/* As it is, in whatever encoding. */
static void add_word(tlb_text *t, tlb_advice_word w)
{
   for (size_t i = 0; i < w.n && t->at < t->end; i++)
      *t->at++ = w.at[i];
   *t->at = '\0';
}

/* --- Words --- */

/* Whether a rule can name it, as it can no page size. */
static int is_memory(tlb_advice_word w)
{
   static const char signs[] = "*?./=#";
   for (size_t i = 0; i < w.n; i++) {
      for (const char *c = signs; *c != '\0'; c++) {
         if (w.at[i] == *c)
            return 1;
      }
   }
   return 0;
}

static int take_memory(tlb_advice *a, tlb_advice_word w, tlb_reason *why)
{
   tlb_page_policy policy = { .n_rules = 0 };
   char rule[TLB_PATTERN_SIZE + 40]; /* of a longer one enough to be refused */
   tlb_text t = tlb_text_in(rule, sizeof rule - sizeof ":16G");
   add_word(&t, w);
   t.end = rule + sizeof rule - 1;
   tlb_text_add(&t, ":16G");
   a->memory[a->n_memories++] = w;
   if (!tlb_page_rules_parse(rule, '+', 12, &policy, why))
      return 0;
   t = tlb_text_in(why->text, sizeof why->text);
   tlb_text_add_refusal(&t, w.at, w.n, "is more than one memory");
   return policy.n_rules == 1;
}

static int take_size(tlb_advice *a, tlb_advice_word w, tlb_reason *why)
{
   tlb_reason ignored;
   char size[41];
   tlb_text t = tlb_text_in(size, sizeof size);
   add_word(&t, w);
   if (w.n >= sizeof size || tlb_page_size_parse(size, &ignored) == 0) {
      t = tlb_text_in(why->text, sizeof why->text);
      tlb_text_add_refusal(&t, w.at, w.n,
                           "is no page size; allowed are powers of two such as 64K, 2M or 1G");
      return 0;
   }
   a->size[a->n_sizes++] = w;
   return 1;
}

static int take_word(tlb_advice *a, tlb_advice_word w, tlb_reason *why)
{
   if (a->n_sizes + 2 > TLB_ADVICE_WORDS || a->n_memories + N_MAPPINGS >= TLB_ADVICE_WORDS) {
      tlb_text t = tlb_text_in(why->text, sizeof why->text);
      tlb_text_add(&t, "it is a list of too many words");
      return 0;
   }
   if (tlb_text_is(w.at, w.n, "yes"))
      return take_size(a, word_of("64K"), why) && take_size(a, word_of("2M"), why);
   return is_memory(w) ? take_memory(a, w, why) : take_size(a, w, why);
}

static int take_words(tlb_advice *a, const char *list, tlb_reason *why)
{
   const char *at = list;
   for (;;) {
      const char *end = at;
      while (*end != '\0' && *end != ',')
         end++;
      if (!take_word(a, (tlb_advice_word){ at, (size_t)(end - at) }, why))
         return 0;
      if (*end == '\0')
         return a->n_sizes > 0 || take_word(a, word_of("yes"), why);
      at = end + 1;
   }
}

static int is_same_word(tlb_advice_word a, tlb_advice_word b)
{
   size_t i = 0;
   while (i < a.n && i < b.n && a.at[i] == b.at[i])
      i++;
   return i == a.n && i == b.n;
}

static int is_there_twice(const tlb_advice_word *word, unsigned n, tlb_reason *why)
{
   for (unsigned i = 0; i < n; i++) {
      for (unsigned j = 0; j < i; j++) {
         if (!is_same_word(word[i], word[j]))
            continue;
         tlb_text t = tlb_text_in(why->text, sizeof why->text);
         tlb_text_add_refusal(&t, word[i].at, word[i].n, "is given twice");
         return 1;
      }
   }
   return 0;
}

/* --- How many they make --- */

static unsigned group_with(const tlb_advice *a, unsigned more)
{
   return 1 + a->n_sizes * (N_KINDS + a->n_memories + more);
}

static int is_possible(const tlb_advice *a, unsigned n_machines, unsigned most, tlb_reason *why)
{
   const unsigned n = n_machines * group_with(a, 0);
   if (is_there_twice(a->size, a->n_sizes, why) || is_there_twice(a->memory, a->n_memories, why))
      return 0;
   if (n <= most)
      return 1;
   tlb_text t = tlb_text_in(why->text, sizeof why->text);
   tlb_text_add(&t, "it makes ");
   tlb_text_add_number(&t, n);
   tlb_text_add(&t, " machines, one for each memory in pages of each size; a run has at most ");
   tlb_text_add_number(&t, most);
   return 0;
}

static int is_named(const tlb_advice *a, const char *memory)
{
   for (unsigned i = 0; i < a->n_memories; i++) {
      if (tlb_text_is(a->memory[i].at, a->memory[i].n, memory))
         return 1;
   }
   return 0;
}

static void add_mappings(tlb_advice *a, unsigned n_machines, unsigned most)
{
   unsigned more = 0;
   for (unsigned i = 0; i < N_MAPPINGS; i++)
      more += !is_named(a, mappings[i]);
   if (n_machines * group_with(a, more) > most)
      return;
   for (unsigned i = 0; i < N_MAPPINGS; i++) {
      if (!is_named(a, mappings[i]))
         a->memory[a->n_memories++] = word_of(mappings[i]);
   }
}

int tlb_advice_parse(tlb_advice *a, const char *list, unsigned n_machines, unsigned most,
                     unsigned most_numbered, tlb_reason *why)
{
   a->n_sizes = a->n_memories = 0;
   if (!take_words(a, list, why) || !is_possible(a, n_machines, most, why))
      return 0;
   add_mappings(a, n_machines, most_numbered);
   return 1;
}

/* --- What they are --- */

unsigned tlb_advice_group(const tlb_advice *a)
{
   return group_with(a, 0);
}

void tlb_advice_add_rule(const tlb_advice *a, unsigned number, tlb_text *t)
{
   const unsigned memories = N_KINDS + a->n_memories, i = (number - 1) % memories;
   const tlb_advice_word memory = i < N_KINDS ? word_of(kinds[i]) : a->memory[i - N_KINDS];
   const tlb_advice_word size = a->size[(number - 1) / memories];
   add_word(t, memory);
   tlb_text_add(t, ":");
   add_word(t, size);
}
