/* The data of simulated MMUs: for sim/mmu itself, and for a tool that looks up pages by
   hand. Other programs use mmu.h alone.

   Part of the simulator: plain C11, no libc, no Valgrind. */

#ifndef TLB_MMU_DATA_H
#define TLB_MMU_DATA_H

#include "sim/mmu/mmu.h"
#include "sim/mmu/page_record.h"
#include "sim/tlb/hierarchy.h"
#include "sim/tlb/lazy_lru.h"
#include "sim/tlb/lru_stack.h"
#include "sim/tlb/reach.h"

typedef struct tlb_mmu tlb_mmu;

/* --- One MMU --- */

/* What a first-level array's short cuts and releases need: which references look it up, and
   from where it reads times. */
typedef struct {
   tlb_mmu *mmu;
   tlb_array *array;
   bool code, reads, writes; /* which references ask it first */
   size_t time_at; /* where in a tlb_page_record the times of its base pages stand */
} tlb_port;

/* What stands right behind the first level, if its pages say that they are there:
   see l2_presence.h. */
typedef struct {
   tlb_lazy_lru *lazy_lru;
   const tlb_stop *stop; /* the arrays that it stands for */
   unsigned level; /* from 0 */
} tlb_lazy_level;

/* What a base page that the first level has missed usually comes to behind it: the
   next level has it, or, if there is none, a walk. What machines miss together is
   counted once, as if it always came to that; the rest is booked beside it. */
typedef struct {
   bool counted; /* its misses are counted so */
   bool known;   /* it is known without asking: there is no other level */
   bool alike;   /* walks all cost the same, but for the references that they take */
   bool varies;  /* and these vary, for some are spared, or cost more: they are booked beside it */
   tlb_outcome common;
   tlb_outcome walk; /* if alike: what comes beside it if no level has the page */
} tlb_common_outcome;

/* Machines that have missed their first levels. */
typedef struct {
   uint64_t counted; /* those of which a miss group counts it, as tlb_common_outcome says */
   uint64_t lazy;    /* those that have a lazy LRU array */
   uint64_t asked;   /* those that have to be asked */
} tlb_missed;

/* Machines that miss together: one first level or, on an LRU stack, several. */
typedef struct {
   uint16_t n;     /* sizes */
   uint16_t first; /* of their times at a page, and of their counts in a line */
   uint16_t node;  /* of a page's place on its LRU stack, among the times at the page */
   uint8_t large;  /* as in tlb_mmu */
   uint8_t table;  /* tlb_side */
   uint32_t sets, set_mask, index_xor; /* as in an array */
   tlb_lru_stack *lru_stack; /* one for each set; or NULL */
   tlb_missed by[TLB_LRU_STACK_MAX_SIZES]; /* if one size has missed, or two, ... */
} tlb_miss_group;

/* The TLBs and the walker of one machine. */
struct tlb_mmu {
   tlb_mmus *all;
   unsigned number; /* from 0, in the order of the options */
   unsigned counts; /* the number under which its misses are counted: its own, or that
                       of an equal machine before it */
   uint64_t bit;    /* its bit in `observers` */
   const tlb_machine *machine;
   unsigned view;       /* which rules say how large pages are */
   unsigned base_shift; /* of its smallest pages */
   bool asks;       /* what backs a page has to be asked; else it is a base page
                       of the machine, and never more than one to an entry */
   bool base_pages; /* it need not be asked, and is a base page of the run */
   unsigned large;  /* it need not be asked, and is 2^large base pages of the run, which
                       are known or not known together; 0: it is not like that */
   bool tells_apart;  /* loads and stores ask different arrays first */
   bool asked_always; /* nothing is known: a page can be in two of its first-level arrays at
                         once, for which one record would not do, or a hit in one of these
                         changes more than a time */
   bool alone;        /* some level is inclusive or exclusive: what a first level evicts matters
                         behind it, or what is evicted there matters to it, so nothing is found
                         for other machines, too, nor later */
   /* Machines that miss nothing there but what this one misses, by side, in a
      list: they are looked up only then, see l1_sharing.h. */
   tlb_mmu *follower[TLB_N_SIDES];
   bool follows[TLB_N_SIDES];
   unsigned size[TLB_N_SIDES];            /* of a follower, on its leader's LRU stack */
   tlb_lru_stack *lru_stack[TLB_N_SIDES]; /* of a leader, one for each set; or NULL */
   const tlb_array *stacked[TLB_N_SIDES]; /* of which sets */
   tlb_miss_group miss_group[TLB_N_SIDES]; /* of a leader: the machines that miss what it
                                              misses */
   tlb_lazy_level *lazy_lru[TLB_N_TABLES]; /* NULL: it has to be asked */
   tlb_lazy_level own_lazy_lru[TLB_N_TABLES];
   tlb_common_outcome common[TLB_N_TABLES];
   tlb_port port[TLB_MAX_ARRAYS];
   tlb_flush_policy flush;
   void *memory; /* of the hierarchy */
   tlb_prefetch_policy prefetch;
   tlb_hierarchy h;
};

/* Whether all pages are base pages of the machine, and have records of their own. */
static inline bool tlb_mmu_is_plain(const tlb_mmu *mmu)
{
   return mmu->base_pages || mmu->large > 0;
}

/* On which side a kind of reference is. */
static inline tlb_side tlb_mmu_side(const tlb_mmu *mmu, tlb_user user)
{
   return user == TLB_FETCH                      ? TLB_CODE
          : user == TLB_STORE && mmu->tells_apart ? TLB_OWN_STORES
                                                  : TLB_DATA;
}

/* --- What they have in common --- */

typedef struct {
   unsigned page_shift;
   uint64_t observers[TLB_N_TABLES]; /* which consumers must see a new page */
   uint64_t write_observers;         /* the same for writes of data */
   uint64_t wide;  /* machines whose entries can cover more than a base page */
   uint64_t once;  /* machines that translate two of the run's pages in one of their own once, where
                      a second time could miss: what an inclusive level evicts can cover both */
   uint64_t apart; /* machines that have arrays of their own for loads and stores */
   bool split;  /* loads and stores have arrays of their own somewhere: a
                   write is looked up by `write` alone, with a time of its own.
                   If not, it is looked up as a read is, and `write` only says
                   that writes are known, too. */
   bool writes; /* writes are told apart at all */
   bool mixed;  /* times of fetches and of data are compared somewhere */
   bool own_times; /* the times of some references are compared with others than those of
                      pages: of references that missed elsewhere first */
   bool code_behind; /* code that was missed elsewhere comes to what data asks first */
} tlb_run_traits;

/* What of it is for a kind of reference. */
static inline uint64_t *tlb_first_observers(tlb_run_traits *k, tlb_user user)
{
   return user == TLB_FETCH   ? &k->observers[TLB_CODE]
          : user == TLB_STORE ? &k->write_observers
                              : &k->observers[TLB_DATA];
}

/* Records of pages that lie side by side, see known_hits.h. */
typedef struct tlb_record_chunk tlb_record_chunk;

struct tlb_record_chunk {
   tlb_record_chunk *next;  /* of the same bucket */
   tlb_page_number number;  /* of its first page, without the lower bits */
   tlb_page_record *record; /* of its first page */
   uint64_t listed;         /* a bit per page, see tlb_page_list() */
};

typedef struct {
   tlb_record_chunk **bucket;
   size_t n_buckets; /* a power of two */
   size_t n;
} tlb_record_table;

/* A base page of machines that have larger ones than the run, see large_pages.h; as code
   or as data: these are two, as its records are. */
typedef struct {
   uint64_t absent;        /* from the machines of these bits; and all other bits */
   uint64_t absent_writes; /* the same for writes, see tlb_run_traits */
   uint64_t told; /* the base pages whose records can say otherwise, a bit for each */
   uint32_t l2;   /* as in tlb_page_rest */
} tlb_large_page;

/* The first level of a machine as references of one kind see it, see l1_misses.c. What
   most need fills a line of the cache. */
typedef struct {
   tlb_key *key;
   uint64_t **short_cut;
   const tlb_miss_group *miss_group;
   /* The machine's bit, if references of that kind ask the array, else 0. If stores
      are not told apart, they ask what loads do. */
   uint64_t loads; /* or fetches */
   uint64_t stores;
   /* In which bits the tags of a page that is evicted change, if it was known: what is
      looked up for loads or fetches, and for stores. */
   uintptr_t tag, stores_tag;
   uint32_t set_mask;
   uint8_t how;     /* how the entry to evict is found */
   uint8_t time_at; /* where the time stands in a page's record */
   uint8_t other;   /* its other time, counted from there in times; 0: there is none */
   uint8_t how_if_full; /* what `how` becomes for good when the array is full */
   tlb_array *array; /* unless there are two of them */
} __attribute__((aligned(64))) tlb_l1_arrays;

/* The machines whose base pages are 2^large of the run's and whose first levels l1_misses.h
   simulates, by kind of reference: the times alone say which entry is evicted from what is
   asked first, and base pages are all there is. */
typedef struct {
   unsigned large;
   uint64_t mmus[TLB_N_USERS];
} tlb_l1_group;

/* Reach, as one machine more that sees the references; see run_reach.h. */
typedef struct {
   tlb_reach *of;
   tlb_mmus *all;
   tlb_side table;
} tlb_run_reach;

/* A view of the page map, for its calls. */
typedef struct {
   tlb_mmus *all;
   unsigned number;
} tlb_view_number;

typedef struct tlb_core tlb_core; /* cores.c */

/* --- Misses that are looked up later, see late_misses.h --- */

/* What is left to do. */
typedef enum {
   TLB_LATE_WALK,   /* the walk, for the next level is the last, and has been filled */
   TLB_LATE_BEHIND, /* what is behind the lazy LRU array, which has been filled */
   TLB_LATE_ASK     /* all that is behind the first level */
} tlb_late_way;

typedef struct {
   uint64_t *counts;
   uint64_t counted; /* as in tlb_missed */
   tlb_reference ref;
   tlb_late_way way;
} tlb_late_miss;

enum { TLB_LATE_MISSES = 2048 };

/* What a kind of reference is looked up in behind the first level, see one_machine.h. */
typedef struct {
   tlb_array *array; /* NULL: this is not for it */
   uint32_t hit_cycles;
} tlb_second;

struct tlb_mmus {
   tlb_run_traits traits;
   /* Where the records of data pages are looked for first, see known_hits.h. */
   tlb_page_record *near;
   tlb_page_number near_mask; /* how many there are, less 1 */
   unsigned space_shift; /* where in a page number that of its address space begins; with one
                            space above all that a page number has */
   unsigned n_mmus;
   unsigned n_views; /* their numbers are below it */
   tlb_mmu *mmu;
   tlb_page *evicted; /* the page that a first level evicted last, if it was known there;
                         of a large page the first */
   bool fast_path;
   bool flushes;    /* some machine has a policy for them */
   bool prefetches; /* some machine does not ignore them */
   bool apart;      /* either, or others use some machine: nothing is found for two, nothing
                       later */
   uint64_t *prefetched; /* costs of the prefetch at hand, as of a load; else all 0 */
   tlb_mmus_options options;

   struct {
      tlb_record_table table[TLB_N_TABLES];
      tlb_page_record *room; /* for chunks that are not near */
      tlb_page_number used;
      tlb_page *no_page;
   } records;

   struct {
      tlb_core *first;
      tlb_core *at_hand; /* NULL: there has been no other than number 0 */
   } cores;

   struct {
      tlb_large_page **chunk;
      unsigned n;
   } large;

   struct {
      tlb_l1_group group[TLB_RECORD_CHUNK_BITS + 1]; /* number 0: those with `large` 0 */
      unsigned n_groups;
      /* The machines whose arrays have `loads`, and `stores`. */
      uint64_t by_loads[TLB_N_USERS], by_stores[TLB_N_USERS];
      tlb_l1_arrays arrays[TLB_N_USERS][TLB_MAX_MMUS];
      tlb_l1_arrays side[TLB_N_USERS][TLB_MAX_MMUS][2]; /* where there are two */
   } l1;

   struct {
      unsigned n_miss_groups; /* how much room the counts of miss groups take in a line */
      /* By table, the machines behind whose lazy LRU array are walks alone, all alike; and
         those among them of which the references vary. */
      uint64_t last[TLB_N_TABLES], varies[TLB_N_TABLES];
      tlb_lazy_lru *lazy_lru_of[TLB_N_TABLES][TLB_MAX_MMUS]; /* NULL: it has none */
      uint8_t **chunk; /* of what is kept of pages */
      size_t bytes;    /* of one */
      unsigned n_pages;
   } l2;

   struct {
      uint64_t in_parts; /* machines that can miss more than once by the reference at hand */
      tlb_user user;     /* what it is counted as */
      uint64_t so_far[TLB_N_COSTS]; /* what it has missed, a bit for each machine */
      uint64_t (*extra)[TLB_N_USERS][TLB_N_COSTS]; /* see tlb_missed_extra() */
   } parts;

   tlb_second second[TLB_N_USERS];

   struct {
      uint64_t mmus; /* 0: nothing is looked up later */
      unsigned n;
      tlb_late_miss *miss; /* room for TLB_LATE_MISSES */
      uint64_t *mmus_of;   /* a bit for each machine that the miss is of */
      uint16_t *of_one;    /* the numbers of those of one machine */
   } late;

   tlb_run_reach reach[TLB_N_TABLES];

   /* For tlb_mmus_refer(). */
   uint64_t now;
   uint64_t n_referred;
   uint64_t *counts[TLB_N_USERS];

   void *taken;  /* memory, see mmu_memory.h */
   void *itself; /* the memory that it lies in; NULL: the caller's */
};

/* For which references to pages of that table the array's machine is asked, as its bit:
   those that are looked up as reads and fetches are, and, of data, those that are looked
   up as writes are. */
static inline uint64_t tlb_loads_of(const tlb_mmus *all, const tlb_port *port,
                                    tlb_side table)
{
   return (table == TLB_CODE ? port->code : port->reads || !all->traits.split)
             ? port->mmu->bit : 0;
}

static inline uint64_t tlb_stores_of(const tlb_mmus *all, const tlb_port *port)
{
   return port->writes && all->traits.split ? port->mmu->bit : 0;
}

#endif
