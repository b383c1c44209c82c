/* Flushes, system calls and context switches. See interruptions.h. */

#include "sim/mmu/interruptions.h"

enum { MOST_PAGES = 1 << 16 };

/* Of all the text. */
static int number_of(const char *text, uint64_t *n)
{
   const char *at = text, *const end = text + tlb_text_length(text);
   return tlb_text_number(&at, end, n) && at == end;
}

static int number_behind(const char *text, const char *word, uint64_t most, unsigned *out)
{
   uint64_t number;
   if (!tlb_text_begins(text, word) || !number_of(text + tlb_text_length(word), &number)
       || number > most)
      return 0;
   *out = (unsigned)number;
   return 1;
}

/* --- Flushes --- */

/* Pages that Linux flushes one by one: arch/x86/mm/tlb.c and arch/powerpc/mm/book3s64/radix_tlb.c
   (tlb_single_page_flush_ceiling), arch/arm64/include/asm/tlbflush.h (fewer than MAX_DVM_OPS),
   arch/riscv/mm/tlbflush.c (tlb_flush_all_threshold). Others are taken to do as x86. */
enum { CEILING = 33, CEILING_OF_ARM64 = 511, CEILING_OF_RISCV = 64 };

enum { MAX_SHIFT = 31, MAX_CEILING = 1 << 30 };

static unsigned linux_ceiling(const char *isa)
{
   if (tlb_text_same(isa, "aarch64"))
      return CEILING_OF_ARM64;
   return tlb_text_begins(isa, "riscv") ? CEILING_OF_RISCV : CEILING;
}

int tlb_flush_policy_parse(const char *value, const char *isa, tlb_flush_policy *out,
                           tlb_reason *why)
{
   *out = (tlb_flush_policy){ TLB_FLUSH_NONE, 0 };
   if (tlb_text_same(value, "none"))
      return 1;
   if (tlb_text_same(value, "linux")) {
      *out = (tlb_flush_policy){ TLB_FLUSH_CEILING, linux_ceiling(isa) };
      return 1;
   }
   out->how = TLB_FLUSH_ALL;
   if (tlb_text_same(value, "all"))
      return 1;
   out->how = TLB_FLUSH_CEILING;
   if (number_behind(value, "ceiling:", MAX_CEILING, &out->n))
      return 1;
   out->how = TLB_FLUSH_SHIFT;
   if (number_behind(value, "shift:", MAX_SHIFT, &out->n))
      return 1;
   tlb_text t = tlb_text_in(why->text, sizeof why->text);
   tlb_text_add_refusal(&t, value, tlb_text_length(value),
                        "is no policy for flushes; allowed are none, linux, ceiling:PAGES, "
                        "shift:0 to shift:31, and all");
   return 0;
}

void tlb_flush_policy_words(const tlb_flush_policy *p, tlb_text *out)
{
   if (p->how == TLB_FLUSH_NONE || p->how == TLB_FLUSH_ALL) {
      tlb_text_add(out, p->how == TLB_FLUSH_NONE ? "none" : "always everything");
      return;
   }
   tlb_text_add(out, p->how == TLB_FLUSH_SHIFT ? "up to entries >> " : "up to ");
   tlb_text_add_number(out, p->n);
   tlb_text_add(out, " pages one by one, else everything");
}

/* --- Prefetches --- */

static const char *const prefetch_words[] = {
   [TLB_PREFETCH_IGNORE] = "ignore", [TLB_PREFETCH_WEAK] = "weak",
   [TLB_PREFETCH_STRONG] = "strong" };

int tlb_prefetch_policy_parse(const char *value, tlb_prefetch_policy *out, tlb_reason *why)
{
   for (unsigned i = 0; i < sizeof prefetch_words / sizeof *prefetch_words; i++) {
      if (tlb_text_same(value, prefetch_words[i])) {
         *out = (tlb_prefetch_policy)i;
         return 1;
      }
   }
   tlb_text t = tlb_text_in(why->text, sizeof why->text);
   tlb_text_add_refusal(&t, value, tlb_text_length(value),
                        "is no kind of prefetch; allowed are ignore, weak and strong");
   return 0;
}

const char *tlb_prefetch_policy_word(tlb_prefetch_policy p)
{
   return prefetch_words[p];
}

/* --- System calls --- */

int tlb_syscalls_parse(const char *value, tlb_syscalls *out, tlb_reason *why)
{
   *out = (tlb_syscalls){ TLB_SYSCALLS_NONE, 0 };
   if (tlb_text_same(value, "none"))
      return 1;
   out->how = TLB_SYSCALLS_FLUSH;
   if (tlb_text_same(value, "flush"))
      return 1;
   out->how = TLB_SYSCALLS_KERNEL;
   if (number_behind(value, "kernel:", MOST_PAGES, &out->pages))
      return 1;
   tlb_text t = tlb_text_in(why->text, sizeof why->text);
   tlb_text_add_refusal(&t, value, tlb_text_length(value),
                        "is nothing that system calls do to TLBs; allowed are none, flush, and "
                        "kernel:0 to kernel:65536, in pages");
   return 0;
}

void tlb_syscalls_words(const tlb_syscalls *s, tlb_text *out)
{
   switch (s->how) {
   case TLB_SYSCALLS_NONE:
      tlb_text_add(out, "drive out nothing");
      return;
   case TLB_SYSCALLS_FLUSH:
      tlb_text_add(out, "flush everything");
      return;
   case TLB_SYSCALLS_KERNEL:
      tlb_text_add(out, "refer to ");
      tlb_text_add_number(out, s->pages);
      tlb_text_add(out, " pages of code, ");
      tlb_text_add_number(out, s->pages);
      tlb_text_add(out, " of data and the program's");
      return;
   }
}

/* --- Context switches --- */

int tlb_switches_parse(const char *value, tlb_switches *out, tlb_reason *why)
{
   const char *at = value, *const end = value + tlb_text_length(value);
   uint64_t pages = 0;
   *out = (tlb_switches){ 0, 0 };
   int good = tlb_text_number(&at, end, &out->every) && out->every > 0;
   if (good && at < end)
      good = *at == ':' && number_of(at + 1, &pages) && pages > 0 && pages <= MOST_PAGES;
   out->pages = (unsigned)pages;
   if (good)
      return 1;
   tlb_text t = tlb_text_in(why->text, sizeof why->text);
   tlb_text_add(&t, "not a number of instructions above 0, or one and 1 to 65536 pages, as "
                    "1000000:64");
   return 0;
}

void tlb_switches_words(const tlb_switches *s, tlb_text *out)
{
   tlb_text_add(out, "every ");
   tlb_text_add_number(out, s->every);
   tlb_text_add(out, " instructions, ");
   if (s->pages == 0) {
      tlb_text_add(out, "flush everything");
      return;
   }
   tlb_text_add(out, "refer to ");
   tlb_text_add_number(out, s->pages);
   tlb_text_add(out, " pages of code and as many of data");
}

/* --- Others --- */

/* Their pages, by what they are for. */
static const struct {
   uint32_t code, data;
} pages_of[] = { [TLB_OTHERS_KERNEL] = { 0, 1 << 20 },
                 [TLB_OTHERS_PROCESS] = { 2 << 20, 3 << 20 } };

void tlb_mmus_others(tlb_mmus *all, uint64_t mmus, tlb_others who, unsigned pages, uint64_t now,
                     unsigned ticks)
{
   for (unsigned i = 0; i < pages; i++) {
      tlb_mmus_refer_others(all, mmus, TLB_FETCH, pages_of[who].code + i, now);
      tlb_mmus_refer_others(all, mmus, TLB_LOAD, pages_of[who].data + i, now + ticks);
      now += 2 * (uint64_t)ticks;
   }
}
