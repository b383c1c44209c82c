/* Curves of latency: what the probes measure and the detection reads. */

#ifndef TG_MEASURE_CURVE_H
#define TG_MEASURE_CURVE_H

#include <stddef.h>
#include <stdint.h>

/* Who asks for the translation. */
typedef enum { TG_ASK_LOAD, TG_ASK_STORE, TG_ASK_FETCH, TG_N_ASK } TgAsk;

/* What a curve shows. */
typedef enum {
   TG_CURVE_PAGES,   /* latency by the number of pages, one reference in each, stride one page */
   TG_CURVE_CONTROL, /* the same number of cache lines, packed densely in as few pages as can be:
                        the caches alone */
   TG_CURVE_STRIDE,  /* the same as PAGES with pages 2^stride_shift pages apart */
   TG_CURVE_MIXED,   /* loads of n/2 pages and fetches (or stores) of n/2 others in turn: do sides
                        share a level? */
   TG_CURVE_OVERLAP, /* `chains` independent chains over the pages in turn; cycles are per
                        reference */
   TG_CURVE_TABLES,  /* one reference in each of n pages so far apart (or so many) that
                        `table_bytes` of last-level page-table lines are in use */
   TG_CURVE_CONFLICT, /* pages 2^stride_shift pages apart, among `chains` others that fill the first
                        level and meet none of them behind it; the first point has one page more
                        than these */
   TG_CURVE_PIECES   /* one reference in each of n base pages' bytes, side by side in as few pages
                        of this size as can be: are these translated whole? */
} TgCurveKind;

typedef struct {
   uint64_t pages;     /* references go round so many pages */
   double cycles;      /* core cycles per reference, the least of all rounds */
   double spread;      /* between the least and the median of the rounds: how noisy it was */
   unsigned rounds;
} TgPoint;

typedef struct {
   TgCurveKind kind;
   TgAsk ask;
   unsigned page_shift;   /* 12: 4K */
   unsigned stride_shift; /* in pages, of STRIDE; else 0 */
   unsigned chains;       /* of OVERLAP and CONFLICT, else 1 */
   size_t n;
   TgPoint *point;        /* by pages, rising */
} TgCurve;

#endif
