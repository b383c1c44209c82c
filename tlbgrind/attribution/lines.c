/* Stores costs by source line. See attribution/lines.h. */

#include "pub_tool_basics.h"

#include "pub_tool_deduppoolalloc.h"
#include "pub_tool_libcbase.h"
#include "pub_tool_libcprint.h"
#include "pub_tool_mallocfree.h"
#include "pub_tool_oset.h"
#include "pub_tool_xarray.h"

#include "attribution/lines.h"

static UInt n_counts; /* see tg_lines_count() */
static UInt parts = 1; /* 2: see tg_lines_count_seen() */

static UInt flushes_at; /* see tg_lines_count_flushes(); 0: there are none */
static UInt prefetches_at; /* the same, of tg_lines_count_prefetches() */

TgBooked tg_booked;
Bool tg_costs_are_kept = True;

static DedupPoolAlloc* names; /* equal names have equal addresses */
static OSet* functions;       /* TgFunction */
static OSet* lines;           /* TgLine, but those of objects of data, which can be many: */
static OSet* of_objects;
static XArray* all_but_objects; /* TgLine*, those of `lines`: quicker to go through */
static UInt n_lines;
static OSet* const* const sets[] = { &lines, &of_objects };
enum { N_SETS = sizeof sets / sizeof sets[0] };
static XArray* recent;        /* TgLine*, see tg_lines_set_aside() */
static TgLine aside;          /* the sums of those of objects that are not recent */
static void (*when_set_aside)(const TgLine* line); /* NULL: nothing is called */

/* --- Names, functions, lines --- */

const HChar* tg_intern(const HChar* s)
{
   return VG_(allocEltDedupPA)(names, VG_(strlen)(s) + 1, s);
}

const HChar* tg_intern_path(const HChar* folder, const HChar* file)
{
   if (folder[0] == '\0' || file[0] == '/')
      return tg_intern(file);
   const SizeT room = VG_(strlen)(folder) + 1 + VG_(strlen)(file) + 1;
   HChar* path = VG_(malloc)("tg.lines.path", room);
   VG_(snprintf)(path, (Int)room, "%s/%s", folder, file);
   const HChar* interned = tg_intern(path);
   VG_(free)(path);
   return interned;
}

static Word compare_pointers(const void* a, const void* b)
{
   return (a > b) - (a < b);
}

/* The sets compare names by address: any order will do for lookups, and the output is sorted by
   text. */
static Word compare_functions(const void* key, const void* element)
{
   const TgFunction* a = key;
   const TgFunction* b = element;
   Word order = compare_pointers(a->name, b->name);
   if (order == 0) order = compare_pointers(a->file, b->file);
   if (order == 0) order = compare_pointers(a->object, b->object);
   return order;
}

static Word compare_lines(const void* key, const void* element)
{
   const TgLine* a = key;
   const TgLine* b = element;
   if (a->made != b->made)
      return a->made < b->made ? -1 : 1;
   Word order = 0;
   if (a->made == 0) {
      if (a->number != b->number)
         return a->number < b->number ? -1 : 1;
      order = compare_pointers(a->function, b->function);
      if (order == 0) order = compare_pointers(a->file, b->file);
      if (order == 0) order = (a->address > b->address) - (a->address < b->address);
   }
   if (order == 0) order = (a->object > b->object) - (a->object < b->object);
   if (order == 0) order = (a->row_block > b->row_block) - (a->row_block < b->row_block);
   return order;
}

static const TgFunction* function_of(const TgFunction* key)
{
   TgFunction* f = VG_(OSetGen_Lookup)(functions, key);
   if (f == NULL) {
      f = VG_(OSetGen_AllocNode)(functions, sizeof *f);
      *f = *key;
      VG_(OSetGen_Insert)(functions, f);
   }
   return f;
}

static TgLine* line_of(const TgLine* key)
{
   OSet* set = key->object == 0 ? lines : of_objects;
   TgLine* line = VG_(OSetGen_Lookup)(set, key);
   if (line == NULL) {
      line = VG_(OSetGen_AllocNode)(set, sizeof *line);
      *line = *key;
      line->nth = ++n_lines;
      VG_(OSetGen_Insert)(set, line);
      if (set == lines)
         VG_(addToXA)(all_but_objects, &line);
   }
   return line;
}

TgLine* tg_line_of(const TgFunction* f, const HChar* file, UInt number, Addr address)
{
   const TgLine key = { .function = function_of(f), .file = file, .number = number,
                        .address = address };
   return line_of(&key);
}

static XArray* made; /* TgLine*, of lines that are no parts, by the number in `made` */

TgLine* tg_line_made(const TgFunction* f, const HChar* file, Addr address)
{
   if (made == NULL)
      made = VG_(newXA)(VG_(malloc), "tg.lines.made", VG_(free), sizeof(TgLine*));
   const TgLine key = { .function = function_of(f), .file = file, .address = address,
                        .made = (UInt)VG_(sizeXA)(made) + 1 };
   TgLine* line = line_of(&key);
   VG_(addToXA)(made, &line);
   return line;
}

void tg_line_name(TgLine* line, const TgFunction* f, const HChar* file, UInt number)
{
   line->function = function_of(f);
   line->file = file;
   line->number = number;
}

void tg_lines_name_parts(void)
{
   TgLine* line;
   for (UInt i = 0; i < N_SETS && made != NULL; i++) {
      VG_(OSetGen_ResetIter)(*sets[i]);
      while ((line = VG_(OSetGen_Next)(*sets[i])) != NULL) {
         if (line->made == 0 || !tg_line_is_part(line))
            continue;
         const TgLine* whole = *(TgLine**)VG_(indexXA)(made, (Word)line->made - 1);
         line->function = whole->function;
         line->file = whole->file;
         line->number = whole->number;
      }
   }
}

const TgLine* tg_line_named(const TgLine* line)
{
   return line->made == 0
             ? line : tg_line_of(line->function, line->file, line->number, line->address);
}

TgLine* tg_line_part(const TgLine* line, UInt object, UInt row_block)
{
   const TgLine key = { .function = line->function, .file = line->file, .made = line->made,
                        .number = line->number, .address = line->address,
                        .object = object, .row_block = row_block };
   return line_of(&key);
}

TgLine* tg_line_whole(TgLine* line)
{
   return tg_line_is_part(line) ? tg_line_part(line, 0, 0) : line;
}

Bool tg_line_is_same(const TgLine* a, const TgLine* b)
{
   return a->number == b->number && a->address == b->address && a->file == b->file
          && a->function == b->function;
}

void tg_lines_init(void)
{
   names = VG_(newDedupPA)(16 * 1024, 1, VG_(malloc), "tg.lines.names",
                           VG_(free));
   functions = VG_(OSetGen_Create)(0, compare_functions, VG_(malloc),
                                   "tg.lines.functions", VG_(free));
   lines = VG_(OSetGen_Create)(0, compare_lines, VG_(malloc),
                               "tg.lines.lines", VG_(free));
   of_objects = VG_(OSetGen_Create)(0, compare_lines, VG_(malloc), "tg.lines.objects", VG_(free));
   all_but_objects = VG_(newXA)(VG_(malloc), "tg.lines.all", VG_(free), sizeof(TgLine*));
   recent = VG_(newXA)(VG_(malloc), "tg.lines.recent", VG_(free), sizeof(TgLine*));
}

/* --- Costs --- */

void tg_lines_count(UInt n)
{
   n_counts = n;
}

void tg_lines_count_flushes(UInt first)
{
   flushes_at = first;
}

void tg_lines_count_prefetches(UInt first)
{
   prefetches_at = first;
}

UInt tg_lines_n_counts(void)
{
   return n_counts;
}

void tg_lines_count_seen(void)
{
   parts = 2;
}

void tg_line_fault(TgLine* line, tlb_user kind)
{
   if (!tg_costs_are_kept)
      return;
   line->faults[kind]++;
   tg_booked.faults[kind]++;
   tg_booked.n++;
}

void tg_line_ref(TgLine* line, tlb_user kind)
{
   if (!tg_costs_are_kept)
      return;
   line->refs[kind]++;
   tg_line_ref_counted(kind);
}

void tg_line_ref_counted(tlb_user kind)
{
   tg_booked.refs[kind]++;
   tg_booked.n++;
}

static SizeT bytes_of_misses(void)
{
   return parts * n_counts * sizeof(ULong);
}

uint64_t* tg_line_misses(TgLine* line, tlb_user kind)
{
   if (line->misses[kind] == NULL)
      line->misses[kind] = VG_(calloc)("tg.lines.misses", 1, bytes_of_misses());
   return line->misses[kind];
}

void tg_lines_costs(const TgLine* line, UInt machine, ULong* cost)
{
   cost[TG_ALL_WALK_REFS] = cost[TG_ALL_CYCLES] = 0;
   for (UInt kind = 0; kind < TLB_N_USERS; kind++) {
      ULong* own = cost + tg_cost(kind, 0);
      own[TG_REFS] = line->refs[kind];
      for (UInt i = 0; i < TG_N_OF_A_MISS; i++)
         own[TG_MISS_1 + i] = line->misses[kind] == NULL
                                 ? 0
                                 : line->misses[kind][machine * TG_N_OF_A_MISS
                                                      + i];
      cost[TG_ALL_WALK_REFS] += own[TG_WALK_REFS];
      cost[TG_ALL_CYCLES] += own[TG_CYCLES];
      cost[TG_FAULTS + kind] = line->faults[kind];
   }
   const uint64_t* loads = line->misses[TLB_LOAD];
   for (UInt i = 0; i < TLB_N_FLUSH_COSTS; i++)
      cost[TG_FLUSHES + i] = flushes_at == 0 || loads == NULL
                                ? 0 : loads[flushes_at + machine * TLB_N_FLUSH_COSTS + i];
   for (UInt i = 0; i < TLB_N_PREFETCH_COSTS; i++)
      cost[TG_PREFETCHES + i] = prefetches_at == 0 || loads == NULL ? 0
                                : loads[prefetches_at + machine * TLB_N_PREFETCH_COSTS + i];
}

void tg_lines_each_line(void (*each)(const TgLine* line, void* opaque), void* opaque)
{
   const TgLine* line;
   for (UInt i = 0; i < N_SETS; i++) {
      VG_(OSetGen_ResetIter)(*sets[i]);
      while ((line = VG_(OSetGen_Next)(*sets[i])) != NULL)
         each(line, opaque);
   }
}

/* What may change, those of no object and the recent ones, are gone through at each switch of
   threads, perhaps: so what is read of the next ones is requested ahead, first the line, then its
   counts. All of it 0 is the beginning. */
typedef struct {
   TgLine** line;
   Word n, nth;
   UInt n_arrays; /* begun */
} Changing;

/* NULL: there are no more. */
static inline TgLine* next_changing(Changing* c)
{
   enum { LINES = 16, COUNTS = 8, HOST_LINE = 64 };
   while (c->nth == c->n) {
      if (c->n_arrays == 2)
         return NULL;
      XArray* of = c->n_arrays++ == 0 ? all_but_objects : recent;
      c->nth = 0;
      c->n = VG_(sizeXA)(of);
      c->line = c->n == 0 ? NULL : VG_(indexXA)(of, 0);
   }
   TgLine** at = c->line + c->nth;
   if (c->nth + LINES < c->n) {
      __builtin_prefetch(at[LINES]);
      __builtin_prefetch((const HChar*)at[LINES] + HOST_LINE);
   }
   if (c->nth + COUNTS < c->n) {
      for (UInt kind = 0; kind < TLB_N_USERS; kind++)
         __builtin_prefetch(at[COUNTS]->misses[kind]);
   }
   c->nth++;
   return *at;
}

void tg_lines_each_recent(void (*each)(const TgLine* line, void* opaque), void* opaque)
{
   Changing c = { .n = 0 };
   const TgLine* line;
   while ((line = next_changing(&c)) != NULL)
      each(line, opaque);
}

static void each_misses(TgLine* line, void (*each)(uint64_t* misses, tlb_user kind))
{
   for (UInt kind = 0; kind < TLB_N_USERS; kind++) {
      for (UInt part = 0; part < parts && line->misses[kind] != NULL; part++)
         each(line->misses[kind] + part * n_counts, kind);
   }
}

void tg_lines_each_miss(void (*each)(uint64_t* misses, tlb_user kind))
{
   Changing c = { .n = 0 };
   TgLine* line;
   while ((line = next_changing(&c)) != NULL)
      each_misses(line, each);
}

static void zero_misses(uint64_t* misses, tlb_user kind)
{
   (void)kind;
   VG_(memset)(misses, 0, n_counts * sizeof *misses);
}

static void zero_line(TgLine* line)
{
   VG_(memset)(line->refs, 0, sizeof line->refs);
   VG_(memset)(line->faults, 0, sizeof line->faults);
   each_misses(line, zero_misses);
}

void tg_lines_zero(void)
{
   TgLine* line;
   for (UInt i = 0; i < N_SETS; i++) {
      VG_(OSetGen_ResetIter)(*sets[i]);
      while ((line = VG_(OSetGen_Next)(*sets[i])) != NULL)
         zero_line(line);
   }
   zero_line(&aside);
}

void tg_line_add(TgLine* to, const TgLine* plus, const TgLine* minus)
{
   for (UInt kind = 0; kind < TLB_N_USERS; kind++) {
      to->refs[kind] += plus->refs[kind] - minus->refs[kind];
      to->faults[kind] += plus->faults[kind] - minus->faults[kind];
      if (plus->misses[kind] == NULL)
         continue;
      uint64_t* sum = tg_line_misses(to, kind);
      const uint64_t* less = minus->misses[kind];
      for (UInt i = 0; i < n_counts; i++)
         sum[i] += plus->misses[kind][i] - (less == NULL ? 0 : less[i]);
   }
}

void tg_lines_total(TgLine* to)
{
   static const TgLine nothing;
   Changing c = { .n = 0 };
   const TgLine* line;
   while ((line = next_changing(&c)) != NULL)
      tg_line_add(to, line, &nothing);
   tg_line_add(to, &aside, &nothing);
}

/* --- Parts of objects, of which there can be very many --- */

static void take_away(TgLine* from, const TgLine* line)
{
   for (UInt kind = 0; kind < TLB_N_USERS; kind++) {
      from->refs[kind] -= line->refs[kind];
      from->faults[kind] -= line->faults[kind];
      for (UInt i = 0;
           i < n_counts && line->misses[kind] != NULL && from->misses[kind] != NULL; i++)
         from->misses[kind][i] -= line->misses[kind][i];
   }
}

void tg_line_is_used(TgLine* part)
{
   if (part->is_recent || part->object == 0)
      return;
   part->is_recent = True;
   VG_(addToXA)(recent, &part);
   take_away(&aside, part);
}

void tg_lines_when_set_aside(void (*each)(const TgLine* line))
{
   when_set_aside = each;
}

void tg_lines_set_aside(void)
{
   static const TgLine nothing;
   for (Word i = 0; i < VG_(sizeXA)(recent); i++) {
      TgLine* line = *(TgLine**)VG_(indexXA)(recent, i);
      tg_line_add(&aside, line, &nothing);
      line->is_recent = False;
      if (when_set_aside != NULL)
         when_set_aside(line);
   }
   VG_(dropTailXA)(recent, VG_(sizeXA)(recent));
}

static Bool are_none(const uint64_t* misses)
{
   uint64_t any = 0;
   for (UInt i = 0; i < n_counts; i++)
      any |= misses[i];
   return any == 0;
}

/* NULL: none. */
static Bool misses_equal(const uint64_t* a, const uint64_t* b)
{
   uint64_t differ = 0;
   if (a == b)
      return True;
   if (a == NULL || b == NULL)
      return are_none(a == NULL ? b : a);
   for (UInt i = 0; i < n_counts; i++)
      differ |= a[i] ^ b[i];
   return differ == 0;
}

Bool tg_line_costs_equal(const TgLine* a, const TgLine* b)
{
   for (UInt kind = 0; kind < TLB_N_USERS; kind++) {
      if (a->refs[kind] != b->refs[kind] || a->faults[kind] != b->faults[kind]
          || !misses_equal(a->misses[kind], b->misses[kind]))
         return False;
   }
   return True;
}

/* --- Output --- */

static Int compare_texts(const HChar* a, const HChar* b)
{
   return a == b ? 0 : VG_(strcmp)(a, b);
}

Int tg_lines_compare(const TgLine* x, const TgLine* y)
{
   const TgFunction* f = x->function;
   const TgFunction* g = y->function;
   Int order = compare_texts(f->object, g->object);
   if (order == 0) order = compare_texts(f->file, g->file);
   if (order == 0) order = compare_texts(f->name, g->name);
   /* The function's own file comes first, so that fi= follows fl=. */
   if (order == 0)
      order = (x->file != f->file) - (y->file != g->file);
   if (order == 0) order = compare_texts(x->file, y->file);
   if (order == 0) order = (x->number > y->number) - (x->number < y->number);
   if (order == 0) order = (x->address > y->address) - (x->address < y->address);
   if (order == 0) order = (x->object > y->object) - (x->object < y->object);
   if (order == 0) order = (x->row_block > y->row_block) - (x->row_block < y->row_block);
   return order;
}

static Int by_text(const void* a, const void* b)
{
   return tg_lines_compare(*(TgLine* const*)a, *(TgLine* const*)b);
}

void tg_lines_sort(XArray* which)
{
   VG_(setCmpFnXA)(which, by_text);
   VG_(sortXA)(which);
}

XArray* tg_lines_sorted(void)
{
   XArray* sorted = VG_(newXA)(VG_(malloc), "tg.lines.sorted", VG_(free),
                               sizeof(TgLine*));
   TgLine* line;
   for (UInt i = 0; i < N_SETS; i++) {
      VG_(OSetGen_ResetIter)(*sets[i]);
      while ((line = VG_(OSetGen_Next)(*sets[i])) != NULL)
         VG_(addToXA)(sorted, &line);
   }
   tg_lines_sort(sorted);
   return sorted;
}
