/* Writes the reach file and its table. See output/reach_file.h. */

#include "pub_tool_basics.h"

#include "pub_tool_libcassert.h"
#include "pub_tool_libcprint.h"
#include "pub_tool_libcproc.h"
#include "pub_tool_mallocfree.h"
#include "pub_tool_options.h"

#include "config.h"

#include "base/file.h"
#include "base/number_format.h"
#include "sim/mmu/run_reach.h"
#include "trace/run_mmus.h"
#include "output/reach_file.h"
#include "base/shown.h"

/* A curve: the misses of a side (tlb_side) by number of entries, for one page size. */
typedef struct {
   UInt side;
   tlb_reach_size size;
   UInt shift; /* of the page size; the first curve is for the base page */
   ULong cold;
   uint64_t* misses; /* TLB_REACH_SIZES */
} Curve;

enum { MAX_CURVES = TLB_N_TABLES * TLB_REACH_CURVES };

static const HChar* const side_names[TLB_N_TABLES] = { [TLB_CODE] = "instruction",
                                                       [TLB_DATA] = "data" };

/* In the order of output. */
static const tlb_side sides[TLB_N_TABLES] = { TLB_CODE, TLB_DATA };

/* Makes all curves and returns their number. There is none for pages smaller than the base page: it
   would equal the base page's. */
static UInt make_curves(const TgResults* results, Curve curve[MAX_CURVES])
{
   UInt n = 0;
   for (UInt i = 0; i < TLB_N_TABLES; i++) {
      for (UInt size = 0; size < TLB_REACH_CURVES; size++) {
         const UInt side = sides[i];
         const tlb_reach* r = tlb_run_reach_of(&tg_mmus, side);
         Curve* c = &curve[n];
         /* Valgrind ends the run when memory runs out. */
         tl_assert(!tlb_reach_failed(r));
         if (size > 0 && tlb_reach_shift(size) <= results->options->page_shift)
            continue;
         *c = (Curve){ .side = side, .size = size,
                       .shift = size == 0 ? results->options->page_shift
                                          : tlb_reach_shift(size),
                       .cold = tlb_reach_cold(r, size) };
         c->misses = VG_(malloc)("tg.reach.out",
                                 TLB_REACH_SIZES * sizeof *c->misses);
         tlb_reach_misses(r, size, c->misses);
         n++;
      }
   }
   return n;
}

static void free_curves(Curve* curve, UInt n)
{
   for (UInt i = 0; i < n; i++)
      VG_(free)(curve[i].misses);
}

static ULong references(const TgResults* results, UInt side)
{
   const ULong* total = results->result[0].total;
   return side == TLB_CODE ? total[tg_cost(TLB_FETCH, TG_REFS)]
                                : total[tg_cost(TLB_LOAD, TG_REFS)]
                                  + total[tg_cost(TLB_STORE, TG_REFS)];
}

/* --- The file --- */

static void print_head(TgFile* f, const TgResults* results, const Curve* curve, UInt n)
{
   tg_file_print(f, "# tlbgrind reach\n# version: 1\n"
                    "# creator: tlbgrind-" TG_VERSION
                    " (Valgrind " VERSION ")\n# pid: %d\n# cmd: ", VG_(getpid)());
   tg_file_command(f);
   tg_file_print(f, "\n");
   if (results->forked_from != 0)
      tg_file_print(f, "# forked: counts since the fork from pid %d\n",
                    results->forked_from);
   for (UInt i = 0; i < TLB_N_TABLES; i++)
      tg_file_print(f, "# %s references: %llu\n", side_names[sides[i]],
                    references(results, sides[i]));
   for (UInt i = 0; i < n; i++)
      tg_file_print(f, "# %s pages of %s: %llu\n", side_names[curve[i].side],
                    tg_page_size(curve[i].shift).text, curve[i].cold);
   tg_file_print(f, "entries");
   for (UInt i = 0; i < n; i++)
      tg_file_print(f, "\t%c-%s", curve[i].side == TLB_CODE ? 'I' : 'D',
                    tg_page_size(curve[i].shift).text);
   tg_file_print(f, "\n");
}

Bool tg_reach_file_write(const TgResults* results, const HChar* name)
{
   Curve curve[MAX_CURVES];
   const HChar* failure;
   TgFile* f = tg_file_open(name, &failure);
   if (f != NULL) {
      const UInt n = make_curves(results, curve);
      print_head(f, results, curve, n);
      for (UInt i = 0; i < TLB_REACH_SIZES; i++) {
         tg_file_print(f, "%u", i + TLB_REACH_SMALLEST);
         for (UInt j = 0; j < n; j++)
            tg_file_print(f, "\t%llu", (ULong)curve[j].misses[i]);
         tg_file_print(f, "\n");
      }
      free_curves(curve, n);
      failure = tg_file_close(f);
   }
   if (failure != NULL) {
      tg_shown_unwritten("reach file", name, failure, "the curve for all sizes");
   }
   return failure == NULL;
}

/* --- The table --- */

/* Prints misses and percentages, a column for each curve of the side. */
static void print_row(const HChar* label, const Curve* curve, UInt n, UInt side,
                      ULong refs, UInt entries)
{
   HChar line[160];
   Int at = 0;
   for (UInt i = 0; i < n; i++) {
      if (curve[i].side != side)
         continue;
      const ULong misses
         = entries == 0 ? curve[i].cold
                        : curve[i].misses[entries - TLB_REACH_SMALLEST];
      at += (Int)VG_(snprintf)(line + at, (Int)sizeof line - at, "  %s %8s",
                               tg_number(15, misses).text,
                               tg_ratio(misses, refs, 100, 3, "%").text);
   }
   VG_(umsg)("%10s%s\n", label, line);
}

static void print_side(const TgResults* results, const Curve* curve, UInt n, UInt side)
{
   const ULong refs = references(results, side);
   HChar line[160];
   Int at = 0;
   VG_(umsg)("Reach, %s side: misses, and per cent of %s references\n",
             side_names[side], tg_number(0, refs).text);
   for (UInt i = 0; i < n; i++) {
      if (curve[i].side == side)
         at += (Int)VG_(snprintf)(line + at, (Int)sizeof line - at,
                                  "  %18s pages",
                                  tg_page_size(curve[i].shift).text);
   }
   VG_(umsg)("%10s%s\n", "entries", line);
   for (UInt e = TLB_REACH_SMALLEST; e <= TLB_REACH_LARGEST; e *= 2)
      print_row(tg_number(0, e).text, curve, n, side, refs, e);
   print_row("no limit", curve, n, side, refs, 0);
   VG_(umsg)("\n");
}

void tg_reach_file_summary(const TgResults* results, const HChar* file)
{
   Curve curve[MAX_CURVES];
   VG_(umsg)("\n");
   const UInt n = make_curves(results, curve);
   for (UInt i = 0; i < TLB_N_TABLES; i++)
      print_side(results, curve, n, sides[i]);
   free_curves(curve, n);
   if (file != NULL && VG_(clo_verbosity) > 0)
      VG_(umsg)("Every size from %d to %d:  %s\n", TLB_REACH_SMALLEST,
                TLB_REACH_LARGEST, file);
}
