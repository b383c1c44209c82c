/* What the kernel does to a machine's TLBs: NAME@flush:POLICY and NAME@syscall:WHAT; and what
   prefetch instructions do: NAME@prefetch:KIND.

   Which translations it flushes where it changes page tables, and what a system call drives out. */

#ifndef TG_KERNEL_POLICY_H
#define TG_KERNEL_POLICY_H

#include "pub_tool_basics.h"

#include "sim/mmu/interruptions.h"
#include "sim/mmu/mmu.h"

typedef struct {
   tlb_flush_policy flush;
   tlb_syscalls syscalls;
   Bool has_flush;     /* that is the machine's own, whatever --flush-policy= says */
   Bool has_syscall;   /* the same with --syscall-tlb= */
   tlb_prefetch_policy prefetch;
   Bool has_prefetch;  /* the same with --prefetch= */
} TgKernelPolicy;

/* The words of rules and options: `flush`, `syscall` and `prefetch`. */
typedef enum {
   TG_RULE_FLUSH, TG_RULE_SYSCALL, TG_RULE_PREFETCH, TG_N_KERNEL_RULES
} TgKernelRule;
extern const HChar* const tg_kernel_rules[TG_N_KERNEL_RULES];

/* Parses a value of the rule; `isa`: the machine's, for flush:linux, which is what the kernel does
   on such processors. False: it is none, with the reason. */
Bool tg_kernel_policy_parse(TgKernelRule rule, const HChar* value, const HChar* isa,
                            TgKernelPolicy* out, tlb_reason* why);

/* Takes such rules out of a machine's, which are joined by +. False: a value is none. */
Bool tg_kernel_policy_take(HChar* rules, const HChar* isa, TgKernelPolicy* out, tlb_reason* why);

typedef struct {
   HChar text[100];
} TgPolicyWords;

/* In words, for the summary and the out-file. */
TgPolicyWords tg_kernel_policy_flush_words(const TgKernelPolicy* p);
TgPolicyWords tg_kernel_policy_syscall_words(const TgKernelPolicy* p);

#endif
