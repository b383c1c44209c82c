/* Dumps of CPUID, of any processor, as `cpuid -r` prints them or AIDA64 writes them.

   Most processors of a system answer alike; those of a hybrid one do not. cpuid_raw_lines.c and
   cpuid_aida_lines.c have the two formats; the rest is common to both.

   Part of the simulator: plain C11, no libc, no Valgrind. */

#ifndef TLB_CPUID_DUMP_H
#define TLB_CPUID_DUMP_H

#include "sim/base/api.h"
#include "sim/machine/cpuid_answers.h"
#include "sim/machine/geometry.h"

TLB_API_BEGIN

enum { TLB_MAX_DUMP_PROCESSORS = 8 };

/* A processor's answers, as far as they matter for its machine. */
typedef struct {
   uint32_t cpu;     /* number of the first that answers so */
   uint32_t cpus;    /* how many do */
   uint64_t line;    /* where the first begins, from 1 */
   int lacks;        /* the first line for which it has none, although it tells of the leaf */
   uint32_t lacks_leaf, lacks_subleaf;
   unsigned n_answers;
   struct {
      uint32_t leaf, subleaf;
      tlb_cpuid r;
   } answer[TLB_CPUID_MAX_ANSWERS];
} tlb_cpuid_processor;

/* The processors of a dump that differ, in the dump's order. */
typedef struct {
   unsigned n;
   tlb_cpuid_processor processor[TLB_MAX_DUMP_PROCESSORS];
} tlb_cpuid_dump;

/* Whether the text looks like a dump of either format: by its first line that is not empty, or, for
   AIDA64's, by any line with a leaf. */
int tlb_cpuid_is_dump(const char *text, size_t size);

/* Reads a dump of `size` bytes, which need not end with a NUL. Returns 1, or 0
   with the reason and the number of the line that it is about. */
int tlb_cpuid_dump_read(const char *text, size_t size, tlb_cpuid_dump *out,
                        uint64_t *line, tlb_reason *why);

/* A tlb_cpuid_ask: `processor` is a tlb_cpuid_processor. */
tlb_cpuid tlb_cpuid_dump_ask(void *processor, uint32_t leaf, uint32_t subleaf);

TLB_API_END

#endif
