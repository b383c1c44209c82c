/* Parses what the kernel does to a machine's TLBs. See options/kernel_policy.h. */

#include "pub_tool_basics.h"

#include "pub_tool_libcbase.h"
#include "pub_tool_libcprint.h"

#include "options/kernel_policy.h"

const HChar* const tg_kernel_rules[TG_N_KERNEL_RULES] = { "flush", "syscall", "prefetch" };

/* --- Values --- */

Bool tg_kernel_policy_parse(TgKernelRule rule, const HChar* value, const HChar* isa,
                            TgKernelPolicy* out, tlb_reason* why)
{
   if (rule == TG_RULE_SYSCALL)
      return tlb_syscalls_parse(value, &out->syscalls, why) != 0;
   if (rule == TG_RULE_FLUSH)
      return tlb_flush_policy_parse(value, isa, &out->flush, why) != 0;
   return tlb_prefetch_policy_parse(value, &out->prefetch, why) != 0;
}

/* --- Rules --- */

static Bool take(const HChar* text, const HChar* isa, TgKernelPolicy* out, Bool* good,
                 tlb_reason* why)
{
   for (UInt rule = 0; rule < TG_N_KERNEL_RULES; rule++) {
      const SizeT n = VG_(strlen)(tg_kernel_rules[rule]);
      if (VG_(strncmp)(text, tg_kernel_rules[rule], n) != 0 || text[n] != ':')
         continue;
      *good = *good && tg_kernel_policy_parse((TgKernelRule)rule, text + n + 1, isa, out, why);
      out->has_flush |= rule == TG_RULE_FLUSH;
      out->has_syscall |= rule == TG_RULE_SYSCALL;
      out->has_prefetch |= rule == TG_RULE_PREFETCH;
      return True;
   }
   return False;
}

Bool tg_kernel_policy_take(HChar* rules, const HChar* isa, TgKernelPolicy* out, tlb_reason* why)
{
   HChar* to = rules;
   Bool good = True;
   for (HChar* rule = rules; rule != NULL;) {
      HChar* end = VG_(strchr)(rule, '+');
      if (end != NULL)
         *end++ = '\0';
      if (!take(rule, isa, out, &good, why)) {
         const SizeT n = VG_(strlen)(rule);
         if (to != rules)
            *to++ = '+';
         for (SizeT i = 0; i < n; i++)
            to[i] = rule[i];
         to += n;
      }
      rule = end;
   }
   *to = '\0';
   return good;
}

/* --- Words --- */

TgPolicyWords tg_kernel_policy_flush_words(const TgKernelPolicy* p)
{
   TgPolicyWords words;
   tlb_text t = tlb_text_in(words.text, sizeof words.text);
   tlb_flush_policy_words(&p->flush, &t);
   return words;
}

TgPolicyWords tg_kernel_policy_syscall_words(const TgKernelPolicy* p)
{
   TgPolicyWords words;
   tlb_text t = tlb_text_in(words.text, sizeof words.text);
   tlb_syscalls_words(&p->syscalls, &t);
   return words;
}
