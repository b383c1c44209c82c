/* Code of files in blocks, as a kernel maps it without being asked: on arm64 since Linux 6.17.

   Part of the simulator: plain C11, no libc, no Valgrind. */

#ifndef TLB_CODE_BLOCKS_H
#define TLB_CODE_BLOCKS_H

#include <stddef.h>
#include <stdint.h>

#include "sim/machine/machine.h"
#include "sim/pages/pagerules.h"
#include "sim/pages/rule_notes.h"

enum { TLB_KERNEL_NAME = 16 };

typedef struct {
   unsigned shift; /* blocks of 2^shift bytes; 0: there are none, and the rest is nothing */
   uint64_t from;  /* the first bytes of a file, which are in base pages all the same */
   char isa[TLB_KERNEL_NAME];    /* the architecture of the kernel's machines */
   char kernel[TLB_KERNEL_NAME]; /* its version */
} tlb_code_blocks;

/* As a line of a recording has it: "16 131072 aarch64 6.18". Returns whether it can be so. */
int tlb_code_blocks_parse(const char *text, size_t n, tlb_code_blocks *out);

/* Gives the machine's policy such blocks, with the assumption that this is, and returns 1; or 0, if
   a rule speaks of code, or the machine is of another architecture or has no entries for them. */
int tlb_code_blocks_take(const tlb_code_blocks *c, const tlb_machine *m, tlb_page_policy *policy,
                         char note[TLB_RULE_NOTE_SIZE]);

#endif
