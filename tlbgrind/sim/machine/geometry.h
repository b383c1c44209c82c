/* The shape of one translation array.

   It has a number of entries in sets, the page sizes that they hold, and the replacement
   policy, which chooses the entry of a set that is evicted.

   Part of the simulator: plain C11, no libc, no Valgrind. */

#ifndef TLB_GEOMETRY_H
#define TLB_GEOMETRY_H

#include <stddef.h>
#include <stdint.h>

#include "sim/base/api.h"

TLB_API_BEGIN

/* The list of replacement policies: of each the name, that of its file (sim/tlb/policy_*.c, see
   sim/tlb/policy.h), that in texts, how many ways a set needs, and whether a seed can follow. */
#define TLB_POLICIES(P) \
   P(TLB_LRU,      lru,      "lru",             TLB_ANY_WAYS, 0) \
   P(TLB_PLRU,     plru,     "plru",            TLB_2_TO_N_WAYS, 0) \
   P(TLB_FIFO,     fifo,     "fifo",            TLB_ANY_WAYS, 0) \
   P(TLB_NRU,      nru,      "nru",             TLB_ANY_WAYS, 0) \
   P(TLB_MRU_PLRU, mru_plru, "(mru+1)%3-plru4", 12, 0) \
   P(TLB_RANDOM,   random,   "random",          TLB_ANY_WAYS, 1)

enum { TLB_ANY_WAYS = 0, TLB_2_TO_N_WAYS = 1 }; /* else so many */

#define TLB_POLICY_ITSELF(name, file, words, ways, seed) name,
typedef enum { TLB_POLICIES(TLB_POLICY_ITSELF) TLB_N_POLICIES } tlb_policy;
#define TLB_DEFAULT_POLICY TLB_LRU /* also where none is published */

typedef struct {
   uint32_t entries;    /* 1 .. TLB_MAX_ENTRIES */
   uint32_t ways;       /* divides entries; ways == entries: fully associative */
   uint64_t page_sizes; /* bit n set: the array holds pages of 2^n bytes */
   tlb_policy policy;
   uint64_t seed;       /* 0 if the policy has none */
   uint32_t index_xor;  /* 0: a page's set is its number modulo the sets; n: the number XOR
                           itself divided by 2^n, modulo the sets, a power of two */
   int paired;          /* an entry is of an aligned pair of pages, of which one or both
                           are there (MIPS, LoongArch) */
} tlb_geometry;

enum {
   TLB_MAX_ENTRIES = 1 << 20,
   TLB_MAX_INDEX_XOR = 20,
   TLB_MIN_PAGE_SHIFT = 12, /* 4K */
   TLB_MAX_PAGE_SHIFT = 34, /* 16G */
   TLB_MAX_BLOCK_BITS = 7,  /* up to 2^this pages are one entry together */
   TLB_REASON_SIZE = 168
};

/* The reason of a refusal: one sentence without a full stop, to be printed
   behind the name of an option or of a file and line. */
typedef struct {
   char text[TLB_REASON_SIZE];
} tlb_reason;

/* Reads "ENTRIES,WAYS[,SIZES[,POLICY]]", for example "64,4",
   "1536,12,4K+2M,lru", "64,full,4K,random:7". SIZES defaults to the page of
   2^base_page_shift bytes, POLICY to lru. Returns 1, or 0 with the reason. */
int tlb_geometry_parse(const char *text, unsigned base_page_shift,
                       tlb_geometry *out, tlb_reason *why);

/* Whether such an array can be. Returns 1, or 0 with the reason. */
int tlb_geometry_check(const tlb_geometry *g, tlb_reason *why);

/* The line of a machine file that says what such an array cannot be; NULL: it can be. */
const char *tlb_geometry_blames(const tlb_geometry *g);

/* Writes "64 entries, 4-way, 16 sets, pages 4K+2M, lru" and a NUL into at most
   `size` bytes of `out`; longer text is cut. */
void tlb_geometry_print(const tlb_geometry *g, char *out, size_t size);

/* Reads page sizes such as "4K" or "4K+2M+1G". Returns 1 and their bits, or 0
   with the reason. */
int tlb_page_sizes_parse(const char *text, uint64_t *out, tlb_reason *why);

/* Reads "lru" or "random:7" into g->policy and g->seed. Returns 1, or 0 with
   the reason. */
int tlb_policy_parse(const char *text, tlb_geometry *g, tlb_reason *why);

/* Write what these two read; longer text is cut. */
void tlb_page_sizes_print(uint64_t sizes, char *out, size_t size);
void tlb_policy_print(const tlb_geometry *g, char *out, size_t size);

/* Reads a page size such as "4K", "2M", "1G" or "4096": a power of two from
   4K to 16G. Returns its logarithm, or 0 with the reason. */
unsigned tlb_page_size_parse(const char *text, tlb_reason *why);

static inline uint32_t tlb_geometry_sets(const tlb_geometry *g)
{
   return g->entries / g->ways;
}

TLB_API_END

#endif
