/* Blocks: what each translated superblock refers to.

   A superblock is cut into segments: stretches that are run from end to end or
   not at all, but for a signal in the middle. So one counter per segment counts
   all of its instructions and references; they are multiplied out when the
   block is discarded or the run ends ("settled").

   A segment also lists its references in the order in which the program makes
   them, so that they can be looked up together at its end: see engine/check.h. */

#ifndef TG_SUPERBLOCKS_H
#define TG_SUPERBLOCKS_H

#include "pub_tool_basics.h"

#include "trace/run_mmus.h"
#include "attribution/sites.h"

/* One reference. The address of a data reference is the value of one of the
   segment's bases plus `offset`, modulo the address space. Its instruction
   begins in the same block, which therefore keeps the site alive. */
typedef struct {
   TgSite* site;
   union {
      tlb_page* page; /* of a fetch */
      UWord offset;
   } at;
   uint64_t* misses; /* where its misses are counted, see attribution/sites.h; NULL: it has
                     not missed yet */
   UShort size; /* bytes; of a fetch 1 if it is the second page of an
                   instruction that crosses a page, else 0 */
   UChar base;  /* number of the base, see trace/shadow_area.h */
   UChar kind;  /* tlb_user; a modify is counted as a read */
   Bool modifies;
   Bool locked; /* a read that is one touch with the write behind it: the page
                   is never only read */
   UShort line; /* its line's number in the recording (engine/recording.h), or 0 */
} TgRef;

/* Where its misses are counted, also if this is the first. */
static inline uint64_t* tg_ref_misses(TgRef* r)
{
   if (r->misses == NULL)
      r->misses = tg_line_misses(tg_site_line(r->site), r->kind);
   return r->misses;
}

/* A data reference once more, for --data=yes and --mappings: how it was attributed last time
   (data/references.h). */
typedef struct {
   UWord offset;     /* as in TgRef */
   ULong* count;     /* of references of its kind, in a part of its line */
   UInt value;       /* of the word that it referred to; TG_NO_VALUE: look it up */
   UInt row_block;   /* of the mapping; likewise */
   UShort nth;       /* its number among the segment's references */
   UShort size;
   UChar base;
} TgDataRef;

#define TG_NO_VALUE (~0u)

/* The data references of a segment off one base that lie close together: they
   are looked up by their first byte, base+first, and the `span` bytes up to
   their last. A segment's groups are ordered by their newest reference. */
typedef struct {
   UWord first;
   UShort span;
   UShort oldest; /* number of the first of its references in the segment */
   UShort newest; /* and of the last */
   UChar base;
   UChar probe_at; /* tlb_probe_at(): that of writes if one is among them */
} TgGroup;

static inline Bool tg_group_writes(const TgGroup* g)
{
   return g->probe_at != 0;
}

/* What the look-up of a group says, which begins on the page; `writes`: writes are
   told apart. */
static inline tlb_page* tg_group_probe(const TgGroup* g, const tlb_page* page,
                                     Bool writes)
{
   return tlb_probe(page, writes ? g->probe_at : 0);
}

/* A segment has no more groups than this. */
enum { TG_MAX_GROUPS = 24 };

/* Steps of the clock. A reference that straddles two pages refers to them at
   different times, for equal ones would leave open which of the pages was
   referenced last; and what its page walk leaves in the last level has the
   time before each. So a reference takes four steps. An instruction takes so
   many that a segment's references have room in the time that its instructions
   take; so the clock counts instructions, too. A segment in which none begins
   takes as long as one. */
enum { TG_HALF_TICKS = 2, TG_TICKS = 4, TG_INSTR_SHIFT = 10,
       TG_INSTR_TICKS = 1 << TG_INSTR_SHIFT };

/* How many references a segment can have in which so many instructions begin. */
static inline UInt tg_max_refs(UInt n_instrs)
{
   const UInt room = n_instrs == 0 ? 1 : n_instrs;
   return room * (TG_INSTR_TICKS / TG_TICKS) - 1;
}

/* What the check reads comes first; a program can have hundreds of thousands of
   these, so what can be found without is not kept. */
typedef struct {
   ULong entered;       /* how often it was run to its end */
   union {
      tlb_page* fetch;    /* the page of its first fetch; if it has none, one that
                           is always known */
      ULong attempted;  /* guarded: how often it was up to the guard */
   };
   UInt number;         /* of the segment in the table, from 1 */
   UInt ticks;          /* what the clock goes on by: TG_INSTR_TICKS for each
                           instruction that begins in it */
   UShort n_groups;
   UShort n_refs;
   UShort n_fetches;    /* how many of the references are fetches */
   UChar guarded : 1;   /* one reference that happens or not, in no group */
   UChar helper : 1;    /* guarded, and made by a helper function */
   UChar missed : 1;    /* listed, see trace/missed_segments.h */
   UChar copy;          /* of the program, which executes it: engine/copy_turns.h; 0: itself */
   TgGroup group[];
} TgSegment;

static inline UInt tg_n_instrs(const TgSegment* s)
{
   return s->ticks >> TG_INSTR_SHIFT;
}

/* Behind the groups stand, of a finished segment, the pages of its other
   fetches, its references, and the instructions that begin in it. */
static inline UInt tg_more_fetches(const TgSegment* s)
{
   return s->n_fetches > 1 ? s->n_fetches - 1u : 0;
}

static inline tlb_page** tg_segment_fetches(const TgSegment* s)
{
   return (tlb_page**)(Addr)(s->group + s->n_groups);
}

static inline TgRef* tg_segment_refs(const TgSegment* s)
{
   return (TgRef*)(void*)(tg_segment_fetches(s) + tg_more_fetches(s));
}

static inline TgSite** tg_segment_instrs(const TgSegment* s)
{
   return (TgSite**)(void*)(tg_segment_refs(s) + s->n_refs);
}

/* And behind these, if data is attributed, its data references again. */
static inline TgDataRef* tg_segment_data(const TgSegment* s)
{
   return (TgDataRef*)(void*)(tg_segment_instrs(s) + tg_n_instrs(s));
}

typedef struct _TgBlock {
   struct _TgBlock* next; /* first two: as VG_(HashTable) wants them */
   UWord base;    /* the block's first guest address */
   Addr entry;    /* the address it was asked for; differs if redirected */
   UInt n_segments;
   TgSegment* segment[];
} TgSuperblock;

void tg_superblocks_init(void);

/* From now on blocks have TgDataRefs, and data references are counted there, not with the
   segments' counters. */
void tg_superblocks_attribute_data(void);

/* Building a block: begin it, then for each segment begin it and add to it. At
   the end tg_superblock_finish() lays all of it out for good and returns it. */
void tg_superblock_begin(void);

/* Returns the segment's number. */
UInt tg_segment_begin(void);
/* The segment that is being built, until the next is begun; its arrays are not
   there yet. */
TgSegment* tg_segment_at_hand(void);
void tg_segment_add_instr(TgSite* site);
/* Returns the number of the reference within the segment. */
UShort tg_segment_add_ref(TgRef ref);
void tg_segment_add_group(TgGroup group);
/* Of the segment that is being built: its newest reference, or NULL, and its
   groups. */
TgRef* tg_segment_last_ref(void);
TgGroup* tg_segment_group(UInt number);

TgSuperblock* tg_superblock_finish(Addr base, Addr entry);

/* The segments by their numbers; NULL where one is gone. */
extern TgSegment** tg_segments;

/* `gone` is called with the number of each segment that is freed, before the number is used
   again. */
void tg_superblocks_listen(void (*gone)(UInt number));

/* Books the block of that base and entry and forgets it. */
void tg_superblock_discard(Addr base, Addr entry);

/* A debugger can have the very block discarded that a thread is in the middle
   of, which then still calls the check. So discarded blocks are kept until the
   thread has left its block: call this then. */
void tg_superblocks_bury(void);

/* Whether references of the kind are counted with the segments. */
Bool tg_superblocks_count(tlb_user kind);

/* Books what the counters of all blocks hold, and sets them to zero. */
void tg_superblocks_settle(void);

/* Where data is attributed: calls `each` for the data references of the segment that has the number
   now, if there is one; and for those of blocks that have been discarded. */
void tg_segment_each_data(UInt number, void (*each)(TgDataRef* d));
void tg_superblocks_each_dead_data(void (*each)(TgDataRef* d));

/* How often an instruction crossed the end of a page, and how often a guarded
   helper did not make the access that it was guarded for; settled so far. */
typedef struct {
   ULong fetch_straddles;
   ULong unperformed[TLB_N_USERS];
} TgSuperblockTotals;

TgSuperblockTotals* tg_superblock_totals(void);

#endif
