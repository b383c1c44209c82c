/* Fuzzes the reader of v2p.textproto, and what is asked of it.
   Part of tlbgrind.  GPL-2.0-or-later; see COPYING. */

#include "fuzz.h"

#include "sim/mmu/mmu.h"
#include "simulate/physical.h"

const char *const fuzz_words[] = {
   "address_mapping_group", "address_mapping", "virtual_address", "physical_address", "page_size",
   "information", "{", "}", ":", "0x1000", "4096", "0x200000", "0x400000", "0x401000", "#", "\"",
   "\n", "18446744073709551615", NULL
};

const char *const fuzz_more = NULL;

/* Of pages that lie side by side from an address on: each is in a block that none of the others
   ends in the middle of. */
static void ask(TgPhysical *p, uint64_t address)
{
   const tlb_backing b = tg_physical_backing(p, address);
   if (b.page_shift < 12 || b.page_shift > TLB_MAX_PAGE_SHIFT || b.block_shift < b.page_shift
       || b.block_shift > b.page_shift + TLB_MAX_BLOCK_BITS)
      fuzz_fail("a page or block that can not be");
   const uint64_t start = address >> b.block_shift << b.block_shift;
   for (unsigned i = 0; i < 1u << (b.block_shift - b.page_shift); i++) {
      const tlb_backing other = tg_physical_backing(p, start + ((uint64_t)i << b.page_shift));
      if (other.page_shift != b.page_shift || other.block_shift != b.block_shift)
         fuzz_fail("a block that is not that of all its pages");
   }
}

void fuzz_one(char *data, size_t size)
{
   unsigned line = 0;
   char why[160];
   TgPhysical *const p = tg_physical_parse(data, size, 12, &line, why);
   if (p == NULL) {
      fuzz_check_line(data, size, line);
      fuzz_check_reason(why, sizeof why);
      return;
   }
   if (tg_physical_n_pages(p) == 0)
      fuzz_fail("no page");
   for (uint64_t i = 0; i < 64; i++)
      ask(p, 0x3f0000 + i * 0x800);
   ask(p, 0);
   ask(p, UINT64_MAX);
   ask(p, UINT64_C(281464337858560));
   tg_physical_free(p);
}
