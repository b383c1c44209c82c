/* Divides the costs of a run. See output/shares.h. */

#include "pub_tool_basics.h"

#include "pub_tool_libcbase.h"
#include "pub_tool_libcprint.h"
#include "pub_tool_mallocfree.h"
#include "pub_tool_oset.h"

#include "attribution/lines.h"
#include "attribution/out_words.h"
#include "base/path.h"
#include "calls/arcs.h"
#include "output/shares.h"

enum { MAX_LABEL = 100 };

/* The costs of a line in a share. */
typedef struct {
   const TgLine* line; /* the key */
   TgLine costs;
} Booked;

/* And those of an arc. */
typedef struct {
   const TgArc* arc; /* the key */
   ULong calls;
   TgCosts inclusive;
} BookedArc;

typedef struct {
   HChar* name;
   HChar* label; /* the end of its file's name */
   OSet* lines;  /* Booked */
   OSet* arcs;   /* BookedArc */
   ULong straddles[TLB_N_USERS];
   ULong unperformed[TLB_N_USERS];
   ULong* extra; /* TG_N_COSTS for each machine */
} Share;

struct TgShares {
   Share* share;
   UInt n;
   UInt at_hand;
   Share all; /* the sum of all of them */
   Booked** of_line; /* its lines, by their numbers; NULL: it does not have it yet */
   UInt n_of_line;
   Bool has_all; /* lines that were set aside before the first share was made are booked, too */
};

static TgShares sharing[TG_N_SHARINGS];

/* In the names of files, and in descriptions. */
static const struct {
   const HChar* before;
   const HChar* each;
   const HChar* file;
   const HChar* one;
} words[TG_N_SHARINGS] = {
   [TG_BY_PHASE] = { TG_OUT_PHASE, TG_OUT_EACH_PHASE, TG_OUT_PHASE_FILE, TG_OUT_OF_PHASE },
   [TG_BY_THREAD] = { TG_OUT_THREAD, TG_OUT_EACH_THREAD, TG_OUT_THREAD_FILE, TG_OUT_OF_THREAD },
};

TgShares* tg_shares(TgSharing kind)
{
   return &sharing[kind];
}

/* --- Memory --- */

static Word compare(const void* key, const void* element)
{
   const TgLine* a = *(TgLine* const*)key;
   const TgLine* b = ((const Booked*)element)->line;
   return (a > b) - (a < b);
}

static Word compare_arcs(const void* key, const void* element)
{
   const TgArc* a = *(TgArc* const*)key;
   const TgArc* b = ((const BookedArc*)element)->arc;
   return (a > b) - (a < b);
}

static void init(Share* p, const TgResults* results)
{
   p->arcs = VG_(OSetGen_Create)(offsetof(BookedArc, arc), compare_arcs, VG_(malloc),
                                 "tg.shares.arcs", VG_(free));
   p->lines = VG_(OSetGen_Create)(offsetof(Booked, line), compare, VG_(malloc),
                                  "tg.shares.lines", VG_(free));
   p->extra = VG_(calloc)("tg.shares.extra", results->options->n_machines * TG_N_COSTS,
                          sizeof(ULong));
}

static void clear(Share* p)
{
   Booked* b;
   VG_(OSetGen_ResetIter)(p->lines);
   while ((b = VG_(OSetGen_Next)(p->lines)) != NULL) {
      for (UInt kind = 0; kind < TLB_N_USERS; kind++)
         VG_(free)(b->costs.misses[kind]);
   }
   BookedArc* a;
   VG_(OSetGen_ResetIter)(p->arcs);
   while ((a = VG_(OSetGen_Next)(p->arcs)) != NULL)
      tg_costs_clear(&a->inclusive);
   VG_(OSetGen_Destroy)(p->arcs);
   VG_(OSetGen_Destroy)(p->lines);
   VG_(free)(p->extra);
   VG_(memset)(p->straddles, 0, sizeof p->straddles);
   VG_(memset)(p->unperformed, 0, sizeof p->unperformed);
}

/* The line's names of now, which can be others than they were. */
static void take_names(Booked* b)
{
   b->costs.function = b->line->function;
   b->costs.file = b->line->file;
   b->costs.number = b->line->number;
   b->costs.recorded = b->line->recorded;
}

static Booked* booked(Share* p, const TgLine* line)
{
   Booked* b = VG_(OSetGen_Lookup)(p->lines, &line);
   if (b == NULL) {
      b = VG_(OSetGen_AllocNode)(p->lines, sizeof *b);
      VG_(memset)(b, 0, sizeof *b);
      b->line = line;
      take_names(b);
      b->costs.made = line->made;
      b->costs.address = line->address;
      b->costs.object = line->object;
      b->costs.row_block = line->row_block;
      b->costs.length = line->length;
      VG_(OSetGen_Insert)(p->lines, b);
   }
   return b;
}

static BookedArc* booked_arc(Share* p, const TgArc* arc)
{
   BookedArc* b = VG_(OSetGen_Lookup)(p->arcs, &arc);
   if (b == NULL) {
      b = VG_(OSetGen_AllocNode)(p->arcs, sizeof *b);
      VG_(memset)(b, 0, sizeof *b);
      b->arc = arc;
      VG_(OSetGen_Insert)(p->arcs, b);
   }
   return b;
}

/* --- Shares --- */

/* The name as a part of a file's name; one that is taken gets a number. */
static HChar* label_of(const TgShares* s, const HChar* name)
{
   HChar* label = VG_(malloc)("tg.shares.label", MAX_LABEL + 16);
   UInt n = 0;
   for (; name[n] != '\0' && n < MAX_LABEL; n++) {
      const HChar c = name[n];
      const Bool stays = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')
                         || (c >= '0' && c <= '9');
      label[n] = stays ? c : '_';
   }
   label[n] = '\0';
   UInt number = 1;
   for (UInt i = 0; i < s->n; i++) {
      if (VG_(strcmp)(s->share[i].label, label) != 0)
         continue;
      VG_(sprintf)(label + n, "_%u", ++number);
      i = (UInt)-1; /* from the first on */
   }
   return label;
}

static void add(ULong* to, ULong* so_far, const ULong* now, UInt n)
{
   for (UInt i = 0; i < n; i++) {
      to[i] += now[i] - so_far[i];
      so_far[i] = now[i];
   }
}

/* What has been booked of it. All lines are gone through at each switch of threads, in the order of
   their numbers but for parts: so nothing is searched, and what comes soon is requested ahead. */
static TgLine* costs_before(TgShares* s, const TgLine* line)
{
   enum { AHEAD = 16, HOST_LINE = 64 };
   if (line->nth >= s->n_of_line) {
      const UInt n = 2 * line->nth + 1024;
      s->of_line = VG_(realloc)("tg.shares.of_line", s->of_line, n * sizeof *s->of_line);
      VG_(memset)(s->of_line + s->n_of_line, 0, (n - s->n_of_line) * sizeof *s->of_line);
      s->n_of_line = n;
   }
   Booked** b = &s->of_line[line->nth];
   if (line->nth + AHEAD < s->n_of_line && b[AHEAD] != NULL) {
      __builtin_prefetch(b[AHEAD]);
      __builtin_prefetch((const HChar*)b[AHEAD] + HOST_LINE);
   }
   if (*b == NULL)
      *b = booked(&s->all, line);
   return &(*b)->costs;
}

static void add_line(const TgLine* line, void* opaque)
{
   TgShares* s = opaque;
   TgLine* before = costs_before(s, line);
   if (tg_line_costs_equal(line, before))
      return;
   tg_line_add(&booked(&s->share[s->at_hand], line)->costs, line, before);
   tg_line_add(before, line, before);
}

/* Its costs, which do not change for now, belong to the shares at hand. */
static void set_aside(const TgLine* line)
{
   for (UInt i = 0; i < TG_N_SHARINGS; i++) {
      if (sharing[i].all.lines != NULL)
         add_line(line, &sharing[i]);
   }
}

static void add_arc(TgArc* arc, void* opaque)
{
   TgShares* s = opaque;
   BookedArc* before = booked_arc(&s->all, arc);
   if (arc->calls == before->calls && tg_costs_are_equal(&arc->inclusive, &before->inclusive))
      return;
   BookedArc* own = booked_arc(&s->share[s->at_hand], arc);
   booked(&s->share[s->at_hand], arc->from->line); /* calls are written behind their line */
   own->calls += arc->calls - before->calls;
   before->calls = arc->calls;
   tg_costs_add_new(&own->inclusive, &before->inclusive, &arc->inclusive);
}

UInt tg_shares_number(TgShares* s, const HChar* name, const TgResults* results)
{
   for (UInt i = 0; i < s->n; i++) {
      if (VG_(strcmp)(s->share[i].name, name) == 0)
         return i;
   }
   s->share = VG_(realloc)("tg.shares", s->share, (s->n + 1) * sizeof *s->share);
   s->share[s->n] = (Share){ .name = VG_(strdup)("tg.shares.name", name),
                             .label = label_of(s, name) };
   init(&s->share[s->n], results);
   if (s->all.lines == NULL) {
      init(&s->all, results);
      tg_lines_when_set_aside(set_aside);
   }
   return s->n++;
}

void tg_shares_settle(TgShares* s, const TgResults* results)
{
   if (s->n == 0)
      return;
   Share* p = &s->share[s->at_hand];
   if (s->has_all)
      tg_lines_each_recent(add_line, s);
   else
      tg_lines_each_line(add_line, s);
   s->has_all = True;
   if (results->options->calls)
      tg_arcs_each_arc(add_arc, s);
   add(p->straddles, s->all.straddles, results->straddles, TLB_N_USERS);
   add(p->unperformed, s->all.unperformed, results->unperformed, TLB_N_USERS);
   for (UInt i = 0; i < results->options->n_machines; i++)
      add(p->extra + i * TG_N_COSTS, s->all.extra + i * TG_N_COSTS, results->result[i].extra,
          TG_N_COSTS);
}

void tg_shares_go_to(TgShares* s, UInt number)
{
   s->at_hand = number;
}

void tg_shares_zero(TgShares* s, const TgResults* results)
{
   if (s->n == 0)
      return;
   const Share kept = s->share[s->at_hand];
   for (UInt i = 0; i < s->n; i++) {
      clear(&s->share[i]);
      if (i != s->at_hand) {
         VG_(free)(s->share[i].name);
         VG_(free)(s->share[i].label);
      }
   }
   clear(&s->all);
   VG_(memset)(s->of_line, 0, s->n_of_line * sizeof *s->of_line);
   s->share[0] = (Share){ .name = kept.name, .label = kept.label };
   init(&s->share[0], results);
   init(&s->all, results);
   s->n = 1;
   s->at_hand = 0;
}

/* --- Results --- */

UInt tg_shares_count(const TgShares* s)
{
   return s->n;
}

const HChar* tg_shares_name(const TgShares* s, UInt number)
{
   return s->share[number].name;
}

const HChar* tg_shares_at_hand(const TgShares* s)
{
   return s->share[s->at_hand].name;
}

const HChar* tg_shares_label(const TgShares* s)
{
   return s->share[s->at_hand].label;
}

HChar* tg_shares_file_name(const TgShares* s, UInt number, const HChar* name)
{
   const HChar* label = s->share[number].label;
   const HChar* before = words[s - sharing].before;
   const HChar* file = tg_path_file(name);
   const SizeT room = VG_(strlen)(name) + VG_(strlen)(before) + VG_(strlen)(label) + sizeof "__of_";
   HChar* whole = VG_(malloc)("tg.shares.file", room);
   const SizeT folder = (SizeT)(file - name);
   VG_(memcpy)(whole, name, folder);
   /* Not behind the name: KCachegrind would add the file to the whole, of which it is a part. */
   VG_(snprintf)(whole + folder, (Int)(room - folder), "%s_%s_of_%s", before, label, file);
   return whole;
}

void tg_shares_describe(const TgShares* s, TgFile* f, const HChar* name)
{
   for (UInt i = 0; i < s->n; i++) {
      HChar* file = tg_shares_file_name(s, i, name);
      tg_file_print(f, "desc: %s: ", words[s - sharing].each);
      tg_file_text(f, s->share[i].name);
      tg_file_print(f, "\ndesc: %s: ", words[s - sharing].file);
      tg_file_text(f, tg_path_file(file));
      tg_file_print(f, "\n");
      VG_(free)(file);
   }
}

void tg_shares_describe_one(const TgShares* s, TgFile* f, UInt number)
{
   tg_file_print(f, "desc: %s: ", words[s - sharing].one);
   tg_file_text(f, s->share[number].name);
   tg_file_print(f, "\n");
}

void tg_shares_record(const TgShares* s, UInt number, TgFile* f)
{
   tg_file_print(f, "@share %s %s ", words[s - sharing].before, s->share[number].label);
   tg_file_text(f, s->share[number].name);
   tg_file_print(f, "\n");
}

XArray* tg_shares_result(const TgShares* s, UInt number, UInt machine, TgResults* results,
                         TgResult* result)
{
   const Share* p = &s->share[number];
   XArray* own = VG_(newXA)(VG_(malloc), "tg.shares.own", VG_(free), sizeof(TgLine*));
   results->shares = s;
   results->share = number;
   VG_(memset)(results->straddles, 0, sizeof results->straddles);
   VG_(memset)(results->unperformed, 0, sizeof results->unperformed);
   VG_(memset)(result->extra, 0, sizeof result->extra);
   VG_(memcpy)(results->straddles, p->straddles, sizeof p->straddles);
   VG_(memcpy)(results->unperformed, p->unperformed, sizeof p->unperformed);
   VG_(memcpy)(result->extra, p->extra + machine * TG_N_COSTS, sizeof result->extra);
   Booked* b;
   VG_(OSetGen_ResetIter)(p->lines);
   while ((b = VG_(OSetGen_Next)(p->lines)) != NULL) {
      TgLine* costs = &b->costs;
      take_names(b);
      VG_(addToXA)(own, &costs);
   }
   tg_lines_sort(own);
   return own;
}

XArray* tg_shares_arcs(const TgShares* s, UInt number)
{
   const Share* p = &s->share[number];
   XArray* all = VG_(newXA)(VG_(malloc), "tg.shares.arcs", VG_(free), sizeof(TgLineArc));
   BookedArc* b;
   VG_(OSetGen_ResetIter)(p->arcs);
   while ((b = VG_(OSetGen_Next)(p->arcs)) != NULL) {
      const TgLineArc arc = { .from = tg_line_named(b->arc->from->line), .to = b->arc->to->line,
                              .calls = b->calls, .inclusive = b->inclusive };
      if (!tg_arcs_is_empty(&arc))
         VG_(addToXA)(all, &arc);
   }
   return tg_arcs_sum(all);
}
