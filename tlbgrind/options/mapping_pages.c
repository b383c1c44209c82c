/* The large pages of --mappings=. See options/mapping_pages.h. */

#include "pub_tool_basics.h"

#include "pub_tool_libcbase.h"

#include "options/mapping_pages.h"
#include "options/refuse.h"

void tg_large_pages_take(const HChar* arg, const HChar* value, TgOptions* o)
{
   tlb_reason ignored;
   o->mappings_shift = 0;
   o->mappings = VG_(strcmp)(value, "no") != 0;
   if (!o->mappings || VG_(strcmp)(value, "yes") == 0)
      return;
   o->mappings_shift = tlb_page_size_parse(value, &ignored);
   if (o->mappings_shift == 0)
      tg_refuse(arg, "'%s' is neither no nor yes nor a page size, such as 2M", value);
}

UInt tg_large_pages_shift(const TgOptions* options, UInt machine)
{
   enum { OF_A_TABLE = 9 }; /* 8-byte entries in a table of 4K */
   const TgMachine* m = &options->machine[machine];
   const UInt base = m->m.base_page_shift;
   UInt shift = options->mappings_shift;
   for (UInt i = 0; options->mappings_shift == 0 && i < m->pages.n_rules; i++) {
      const UInt of_rule = tlb_page_rule_shift(&m->pages, &m->pages.rule[i], base);
      shift = of_rule > base && of_rule > shift ? of_rule : shift;
   }
   if (shift == 0)
      shift = tlb_thp_shift(&m->pages, base);
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

void tg_large_pages_check(const TgOptions* o)
{
   for (UInt i = 0; o->mappings && i < o->n_machines; i++) {
      const TgMachine* m = &o->machine[i];
      if (tg_large_pages_shift(o, i) <= m->m.base_page_shift)
         tg_refuse("--mappings", "the base page of %s is as large as that; give the size of a "
                                 "larger page", m->name);
   }
}
