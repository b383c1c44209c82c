/* What the kernel, and prefetches, do to the TLBs, as options say it: --flush-policy=,
   --syscall-tlb=, --switch-every= and --prefetch=.

   Part of the simulator: plain C11, no libc, no Valgrind. */

#ifndef TLB_INTERRUPTIONS_H
#define TLB_INTERRUPTIONS_H

#include <stdint.h>

#include "sim/base/text.h"
#include "sim/machine/geometry.h"
#include "sim/mmu/mmu.h"

/* Reads "none", "linux", "ceiling:PAGES", "shift:N" or "all"; `isa`: the machine's, for what Linux
   does on such processors. Returns 1, or 0 with the reason. */
int tlb_flush_policy_parse(const char *value, const char *isa, tlb_flush_policy *out,
                           tlb_reason *why);

/* In words, for the summary and the out-file. */
void tlb_flush_policy_words(const tlb_flush_policy *p, tlb_text *out);

typedef enum {
   TLB_SYSCALLS_NONE,  /* nothing is driven out */
   TLB_SYSCALLS_FLUSH, /* everything is flushed */
   TLB_SYSCALLS_KERNEL /* the kernel refers to pages of its own, and to the program's data */
} tlb_syscalls_how;

typedef struct {
   tlb_syscalls_how how;
   unsigned pages; /* the kernel's, of code and as many of data */
} tlb_syscalls;

/* Reads "none", "flush" or "kernel:PAGES". Returns 1, or 0 with the reason. */
int tlb_syscalls_parse(const char *value, tlb_syscalls *out, tlb_reason *why);

void tlb_syscalls_words(const tlb_syscalls *s, tlb_text *out);

typedef struct {
   uint64_t every; /* instructions between two context switches; 0: there are none */
   unsigned pages; /* others' that they bring, of code and as many of data; 0: they flush */
} tlb_switches;

/* Reads "INSTRUCTIONS" or "INSTRUCTIONS:PAGES". Returns 1, or 0 with the reason. */
int tlb_switches_parse(const char *value, tlb_switches *out, tlb_reason *why);

void tlb_switches_words(const tlb_switches *s, tlb_text *out);

/* Reads "ignore", "weak" or "strong". Returns 1, or 0 with the reason. */
int tlb_prefetch_policy_parse(const char *value, tlb_prefetch_policy *out, tlb_reason *why);

/* One of these words. */
const char *tlb_prefetch_policy_word(tlb_prefetch_policy p);

/* Who refers to pages of their own between the program's references. */
typedef enum { TLB_OTHERS_KERNEL, TLB_OTHERS_PROCESS } tlb_others;

/* They refer, on these machines, to so many pages of code and as many of data, in turn: the first
   at `now`, and each `ticks` later. */
void tlb_mmus_others(tlb_mmus *all, uint64_t mmus, tlb_others who, unsigned pages, uint64_t now,
                     unsigned ticks);

#endif
