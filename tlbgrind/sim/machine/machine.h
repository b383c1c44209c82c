/* A machine: the address translation of a processor, as far as it is known.

   Machine files, CPUID and the options for single arrays all give a machine, and the
   simulator is built from it.

   Part of the simulator: plain C11, no libc, no Valgrind. */

#ifndef TLB_MACHINE_H
#define TLB_MACHINE_H

#include "sim/base/api.h"
#include "sim/machine/geometry.h"

TLB_API_BEGIN

enum {
   TLB_MAX_LEVELS = 3,
   TLB_MAX_ARRAYS = 16,     /* of one machine */
   TLB_MAX_SIDE_BY_SIDE = 2, /* of one level that take the same page */
   TLB_MAX_WALK_LEVELS = 6, /* steps of a page walk */
   TLB_MAX_TABLE_CACHES = 4,
   TLB_MAX_NOTES = 32,
   TLB_NAME_SIZE = 64,
   TLB_TITLE_SIZE = 160,
   TLB_SOURCE_SIZE = 320
};

/* The kinds of reference that an array serves: any of these together. */
enum { TLB_FETCHES = 1, TLB_LOADS = 2, TLB_STORES = 4 };

/* Limits and defaults of what a walk's references cost. */
enum {
   TLB_NO_OVERLAP = 10, /* tenths, as all overlaps */
   TLB_MOST_OVERLAP = 640,
   TLB_MOST_WINDOW = 65536,
   TLB_ENTRY_BYTES = 8, /* of a table entry, where nothing else is said */
   TLB_LEAST_ENTRY_BYTES = 4,
   TLB_MOST_ENTRY_BYTES = 64,
   TLB_USUAL_LINE = 64,
   TLB_LEAST_LINE = 16,
   TLB_MOST_LINE = 4096,
   TLB_MOST_CACHE_WAYS = 1024,
   TLB_MOST_CACHE_SIZE = 1 << 30
};

/* A number of cycles that is not published. */
#define TLB_UNKNOWN UINT32_MAX

/* The confidence of what was measured on the machine itself. */
#define TLB_MEASURED 'M'

/* A confidence as machine files have it: "A", "B", "C" or "measured". */
static inline const char *tlb_confidence_word(char confidence)
{
   return confidence == TLB_MEASURED ? "measured"
          : confidence == 'A'        ? "A"
          : confidence == 'B'        ? "B"
          : confidence == 'C'        ? "C"
                                     : "";
}

/* What the hardware threads of a core do with an array. */
typedef enum {
   TLB_SHARING_UNKNOWN,
   TLB_SHARED,      /* they compete for its entries */
   TLB_PARTITIONED, /* each has a fixed part while more than one runs; the
                       entries given are those of one running alone */
   TLB_COPIED       /* each has an array of its own of that size */
} tlb_sharing;

/* What the entries of an array have to do with those of the levels in front of it. */
typedef enum {
   TLB_NEITHER,   /* nothing: each level evicts for itself */
   TLB_INCLUSIVE, /* what the array evicts leaves all levels in front of it */
   TLB_EXCLUSIVE  /* the array gets what the level in front of it evicts, and nothing else; a
                     hit takes the entry out of it */
} tlb_inclusion;

typedef struct {
   char name[TLB_NAME_SIZE]; /* "DTLB-4K" */
   unsigned level;           /* 1 .. TLB_MAX_LEVELS */
   unsigned users;           /* TLB_FETCHES and so on, never 0 */
   tlb_geometry g;           /* complete: what is unknown is assumed in it */
   int entries_unknown;      /* and these say that it is assumed */
   int ways_unknown;
   int sizes_unknown;
   int policy_unknown;
   int splits;               /* a page that is larger than what the array holds
                                enters as a piece of the largest size that it
                                does hold; if not, the page passes it by (but a
                                first level always splits what no array of its
                                kind holds) */
   int splits_unknown;       /* `splits` is assumed */
   unsigned coalesce_shift;  /* 0, or: a naturally aligned block of 2^this bytes
                                of base pages in one mapping with one protection
                                is one entry */
   uint8_t block_shift[TLB_MAX_PAGE_SHIFT + 1]; /* the same by the size of the pages;
                                then `coalesce_shift` is 0 */
   uint32_t wired;           /* entries that the kernel keeps; `g` is without them */
   tlb_inclusion inclusion;  /* of an array behind others */
   uint32_t hit_cycles;      /* what a hit costs at most beyond a first-level hit, or
                                TLB_UNKNOWN */
   uint32_t hit_spread;      /* it can cost so much less: 5..7 cycles are 7 and 2 */
   int hit_cycles_unknown;   /* these two are assumed, after processors of the same design */
   uint32_t overlap;         /* tenths: hits that do not wait for each other cost as little as
                                one each after the other divided by this; 0: unknown */
   int overlap_unknown;      /* it is assumed */
   uint32_t threads;         /* that share it; 0: unknown */
   tlb_sharing sharing;      /* 0 where `threads` is 0 or 1 */
   char confidence;          /* if not that of the machine, else 0 */
   char source[TLB_SOURCE_SIZE]; /* of these facts; may be empty */
} tlb_machine_array;

/* One step of a page walk, from the root down: each entry of the table that is
   read covers 2^shift bytes (x86-64: 39, 30, 21, 12). A walk ends at the step
   whose shift is that of the page. `cached` says that the processor keeps
   entries of this step, which then spare all steps above it. */
typedef struct {
   unsigned shift;
   int cached;            /* and then exactly one of these three holds: it has
                             a cache of its own, described by `g`, or: */
   int in_last_level;     /* entries stand in the last translation array (Zen 2
                             and later, for PDEs) */
   int joined;            /* entries stand in the cache of the nearest step
                             above that has one of its own (Zen 2's PDC holds
                             PML4Es and PDPEs) */
   tlb_geometry g;        /* of its cache; page_sizes is 1 << shift */
   int cache_unknown;     /* no source says whether it is cached: assumed not */
   uint32_t cycles;       /* of the walk's cycles so many are this step's: a walk that ends above
                             it, for a larger page, costs so much less */
   int ways_unknown;      /* in `g` it is assumed */
   int policy_unknown;
   char source[TLB_SOURCE_SIZE];
} tlb_walk_step;

/* One of the caches that the references of a walk go through, or the memory behind them, of which
   there are cycles, confidence and source alone. */
typedef struct {
   char name[TLB_NAME_SIZE]; /* "L2" */
   uint32_t size;            /* bytes */
   uint32_t line;            /* bytes of a line, a power of two */
   uint32_t ways;
   uint32_t share;           /* per cent of it that page tables get */
   uint32_t cycles;          /* what a reference that is found here costs at most beyond one that
                                is found in the first cache */
   uint32_t spread;          /* it can cost so much less */
   int size_unknown;         /* and these say that it is assumed */
   int ways_unknown;
   int share_unknown;
   int cycles_unknown;
   char confidence;          /* if not that of the machine, else 0 */
   char source[TLB_SOURCE_SIZE];
} tlb_table_cache;

typedef struct {
   char name[TLB_NAME_SIZE];   /* what --machine= takes */
   char title[TLB_TITLE_SIZE]; /* what people call it */
   char isa[16];
   unsigned year;              /* 0: unknown */
   char confidence;            /* 'A', 'B', 'C', or TLB_MEASURED, see docs/machines.md */
   char source[TLB_SOURCE_SIZE];
   unsigned base_page_shift;   /* of the processor's usual system */
   unsigned n_arrays;
   tlb_machine_array array[TLB_MAX_ARRAYS];
   unsigned n_walk_steps;      /* 0: not described */
   tlb_walk_step walk[TLB_MAX_WALK_LEVELS];
   int software_walk;          /* a trap handler fills the arrays (TSB) */
   uint32_t walk_cycles;       /* of a page walk altogether, at most, or TLB_UNKNOWN; with caches,
                                  if each table entry is found in the first of them */
   uint32_t walk_spread;       /* these two: as for hits */
   int walk_cycles_unknown;
   uint32_t walk_overlap;      /* these two: as for hits */
   int walk_overlap_unknown;
   unsigned host_page_shift;   /* the walks are those of a guest, whose memory a hypervisor has in
                                  pages of that size: the cycles hold the hypervisor's walks, where
                                  all tables are near; 0: they are not */
   uint32_t window;            /* instructions that can be under way together: misses that are
                                  farther apart do not overlap; 0: not said, then all can */
   int window_unknown;         /* it is assumed */
   uint32_t entry_bytes;       /* of a table entry; 0: TLB_ENTRY_BYTES */
   unsigned n_caches;          /* 0: where the tables lie makes no difference */
   tlb_table_cache cache[TLB_MAX_TABLE_CACHES]; /* nearest first */
   tlb_table_cache memory;     /* all 0 without caches */
   char walk_source[TLB_SOURCE_SIZE];
   unsigned n_notes;           /* assumptions: the report repeats them */
   tlb_reason note[TLB_MAX_NOTES];
} tlb_machine;

/* The cycles in an estimate: 0 where they are unknown. */
static inline uint32_t tlb_known_cycles(uint32_t cycles)
{
   return cycles == TLB_UNKNOWN ? 0 : cycles;
}

/* Tenths, at least TLB_NO_OVERLAP. */
static inline uint32_t tlb_known_overlap(uint32_t overlap)
{
   return overlap < TLB_NO_OVERLAP ? (uint32_t)TLB_NO_OVERLAP : overlap;
}

/* Bytes of a table entry. */
static inline uint32_t tlb_entry_bytes(const tlb_machine *m)
{
   return m->entry_bytes == 0 ? (uint32_t)TLB_ENTRY_BYTES : m->entry_bytes;
}

/* How many sets of the cache page tables have. */
static inline uint32_t tlb_table_cache_sets(const tlb_table_cache *c)
{
   const uint64_t sets = (uint64_t)c->size * c->share / 100 / c->line / c->ways;
   return sets == 0 ? 1 : (uint32_t)sets;
}

/* What a walk for a page of that size costs where all tables are near. */
uint32_t tlb_machine_walk_cycles(const tlb_machine *m, unsigned page_shift);

/* The size of Linux's transparent huge pages on a processor of that architecture (a name as in
   machine files): what one page table covers, and so 2 * base page - 3 with entries of 8 bytes. On
   POWER a page of 64K has five bits of the address for its table with radix tables (2M; Linux:
   asm/book3s/64/radix-64k.h), eight with hashed ones (16M; hash-64k.h), and pages of 2M are those
   of processors with radix tables. */
unsigned tlb_machine_thp_shift(const tlb_machine *m, const char *isa);

/* Whether what a walk costs depends on where its references find the tables. */
static inline int tlb_tables_are_cached(const tlb_machine *m)
{
   return m->n_caches > 0 && m->n_walk_steps > 0 && !m->software_walk
          && m->walk_cycles != TLB_UNKNOWN;
}

/* The block of pages of that size which is one entry of the array; 0: each has its own. */
static inline unsigned tlb_array_block(const tlb_machine_array *a, unsigned page_shift,
                                       unsigned base_page_shift)
{
   if (a->block_shift[page_shift] != 0)
      return a->block_shift[page_shift];
   return page_shift == base_page_shift && a->coalesce_shift > page_shift ? a->coalesce_shift : 0;
}

/* The largest block that is one entry of the array or, below, of any; 0: there are none. */
unsigned tlb_array_largest_block(const tlb_machine_array *a);
unsigned tlb_machine_largest_block(const tlb_machine *m);

/* Whether two arrays have the same blocks. */
int tlb_arrays_coalesce_alike(const tlb_machine_array *a, const tlb_machine_array *b);

static inline int tlb_step_has_own_cache(const tlb_walk_step *s)
{
   return s->cached && !s->in_last_level && !s->joined;
}

/* Whether such a machine can be: the arrays in which a kind of reference is looked up first
   take base pages or pieces of them (mostly on level 1, but Core 2 has nothing
   for stores there, which begin on level 2), levels follow each other without
   a gap, each array passes tlb_geometry_check(), names differ, what is inclusive or exclusive
   has a level in front of it, walk steps go
   down to the base page, what they keep among translations is behind what is
   asked first, and the caches of tables are of a hardware walk and have whole sets. Returns 1, or 0
   with the reason. */
int tlb_machine_check(const tlb_machine *m, tlb_reason *why);

/* One thing that is wrong with a machine. */
typedef struct {
   uint32_t part;   /* the array to blame, or n_arrays + i for step i of the walk, or
                       n_arrays + n_walk_steps + i for cache i, or UINT32_MAX for the machine
                       as a whole */
   const char *key; /* the line of its machine file that says it, or NULL: the part */
   tlb_reason why;
} tlb_machine_fault;

enum { TLB_MAX_FAULTS = TLB_MAX_ARRAYS + TLB_MAX_WALK_LEVELS + TLB_MAX_TABLE_CACHES + 6 };

/* All that tlb_machine_check() refuses, at most one for each part; `out` has room for
   TLB_MAX_FAULTS. Parts as bits of `skip` are not looked at. Where an array is wrong, or
   a part left out, nothing is said of what parts are to each other. Returns how many. */
unsigned tlb_machine_faults(const tlb_machine *m, uint32_t skip, tlb_machine_fault *out);

/* Puts into words what the flags of a machine say: one note for each kind of
   figure that is unknown, with what is assumed and in which arrays. Notes that
   are there already are not repeated. Without room for another note, the last
   one says so. */
void tlb_machine_note_unknowns(tlb_machine *m);

/* Whether tlb_machine_note_unknowns() writes such a note about what a walk costs: its cycles, its
   overlap, its caches and the memory. */
int tlb_machine_note_is_of_walk(const tlb_machine *m, const char *text);

/* Whether all arrays of the two agree in what is known of them, though what is assumed of them
   differs: a difference in what they count then comes from assumptions alone. */
int tlb_machines_may_be_equal(const tlb_machine *a, const tlb_machine *b);

/* Whether tlb_machine_note_unknowns() writes such a note for this machine: then
   it follows from the figures and need not be kept beside them. */
int tlb_machine_note_follows(const tlb_machine *m, const char *text);

/* Lets every page be translated in pieces of that size, as where a hypervisor has no larger pages:
   arrays that hold these hold nothing else, and others go. */
void tlb_machine_cut_to_pieces(tlb_machine *m, unsigned page_shift);

/* How many levels of arrays the machine has. */
unsigned tlb_machine_levels(const tlb_machine *m);

/* The number of the translation array, in m->array, that takes the entries of
   steps that are `in_last_level`: of the last level's arrays for loads the one
   that holds the smallest pages. -1: there is no such step. */
int tlb_walk_array(const tlb_machine *m);

/* Whether an array of the machine holds pages of that size: no, it is not known, yes. */
typedef enum { TLB_HOLDS_NO, TLB_HOLDS_UNKNOWN, TLB_HOLDS_YES } tlb_holding;
tlb_holding tlb_machine_holds_large(const tlb_machine *m, unsigned shift);

/* The largest pages that any array holds, as the logarithm of their size. */
unsigned tlb_machine_largest_page(const tlb_machine *m);

TLB_API_END

#endif
