/* Facts: what the detection reads out of curves of latency, and the functions that do it.

   All of them are pure: no I/O, no clock. A fact that the curves do not show is `not told`, with
   the reason; never a guess that looks like a figure. */

#ifndef TG_MEASURE_FACTS_H
#define TG_MEASURE_FACTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "measure/curve.h"
#include "sim/machine/machine.h"

typedef enum { TG_NOT_TOLD, TG_LIKELY, TG_SURE } TgSure;

enum {
   TG_WHY_SIZE = 160,
   TG_SIDE_LEVELS = 3,    /* TLB levels of one kind of reference */
   TG_MAX_SIDES = 6,      /* kinds of reference by page sizes */
   TG_MAX_CACHES = 4,
   TG_MAX_LARGE = 3,      /* sizes of large pages */
   TG_MAX_TABLE_COSTS = 16,
   TG_MAX_FITS = 16,
   TG_MAX_DIFFERENCES = 64,
   TG_MEASURED_TEXT = 1 << 15 /* no machine file of facts is longer */
};

/* A number, how sure it is, and what it was read from, or why it is not told. */
typedef struct {
   double value;
   TgSure sure;
   char why[TG_WHY_SIZE]; /* "a step from 3.1 to 7.9 cycles between 70 and 74 pages, 15 rounds" */
} TgFigure;

/* What happens when one page more than the entries is used in turn. */
typedef enum {
   TG_BEHIND_NOT_TOLD,
   TG_BEHIND_LRU_LIKE, /* a cliff: all pages of a full set miss (LRU, FIFO) */
   TG_BEHIND_SLOPE     /* some stay: PLRU, random */
} TgBehind;

typedef enum { TG_INDEX_NOT_TOLD, TG_INDEX_MODULO, TG_INDEX_XOR } TgIndex;

typedef struct {
   TgFigure entries;     /* of pages of that size */
   uint64_t fits, misses; /* so many pages still fit, so many no longer do: the knee between */
   double full;          /* pages from which on the step has its whole height */
   double before, after; /* cycles of a reference on either side of the step, caches taken off */
   TgFigure miss_cycles; /* what a miss of this level costs more: a hit of the next, or a walk */
   TgFigure ways;        /* value == entries.value: fully associative */
   TgFigure sets;
   TgIndex index;
   unsigned index_xor;   /* of TG_INDEX_XOR: as in tlb_geometry */
   TgBehind behind;
   char behind_why[TG_WHY_SIZE];
   TgFigure overlap;     /* of hits of this level, behind the first; at least 1.0 */
} TgLevel;

/* One kind of reference to pages of one size. */
typedef struct {
   TgAsk ask;
   unsigned page_shift;
   bool last_walks;      /* the last level's step leads to page walks; else no walk was seen */
   unsigned n_levels;
   TgLevel level[TG_SIDE_LEVELS];
   TgSure sure;
   char why[TG_WHY_SIZE]; /* n_levels == 0: why nothing is told */
} TgSide;

/* A data cache that the system describes. */
typedef struct {
   uint64_t bytes;
   unsigned ways; /* 0: unknown */
   unsigned line; /* 0: unknown */
} TgGivenCache;

/* A data cache: as the system describes it, else as the CONTROL curve shows it. */
typedef struct {
   TgFigure bytes;
   double about;    /* bytes again, also if they are not told: where the curve rises */
   unsigned ways;   /* 0: unknown */
   TgFigure found;  /* cycles of a reference that is found in it */
   TgFigure beyond; /* and behind it */
} TgCacheFacts;

/* Whether the processor translates large pages as a whole. */
typedef enum { TG_WHOLE_NOT_TOLD, TG_WHOLE, TG_IN_PIECES } TgWhole;

typedef struct {
   unsigned page_shift;
   TgWhole whole;
   char why[TG_WHY_SIZE];
   TgFigure walk_cycles; /* in pieces: of a walk for one */
} TgLargeFacts;

/* What a walk costs while so much of the last tables is in use. */
typedef struct {
   uint64_t table_bytes;
   double cycles;        /* of the walk, beyond a hit of the last level */
} TgTableCost;

typedef struct {
   unsigned page_shift;
   TgFigure near_cycles; /* of a walk whose entries are all in the nearest cache */
   double near_bytes;    /* of last-level tables that were in use then; 0: few */
   TgFigure overlap;     /* alone divided by the best of several independent ones; 1.0 .. 64.0 */
   unsigned n_costs;
   TgTableCost cost[TG_MAX_TABLE_COSTS];
   unsigned n_behind;    /* by the caches of TgFacts, the first has 0; then memory */
   TgFigure behind[TG_MAX_CACHES + 1]; /* what a reference that is found there costs more */
   double usual[TG_MAX_CACHES + 1];    /* the same in half of the rounds, where others use the
                                          cache, too; no less than that */
} TgWalkFacts;

/* Whether two kinds of reference use one array: of a level, for base pages. */
typedef enum { TG_SHARE_NOT_TOLD, TG_SHARE_NO, TG_SHARE_YES } TgShare;

typedef struct {
   TgAsk ask; /* beside loads: fetches or stores */
   unsigned level; /* from 0 */
   TgShare share;
   char why[TG_WHY_SIZE];
} TgShareFacts;

typedef struct {
   /* Given by the caller, for the machine file; "" or 0 if unknown. */
   char name[TLB_NAME_SIZE];
   char title[TLB_TITLE_SIZE];
   char isa[16];
   char when[TLB_NAME_SIZE]; /* "measured 2026-11-26 in a virtual machine": free text */
   unsigned year;
   unsigned base_page_shift; /* 0: that of the smallest pages that were measured */
   unsigned line_bytes;      /* of a cache line; 0: 64 */
   unsigned n_given;         /* data caches, nearest first; 0: to be read from the curve */
   TgGivenCache given[TG_MAX_CACHES];

   unsigned n_sides;
   TgSide side[TG_MAX_SIDES];
   unsigned n_shares;
   TgShareFacts share[2 * TG_SIDE_LEVELS];
   unsigned n_caches;
   TgCacheFacts cache[TG_MAX_CACHES];
   unsigned n_walks;
   TgWalkFacts walk[2];  /* of base pages, of 2M */
   unsigned n_large;
   TgLargeFacts large[TG_MAX_LARGE];
} TgFacts;

/* Reads all curves into facts; the fields that the caller gives stay as they are. */
void tg_facts_read(const TgCurve *curve, size_t n, TgFacts *out);

/* Whether some size of large pages is translated in pieces: so a hypervisor has it. */
int tg_in_pieces(const TgFacts *f);

/* The side for that kind of reference and pages, or NULL. */
const TgSide *tg_facts_side(const TgFacts *f, TgAsk ask, unsigned page_shift);

/* --- What it is made of --- */

/* levels.c: the levels, from a PAGES (or STRIDE) curve and the caches alone; `control` may be
   NULL. */
void tg_levels_read(const TgCurve *pages, const TgCurve *control, TgSide *out);

/* replacement.c: cliff or slope behind the last entry of a level; fills its `behind`. */
void tg_replacement_read(const TgCurve *pages, const TgCurve *control, TgLevel *level);

/* sets.c: ways, sets and index of the levels of a side, from those of n curves that are STRIDE
   curves of its kind, and from its PAGES curve, which may be NULL. */
void tg_sets_read(const TgCurve *stride, size_t n, const TgCurve *pages, const TgCurve *control,
                  TgSide *side);

/* conflicts.c: ways, sets and entries of the level behind the first from those of n curves that are
   CONFLICT curves of the side. They tell more than strides, which the first level hides. */
void tg_conflicts_read(const TgCurve *curve, size_t n, TgSide *side);

/* shares.c: whether the level is shared by loads and the other kind, from a MIXED curve in which
   half of the pages are `other`'s. */
void tg_share_read(const TgCurve *mixed, const TgCurve *control, const TgSide *loads,
                   const TgSide *other, unsigned level, TgShareFacts *out);

/* pieces.c: whether large pages are whole, from a PIECES curve, the PAGES curve of base pages, and
   what was read from that. */
void tg_pieces_read(const TgCurve *pieces, const TgCurve *pages, const TgCurve *control,
                    const TgSide *base, TgLargeFacts *out);

/* caches.c: the caches, from a CONTROL curve; their sizes are those `given`, if there are any. */
unsigned tg_caches_read(const TgCurve *control, unsigned line_bytes, const TgGivenCache *given,
                        unsigned n_given, TgCacheFacts out[TG_MAX_CACHES]);

/* walk_cost.c: what walks cost, from a TABLES curve whose references all find their data in the
   nearest cache. `tables` may be NULL. `is_guest`: a hypervisor has as many tables of its own. */
void tg_walk_read(const TgCurve *tables, unsigned line_bytes, const TgSide *side,
                  const TgCacheFacts *cache, unsigned n_caches, int is_guest, TgWalkFacts *out);

/* overlap.c: of what misses of the level (from 0) lead to, hits of the next or walks, from those of
   n curves that are OVERLAP curves of the side. */
void tg_overlap_read(const TgCurve *curve, size_t n, const TgSide *side, unsigned level,
                     TgFigure *out);

/* --- What it is good for --- */

typedef struct {
   const char *name;  /* of a shipped machine */
   double score;      /* 0 .. 1; equal scores are ties */
   unsigned compared; /* figures */
   unsigned agree;
} TgFit;

/* which.c: the shipped machines that fit best, best first. Returns how many. */
unsigned tg_which(const TgFacts *f, TgFit out[TG_MAX_FITS]);

/* The first of them, and all that fit as well; n == 0: none can be told. */
unsigned tg_which_ties(const TgFit *fit, unsigned n);

typedef enum { TG_AGREES, TG_DIFFERS, TG_NOT_SEEN } TgVerdict;

typedef struct {
   char what[TLB_NAME_SIZE];  /* "loads 4K, level 1: entries" */
   char measured[48];         /* "72", "not told" */
   char machine[48];          /* "72", "5..7", "unknown" */
   TgVerdict verdict;
   char why[TG_WHY_SIZE];
} TgDifference;

/* against.c: the facts beside a machine. Returns how many rows. */
unsigned tg_against(const TgFacts *f, const tlb_machine *m,
                    TgDifference out[TG_MAX_DIFFERENCES]);

/* to_machine.c: the facts as a machine file, each part with its figure in a `source` line, and a
   NUL. `known`: what is known of this processor otherwise, or NULL: it takes the place of levels
   that are not sure, and describes what time does not tell. Returns 1; 0 with the reason: too
   little is told for a machine. */
int tg_to_machine(const TgFacts *f, const tlb_machine *known, char *out, size_t size,
                  tlb_reason *why);

#endif
