/* What the readers of CPUID dumps share: pieces of lines and the answers in them. Private;
   cpuid_dump.h is public.

   Part of the simulator: plain C11, no libc, no Valgrind. */

#ifndef TLB_CPUID_DUMP_PARTS_H
#define TLB_CPUID_DUMP_PARTS_H

#include "sim/base/text.h"
#include "sim/machine/geometry.h"

/* A piece of a line: [at, end). */
typedef struct {
   const char *at;
   const char *end;
} tlb_piece;

/* Takes a line off the text, without the spaces around it. */
tlb_piece tlb_piece_line(tlb_piece *rest);

/* Space, tab, carriage return. */
int tlb_piece_is_space(char c);
void tlb_piece_skip_space(tlb_piece *p);

/* Takes the word off the front, if it is there. */
int tlb_piece_take(tlb_piece *p, const char *word);

/* Takes hexadecimal digits off the front: at least `fewest`, at most eight. */
int tlb_piece_take_digits(tlb_piece *p, unsigned fewest, uint32_t *out);

/* The reason "'VALUE' WHAT". Returns 0. */
int tlb_piece_refuse(tlb_reason *why, tlb_piece value, const char *what);

/* A line with a leaf. */
typedef struct {
   uint32_t leaf, subleaf, reg[4];
   int is_numbered; /* the line has the sub-leaf */
} tlb_dump_answer;

typedef enum {
   TLB_DUMP_OTHER,     /* says nothing of CPUID */
   TLB_DUMP_PROCESSOR, /* the lines behind it are those of processor *cpu */
   TLB_DUMP_ANSWER,
   TLB_DUMP_WRONG,     /* with the reason in *why */
} tlb_dump_kind;

/* Reads a line that is not empty. */
typedef tlb_dump_kind tlb_dump_reader(tlb_piece line, uint32_t *cpu, tlb_dump_answer *a,
                                      tlb_reason *why);

/* "CPU 12:", "CPU:". */
int tlb_cpuid_raw_header(tlb_piece line, uint32_t *cpu);

/* Lines as `cpuid -r` prints them: no others may be there. */
tlb_dump_reader tlb_cpuid_raw_line;

/* Lines as AIDA64 and EVEREST write them, among others of any kind. */
tlb_dump_reader tlb_cpuid_aida_line;

#endif
