/* Large pages. See mmu/large_pages.h. */

#include "pub_tool_basics.h"

#include "pub_tool_libcbase.h"
#include "pub_tool_mallocfree.h"

#include "mmu/large_pages.h"

enum { CHUNK = 1 << TG_LARGE_CHUNK_BITS };

TgLarge** tg_large_chunks;

static UInt n_pages;

UInt tg_large_new(void)
{
   const UInt number = ++n_pages;
   const UInt n = number / CHUNK;
   if (tg_large_chunks == NULL || number % CHUNK == 0) {
      tg_large_chunks = VG_(realloc)("tg.large.chunks", tg_large_chunks,
                                     (n + 1) * sizeof *tg_large_chunks);
      tg_large_chunks[n] = VG_(malloc)("tg.large", CHUNK * sizeof(TgLarge));
   }
   tg_large_chunks[n][number % CHUNK]
      = (TgLarge){ .absent = ~0ULL, .absent_writes = ~0ULL };
   return number;
}

void tg_large_goes(TgLarge* l, TgTable table, TgPage* first, ULong loads, ULong stores)
{
   for (ULong told = l->told; told != 0; told &= told - 1)
      tg_page_observe(table, tg_page_at(first, __builtin_ctzll(told)), loads != 0,
                     stores != 0, loads | stores);
   l->absent |= loads;
   l->absent_writes |= stores;
   if ((l->absent & l->absent_writes) == ~0ULL)
      l->told = 0;
}
