/* Keeps the call graph. See calls/arcs.h. */

#include "pub_tool_basics.h"

#include "pub_tool_debuginfo.h"
#include "pub_tool_hashtable.h"
#include "pub_tool_libcbase.h"
#include "pub_tool_mallocfree.h"

#include "arch/arch.h"
#include "calls/arcs.h"

static VgHashTable* call_sites; /* TgCallSite by address */
static VgHashTable* entries;    /* TgEntry by address */

void tg_arcs_init(void)
{
   call_sites = VG_(HT_construct)("tg.arcs.sites");
   entries = VG_(HT_construct)("tg.arcs.entries");
}

/* --- Sites, entries, arcs --- */

static Bool is_in_plt(Addr a)
{
   return VG_(DebugInfo_sect_kind)(NULL, a) == Vg_SectPLT;
}

/* The dynamic linker's function that looks up a symbol at its first call, and jumps there. */
static Bool resolves(const TgFunction* f)
{
   static const HChar name[] = "_dl_runtime_resolve";
   return VG_(strncmp)(f->name, name, sizeof name - 1) == 0;
}

static Word compare_sites(const void* a, const void* b)
{
   const TgCallSite* x = a;
   const TgCallSite* y = b;
   return x->line != y->line || x->leaving != y->leaving;
}

static TgCallSite* call_site_of(Addr address, TgLine* line, TgLeaving leaving, Addr return_to)
{
   const TgCallSite key = { .address = address, .line = line, .leaving = leaving,
                            .return_to = return_to };
   TgCallSite* s = VG_(HT_gen_lookup)(call_sites, &key, compare_sites);
   if (s != NULL)
      return s;
   s = VG_(malloc)("tg.arcs.site", sizeof *s);
   *s = key;
   s->in_plt = is_in_plt(address);
   s->passes_on = s->in_plt || resolves(s->line->function);
   VG_(HT_add_node)(call_sites, s);
   return s;
}

TgCallSite* tg_call_site_of(TgSite* site, TgLeaving leaving)
{
   return call_site_of(site->address, tg_line_whole(tg_site_line(site)), leaving,
                       leaving == TG_CALLS ? site->address + site->length : 0);
}

TgCallSite* tg_call_site_of_entry(const TgEntry* e)
{
   return call_site_of(e->address, e->line, TG_BEGINS, 0);
}

static Word compare_entries(const void* a, const void* b)
{
   return ((const TgEntry*)a)->line != ((const TgEntry*)b)->line;
}

const TgEntry* tg_entry_of(TgSite* site)
{
   const TgEntry key = { .address = site->address, .line = tg_line_whole(tg_site_line(site)) };
   TgEntry* e = VG_(HT_gen_lookup)(entries, &key, compare_entries);
   if (e != NULL)
      return e;
   e = VG_(malloc)("tg.arcs.entry", sizeof *e);
   *e = key;
   const Addr begin = tg_arch_global_entry(site->address);
   e->is_function = tg_function_at(begin) == begin;
   e->in_plt = is_in_plt(site->address);
   VG_(HT_add_node)(entries, e);
   return e;
}

TgArc* tg_arc_of(TgCallSite* from, const TgEntry* to)
{
   for (TgArc** link = &from->arcs; *link != NULL; link = &(*link)->next) {
      TgArc* arc = *link;
      if (arc->to != to)
         continue;
      *link = arc->next;
      arc->next = from->arcs;
      from->arcs = arc;
      return arc;
   }
   TgArc* arc = VG_(calloc)("tg.arcs.arc", 1, sizeof *arc);
   arc->from = from;
   arc->to = to;
   arc->next = from->arcs;
   from->arcs = arc;
   return arc;
}

/* --- Costs --- */

static SizeT n_misses(void)
{
   return TLB_N_USERS * (SizeT)tg_lines_n_counts();
}

/* Miss costs that were dropped, for the next; the first count of each leads to another. Frames have
   misses and return so often that allocation would take as long as the simulation. */
static uint64_t* dropped;

uint64_t* tg_costs_misses(TgCosts* c)
{
   if (c->misses != NULL)
      return c->misses;
   c->misses = dropped;
   if (dropped == NULL) {
      c->misses = VG_(calloc)("tg.arcs.misses", n_misses(), sizeof *c->misses);
   } else {
      dropped = (uint64_t*)(Addr)dropped[0];
      VG_(memset)(c->misses, 0, n_misses() * sizeof *c->misses);
   }
   return c->misses;
}

void tg_costs_drop_misses(TgCosts* c)
{
   c->misses[0] = (Addr)dropped;
   dropped = c->misses;
   c->misses = NULL;
}

void tg_costs_add_misses(TgCosts* to, const TgCosts* more)
{
   uint64_t* misses = tg_costs_misses(to);
   const SizeT n = n_misses();
   for (SizeT i = 0; i < n; i++)
      misses[i] += more->misses[i];
}

void tg_costs_each(const TgCosts* c, void (*each)(uint64_t* misses, tlb_user kind))
{
   for (UInt kind = 0; kind < TLB_N_USERS && c->misses != NULL; kind++)
      each(c->misses + kind * tg_lines_n_counts(), kind);
}

void tg_costs_add_new(TgCosts* to, TgCosts* before, const TgCosts* now)
{
   for (UInt i = 0; i < TLB_N_USERS; i++) {
      to->refs[i] += now->refs[i] - before->refs[i];
      to->faults[i] += now->faults[i] - before->faults[i];
      before->refs[i] = now->refs[i];
      before->faults[i] = now->faults[i];
   }
   if (now->misses == NULL)
      return;
   uint64_t* old = tg_costs_misses(before);
   const SizeT n = n_misses();
   for (SizeT i = 0; i < n; i++) {
      if (now->misses[i] != old[i])
         tg_costs_misses(to)[i] += now->misses[i] - old[i];
      old[i] = now->misses[i];
   }
}

Bool tg_costs_are_equal(const TgCosts* now, const TgCosts* before)
{
   return VG_(memcmp)(now->refs, before->refs, sizeof now->refs) == 0
          && VG_(memcmp)(now->faults, before->faults, sizeof now->faults) == 0
          && (now->misses == NULL
              || (before->misses != NULL
                  && VG_(memcmp)(now->misses, before->misses,
                                 n_misses() * sizeof *now->misses) == 0));
}

/* Calls `f` for all arcs. */
void tg_arcs_each_arc(void (*f)(TgArc* arc, void* opaque), void* opaque)
{
   TgCallSite* s;
   VG_(HT_ResetIter)(call_sites);
   while ((s = VG_(HT_Next)(call_sites)) != NULL) {
      for (TgArc* arc = s->arcs; arc != NULL; arc = arc->next)
         f(arc, opaque);
   }
}

typedef struct {
   void (*f)(uint64_t* misses, tlb_user kind);
} Each;

static void each_of_arc(TgArc* arc, void* opaque)
{
   tg_costs_each(&arc->inclusive, ((const Each*)opaque)->f);
}

void tg_arcs_each(void (*each)(uint64_t* misses, tlb_user kind))
{
   Each e = { each };
   tg_arcs_each_arc(each_of_arc, &e);
}

static void zero_arc(TgArc* arc, void* opaque)
{
   (void)opaque;
   arc->calls = 0;
   tg_costs_clear(&arc->inclusive);
}

void tg_arcs_zero(void)
{
   tg_arcs_each_arc(zero_arc, NULL);
}

/* --- Output --- */

/* Any order will do for the lines that call: it is only to find them. */
static Int compare_callers(const TgLine* a, const TgLine* b)
{
   return (a > b) - (a < b);
}

static Int compare_ends(const TgLine* from, const TgLine* to, const TgLine* other_from,
                        const TgLine* other_to)
{
   const Int order = compare_callers(from, other_from);
   return order != 0 ? order : tg_lines_compare(to, other_to);
}

static Int by_line(const void* a, const void* b)
{
   const TgLineArc* x = a;
   const TgLineArc* y = b;
   return compare_ends(x->from, x->to, y->from, y->to);
}

Bool tg_arcs_is_empty(const TgLineArc* arc)
{
   ULong any = arc->calls;
   for (UInt i = 0; i < TLB_N_USERS; i++)
      any |= arc->inclusive.refs[i] | arc->inclusive.faults[i];
   return any == 0 && arc->inclusive.misses == NULL;
}

static void list(TgArc* arc, void* opaque)
{
   const TgLineArc a = { .from = tg_line_named(arc->from->line), .to = arc->to->line,
                         .calls = arc->calls, .inclusive = arc->inclusive };
   if (!tg_arcs_is_empty(&a))
      VG_(addToXA)(opaque, &a);
}

XArray* tg_arcs_sorted(void)
{
   XArray* all = VG_(newXA)(VG_(malloc), "tg.arcs.all", VG_(free), sizeof(TgLineArc));
   tg_arcs_each_arc(list, all);
   return tg_arcs_sum(all);
}

XArray* tg_arcs_sum(XArray* all)
{
   XArray* sums = VG_(newXA)(VG_(malloc), "tg.arcs.sums", VG_(free), sizeof(TgLineArc));
   VG_(setCmpFnXA)(all, by_line);
   VG_(sortXA)(all);
   TgLineArc* last = NULL;
   for (Word i = 0; i < VG_(sizeXA)(all); i++) {
      const TgLineArc* arc = VG_(indexXA)(all, i);
      if (last == NULL || by_line(last, arc) != 0) {
         const TgLineArc sum = { .from = arc->from, .to = arc->to };
         VG_(addToXA)(sums, &sum);
         last = VG_(indexXA)(sums, VG_(sizeXA)(sums) - 1);
      }
      last->calls += arc->calls;
      tg_costs_add(&last->inclusive, &arc->inclusive);
   }
   VG_(deleteXA)(all);
   return sums;
}

void tg_arcs_free(XArray* sorted)
{
   for (Word i = 0; i < VG_(sizeXA)(sorted); i++)
      tg_costs_clear(&((TgLineArc*)VG_(indexXA)(sorted, i))->inclusive);
   VG_(deleteXA)(sorted);
}

Word tg_arcs_from(XArray* sorted, const TgLine* line, Word* n)
{
   const Word size = VG_(sizeXA)(sorted);
   Word first = 0;
   Word end = size;
   while (first < end) {
      const Word middle = first + (end - first) / 2;
      if (compare_callers(((const TgLineArc*)VG_(indexXA)(sorted, middle))->from, line) < 0)
         first = middle + 1;
      else
         end = middle;
   }
   for (end = first; end < size; end++) {
      if (((const TgLineArc*)VG_(indexXA)(sorted, end))->from != line)
         break;
   }
   *n = end - first;
   return first;
}

/* --- Numbers in the recording --- */

static Int by_line_and_number(const void* a, const void* b)
{
   const TgArcNumber* x = a;
   const TgArcNumber* y = b;
   const Int order = compare_ends(x->from, x->to, y->from, y->to);
   return order != 0 ? order : (x->number > y->number) - (x->number < y->number);
}

static void add_number(TgArc* arc, void* opaque)
{
   const TgArcNumber a = { tg_line_named(arc->from->line), arc->to->line, arc->recorded };
   if (arc->recorded != 0)
      VG_(addToXA)(opaque, &a);
}

XArray* tg_arcs_numbers(void)
{
   XArray* all = VG_(newXA)(VG_(malloc), "tg.arcs.numbers", VG_(free), sizeof(TgArcNumber));
   tg_arcs_each_arc(add_number, all);
   VG_(setCmpFnXA)(all, by_line_and_number);
   VG_(sortXA)(all);
   return all;
}

static Int compare_with(XArray* numbers, Word i, const TgLineArc* arc)
{
   const TgArcNumber* a = VG_(indexXA)(numbers, i);
   return compare_ends(a->from, a->to, arc->from, arc->to);
}

const TgArcNumber* tg_arcs_numbers_of(XArray* numbers, const TgLineArc* arc, Word* n)
{
   const Word size = VG_(sizeXA)(numbers);
   Word first = 0, end = size;
   while (first < end) {
      const Word middle = first + (end - first) / 2;
      if (compare_with(numbers, middle, arc) < 0)
         first = middle + 1;
      else
         end = middle;
   }
   for (end = first; end < size && compare_with(numbers, end, arc) == 0; end++)
      ;
   *n = end - first;
   return *n == 0 ? NULL : VG_(indexXA)(numbers, first);
}

/* --- Costs by machine --- */

void tg_arcs_costs(const TgLineArc* arc, UInt machine, ULong* cost)
{
   TgLine as_line = { .number = 0 };
   for (UInt kind = 0; kind < TLB_N_USERS; kind++) {
      as_line.refs[kind] = arc->inclusive.refs[kind];
      as_line.faults[kind] = arc->inclusive.faults[kind];
      if (arc->inclusive.misses != NULL)
         as_line.misses[kind] = arc->inclusive.misses + kind * tg_lines_n_counts();
   }
   tg_lines_costs(&as_line, machine, cost);
}
