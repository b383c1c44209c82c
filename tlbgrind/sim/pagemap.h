/* The page map: which page size backs each address of the simulated process.

   The tool tells it of every mapping that comes, goes or changes. A *view* is
   one set of rules (--pages=): several views of one address space can be asked
   in one run. The first question about a base page decides, as the first touch
   does in Linux, and the answer stays until the mapping changes.

   Part of the simulator: plain C11, no libc, no Valgrind. */

#ifndef TLB_PAGEMAP_H
#define TLB_PAGEMAP_H

#include <stddef.h>
#include <stdint.h>

/* What backs one base page. */
typedef struct {
   uint8_t page_shift; /* the page has 2^this bytes */
   uint8_t block_shift; /* the largest naturally aligned block around it, up to
                           64K, that lies inside one mapping of one protection;
                           at least the base page. For coalescing arrays. */
} tlb_backing;

#endif
