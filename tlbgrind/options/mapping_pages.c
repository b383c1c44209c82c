/* The large pages of --mappings=. See options/mapping_pages.h. */

#include "pub_tool_basics.h"

#include "pub_tool_libcbase.h"
#include "pub_tool_libcprint.h"

#include "options/mapping_pages.h"

Bool tg_large_pages_parse(const HChar* value, TgOptions* options, tlb_reason* why)
{
   tlb_reason ignored;
   options->mappings_shift = 0;
   options->mappings = VG_(strcmp)(value, "no") != 0;
   if (!options->mappings || VG_(strcmp)(value, "yes") == 0)
      return True;
   options->mappings_shift = tlb_page_size_parse(value, &ignored);
   if (options->mappings_shift != 0)
      return True;
   VG_(snprintf)(why->text, sizeof why->text,
                 "'%.40s' is neither no nor yes nor a page size, such as 2M", value);
   return False;
}

UInt tg_large_pages_shift(const TgOptions* options, UInt machine)
{
   enum { OF_A_TABLE = 9 }; /* 8-byte entries in a table of 4K */
   const TgMachine* m = &options->machine[machine];
   const UInt base = m->m.base_page_shift;
   UInt shift = options->mappings_shift;
   for (UInt i = 0; options->mappings_shift == 0 && i < m->pages.n_rules; i++) {
      const UInt of_rule = tlb_page_rule_shift(&m->pages.rule[i], base);
      shift = of_rule > base && of_rule > shift ? of_rule : shift;
   }
   if (shift == 0)
      shift = tlb_thp_shift(base);
   return shift != 0 ? shift : base + OF_A_TABLE;
}

UInt tg_large_pages_smallest(const TgOptions* options)
{
   UInt smallest = tg_large_pages_shift(options, 0);
   for (UInt i = 1; i < options->n_machines; i++) {
      const UInt shift = tg_large_pages_shift(options, i);
      smallest = shift < smallest ? shift : smallest;
   }
   return smallest;
}

const TgMachine* tg_large_pages_wrong(const TgOptions* options)
{
   for (UInt i = 0; i < options->n_machines; i++) {
      if (tg_large_pages_shift(options, i) <= options->machine[i].m.base_page_shift)
         return &options->machine[i];
   }
   return NULL;
}
