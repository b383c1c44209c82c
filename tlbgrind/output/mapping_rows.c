/* Prints mappings with their costs. See output/mapping_rows.h. */

#include "pub_tool_basics.h"

#include "pub_tool_libcbase.h"
#include "pub_tool_libcprint.h"
#include "pub_tool_mallocfree.h"

#include "attribution/lines.h"
#include "data/row_blocks.h"
#include "options/mapping_pages.h"
#include "output/mapping_rows.h"
#include "space/aspace.h"

/* The parts of a row: before its first whole large page, in whole ones, and behind the last. A row
   without room for a large page is all BEGIN. */
enum { BEGIN, INSIDE, END, N_PARTS };
static const HChar* const part_names[N_PARTS] = { "begin", "inside", "end" };

static const HChar* const kind_names[TLB_N_KINDS + 1] = {
   [TLB_ANON] = "anon", [TLB_HEAP] = "heap", [TLB_STACK] = "stack",
   [TLB_THREAD_STACK] = "thread-stack", [TLB_BSS] = "bss", [TLB_IMAGE] = "image",
   [TLB_FILE] = "file", [TLB_SHM] = "sysv", [TLB_N_KINDS] = "unknown",
};

typedef ULong Costs[TG_N_COSTS];

/* Where a row's memory lies for a machine. Where a rule gives the heap or the stack pages of a
   fixed size, they are whole beyond the end of what is mapped (sim/pages/pagemap.h). */
typedef struct {
   ULong start, end;   /* of the pages */
   ULong first, behind; /* whole large pages are in [first, behind) */
   UInt shift;         /* of the pages that rules give it, from `from` on */
   ULong from;
} Division;

typedef struct {
   UInt number;
   const TgRow* row;
   Division at;
   Costs cost[N_PARTS];
} Printed;

static ULong down(ULong a, UInt shift)
{
   return a >> shift << shift;
}

static ULong up(ULong a, UInt shift)
{
   return down(a + (1ULL << shift) - 1, shift);
}

/* The shift of the pages that the machine's rules have for the row. */
static tlb_page_wish wish_for(const TgMachine* m, const tlb_mapping* is)
{
   tlb_mapping asked = *is;
   tlb_large* large = &tg_aspace_map()->large;
   const tlb_mapping* numbered = large->is_used ? tlb_mappings_find(&large->ranges, is->start)
                                                : NULL;
   if (numbered != NULL)
      asked.number = numbered->number;
   return tlb_page_wish_for(&m->pages, &asked, m->m.base_page_shift);
}

static Division division_of(const TgMachine* m, const tlb_mapping* is, UInt large)
{
   const UInt base = m->m.base_page_shift;
   const tlb_page_wish wish = wish_for(m, is);
   Division d = { .start = down(is->start, base), .end = up(is->end, base),
                  .shift = wish.shift > base ? wish.shift : base };
   const tlb_mappings* all = &tg_aspace_map()->mappings;
   if (wish.how == TLB_FIXED && is->kind == TLB_HEAP
       && !tlb_mappings_overlap(all, is->end, up(is->end, d.shift)))
      d.end = up(is->end, d.shift);
   if (wish.how == TLB_FIXED && is->kind == TLB_STACK
       && !tlb_mappings_overlap(all, down(is->start, d.shift), is->start))
      d.start = down(is->start, d.shift);
   d.from = d.start;
   while (d.from < d.end && tlb_page_is_first_code(&m->pages, &wish, is, d.from))
      d.from += 1ULL << d.shift;
   d.first = up(d.start, large);
   d.behind = down(d.end, large);
   if (d.first >= d.behind)
      d.first = d.behind = d.end;
   return d;
}

static UInt part_at(const Division* d, Addr block)
{
   return block < d->first || d->end == 0 ? BEGIN : block < d->behind ? INSIDE : END;
}

/* "4096x3,2097152x7": how many pages of each size it has. */
static void print_pages(TgFile* f, const TgMachine* m, const Division* d)
{
   const UInt base = m->m.base_page_shift;
   const ULong first = up(d->from, d->shift), behind = down(d->end, d->shift);
   const ULong in_large = d->shift > base && first < behind ? behind - first : 0;
   const ULong small = (d->end - d->start - in_large) >> base;
   const HChar* between = "";
   if (small > 0 || in_large == 0) {
      tg_file_print(f, "%llux%llu", 1ULL << base, small);
      between = ",";
   }
   if (in_large > 0)
      tg_file_print(f, "%s%llux%llu", between, 1ULL << d->shift, in_large >> d->shift);
}

static Bool any(const ULong* cost, const TgEvent** events, UInt n_events)
{
   for (UInt i = 0; i < n_events; i++) {
      if (cost[events[i]->cost] != 0)
         return True;
   }
   return False;
}

static void print_row(TgFile* f, const Printed* p, const TgMachine* m, const TgEvent** events,
                      UInt n_events)
{
   const tlb_mapping* is = &p->row->is;
   tg_file_print(f, "desc: Mapping: %#llx %#llx %c%c%c%c %#llx %#llx ", (ULong)is->start,
                 (ULong)is->end, (is->prot & TLB_MAY_READ) != 0 ? 'r' : '-',
                 (is->prot & TLB_MAY_WRITE) != 0 ? 'w' : '-',
                 (is->prot & TLB_MAY_EXECUTE) != 0 ? 'x' : '-',
                 (is->flags & TLB_MAP_SHARED) != 0 ? 's' : 'p', p->at.first, p->at.behind);
   print_pages(f, m, &p->at);
   tg_file_print(f, " %s",
                 (is->flags & TLB_MAP_FOREIGN) != 0 ? "foreign" : kind_names[is->kind]);
   if (is->name != NULL) {
      tg_file_print(f, " ");
      tg_file_text(f, is->name);
   }
   tg_file_print(f, "\n");
   for (UInt part = 0; part < N_PARTS; part++) {
      if (!any(p->cost[part], events, n_events))
         continue;
      tg_file_print(f, "desc: Mapping %s:", part_names[part]);
      for (UInt i = 0; i < n_events; i++)
         tg_file_print(f, " %llu", p->cost[part][events[i]->cost]);
      tg_file_print(f, "\n");
   }
}

static Int by_address(const void* x, const void* y)
{
   const Printed* a = x;
   const Printed* b = y;
   Int order = (a->row->is.start > b->row->is.start) - (a->row->is.start < b->row->is.start);
   if (order == 0) order = (a->row->is.end > b->row->is.end) - (a->row->is.end < b->row->is.end);
   if (order == 0) order = (a->number > b->number) - (a->number < b->number);
   return order;
}

static void add_lines(Printed* printed, XArray* lines, UInt machine)
{
   for (Word i = 0; i < VG_(sizeXA)(lines); i++) {
      const TgLine* l = *(TgLine**)VG_(indexXA)(lines, i);
      ULong cost[TG_N_COSTS];
      Addr block = 0;
      const UInt row = l->row_block == 0 ? 0 : tg_row_of_block(l->row_block, &block);
      ULong* sum = printed[row].cost[part_at(&printed[row].at, block)];
      tg_lines_costs(l, machine, cost);
      for (UInt j = 0; j < TG_N_COSTS; j++)
         sum[j] += cost[j];
   }
}

void tg_mapping_rows_print(TgFile* f, const TgResults* results, const TgResult* result,
                           XArray* lines, const TgEvent** events, UInt n_events)
{
   const TgMachine* m = result->machine;
   const UInt large = tg_large_pages_shift(results->options,
                                           (UInt)(m - results->options->machine));
   XArray* rows = tg_rows();
   const UInt n = (UInt)VG_(sizeXA)(rows);
   Printed* printed = VG_(calloc)("tg.mappings", n, sizeof *printed);
   for (UInt i = 0; i < n; i++) {
      const TgRow* row = VG_(indexXA)(rows, (Word)i);
      printed[i].number = i;
      printed[i].row = row;
      printed[i].at = division_of(m, &row->is, large);
   }
   add_lines(printed, lines, result->number);
   VG_(ssort)(printed, n, sizeof *printed, by_address);
   tg_file_print(f, "desc: Large pages: %llu\n", 1ULL << large);
   for (UInt i = 0; i < n; i++) {
      const Bool is_shown = printed[i].row->is_present
                            && (printed[i].row->is.flags & TLB_MAP_FOREIGN) == 0;
      if (is_shown || any(printed[i].cost[BEGIN], events, n_events)
          || any(printed[i].cost[INSIDE], events, n_events)
          || any(printed[i].cost[END], events, n_events))
         print_row(f, &printed[i], m, events, n_events);
   }
   VG_(free)(printed);
}
