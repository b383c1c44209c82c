/* What --advice= takes: page sizes, and memory as a rule of page sizes names it. Makes of a machine
   itself and its variants: each has one more rule, for one kind of memory in pages of one size.

   Part of the simulator: plain C11, no libc, no Valgrind. */

#ifndef TLB_ADVICE_RULES_H
#define TLB_ADVICE_RULES_H

#include <stddef.h>

#include "sim/base/text.h"
#include "sim/machine/geometry.h"

enum { TLB_ADVICE_WORDS = 64 };

typedef struct {
   const char *at; /* not ended by a zero */
   size_t n;
} tlb_advice_word;

typedef struct {
   tlb_advice_word size[TLB_ADVICE_WORDS];
   unsigned n_sizes;
   tlb_advice_word memory[TLB_ADVICE_WORDS]; /* beside the kinds */
   unsigned n_memories;
} tlb_advice;

/* Reads a list for so many machines, which make no more than `most` with their variants. `yes` and
   no size stand for 64K and 2M. Large mappings by number stand beside the kinds if the machines are
   then no more than `most_numbered`. The words point into the list. Returns 0, with the reason: it
   is no such list. */
int tlb_advice_parse(tlb_advice *a, const char *list, unsigned n_machines, unsigned most,
                     unsigned most_numbered, tlb_reason *why);

/* What a machine becomes: itself and its variants. */
unsigned tlb_advice_group(const tlb_advice *a);

/* Adds the rule of a variant, from number 1 on: "heap:2M". */
void tlb_advice_add_rule(const tlb_advice *a, unsigned number, tlb_text *t);

#endif
