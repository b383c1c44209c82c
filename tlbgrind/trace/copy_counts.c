/* What copies of the program miss. See trace/copy_counts.h. */

#include "pub_tool_basics.h"

#include "pub_tool_libcbase.h"
#include "pub_tool_mallocfree.h"

#include "attribution/lines.h"
#include "trace/copy_counts.h"

static UInt n_copies;
static uint64_t* counts; /* of copy number 1, by kind, then of the next */

static SizeT n_counts(void)
{
   return n_copies < 2 ? 0 : (SizeT)(n_copies - 1) * TLB_N_USERS * tg_lines_n_counts();
}

void tg_copy_counts_init(UInt n)
{
   n_copies = n;
   counts = VG_(calloc)("tg.copies.counts", n_counts(), sizeof *counts);
}

uint64_t* tg_copy_misses(UInt copy, tlb_user kind)
{
   return counts + ((SizeT)(copy - 1) * TLB_N_USERS + kind) * tg_lines_n_counts();
}

void tg_copy_counts_each(void (*each)(uint64_t* misses, tlb_user kind))
{
   for (UInt copy = 1; copy < n_copies; copy++) {
      for (UInt kind = 0; kind < TLB_N_USERS; kind++)
         each(tg_copy_misses(copy, (tlb_user)kind), (tlb_user)kind);
   }
}

void tg_copy_counts_zero(void)
{
   if (n_copies > 1)
      VG_(memset)(counts, 0, n_counts() * sizeof *counts);
}
