/* The table of machines. See output/machine_table.h. */

#include "pub_tool_basics.h"

#include "pub_tool_libcbase.h"
#include "pub_tool_libcprint.h"
#include "pub_tool_mallocfree.h"

#include "sim/machine/cost.h"
#include "sim/tlb/walk.h"

#include "base/number_format.h"
#include "output/machine_table.h"
#include "output/miss_cost.h"
#include "trace/run_mmus.h"

typedef enum {
   NAME, BASE_PAGE, I1_MISSES, I_WALKS, D1_MISSES, D_WALKS, MISSES_PER_1000, WALKS_PER_1000,
   RATIO, WALK_REFS, CYCLES, SHARE,
   FLUSHES_OF_ALL, FLUSHES_OF_PAGES, FLUSHED_WITHIN, FLUSHED_OUTSIDE, FLUSHED_AGAIN,
   FLUSHES_REMOTE,
   PREFETCHES, P1_MISSES, P_WALKS, P_IN_VAIN, P_DROPPED, N_COLUMNS
} Column;

static const HChar* const heads[N_COLUMNS] = {
   "machine", "page", "I1 misses", "I walks", "D1 misses", "D walks", "L1 misses/1000",
   "walks/1000", "ratio", "walk refs", "miss cycles", "share of time",
   "of everything", "pages one by one", "lost within", "lost outside", "walked for again",
   "other cores asked",
   "prefetches", "L1 misses", "walks", "in vain", "dropped"
};

static TgNumber word(const HChar* text)
{
   TgNumber out;
   VG_(snprintf)(out.text, sizeof out.text, "%s", text);
   return out;
}

static ULong fetches(const TgResult* r, UInt what)
{
   return r->total[tg_cost(TLB_FETCH, what)];
}

static ULong data(const TgResult* r, UInt what)
{
   return r->total[tg_cost(TLB_LOAD, what)] + r->total[tg_cost(TLB_STORE, what)];
}

static ULong both(const TgResult* r, UInt what)
{
   return fetches(r, what) + data(r, what);
}

static TgNumber per_1000(const TgResult* r, UInt what)
{
   return tg_ratio(both(r, what), fetches(r, TG_REFS), 1000, 3, "");
}

/* Whether the row and the first differ by assumptions alone: what is documented of both
   machines is the same, and so are the page sizes. */
static Bool differs_by_assumption(const TgResults* results, UInt row)
{
   const TgResult* r = &results->result[row];
   const TgResult* first = &results->result[0];
   return both(r, TG_WALKS) != both(first, TG_WALKS)
          && tg_mmus.mmu[row].view == tg_mmus.mmu[0].view
          && r->machine->kernel.flush.how == first->machine->kernel.flush.how
          && r->machine->kernel.flush.n == first->machine->kernel.flush.n
          && r->machine->kernel.syscalls.how == first->machine->kernel.syscalls.how
          && r->machine->kernel.syscalls.pages == first->machine->kernel.syscalls.pages
          && tlb_machines_may_be_equal(&r->machine->m, &first->machine->m);
}

static TgNumber ratio(const TgResults* results, UInt row)
{
   const ULong first = both(&results->result[0], TG_WALKS);
   if (first == 0)
      return word("-");
   return tg_ratio(both(&results->result[row], TG_WALKS), first, 1, 3,
                   differs_by_assumption(results, row) ? "*" : "");
}

/* Weak prefetches have no walks, strong ones are not dropped. */
static Bool counts_prefetches(const TgResult* r, Column column)
{
   switch (r->machine->kernel.prefetch) {
   case TLB_PREFETCH_WEAK:   return column != P_WALKS && column != P_IN_VAIN;
   case TLB_PREFETCH_STRONG: return column != P_DROPPED;
   case TLB_PREFETCH_IGNORE: break;
   }
   return False;
}

/* What comes from figures that are assumed of the machine is marked, lest it is compared with the
   others as if it had been measured. */
static TgNumber cost_cell(const TgResult* r, Column column)
{
   const TgMissCost c = tg_miss_cost(r);
   if (!c.is_known)
      return word("unknown");
   const TgNumber text = column == CYCLES ? tg_number(0, c.most)
                                          : tg_miss_cost_share(&c, r->machine->cycles != 0);
   TgNumber marked;
   VG_(snprintf)(marked.text, sizeof marked.text, "%s%s", c.is_assumed ? "~" : "", text.text);
   return marked;
}

static TgNumber cell(const TgResults* results, UInt row, Column column)
{
   const TgResult* r = &results->result[row];
   const tlb_machine* m = &r->machine->m;
   switch (column) {
   case BASE_PAGE:       return tg_page_size(m->base_page_shift);
   case I1_MISSES:       return tg_number(0, fetches(r, TG_MISS_1));
   case I_WALKS:         return tg_number(0, fetches(r, TG_WALKS));
   case D1_MISSES:       return tg_number(0, data(r, TG_MISS_1));
   case D_WALKS:         return tg_number(0, data(r, TG_WALKS));
   case MISSES_PER_1000: return per_1000(r, TG_MISS_1);
   case WALKS_PER_1000:  return per_1000(r, TG_WALKS);
   case RATIO:           return ratio(results, row);
   case WALK_REFS:
      return tlb_walks_described(m) ? tg_number(0, r->total[TG_ALL_WALK_REFS]) : word("unknown");
   case CYCLES: case SHARE:
      return cost_cell(r, column);
   case FLUSHES_OF_ALL: case FLUSHES_OF_PAGES: case FLUSHED_WITHIN: case FLUSHED_OUTSIDE:
   case FLUSHED_AGAIN: case FLUSHES_REMOTE:
      if (r->machine->kernel.flush.how == TLB_FLUSH_NONE)
         return word("-");
      return tg_number(0, r->total[TG_FLUSHES + (column - FLUSHES_OF_ALL)]);
   case PREFETCHES: case P1_MISSES: case P_WALKS: case P_IN_VAIN: case P_DROPPED:
      if (!counts_prefetches(r, column))
         return word("-");
      return tg_number(0, r->total[TG_PREFETCHES + (column - PREFETCHES)]);
   case NAME: case N_COLUMNS:
      break;
   }
   return word("");
}

/* With --advice=, only machines whose counts are not those of another: output/advice_same.h. */
static Bool has_row(const TgResults* results, UInt row)
{
   return !results->result[row].is_same;
}

static UInt width_of(const TgResults* results, Column column)
{
   UInt width = (UInt)VG_(strlen)(heads[column]);
   for (UInt row = 0; row < results->options->n_machines; row++) {
      if (!has_row(results, row))
         continue;
      const UInt n = (UInt)(column == NAME ? VG_(strlen)(results->result[row].machine->name)
                                           : VG_(strlen)(cell(results, row, column).text));
      width = n > width ? n : width;
   }
   return width;
}

/* Whether a machine says what a miss costs; `measured`: without assuming it. */
static Bool any_has_cost(const TgResults* results, Bool measured)
{
   for (UInt i = 0; i < results->options->n_machines; i++) {
      const tlb_machine* m = &results->result[i].machine->m;
      if (tlb_cost_is_known(m) && !(measured && tlb_cost_is_assumed(m)))
         return True;
   }
   return False;
}

static Bool any_assumes_cost(const TgResults* results)
{
   for (UInt i = 0; i < results->options->n_machines; i++) {
      const tlb_machine* m = &results->result[i].machine->m;
      if (tlb_cost_is_known(m) && tlb_cost_is_assumed(m))
         return True;
   }
   return False;
}

/* Whether the cycles of the program are given for a machine, or for none. */
static Bool any_has_time(const TgResults* results, Bool given)
{
   for (UInt i = 0; i < results->options->n_machines; i++) {
      if ((results->result[i].machine->cycles != 0) == given)
         return True;
   }
   return False;
}

static Bool any_counts_prefetches(const TgResults* results, Column column)
{
   UInt row = 0;
   while (row < results->options->n_machines
          && !counts_prefetches(&results->result[row], column))
      row++;
   return row < results->options->n_machines;
}

static Bool any_asked_others(const TgResults* results)
{
   for (UInt i = 0; i < results->options->n_machines; i++) {
      if (results->result[i].total[TG_FLUSHES + TLB_FLUSHES_REMOTE] != 0)
         return True;
   }
   return False;
}

static Bool is_shown(const TgResults* results, Column column)
{
   const TgOptions* o = results->options;
   switch (column) {
   case WALK_REFS: return o->nested;
   case CYCLES:    return o->shows_cycles || any_has_cost(results, True);
   case SHARE:     return o->shows_cycles || any_has_cost(results, False);
   case P_WALKS: case P_IN_VAIN: case P_DROPPED:
      return any_counts_prefetches(results, column);
   case FLUSHES_REMOTE:
      return any_asked_others(results);
   default:        return True;
   }
}

static void print_time_notes(const TgResults* results)
{
   if (any_has_time(results, True))
      VG_(umsg)("share of time: of the cycles of --cycles, estimated\n");
   if (any_has_time(results, False))
      VG_(umsg)("share of time: estimated%s (assumed: %d to %d instructions a cycle)\n",
                any_has_time(results, True) ? " without them" : "", TLB_LEAST_PER_CYCLE,
                TLB_MOST_PER_CYCLE);
}

static void print_notes(const TgResults* results)
{
   const TgOptions* o = results->options;
   Bool is_marked = False;
   for (UInt row = 1; row < o->n_machines; row++)
      is_marked |= differs_by_assumption(results, row);
   VG_(umsg)("/1000: per 1000 instructions; ratio: walks, to those of the first row\n");
   if (is_marked)
      VG_(umsg)("*: nothing but assumptions tells the two machines apart (-v prints them)\n");
   if (is_shown(results, WALK_REFS))
      VG_(umsg)("walk refs: to page tables, guest's and host's\n");
   if (is_shown(results, CYCLES))
      VG_(umsg)("miss cycles: estimated\n");
   if (is_shown(results, SHARE))
      print_time_notes(results);
   if (any_assumes_cost(results))
      VG_(umsg)("~: what a miss costs is assumed (-v prints it)\n");
}

/* Prints the names of the machines and the columns from `first` to `last`. */
static void print_columns(const TgResults* results, Column first, Column last)
{
   const UInt n = results->options->n_machines;
   UInt width[N_COLUMNS];
   width[NAME] = width_of(results, NAME);
   for (Column c = first; c <= last; c++)
      width[c] = is_shown(results, c) ? width_of(results, c) : 0;
   for (UInt line = 0; line <= n; line++) {
      if (line > 0 && !has_row(results, line - 1))
         continue;
      VG_(umsg)("%-*s", (Int)width[NAME],
                line == 0 ? heads[NAME] : results->result[line - 1].machine->name);
      for (Column c = first; c <= last; c++) {
         if (width[c] != 0)
            VG_(umsg)("  %*s", (Int)width[c],
                      line == 0 ? heads[c] : cell(results, line - 1, c).text);
      }
      VG_(umsg)("\n");
   }
}

void tg_machine_table_print(const TgResults* results)
{
   print_columns(results, BASE_PAGE, SHARE);
   print_notes(results);
}

/* The words of /proc/vmstat are those of the first two columns. */
void tg_machine_table_print_flushes(const TgResults* results)
{
   VG_(umsg)("TLB flushes by munmap, mremap, mprotect, madvise, brk, fork and copies on write\n");
   print_columns(results, FLUSHES_OF_ALL, FLUSHES_REMOTE);
   VG_(umsg)("of everything, pages one by one: nr_tlb_local_flush_all and _one of /proc/vmstat\n");
   VG_(umsg)("lost: translations, within what was flushed and outside; the latter walked for "
             "again\n");
   if (any_asked_others(results))
      VG_(umsg)("other cores asked: nr_tlb_remote_flush; what they lost is in the columns "
                "before\n");
}

void tg_machine_table_print_prefetches(const TgResults* results)
{
   VG_(umsg)("Data prefetches\n");
   print_columns(results, PREFETCHES, P_DROPPED);
   if (is_shown(results, P_IN_VAIN))
      VG_(umsg)("in vain: walks that find no page\n");
   if (is_shown(results, P_DROPPED))
      VG_(umsg)("dropped: no TLB has the page\n");
}
