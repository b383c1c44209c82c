/* Parses the options for page sizes. See options/page_options.h. */

#include "pub_tool_basics.h"

#include "pub_tool_libcbase.h"
#include "pub_tool_libcprint.h"
#include "pub_tool_mallocfree.h"
#include "pub_tool_xarray.h"

#include "options/page_options.h"
#include "options/thp.h"

static XArray* args; /* HChar*: whole arguments, in the order given */

static const HChar* value_of(const HChar* arg, const HChar* option)
{
   const SizeT n = VG_(strlen)(option);
   return VG_(strncmp)(arg, option, n) == 0 && arg[n] == '=' ? arg + n + 1
                                                             : NULL;
}

/* Removes an equal argument: the core may pass the arguments a second time. The last place of an
   argument counts. */
static void forget(const HChar* arg)
{
   for (Word i = VG_(sizeXA)(args) - 1; i >= 0; i--) {
      HChar* a = *(HChar**)VG_(indexXA)(args, i);
      if (VG_(strcmp)(a, arg) != 0)
         continue;
      VG_(removeIndexXA)(args, i);
      VG_(free)(a);
   }
}

Bool tg_page_options_take(const HChar* arg)
{
   if (value_of(arg, "--pages") == NULL && value_of(arg, "--huge-pool") == NULL
       && value_of(arg, "--hugetlb") == NULL && value_of(arg, "--thp") == NULL)
      return False;
   if (args == NULL)
      args = VG_(newXA)(VG_(malloc), "tg.pages.args", VG_(free),
                        sizeof(HChar*));
   forget(arg);
   const HChar* copy = VG_(strdup)("tg.pages.arg", arg);
   VG_(addToXA)(args, &copy);
   return True;
}

void tg_page_options_print_usage(void)
{
   VG_(printf)(
"    --thp=never|madvise|always       transparent huge pages, of TLBs and page faults:\n"
"                                     none, what the program asks for, all anonymous\n"
"                                     memory [the host's]\n"
"    --pages=WHAT:SIZE[,...]          which pages back which memory; WHAT: all,\n"
"                                     anon, heap, stack, text, data, file or a\n"
"                                     pattern for the mapped file's name; SIZE:\n"
"                                     4K to 16G, thp or contig; later rules\n"
"                                     override earlier ones [the base page, and\n"
"                                     what the program asks for]\n"
"    --huge-pool=SIZE:PAGES[,...]     how many large pages of a size there are\n"
"                                     [as many as are wanted]\n"
"    --hugetlb=real|fake              fake: let calls that ask for huge pages\n"
"                                     succeed where the host has none [real]\n");
}

static Bool read_hugetlb(const HChar* value, Bool* fake, tlb_reason* why)
{
   *fake = VG_(strcmp)(value, "fake") == 0;
   if (*fake || VG_(strcmp)(value, "real") == 0)
      return True;
   VG_(snprintf)(why->text, sizeof why->text,
                 "'%.40s' is no way to handle huge pages; allowed are real and "
                 "fake", value);
   return False;
}

static Bool read_thp(const HChar* value, tlb_thp_mode* mode, tlb_reason* why)
{
   if (tg_thp_read(value, mode))
      return True;
   VG_(snprintf)(why->text, sizeof why->text,
                 "'%.40s' is no mode of transparent huge pages; allowed are never, madvise "
                 "and always", value);
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
   const HChar* with_thp = NULL; /* the first argument with a rule for transparent huge pages */
   VG_(memset)(out, 0, sizeof *out);
   out->policy.thp = tg_thp_host();
   for (Word i = 0; args != NULL && i < VG_(sizeXA)(args); i++) {
      const HChar* arg = *(HChar**)VG_(indexXA)(args, i);
      const HChar* value;
      Bool good = True;
      if ((value = value_of(arg, "--pages")) != NULL) {
         good = tlb_page_rules_parse(value, ',', page_shift, &out->policy, why) != 0;
         if (with_thp == NULL && tlb_page_rules_have_thp(&out->policy))
            with_thp = arg;
      } else if ((value = value_of(arg, "--huge-pool")) != NULL) {
         good = tlb_page_pools_parse(value, page_shift, &out->policy, why) != 0;
      } else if ((value = value_of(arg, "--hugetlb")) != NULL) {
         good = read_hugetlb(value, &out->fake_hugetlb, why);
      } else if ((value = value_of(arg, "--thp")) != NULL) {
         good = read_thp(value, &out->policy.thp, why);
         out->thp_arg = arg;
      }
      if (!good)
         return arg;
   }
   return settle_thp(out, with_thp, why) ? NULL : with_thp;
}
