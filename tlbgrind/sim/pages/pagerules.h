/* Rules for page sizes: the text of --pages= and --huge-pool=.

   They decide which page size a mapping should have.

   Part of the simulator: plain C11, no libc, no Valgrind. */

#ifndef TLB_PAGERULES_H
#define TLB_PAGERULES_H

#include "sim/base/api.h"
#include "sim/machine/geometry.h"
#include "sim/pages/mappings.h"

TLB_API_BEGIN

enum {
   TLB_MAX_PAGE_RULES = 32, /* a bit for each fits into 32 */
   TLB_MAX_PAGE_POOLS = 8,
   TLB_PATTERN_SIZE = 128,
   TLB_MAX_NUMBER = 99 /* of a large mapping, in a rule */
};

/* Which memory a rule speaks of. */
typedef enum {
   TLB_OF_ALL,
   TLB_OF_ANON,   /* anonymous memory that is nothing of what follows, and
                     System V segments */
   TLB_OF_HEAP,   /* below the break */
   TLB_OF_STACK,  /* of every thread */
   TLB_OF_TEXT,   /* of programs and libraries: what may be executed */
   TLB_OF_DATA,   /* of programs and libraries: the rest, and their bss */
   TLB_OF_FILE,   /* from other files */
   TLB_OF_PATTERN /* from files whose name matches */
} tlb_rule_what;

/* How a memory is backed. */
typedef enum {
   TLB_FIXED, /* by pages of one size, where a whole one fits */
   TLB_THP,   /* by Linux's transparent huge pages */
   TLB_CONTIG /* by blocks under the contiguous hint: 64K, or 2M of pages of 16K and 64K */
} tlb_rule_how;

typedef struct {
   tlb_rule_what what;
   tlb_rule_how how;
   unsigned shift; /* of TLB_FIXED */
   char pattern[TLB_PATTERN_SIZE]; /* for the file's name; empty: of any or none */
   uint8_t number; /* of a large mapping; 0: of any memory, with a number or without */
   uint8_t and_later; /* 1: and those of larger numbers */
} tlb_page_rule;

typedef struct {
   unsigned shift;
   uint64_t pages;
} tlb_page_pool;

/* All zero: the base page, and what the program itself requests of hugetlbfs. */
typedef struct {
   tlb_thp_mode thp; /* of the kernel, where no rule says otherwise */
   unsigned thp_shift; /* of transparent huge pages; 0: of what one page table of 8-byte entries
                          covers */
   unsigned code_shift; /* of the blocks in which the kernel maps code of files where no rule says
                           otherwise; 0: in base pages */
   uint64_t code_from;  /* the first bytes of a file, which are in base pages all the same */
   unsigned n_rules;
   tlb_page_rule rule[TLB_MAX_PAGE_RULES];
   unsigned n_pools;
   tlb_page_pool pool[TLB_MAX_PAGE_POOLS];
} tlb_page_policy;

/* Adds the rules "WHAT:SIZE" in `text`, several of them divided by `separator`
   (a comma in --pages=, a plus behind the @ of --machine=). WHAT: all, anon,
   heap, stack, text, data, file, or a pattern for the mapped file's name with *
   for any characters and ? for one, also text=PATTERN and data=PATTERN for a part of
   such files; without a slash the pattern is held against the last part of the name;
   anon#N, text#N, data#N and file#N for the large mapping of that number (large.h), with a
   plus behind it for those of larger numbers, too.
   SIZE: 4K to 16G, thp or contig; a SIZE alone is meant for all. A later rule overrides an earlier
   one. Returns 1, or 0 with the reason, and then *policy is as it was. */
int tlb_page_rules_parse(const char *text, char separator,
                         unsigned base_page_shift, tlb_page_policy *policy,
                         tlb_reason *why);

/* Adds the pools "SIZE:PAGES[,...]". Returns 1, or 0 with the reason. */
int tlb_page_pools_parse(const char *text, unsigned base_page_shift,
                         tlb_page_policy *policy, tlb_reason *why);

/* The size of large pages that the rule asks for, as its logarithm; 0: it asks for none. */
unsigned tlb_page_rule_shift(const tlb_page_policy *policy, const tlb_page_rule *rule,
                             unsigned base_page_shift);

/* Writes "heap:2M,text:64K", or "base pages" if there is no rule. */
void tlb_page_rules_print(const tlb_page_policy *policy, char separator,
                          char *out, size_t size);

/* Writes "heap:2M". */
void tlb_page_rule_print(const tlb_page_rule *rule, char *out, size_t size);

/* Whether a rule names large mappings by their number. */
int tlb_page_rules_have_numbers(const tlb_page_policy *policy);

/* Which rules speak of the mapping, of those in `among`: a bit for each, also if
   a later one overrides it. */
uint32_t tlb_page_rules_about(const tlb_page_policy *policy,
                              const tlb_mapping *m, uint32_t among);

/* How the mapping is to be backed: TLB_FIXED with the base page's shift if no
   rule speaks of it. What the program itself asks for, by MAP_HUGETLB or, as far as the
   kernel's mode has it, MADV_HUGEPAGE, is a rule before all others, and so are the kernel's blocks
   of code, of the program and where a library's places in memory and in its file differ by whole
   blocks; thp and contig leave
   memory from MAP_HUGETLB as it is, thp also what has MADV_NOHUGEPAGE. */
typedef struct {
   tlb_rule_how how;
   unsigned shift; /* 0 for TLB_THP where that can not be */
   unsigned rule;  /* the one that decided, counted from 1; 0: none did */
} tlb_page_wish;

tlb_page_wish tlb_page_wish_for(const tlb_page_policy *policy,
                                const tlb_mapping *m,
                                unsigned base_page_shift);

/* The same for memory of which MADV_COLLAPSE has made huge pages, whatever the mode. */
tlb_page_wish tlb_page_wish_collapsed(const tlb_page_policy *policy,
                                      const tlb_mapping *m,
                                      unsigned base_page_shift);

/* Whether a wish for the mapping is for the kernel's blocks of code, and the one at the address is
   none, as it is among the first bytes of its file. */
int tlb_page_is_first_code(const tlb_page_policy *policy, const tlb_page_wish *wish,
                           const tlb_mapping *m, uint64_t address);

/* The shift of the blocks under the contiguous hint. */
unsigned tlb_contig_shift(unsigned base_page_shift);

/* Whether some rule speaks of all code of files, so that none of it is as the kernel maps it. */
int tlb_page_rules_have_code(const tlb_page_policy *policy);

/* Whether a rule asks for transparent huge pages. */
int tlb_page_rules_have_thp(const tlb_page_policy *policy);

/* The size of Linux's transparent huge pages: the policy's, else what one page table of 8-byte
   entries covers: 2M over 4K, 32M over 16K, 512M over 64K. 0: larger than any page. */
unsigned tlb_thp_shift(const tlb_page_policy *policy, unsigned base_page_shift);

/* Whether the name matches the pattern. */
int tlb_pattern_matches(const char *pattern, const char *name);

TLB_API_END

#endif
