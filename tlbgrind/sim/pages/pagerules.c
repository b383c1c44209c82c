/* Rules for page sizes: their text, and which one counts for a mapping. */

#include "sim/pages/pagerules.h"

#include "sim/base/text.h"

/* A piece of the option's text: [at, end). */
typedef struct {
   const char *at;
   const char *end;
} piece;

static const char *const what_names[] = {
   [TLB_OF_ALL] = "all",     [TLB_OF_ANON] = "anon", [TLB_OF_HEAP] = "heap",
   [TLB_OF_STACK] = "stack", [TLB_OF_TEXT] = "text", [TLB_OF_DATA] = "data",
   [TLB_OF_FILE] = "file",
};

enum { N_WHATS = sizeof what_names / sizeof what_names[0] };

static size_t length(piece p)
{
   return (size_t)(p.end - p.at);
}

static int refuse(tlb_reason *why, piece value, const char *what)
{
   tlb_text t = tlb_text_in(why->text, sizeof why->text);
   tlb_text_add_refusal(&t, value.at, length(value), what);
   return 0;
}

/* A page size as text of its own, for tlb_page_size_parse(). */
static unsigned page_shift(piece p)
{
   char text[24];
   tlb_reason ignored;
   if (length(p) >= sizeof text)
      return 0;
   tlb_text t = tlb_text_in(text, sizeof text);
   tlb_text_add_n(&t, p.at, length(p));
   return tlb_page_size_parse(text, &ignored);
}

/* Reads a SIZE. Returns 0 if it is none. */
static int read_size(piece p, tlb_page_rule *r)
{
   r->shift = 0;
   if (tlb_text_is(p.at, length(p), "thp")) {
      r->how = TLB_THP;
   } else if (tlb_text_is(p.at, length(p), "contig")) {
      r->how = TLB_CONTIG;
   } else {
      r->how = TLB_FIXED;
      r->shift = page_shift(p);
      return r->shift != 0;
   }
   return 1;
}

/* A word that no pattern for a file's name is would be a slip of the pen. */
static int is_pattern(piece p)
{
   for (const char *c = p.at; c < p.end; c++) {
      if (*c == '*' || *c == '?' || *c == '.' || *c == '/')
         return 1;
   }
   return 0;
}

/* Cuts "text=" or "data=" off. */
static int cut_kind(piece *p, tlb_page_rule *r)
{
   for (unsigned i = TLB_OF_TEXT; i <= TLB_OF_DATA; i++) {
      const size_t n = tlb_text_length(what_names[i]);
      if (length(*p) > n && p->at[n] == '=' && tlb_text_is(p->at, n, what_names[i])) {
         r->what = (tlb_rule_what)i;
         p->at += n + 1;
         return 1;
      }
   }
   return 0;
}

/* Reads anon#N, text#N, data#N, file#N, and the same with a plus. Returns 0 if it is none. */
static int read_numbered(piece p, tlb_page_rule *r)
{
   const char *hash = p.at;
   uint64_t number = 0;
   while (hash < p.end && *hash != '#')
      hash++;
   if (hash == p.end)
      return 0;
   const char *digits = hash + 1;
   if (!tlb_text_number(&digits, p.end, &number) || number == 0 || number > TLB_MAX_NUMBER)
      return 0;
   const int and_later = digits < p.end && *digits == '+';
   if (digits + and_later != p.end)
      return 0;
   for (unsigned i = 0; i < N_WHATS; i++) {
      if (tlb_text_is(p.at, (size_t)(hash - p.at), what_names[i])) {
         r->what = (tlb_rule_what)i;
         r->number = (uint8_t)number;
         r->and_later = (uint8_t)and_later;
         return i == TLB_OF_ANON || i == TLB_OF_TEXT || i == TLB_OF_DATA || i == TLB_OF_FILE;
      }
   }
   return 0;
}

static int read_what(piece p, tlb_page_rule *r, tlb_reason *why)
{
   r->pattern[0] = '\0';
   if (read_numbered(p, r))
      return 1;
   r->number = r->and_later = 0;
   for (unsigned i = 0; i < N_WHATS; i++) {
      if (tlb_text_is(p.at, length(p), what_names[i])) {
         r->what = (tlb_rule_what)i;
         return 1;
      }
   }
   const piece whole = p;
   const int of_kind = cut_kind(&p, r);
   if (!is_pattern(p))
      return refuse(why, whole,
                    "is no memory; allowed are all, anon, heap, stack, text, "
                    "data, file and patterns such as *.so");
   if (length(p) >= sizeof r->pattern)
      return refuse(why, p, "is too long a pattern; allowed are 127 bytes");
   if (!of_kind)
      r->what = TLB_OF_PATTERN;
   for (size_t i = 0; i < length(p); i++)
      r->pattern[i] = p.at[i];
   r->pattern[length(p)] = '\0';
   return 1;
}

/* Cuts the next rule off *s. The separator of rules may stand in a pattern
   (libstdc++*): it divides only where a size ends. */
static int read_rule(piece *s, char separator, tlb_page_rule *r,
                     tlb_reason *why)
{
   piece what = { s->at, s->at };
   piece size = { s->at, s->at };
   int for_all = 0;
   while (size.end < s->end && *size.end != ':') {
      if (*size.end == separator && read_size(size, r))
         break;
      size.end++;
   }
   what.end = size.end;
   if (size.end < s->end && *size.end == ':') {
      size.at = ++size.end;
      while (size.end < s->end && *size.end != separator)
         size.end++;
   } else if (read_size(size, r)) {
      for_all = 1;
   } else {
      what.end = what.at;
      while (what.end < s->end && *what.end != separator)
         what.end++;
      return refuse(why, what,
                    "is no rule for pages; expected WHAT:SIZE, such as "
                    "heap:2M");
   }
   s->at = size.end;
   if (!read_size(size, r))
      return refuse(why, size,
                    "is no page size; allowed are powers of two from 4K to "
                    "16G, thp and contig");
   if (for_all) {
      r->what = TLB_OF_ALL;
      r->pattern[0] = '\0';
      return 1;
   }
   return read_what(what, r, why);
}

static int smaller_than_base(piece p, unsigned base, tlb_reason *why)
{
   tlb_text t = tlb_text_in(why->text, sizeof why->text);
   tlb_text_add(&t, "'");
   tlb_text_add_n(&t, p.at, length(p) < 40 ? length(p) : 40);
   tlb_text_add(&t, "' has a page smaller than the base page; allowed are ");
   tlb_text_add_page_size(&t, base);
   tlb_text_add(&t, " and larger");
   return 0;
}

int tlb_page_rules_parse(const char *text, char separator,
                         unsigned base_page_shift, tlb_page_policy *policy,
                         tlb_reason *why)
{
   piece rest = { text, text + tlb_text_length(text) };
   const unsigned before = policy->n_rules;
   int more = 1;
   while (more) {
      const char *const from = rest.at;
      tlb_page_rule rule = { .what = TLB_OF_ALL };
      if (!read_rule(&rest, separator, &rule, why))
         break;
      const piece whole = { from, rest.at };
      if (rule.how == TLB_FIXED && rule.shift < base_page_shift) {
         smaller_than_base(whole, base_page_shift, why);
         break;
      }
      if (policy->n_rules == TLB_MAX_PAGE_RULES) {
         refuse(why, whole, "is one rule too many; allowed are 32");
         break;
      }
      policy->rule[policy->n_rules++] = rule;
      more = rest.at < rest.end;
      if (!more)
         return 1;
      rest.at++;
   }
   policy->n_rules = before;
   return 0;
}

int tlb_page_pools_parse(const char *text, unsigned base_page_shift,
                         tlb_page_policy *policy, tlb_reason *why)
{
   const char *at = text;
   const char *const end = text + tlb_text_length(text);
   const unsigned before = policy->n_pools;
   for (;;) {
      piece one = { at, at };
      while (one.end < end && *one.end != ',')
         one.end++;
      piece size = { one.at, one.at };
      while (size.end < one.end && *size.end != ':')
         size.end++;
      const char *digits = size.end < one.end ? size.end + 1 : one.end;
      uint64_t pages = 0;
      const unsigned shift = page_shift(size);
      int twice = 0;
      for (unsigned i = 0; i < policy->n_pools; i++)
         twice |= policy->pool[i].shift == shift;
      if (shift == 0 || !tlb_text_number(&digits, one.end, &pages)
          || digits != one.end || pages > (uint64_t)1 << 40)
         refuse(why, one,
                "is no pool of pages; expected SIZE:PAGES, such as 16M:65");
      else if (shift <= base_page_shift)
         refuse(why, one, "is a pool of base pages; allowed are larger ones");
      else if (twice)
         refuse(why, one, "is a second pool of that size; allowed is one");
      else if (policy->n_pools == TLB_MAX_PAGE_POOLS)
         refuse(why, one, "is one pool too many; allowed are 8");
      else {
         policy->pool[policy->n_pools++] = (tlb_page_pool){ shift, pages };
         if (one.end == end)
            return 1;
         at = one.end + 1;
         continue;
      }
      policy->n_pools = before;
      return 0;
   }
}

static void add_rule(tlb_text *t, const tlb_page_rule *r)
{
   if (r->what != TLB_OF_PATTERN)
      tlb_text_add(t, what_names[r->what]);
   if (r->what != TLB_OF_PATTERN && r->pattern[0] != '\0')
      tlb_text_add(t, "=");
   tlb_text_add(t, r->pattern);
   if (r->number != 0) {
      tlb_text_add(t, "#");
      tlb_text_add_number(t, r->number);
      tlb_text_add(t, r->and_later ? "+" : "");
   }
   tlb_text_add(t, ":");
   if (r->how == TLB_FIXED)
      tlb_text_add_page_size(t, r->shift);
   else
      tlb_text_add(t, r->how == TLB_THP ? "thp" : "contig");
}

void tlb_page_rule_print(const tlb_page_rule *rule, char *out, size_t size)
{
   tlb_text t = tlb_text_in(out, size);
   add_rule(&t, rule);
}

void tlb_page_rules_print(const tlb_page_policy *policy, char separator,
                          char *out, size_t size)
{
   tlb_text t = tlb_text_in(out, size);
   if (policy->n_rules == 0)
      tlb_text_add(&t, "base pages");
   for (unsigned i = 0; i < policy->n_rules; i++) {
      if (i > 0)
         tlb_text_add_n(&t, &separator, 1);
      add_rule(&t, &policy->rule[i]);
   }
}

/* --- Which rule counts --- */

static int glob(const char *p, const char *s)
{
   const char *star = NULL;
   const char *from = NULL;
   while (*s != '\0') {
      if (*p == '*') {
         star = ++p;
         from = s;
      } else if (*p == *s || *p == '?') {
         p++;
         s++;
      } else if (star != NULL) {
         p = star;
         s = ++from;
      } else {
         return 0;
      }
   }
   while (*p == '*')
      p++;
   return *p == '\0';
}

int tlb_pattern_matches(const char *pattern, const char *name)
{
   const char *last = name;
   for (const char *c = pattern; *c != '\0'; c++) {
      if (*c == '/')
         return glob(pattern, name);
   }
   for (const char *c = name; *c != '\0'; c++) {
      if (*c == '/')
         last = c + 1;
   }
   return glob(pattern, last);
}

static int speaks_of(const tlb_page_rule *r, const tlb_mapping *m)
{
   const int image = m->kind == TLB_IMAGE;
   const int code = (m->prot & TLB_MAY_EXECUTE) != 0;
   if (r->pattern[0] != '\0' && (m->name == NULL || !tlb_pattern_matches(r->pattern, m->name)))
      return 0;
   if (r->number != 0 && (r->and_later ? m->number < r->number : m->number != r->number))
      return 0;
   switch (r->what) {
   case TLB_OF_ALL:
      return 1;
   case TLB_OF_ANON:
      return m->kind == TLB_ANON || m->kind == TLB_SHM;
   case TLB_OF_HEAP:
      return m->kind == TLB_HEAP;
   case TLB_OF_STACK:
      return m->kind == TLB_STACK || m->kind == TLB_THREAD_STACK;
   case TLB_OF_TEXT:
      return image && code;
   case TLB_OF_DATA:
      return (image && !code) || m->kind == TLB_BSS;
   case TLB_OF_FILE:
      return m->kind == TLB_FILE;
   case TLB_OF_PATTERN:
      return 1;
   }
   return 0;
}

uint32_t tlb_page_rules_about(const tlb_page_policy *policy,
                              const tlb_mapping *m, uint32_t among)
{
   uint32_t found = 0;
   for (unsigned i = 0; i < policy->n_rules; i++) {
      const uint32_t bit = UINT32_C(1) << i;
      if ((among & bit) != 0 && speaks_of(&policy->rule[i], m))
         found |= bit;
   }
   return found;
}

unsigned tlb_thp_shift(const tlb_page_policy *policy, unsigned base_page_shift)
{
   const unsigned shift = policy->thp_shift != 0 ? policy->thp_shift : 2 * base_page_shift - 3;
   return shift <= TLB_MAX_PAGE_SHIFT ? shift : 0;
}

/* Whether Linux may back it by transparent huge pages: private anonymous
   memory. (Its settings for shared memory and for files are off unless
   an administrator turns them on.) */
static int may_be_thp(const tlb_mapping *m)
{
   const int anonymous = m->kind == TLB_ANON || m->kind == TLB_HEAP
                         || m->kind == TLB_STACK || m->kind == TLB_THREAD_STACK
                         || m->kind == TLB_BSS;
   return anonymous && (m->flags & (TLB_MAP_SHARED | TLB_MAP_NOHUGEPAGE)) == 0;
}

/* What the contiguous hint makes one entry: 128 pages of Arm's 16K granule, 32 of its 64K
   granule, else 64K. */
unsigned tlb_contig_shift(unsigned base_page_shift)
{
   return base_page_shift == 14 || base_page_shift == 16 ? 21 : 16;
}

/* Whether the mapping is code of a file that the kernel maps in blocks: pages of a folio, whose
   place in the file is a multiple of its size, as its address has to be. The program itself lies so
   natively, wherever it is here. */
static int is_code_in_blocks(const tlb_page_policy *policy, const tlb_mapping *m)
{
   const uint64_t mask = ((uint64_t)1 << policy->code_shift) - 1;
   return policy->code_shift != 0 && m->kind == TLB_IMAGE && (m->prot & TLB_MAY_EXECUTE) != 0
          && (m->inode != 0 || m->device != 0)
          && ((m->flags & TLB_MAP_MAIN) != 0 || ((m->start - m->offset) & mask) == 0);
}

static tlb_page_wish wish(const tlb_page_policy *policy, const tlb_mapping *m,
                          unsigned base_page_shift, int thp)
{
   const int hugetlb = (m->flags & TLB_MAP_HUGETLB) != 0;
   tlb_page_wish w = { TLB_FIXED, base_page_shift, 0 };
   if (hugetlb && m->huge_shift > base_page_shift)
      w.shift = m->huge_shift;
   else if (!hugetlb && is_code_in_blocks(policy, m))
      w = (tlb_page_wish){ TLB_CONTIG, policy->code_shift, 0 };
   else if (thp && !hugetlb)
      w.how = TLB_THP;
   for (unsigned i = 0; i < policy->n_rules; i++) {
      const tlb_page_rule *r = &policy->rule[i];
      if ((hugetlb && r->how != TLB_FIXED) || !speaks_of(r, m))
         continue;
      w.how = r->how;
      w.shift = r->shift;
      w.rule = i + 1;
   }
   if (w.how == TLB_THP)
      w.shift = may_be_thp(m) ? tlb_thp_shift(policy, base_page_shift) : 0;
   if (w.how == TLB_CONTIG && w.rule != 0)
      w.shift = tlb_contig_shift(base_page_shift);
   if (w.how != TLB_FIXED && w.shift <= base_page_shift) {
      w.how = TLB_FIXED;
      w.shift = base_page_shift;
   }
   return w;
}

int tlb_page_is_first_code(const tlb_page_policy *policy, const tlb_page_wish *wish_of_all,
                           const tlb_mapping *m, uint64_t address)
{
   const uint64_t block = address >> policy->code_shift << policy->code_shift;
   return wish_of_all->how == TLB_CONTIG && wish_of_all->rule == 0
          && block - m->start + m->offset < policy->code_from;
}

unsigned tlb_page_rule_shift(const tlb_page_policy *policy, const tlb_page_rule *rule,
                             unsigned base_page_shift)
{
   const unsigned shift = rule->how == TLB_THP      ? tlb_thp_shift(policy, base_page_shift)
                          : rule->how == TLB_CONTIG ? tlb_contig_shift(base_page_shift)
                                                    : rule->shift;
   return shift > base_page_shift ? shift : 0;
}

tlb_page_wish tlb_page_wish_for(const tlb_page_policy *policy,
                                const tlb_mapping *m,
                                unsigned base_page_shift)
{
   return wish(policy, m, base_page_shift, tlb_thp_given(policy->thp, m));
}

tlb_page_wish tlb_page_wish_collapsed(const tlb_page_policy *policy,
                                      const tlb_mapping *m,
                                      unsigned base_page_shift)
{
   return wish(policy, m, base_page_shift, 1);
}

int tlb_page_rules_have_numbers(const tlb_page_policy *policy)
{
   for (unsigned i = 0; i < policy->n_rules; i++) {
      if (policy->rule[i].number != 0)
         return 1;
   }
   return 0;
}

int tlb_page_rules_have_code(const tlb_page_policy *policy)
{
   for (unsigned i = 0; i < policy->n_rules; i++) {
      const tlb_page_rule *const r = &policy->rule[i];
      if (r->what == TLB_OF_ALL
          || (r->what == TLB_OF_TEXT && r->pattern[0] == '\0' && r->number == 0))
         return 1;
   }
   return 0;
}

int tlb_page_rules_have_thp(const tlb_page_policy *policy)
{
   for (unsigned i = 0; i < policy->n_rules; i++) {
      if (policy->rule[i].how == TLB_THP)
         return 1;
   }
   return 0;
}
