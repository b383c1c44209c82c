/* Code of files in blocks. See code_blocks.h. */

#include "sim/pages/code_blocks.h"

#include "sim/base/text.h"

/* A word, up to a space or the end. */
static int take_word(const char **at, const char *end, char out[TLB_KERNEL_NAME])
{
   unsigned n = 0;
   for (; *at < end && **at != ' '; (*at)++) {
      if (n == TLB_KERNEL_NAME - 1 || **at <= ' ' || **at > '~')
         return 0;
      out[n++] = **at;
   }
   out[n] = '\0';
   return n > 0;
}

static int is_space(const char **at, const char *end)
{
   const int is = *at < end && **at == ' ';
   *at += is;
   return is;
}

int tlb_code_blocks_parse(const char *text, size_t n, tlb_code_blocks *out)
{
   const char *at = text, *const end = text + n;
   uint64_t shift;
   if (!tlb_text_number(&at, end, &shift) || !is_space(&at, end)
       || !tlb_text_number(&at, end, &out->from) || !is_space(&at, end)
       || !take_word(&at, end, out->isa) || !is_space(&at, end)
       || !take_word(&at, end, out->kernel) || at != end)
      return 0;
   out->shift = (unsigned)shift;
   return shift > TLB_MIN_PAGE_SHIFT && shift <= TLB_MAX_PAGE_SHIFT;
}

static int is_of(const tlb_machine *m, const char *isa)
{
   return m->isa[0] == '\0' || tlb_text_same(m->isa, "any") || tlb_text_same(m->isa, isa);
}

int tlb_code_blocks_take(const tlb_code_blocks *c, const tlb_machine *m, tlb_page_policy *policy,
                         char note[TLB_RULE_NOTE_SIZE])
{
   if (c->shift <= m->base_page_shift || tlb_contig_shift(m->base_page_shift) != c->shift
       || !is_of(m, c->isa) || tlb_machine_holds_large(m, c->shift) != TLB_HOLDS_YES
       || tlb_page_rules_have_code(policy))
      return 0;
   policy->code_shift = c->shift;
   policy->code_from = c->from;
   tlb_text t = tlb_text_in(note, TLB_RULE_NOTE_SIZE);
   tlb_text_add(&t, "code of files from ");
   tlb_text_add_number(&t, c->from >> 10);
   tlb_text_add(&t, "K on in blocks of ");
   tlb_text_add_page_size(&t, c->shift);
   tlb_text_add(&t, ", as Linux ");
   tlb_text_add(&t, c->kernel);
   tlb_text_add(&t, " maps it; --pages=text:");
   tlb_text_add_page_size(&t, m->base_page_shift);
   tlb_text_add(&t, " for base pages, text:contig for all of it");
   return 1;
}
