/* Parses the options for page sizes. See options/page_options.h. */

#include "pub_tool_basics.h"

#include "pub_tool_libcbase.h"
#include "pub_tool_libcprint.h"

#include "options/given.h"
#include "options/page_options.h"
#include "options/refuse.h"
#include "options/thp.h"

static Bool read_hugetlb(const HChar* value, Bool* fake, tlb_reason* why)
{
   *fake = VG_(strcmp)(value, "fake") == 0;
   if (*fake || VG_(strcmp)(value, "real") == 0)
      return True;
   HChar text[TG_SHORTENED];
   VG_(snprintf)(why->text, sizeof why->text,
                 "'%s' is no way to handle huge pages; allowed are real and fake",
                 tg_shortened(value, text));
   return False;
}

static Bool read_thp(const HChar* value, tlb_thp_mode* mode, tlb_reason* why)
{
   if (tg_thp_read(value, mode))
      return True;
   HChar text[TG_SHORTENED];
   VG_(snprintf)(why->text, sizeof why->text,
                 "'%s' is no mode of transparent huge pages; allowed are never, madvise and always",
                 tg_shortened(value, text));
   return False;
}

/* A rule for transparent huge pages of all memory is equivalent to --thp=always; --thp=never
   contradicts all such rules. Rules for a part of the memory are exceptions to --thp. */
static Bool settle_thp(TgPageOptions* out, const HChar* rules_arg, tlb_reason* why)
{
   Bool everywhere = False;
   for (UInt i = 0; i < out->policy.n_rules; i++)
      everywhere |= out->policy.rule[i].how == TLB_THP && out->policy.rule[i].what == TLB_OF_ALL;
   if (rules_arg == NULL)
      return True;
   if (out->thp_arg != NULL
       && (out->policy.thp == TLB_THP_NEVER || (everywhere && out->policy.thp != TLB_THP_ALWAYS))) {
      VG_(snprintf)(why->text, sizeof why->text,
                    "contradicts --thp=%s, which is what the kernel does with transparent "
                    "huge pages; leave out one of the two", tg_thp_name(out->policy.thp));
      return False;
   }
   if (everywhere && out->thp_arg == NULL) {
      out->policy.thp = TLB_THP_ALWAYS;
      out->thp_arg = rules_arg;
   }
   return True;
}

const HChar* tg_page_options_finish(UInt page_shift, TgPageOptions* out, tlb_reason* why)
{
   const HChar *arg, *with_thp = NULL; /* the first with a rule for transparent huge pages */
   VG_(memset)(out, 0, sizeof *out);
   out->policy.thp = tg_thp_host();
   for (UInt i = 0; (arg = tg_given_nth("--pages", i)) != NULL; i++) {
      if (!tlb_page_rules_parse(tg_given_value(arg), ',', page_shift, &out->policy, why))
         return arg;
      if (with_thp == NULL && tlb_page_rules_have_thp(&out->policy))
         with_thp = arg;
   }
   for (UInt i = 0; (arg = tg_given_nth("--huge-pool", i)) != NULL; i++) {
      if (!tlb_page_pools_parse(tg_given_value(arg), page_shift, &out->policy, why))
         return arg;
   }
   for (UInt i = 0; (arg = tg_given_nth("--hugetlb", i)) != NULL; i++) {
      if (!read_hugetlb(tg_given_value(arg), &out->fake_hugetlb, why))
         return arg;
   }
   for (UInt i = 0; (arg = tg_given_nth("--thp", i)) != NULL; i++) {
      if (!read_thp(tg_given_value(arg), &out->policy.thp, why))
         return arg;
      out->thp_arg = arg;
   }
   return settle_thp(out, with_thp, why) ? NULL : with_thp;
}
