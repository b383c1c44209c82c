/* Parses what the kernel does to a machine's TLBs. See options/kernel_policy.h. */

#include "pub_tool_basics.h"

#include "pub_tool_libcbase.h"
#include "pub_tool_libcprint.h"

#include "options/kernel_policy.h"

const HChar* const tg_kernel_rules[TG_N_KERNEL_RULES] = { "flush", "syscall", "prefetch" };

/* --- Values --- */

/* Pages that Linux flushes one by one: arch/x86/mm/tlb.c and arch/powerpc/mm/book3s64/radix_tlb.c
   (tlb_single_page_flush_ceiling), arch/arm64/include/asm/tlbflush.h (fewer than MAX_DVM_OPS),
   arch/riscv/mm/tlbflush.c (tlb_flush_all_threshold). Others are taken to do as x86. */
enum { CEILING = 33, CEILING_OF_ARM64 = 511, CEILING_OF_RISCV = 64 };

enum { MAX_SHIFT = 31, MAX_PAGES = 1 << 30 };

static UInt linux_ceiling(const HChar* isa)
{
   if (VG_(strcmp)(isa, "aarch64") == 0)
      return CEILING_OF_ARM64;
   return VG_(strncmp)(isa, "riscv", 5) == 0 ? CEILING_OF_RISCV : CEILING;
}

static Bool number_behind(const HChar* text, const HChar* word, ULong most, UInt* out)
{
   const SizeT n = VG_(strlen)(word);
   HChar* end;
   if (VG_(strncmp)(text, word, n) != 0 || !VG_(isdigit)(text[n]))
      return False;
   const ULong number = VG_(strtoull10)(text + n, &end);
   *out = (UInt)number;
   return *end == '\0' && number <= most;
}

static Bool parse_flush(const HChar* value, const HChar* isa, tlb_flush_policy* out)
{
   UInt n = 0;
   if (VG_(strcmp)(value, "none") == 0)
      *out = (tlb_flush_policy){ TLB_FLUSH_NONE, 0 };
   else if (VG_(strcmp)(value, "linux") == 0)
      *out = (tlb_flush_policy){ TLB_FLUSH_CEILING, linux_ceiling(isa) };
   else if (VG_(strcmp)(value, "all") == 0)
      *out = (tlb_flush_policy){ TLB_FLUSH_ALL, 0 };
   else if (number_behind(value, "ceiling:", MAX_PAGES, &n))
      *out = (tlb_flush_policy){ TLB_FLUSH_CEILING, n };
   else if (number_behind(value, "shift:", MAX_SHIFT, &n))
      *out = (tlb_flush_policy){ TLB_FLUSH_SHIFT, n };
   else
      return False;
   return True;
}

static Bool parse_prefetch(const HChar* value, TgKernelPolicy* out)
{
   if (VG_(strcmp)(value, "ignore") == 0)
      out->prefetch = TLB_PREFETCH_IGNORE;
   else if (VG_(strcmp)(value, "weak") == 0)
      out->prefetch = TLB_PREFETCH_WEAK;
   else if (VG_(strcmp)(value, "strong") == 0)
      out->prefetch = TLB_PREFETCH_STRONG;
   else
      return False;
   return True;
}

Bool tg_kernel_policy_parse(TgKernelRule rule, const HChar* value, const HChar* isa,
                            TgKernelPolicy* out, tlb_reason* why)
{
   if (rule == TG_RULE_SYSCALL)
      return tlb_syscalls_parse(value, &out->syscalls, why) != 0;
   if (rule == TG_RULE_FLUSH ? parse_flush(value, isa, &out->flush) : parse_prefetch(value, out))
      return True;
   if (rule == TG_RULE_PREFETCH)
      VG_(snprintf)(why->text, sizeof why->text,
                    "'%.40s' is no kind of prefetch; allowed are ignore, weak and strong", value);
   else
      VG_(snprintf)(why->text, sizeof why->text,
                    "'%.40s' is no policy for flushes; allowed are none, linux, ceiling:PAGES, "
                    "shift:0 to shift:%d, and all", value, MAX_SHIFT);
   return False;
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
   TgPolicyWords words = { "none" };
   switch (p->flush.how) {
   case TLB_FLUSH_NONE:
      break;
   case TLB_FLUSH_CEILING:
      VG_(snprintf)(words.text, sizeof words.text, "up to %u pages one by one, else everything",
                    p->flush.n);
      break;
   case TLB_FLUSH_SHIFT:
      VG_(snprintf)(words.text, sizeof words.text,
                    "up to entries >> %u pages one by one, else everything", p->flush.n);
      break;
   case TLB_FLUSH_ALL:
      VG_(snprintf)(words.text, sizeof words.text, "always everything");
      break;
   }
   return words;
}

TgPolicyWords tg_kernel_policy_syscall_words(const TgKernelPolicy* p)
{
   TgPolicyWords words;
   tlb_text t = tlb_text_in(words.text, sizeof words.text);
   tlb_syscalls_words(&p->syscalls, &t);
   return words;
}
