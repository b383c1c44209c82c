/* What the decoders of CPUID share: leaves, notes, arrays. Private; cpuid.h is public.

   Part of the simulator: plain C11, no libc, no Valgrind. */

#ifndef TLB_CPUID_READER_H
#define TLB_CPUID_READER_H

#include "sim/base/text.h"
#include "sim/machine/cpuid_answers.h"
#include "sim/machine/machine.h"

typedef struct {
   tlb_cpuid_ask *ask;
   void *opaque;
   tlb_machine *m;
   uint32_t highest;          /* basic leaf */
   uint32_t highest_extended; /* leaf from 80000000H on, or 0 */
   char vendor[13];
   int intel;
   int amd;                   /* or Hygon */
   int via;                   /* Centaur, or Zhaoxin */
   unsigned family, model, stepping;
   int long_mode;             /* 64 bits */
   int atom_core;             /* of a hybrid processor, the small kind */
   char hypervisor[13];       /* its name; "" if none is seen */
} tlb_cpuid_reader;

/* Page sizes as bits of tlb_geometry.page_sizes. */
enum { TLB_4K = 1 << 12, TLB_2M = 1 << 21, TLB_4M = 1 << 22, TLB_1G = 1 << 30 };

/* As many as a machine file can say. */
enum { TLB_CPUID_MAX_THREADS = 1024 };

enum {
   TLB_DATA_REFERENCES = TLB_LOADS | TLB_STORES,
   TLB_ALL_REFERENCES = TLB_FETCHES | TLB_LOADS | TLB_STORES
};

/* The answer to a leaf, of the bits that matter; such leaves alone are asked for. */
tlb_cpuid tlb_cpuid_raw(const tlb_cpuid_reader *r, uint32_t leaf, uint32_t subleaf);

/* The same; all zero above the highest that there is. */
tlb_cpuid tlb_cpuid_leaf(const tlb_cpuid_reader *r, uint32_t leaf,
                         uint32_t subleaf);

/* What the decoder itself may note: a machine file holds as many, and notes on
   unknown figures come on top. */
enum { TLB_CPUID_MAX_NOTES = 12 };

/* Begins a note; when there is no room for another, the last is given up. */
tlb_text tlb_cpuid_begin_note(tlb_cpuid_reader *r);
/* A note that is there already is not repeated. */
void tlb_cpuid_note(tlb_cpuid_reader *r, const char *words);

/* "the hypervisor (KVM)" or, where none shows itself, "the processor". */
void tlb_cpuid_add_culprit(const tlb_cpuid_reader *r, tlb_text *t);

/* Takes an array into the machine, with `source` (a leaf) as where it is from.
   One without entries is none; one that cannot be is noted. Returns the array,
   or NULL. */
tlb_machine_array *tlb_cpuid_take(tlb_cpuid_reader *r, unsigned level,
                                  unsigned users, uint32_t page_sizes,
                                  uint64_t entries, uint32_t ways,
                                  const char *source);

/* The name of the machine file that describes this processor, or NULL. */
const char *tlb_cpuid_file_of(const tlb_cpuid_reader *r);

/* The two ways of describing arrays. Each adds what it finds. */
void tlb_cpuid_read_amd(tlb_cpuid_reader *r);
void tlb_cpuid_read_intel(tlb_cpuid_reader *r);

/* The first levels for pages of 4K and 2M by AMD's leaf, and those for 1G and what is behind them
   by Intel's leaf 2. */
void tlb_cpuid_read_first_of_amd(tlb_cpuid_reader *r);
void tlb_cpuid_read_rest_of_intel(tlb_cpuid_reader *r);

/* Two digits: "5b". */
void tlb_cpuid_add_byte(tlb_text *t, unsigned byte);

static inline uint32_t tlb_bits(uint32_t value, unsigned high, unsigned low)
{
   return value >> low & ((2u << (high - low)) - 1);
}

/* Assumes that hits and walks cost what the shipped machine file of that name says, as CPUID
   says nothing of it. */
void tlb_cpuid_take_costs(const char *file, tlb_machine *out);

/* Puts arrays of that file in the place of CPUID's with which they differ, with a note for each. 0,
   and nothing is changed: an array has other entries, so the file is of another processor. */
int tlb_cpuid_take_arrays(const char *file, tlb_cpuid_reader *r);

#endif
