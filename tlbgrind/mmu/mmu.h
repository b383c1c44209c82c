/* MMUs: the machines of a run, each with its own view of the page sizes, and
   what a reference does to one of them. */

#ifndef TG_MMU_H
#define TG_MMU_H

#include "pub_tool_basics.h"

#include "sim/tlb/hierarchy.h"
#include "sim/tlb/lru_stack.h"
#include "sim/tlb/lazy_lru.h"

#include "attribution/events.h"
#include "mmu/known_hits.h"
#include "options/options.h"

typedef struct _TgMmu TgMmu;

/* What asks the first-level arrays of a machine: stores only where they ask others than
   loads do. The first two are as the tables are. */
typedef enum {
   TG_DATA_SIDE = TG_DATA,
   TG_CODE_SIDE = TG_CODE,
   TG_STORES_SIDE,
   TG_N_SIDES
} TgSide;

static inline TgTable tg_table_of(TgSide side)
{
   return side == TG_CODE_SIDE ? TG_CODE : TG_DATA;
}

/* What a first-level array's short cuts and releases need to know. */
typedef struct {
   TgMmu* mmu;
   tlb_array* array;
   Bool code, reads, writes; /* who uses it */
   SizeT time_at; /* where in a TgPage the times of its base pages stand */
} TgPort;

/* What stands right behind the first level, if its pages say that they are there:
   see mmu/l2_presence.h. */
typedef struct {
   tlb_lazy_lru* lazy_lru;
   const tlb_stop* stop; /* the arrays that it stands for */
   UInt level; /* from 0 */
} TgLazyLru;

/* What a base page that the first level has missed usually comes to behind it: the
   next level has it, or, if there is none, a walk. What machines miss together is
   counted once, as if it always came to that; the rest is booked beside it. */
typedef struct {
   Bool counted; /* its misses are counted so */
   Bool known;   /* it is known without asking: there is no other level */
   Bool alike;   /* walks all cost the same, but for the references that they take */
   Bool varies;  /* and these vary, for some are spared: they are booked beside it */
   tlb_outcome common;
   tlb_outcome walk; /* if alike: what comes beside it if no level has the page */
} TgCommonOutcome;

/* Machines that have missed their first levels. */
typedef struct {
   ULong counted; /* those of which a stream counts it, as TgCommonOutcome says */
   ULong lazy; /* those that have a lazy LRU array */
   ULong asked;   /* those that have to be asked */
} TgMissed;

/* Machines that miss together: one first level or, on an LRU stack, several. */
typedef struct {
   UShort n;     /* sizes */
   UShort first; /* of their times at a page, and of their counts in a line */
   UShort node; /* of a page's place on its LRU stack, among the times at the page */
   UChar large;  /* as in TgMmu */
   UChar table;  /* TgTable */
   UInt sets, set_mask; /* as in an array */
   tlb_lru_stack* lru_stack;  /* one for each set; or NULL */
   TgMissed by[TLB_LRU_STACK_MAX_SIZES]; /* if one size has missed, or two, ... */
} TgMissGroup;

struct _TgMmu {
   UInt number; /* from 0, in the order of the options */
   UInt counts; /* the number under which its misses are counted: its own, or
                   that of an equal machine before it */
   ULong bit;   /* its bit in `observers` */
   const TgMachine* machine;
   UInt view;       /* which rules say how large pages are */
   UInt base_shift; /* of its smallest pages */
   Bool asks;       /* what backs a page has to be asked; else it is a base page
                       of the machine, and never more than one to an entry */
   Bool base_pages; /* it need not be asked, and is a base page of the run */
   UInt large;      /* it need not be asked, and is 2^large base pages of the run, which
                       are known or not known together; 0: it is not like that */
   Bool tells_apart; /* loads and stores ask different arrays first */
   Bool asked_always; /* a page can be in two of its first-level arrays at once,
                         for which one record would not do: nothing is known */
   /* Machines that miss nothing there but what this one misses, by side, in a
      list: they are only asked then, see mmu/l1_sharing.h. */
   TgMmu* follower[TG_N_SIDES];
   Bool follows[TG_N_SIDES];
   UInt size[TG_N_SIDES];          /* of a follower, on its leader's LRU stack */
   tlb_lru_stack* lru_stack[TG_N_SIDES]; /* of a leader, one for each set; or NULL */
   const tlb_array* stacked[TG_N_SIDES]; /* of which sets */
   TgMissGroup miss_group[TG_N_SIDES];    /* of a leader: who misses what it misses */
   TgLazyLru* lazy_lru[TG_N_TABLES];     /* NULL: it has to be asked */
   TgLazyLru own_lazy_lru[TG_N_TABLES];
   TgCommonOutcome common[TG_N_TABLES];
   TgPort port[TLB_MAX_ARRAYS];
   tlb_hierarchy h;
};

extern TgMmu* tg_mmus;
extern UInt tg_n_mmus;

void tg_mmus_init(const TgOptions* options);

/* For which references to pages of that table the array's machine is asked, as its bit:
   those that are looked up as reads and fetches are, and, of data, those that are looked
   up as writes are. */
static inline ULong tg_loads_of(const TgPort* port, TgTable table)
{
   return (table == TG_CODE ? port->code : port->reads || !tg_run_traits.split)
             ? port->mmu->bit : 0;
}

static inline ULong tg_stores_of(const TgPort* port)
{
   return port->writes && tg_run_traits.split ? port->mmu->bit : 0;
}

/* On which side a kind of reference is. */
static inline TgSide tg_side_of(const TgMmu* mmu, TgKind kind)
{
   return kind == TG_FETCH                        ? TG_CODE_SIDE
          : kind == TG_WRITE && mmu->tells_apart ? TG_STORES_SIDE
                                                  : TG_DATA_SIDE;
}

/* Whether all pages are base pages of the machine, and have records of their own. */
static inline Bool tg_mmu_is_plain(const TgMmu* mmu)
{
   return mmu->base_pages || mmu->large > 0;
}

/* When one of the pages was referenced last that an array holds in the entry of that
   key; if the machine is plain. */
uint64_t tg_mmu_time(const tlb_array* a, tlb_key key);

/* One reference of one machine's first level: to page p, whose number is `number`.
   What it asked for goes to *out. Returns whether it missed. */
Bool tg_mmu_refer(TgMmu* mmu, TgPage* p, UWord number, TgKind kind, ULong now,
                   tlb_reference* out);

/* The page that a first level evicted last, if it was known there; of a large page the
   first. */
extern TgPage* tg_evicted;

#endif
