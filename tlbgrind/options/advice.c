/* The machines of --advice. See options/advice.h. */

#include "pub_tool_basics.h"

#include "pub_tool_libcbase.h"
#include "pub_tool_libcprint.h"
#include "pub_tool_mallocfree.h"

#include "sim/mmu/mmu.h"

#include "options/advice.h"
#include "options/machine_args.h"

/* All kinds of memory that a rule can name, and all memory. */
static const HChar* const kinds[] = { "text", "data", "heap", "anon", "stack", "file", "all" };

/* The large mappings that are tried by themselves, without a word of the list. */
static const HChar* const mappings[]
   = { "anon#1", "anon#2", "anon#3", "anon#4+", "text#1", "text#2+" };

enum { N_KINDS = sizeof kinds / sizeof *kinds, N_MAPPINGS = sizeof mappings / sizeof *mappings };

/* The words of a list, by what they are; each is a string inside `text`. */
typedef struct {
   UInt n_machines;
   HChar* text;
   const HChar* size[TLB_MAX_MMUS];
   UInt n_sizes;
   const HChar* memory[TLB_MAX_MMUS];
   UInt n_memories;
} Words;

/* Whether a rule can name it, as it can no page size. */
static Bool is_memory(const HChar* word)
{
   for (const HChar* c = word; *c != '\0'; c++) {
      if (VG_(strchr)("*?./=#", *c) != NULL)
         return True;
   }
   return False;
}

static Bool take_memory(Words* w, const HChar* word, tlb_reason* why)
{
   static tlb_page_policy policy;
   HChar* rule = VG_(malloc)("tg.advice", VG_(strlen)(word) + sizeof ":16G");
   VG_(sprintf)(rule, "%s:16G", word);
   policy.n_rules = 0;
   const Bool is_rule = tlb_page_rules_parse(rule, '+', 12, &policy, why) && policy.n_rules == 1;
   VG_(free)(rule);
   w->memory[w->n_memories++] = word;
   return is_rule;
}

static Bool take_size(Words* w, const HChar* word, tlb_reason* why)
{
   tlb_reason ignored;
   if (tlb_page_size_parse(word, &ignored) == 0) {
      VG_(snprintf)(why->text, sizeof why->text,
                    "'%.40s' is no page size; allowed are powers of two such as 64K, 2M or 1G",
                    word);
      return False;
   }
   w->size[w->n_sizes++] = word;
   return True;
}

static Bool take_word(Words* w, const HChar* word, tlb_reason* why)
{
   if (w->n_sizes + 2 > TLB_MAX_MMUS || w->n_memories == TLB_MAX_MMUS) {
      VG_(snprintf)(why->text, sizeof why->text, "it is a list of too many words");
      return False;
   }
   if (VG_(strcmp)(word, "yes") == 0)
      return take_size(w, "64K", why) && take_size(w, "2M", why);
   return is_memory(word) ? take_memory(w, word, why) : take_size(w, word, why);
}

static Bool take_words(Words* w, const HChar* list, tlb_reason* why)
{
   HChar* at = w->text = VG_(strdup)("tg.advice", list);
   while (at != NULL) {
      const HChar* word = at;
      at = VG_(strchr)(at, ',');
      if (at != NULL)
         *at++ = '\0';
      if (!take_word(w, word, why))
         return False;
   }
   return w->n_sizes > 0 || take_word(w, "yes", why);
}

static Bool is_there_twice(const HChar* const* word, UInt n, tlb_reason* why)
{
   for (UInt i = 0; i < n; i++) {
      for (UInt j = 0; j < i; j++) {
         if (VG_(strcmp)(word[i], word[j]) != 0)
            continue;
         VG_(snprintf)(why->text, sizeof why->text, "'%.40s' is given twice", word[i]);
         return True;
      }
   }
   return False;
}

/* With so many memories beside the kinds and those that are named, what a machine becomes: itself
   and its variants. */
static UInt group_size(const Words* w, UInt more)
{
   return 1 + w->n_sizes * (N_KINDS + w->n_memories + more);
}

/* Whether a run can have so many machines. */
static Bool is_possible(const Words* w, tlb_reason* why)
{
   const UInt n = w->n_machines * group_size(w, 0);
   if (is_there_twice(w->size, w->n_sizes, why) || is_there_twice(w->memory, w->n_memories, why))
      return False;
   if (n <= TLB_MAX_MMUS)
      return True;
   VG_(snprintf)(why->text, sizeof why->text,
                 "it makes %u machines, one for each memory in pages of each size; a run has at "
                 "most %d", n, TLB_MAX_MMUS);
   return False;
}

static Bool is_named(const Words* w, const HChar* memory)
{
   for (UInt i = 0; i < w->n_memories; i++) {
      if (VG_(strcmp)(w->memory[i], memory) == 0)
         return True;
   }
   return False;
}

/* Adds the large mappings, if a run can have so many machines. */
static void add_mappings(Words* w)
{
   UInt more = 0;
   for (UInt i = 0; i < N_MAPPINGS; i++)
      more += is_named(w, mappings[i]) ? 0 : 1;
   if (w->n_machines * group_size(w, more) > TLB_MAX_MMUS)
      return;
   for (UInt i = 0; i < N_MAPPINGS; i++) {
      if (!is_named(w, mappings[i]))
         w->memory[w->n_memories++] = mappings[i];
   }
}

/* What the list becomes. */
typedef struct {
   const Words* w;
   HChar* list;
   HChar* at; /* its end */
   UInt n;
} Making;

static Bool count_one(const HChar* name, void* opaque)
{
   (void)name;
   Making* making = opaque;
   making->n++;
   return True;
}

/* Adds the machine and its variants. */
static Bool add_group(const HChar* name, void* opaque)
{
   Making* making = opaque;
   const Words* w = making->w;
   const HChar* before_rule = VG_(strchr)(name, '@') == NULL ? "@" : "+";
   making->at += VG_(sprintf)(making->at, "%s%s", making->at == making->list ? "" : ",", name);
   for (UInt i = 0; i < w->n_sizes; i++) {
      for (UInt j = 0; j < N_KINDS + w->n_memories; j++) {
         const HChar* memory = j < N_KINDS ? kinds[j] : w->memory[j - N_KINDS];
         making->at += VG_(sprintf)(making->at, ",%s%s%s:%s", name, before_rule, memory,
                                    w->size[i]);
      }
   }
   return True;
}

HChar* tg_advice_machines(const HChar* names, const HChar* list, UInt* group, tlb_reason* why)
{
   Words* w = VG_(calloc)("tg.advice", 1, sizeof *w);
   Making making = { .w = w };
   tg_machine_args_each(names, count_one, &making);
   w->n_machines = making.n;
   if (take_words(w, list, why) && is_possible(w, why)) {
      add_mappings(w);
      *group = group_size(w, 0);
      /* No name and no word is longer than the list that it is of. */
      const SizeT longest = VG_(strlen)(names) + VG_(strlen)(list) + sizeof ",@text#2+:yes:64K";
      making.list = making.at = VG_(malloc)("tg.advice", w->n_machines * *group * longest);
      tg_machine_args_each(names, add_group, &making);
   }
   VG_(free)(w->text);
   VG_(free)(w);
   return making.list;
}
