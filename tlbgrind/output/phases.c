/* Adds up the costs of each phase. See output/phases.h. */

#include "pub_tool_basics.h"

#include "pub_tool_libcbase.h"
#include "pub_tool_libcprint.h"
#include "pub_tool_mallocfree.h"
#include "pub_tool_oset.h"

#include "attribution/lines.h"
#include "output/phases.h"

/* Each phase has an out-file for each machine. What comes after so many phases is counted in one
   more. */
enum { MAX_PHASES = 256, MAX_LABEL = 100 };

/* The costs of a line in a phase. */
typedef struct {
   const TgLine* line; /* the key */
   TgLine costs;
} Booked;

/* Costs of a phase. */
typedef struct {
   HChar* name;
   HChar* label; /* the end of its file's name */
   OSet* lines;  /* Booked */
   ULong straddles[TLB_N_USERS];
   ULong unperformed[TLB_N_USERS];
   ULong* extra; /* TG_N_COSTS for each machine */
} Phase;

static Phase* phases;
static UInt n_phases;
static UInt at_hand;
static Phase all; /* the sum of all phases */

/* --- Memory --- */

static Word compare(const void* key, const void* element)
{
   const TgLine* a = *(TgLine* const*)key;
   const TgLine* b = ((const Booked*)element)->line;
   return (a > b) - (a < b);
}

static void init(Phase* p, const TgResults* results)
{
   p->lines = VG_(OSetGen_Create)(offsetof(Booked, line), compare, VG_(malloc),
                                  "tg.phases.lines", VG_(free));
   p->extra = VG_(calloc)("tg.phases.extra", results->options->n_machines * TG_N_COSTS,
                          sizeof(ULong));
}

static void clear(Phase* p)
{
   Booked* b;
   VG_(OSetGen_ResetIter)(p->lines);
   while ((b = VG_(OSetGen_Next)(p->lines)) != NULL) {
      for (UInt kind = 0; kind < TLB_N_USERS; kind++)
         VG_(free)(b->costs.misses[kind]);
   }
   VG_(OSetGen_Destroy)(p->lines);
   VG_(free)(p->extra);
   p->lines = NULL;
   p->extra = NULL;
   VG_(memset)(p->straddles, 0, sizeof p->straddles);
   VG_(memset)(p->unperformed, 0, sizeof p->unperformed);
}

static Booked* booked(Phase* p, const TgLine* line)
{
   Booked* b = VG_(OSetGen_Lookup)(p->lines, &line);
   if (b == NULL) {
      b = VG_(OSetGen_AllocNode)(p->lines, sizeof *b);
      VG_(memset)(b, 0, sizeof *b);
      b->line = line;
      b->costs.function = line->function;
      b->costs.file = line->file;
      b->costs.number = line->number;
      b->costs.address = line->address;
      b->costs.object = line->object;
      b->costs.length = line->length;
      VG_(OSetGen_Insert)(p->lines, b);
   }
   return b;
}

/* --- Phases --- */

/* The name as a part of a file's name; one that is taken gets a number. */
static HChar* label_of(const HChar* name)
{
   HChar* label = VG_(malloc)("tg.phases.label", MAX_LABEL + 16);
   UInt n = 0;
   for (; name[n] != '\0' && n < MAX_LABEL; n++) {
      const HChar c = name[n];
      const Bool stays = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')
                         || (c >= '0' && c <= '9');
      label[n] = stays ? c : '_';
   }
   label[n] = '\0';
   UInt number = 1;
   for (UInt i = 0; i < n_phases; i++) {
      if (VG_(strcmp)(phases[i].label, label) != 0)
         continue;
      VG_(sprintf)(label + n, "_%u", ++number);
      i = (UInt)-1; /* from the first on */
   }
   return label;
}

static UInt number_of(const TgResults* results, const HChar* name)
{
   for (UInt i = 0; i < n_phases; i++) {
      if (VG_(strcmp)(phases[i].name, name) == 0)
         return i;
   }
   if (n_phases > MAX_PHASES)
      return MAX_PHASES;
   if (n_phases == MAX_PHASES) {
      VG_(umsg)("More than %d phases are marked: what comes after them is counted as 'more'.\n",
                MAX_PHASES);
      name = "more";
   }
   phases = VG_(realloc)("tg.phases", phases, (n_phases + 1) * sizeof *phases);
   phases[n_phases] = (Phase){ .name = VG_(strdup)("tg.phases.name", name),
                               .label = label_of(name) };
   init(&phases[n_phases], results);
   return n_phases++;
}

static void add(ULong* to, ULong* so_far, const ULong* now, UInt n)
{
   for (UInt i = 0; i < n; i++) {
      to[i] += now[i] - so_far[i];
      so_far[i] = now[i];
   }
}

void tg_phases_settle(const TgResults* results)
{
   if (n_phases == 0)
      return;
   Phase* p = &phases[at_hand];
   if (all.lines == NULL)
      init(&all, results);
   if (p->lines == NULL)
      init(p, results);
   XArray* lines = tg_lines_sorted();
   for (Word i = 0; i < VG_(sizeXA)(lines); i++) {
      const TgLine* line = *(TgLine**)VG_(indexXA)(lines, i);
      TgLine* before = &booked(&all, line)->costs;
      if (tg_line_costs_equal(line, before))
         continue;
      tg_line_add(&booked(p, line)->costs, line, before);
      tg_line_add(before, line, before);
   }
   VG_(deleteXA)(lines);
   add(p->straddles, all.straddles, results->straddles, TLB_N_USERS);
   add(p->unperformed, all.unperformed, results->unperformed, TLB_N_USERS);
   for (UInt i = 0; i < results->options->n_machines; i++)
      add(p->extra + i * TG_N_COSTS, all.extra + i * TG_N_COSTS, results->result[i].extra,
          TG_N_COSTS);
}

void tg_phases_begin(const TgResults* results, const HChar* name)
{
   if (n_phases == 0)
      at_hand = number_of(results, "start");
   tg_phases_settle(results);
   at_hand = number_of(results, name);
}

void tg_phases_zero(void)
{
   if (n_phases == 0)
      return;
   const Phase kept = phases[at_hand];
   for (UInt i = 0; i < n_phases; i++) {
      if (phases[i].lines != NULL)
         clear(&phases[i]);
      if (i != at_hand) {
         VG_(free)(phases[i].name);
         VG_(free)(phases[i].label);
      }
   }
   if (all.lines != NULL)
      clear(&all);
   phases[0] = (Phase){ .name = kept.name, .label = kept.label };
   n_phases = 1;
   at_hand = 0;
}

/* --- Results --- */

UInt tg_phases_count(void)
{
   return n_phases;
}

const HChar* tg_phases_name(UInt number)
{
   return phases[number].name;
}

const HChar* tg_phases_at_hand(void)
{
   return phases[at_hand].name;
}

HChar* tg_phases_file_name(UInt number, const HChar* name)
{
   static const HChar between[] = "_phase_";
   const HChar* label = phases[number].label;
   const SizeT room = VG_(strlen)(name) + sizeof between + VG_(strlen)(label);
   HChar* whole = VG_(malloc)("tg.phases.file", room);
   VG_(snprintf)(whole, (Int)room, "%s%s%s", name, between, label);
   return whole;
}

XArray* tg_phases_result(UInt number, UInt machine, XArray* lines, TgResults* results,
                         TgResult* result)
{
   Phase* p = &phases[number];
   XArray* own = VG_(newXA)(VG_(malloc), "tg.phases.own", VG_(free), sizeof(TgLine*));
   results->phase = p->name;
   VG_(memset)(results->straddles, 0, sizeof results->straddles);
   VG_(memset)(results->unperformed, 0, sizeof results->unperformed);
   VG_(memset)(result->extra, 0, sizeof result->extra);
   if (p->lines == NULL)
      return own;
   VG_(memcpy)(results->straddles, p->straddles, sizeof p->straddles);
   VG_(memcpy)(results->unperformed, p->unperformed, sizeof p->unperformed);
   VG_(memcpy)(result->extra, p->extra + machine * TG_N_COSTS, sizeof result->extra);
   for (Word i = 0; i < VG_(sizeXA)(lines); i++) {
      const TgLine* line = *(TgLine**)VG_(indexXA)(lines, i);
      Booked* b = VG_(OSetGen_Lookup)(p->lines, &line);
      if (b != NULL) {
         TgLine* costs = &b->costs;
         VG_(addToXA)(own, &costs);
      }
   }
   return own;
}
