/* The options for page sizes. */

#include "pub_tool_basics.h"

#include "pub_tool_libcbase.h"
#include "pub_tool_libcprint.h"
#include "pub_tool_mallocfree.h"
#include "pub_tool_xarray.h"

#include "tg_pages.h"

static XArray* args; /* HChar*: whole arguments, in the order given */

static const HChar* value_of(const HChar* arg, const HChar* option)
{
   const SizeT n = VG_(strlen)(option);
   return VG_(strncmp)(arg, option, n) == 0 && arg[n] == '=' ? arg + n + 1
                                                             : NULL;
}

/* The core may show the arguments a second time: one that was seen counts where
   it was seen last. */
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

Bool tg_pages_option(const HChar* arg)
{
   if (value_of(arg, "--pages") == NULL && value_of(arg, "--huge-pool") == NULL
       && value_of(arg, "--hugetlb") == NULL)
      return False;
   if (args == NULL)
      args = VG_(newXA)(VG_(malloc), "tg.pages.args", VG_(free),
                        sizeof(HChar*));
   forget(arg);
   const HChar* copy = VG_(strdup)("tg.pages.arg", arg);
   VG_(addToXA)(args, &copy);
   return True;
}

void tg_pages_print_usage(void)
{
   VG_(printf)(
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

const HChar* tg_pages_finish(UInt page_shift, TgPages* out, tlb_reason* why)
{
   VG_(memset)(out, 0, sizeof *out);
   for (Word i = 0; args != NULL && i < VG_(sizeXA)(args); i++) {
      const HChar* arg = *(HChar**)VG_(indexXA)(args, i);
      const HChar* value;
      Bool good = True;
      if ((value = value_of(arg, "--pages")) != NULL)
         good = tlb_page_rules_parse(value, ',', page_shift, &out->policy,
                                     why) != 0;
      else if ((value = value_of(arg, "--huge-pool")) != NULL)
         good = tlb_page_pools_parse(value, page_shift, &out->policy,
                                     why) != 0;
      else if ((value = value_of(arg, "--hugetlb")) != NULL)
         good = read_hugetlb(value, &out->fake_hugetlb, why);
      if (!good)
         return arg;
   }
   return NULL;
}
