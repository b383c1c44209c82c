/* From curves to facts, and from these to the machine that fits, to differences and to a machine
   file; and curves that show nothing.
   Part of tlbgrind.  GPL-2.0-or-later; see COPYING. */

#include "measure_support.h"

#include "measure/curves_csv.h"

enum { MOST_CURVES = 40 };

static support_curve room[MOST_CURVES];
static TgCurve all[MOST_CURVES];

static support_curve *next(size_t *n)
{
   assert_true(*n < MOST_CURVES);
   return &room[(*n)++];
}

/* A MIXED curve: loads of the first half, the other kind of the second. */
static void mixed_curve(support_curve *out, const tlb_machine *m, TgAsk ask, uint64_t most,
                        const support_costs *c)
{
   const tlb_user other = ask == TG_ASK_FETCH ? TLB_FETCH : TLB_STORE;
   uint64_t pages[SUPPORT_POINTS], seed = c->seed * 13 + (uint64_t)ask;
   memset(out, 0, sizeof *out);
   out->curve = (TgCurve){ TG_CURVE_MIXED, ask, m->base_page_shift, 0, 1,
                           support_pages(most, 20, pages), out->point };
   for (size_t i = 0; i < out->curve.n; i++) {
      out->point[i].pages = pages[i];
      support_noise(&out->point[i],
                    support_chase(m, TLB_LOAD, other, pages[i], 0, c)
                       + support_cache((double)pages[i]),
                    c, &seed);
   }
}

/* Walks that cost 20 cycles more from 32K of tables on, 100 more from 1M on. */
static void tables_curve(support_curve *out, const tlb_machine *m, const support_costs *c)
{
   uint64_t pages[SUPPORT_POINTS], seed = c->seed * 17;
   memset(out, 0, sizeof *out);
   out->curve = (TgCurve){ TG_CURVE_TABLES, TG_ASK_LOAD, m->base_page_shift, 3, 1,
                           support_pages(60000, 10, pages), out->point };
   for (size_t i = 0; i < out->curve.n; i++) {
      const double walk = pages[i] <= 512 ? 0 : pages[i] <= 16384 ? 20 : 100;
      const double cycles = pages[i] > 9000
                               ? c->walk
                               : support_chase(m, TLB_LOAD, TLB_LOAD, pages[i], 3, c);
      out->point[i].pages = pages[i];
      support_noise(&out->point[i], cycles >= c->walk * 0.95 ? cycles + walk : cycles, c, &seed);
   }
}

/* The same pages by several chains: what is beyond a hit costs a part of it each. */
static void overlap_curve(support_curve *out, const tlb_machine *m, unsigned chains, double part,
                          uint64_t most, const support_costs *c)
{
   support_costs quick = *c;
   for (unsigned l = 1; l < TLB_MAX_LEVELS; l++)
      quick.hit[l] = c->hit[0] + (c->hit[l] - c->hit[0]) * part;
   quick.walk = c->hit[0] + (c->walk - c->hit[0]) * part;
   support_pages_curve(out, m, TG_ASK_LOAD, 0, most, &quick);
   out->curve.kind = TG_CURVE_OVERLAP;
   out->curve.chains = chains;
}

/* All that is measured of a machine. */
static size_t measure(const tlb_machine *m, uint64_t most, const support_costs *c)
{
   size_t n = 0;
   for (unsigned ask = 0; ask < TG_N_ASK; ask++)
      support_pages_curve(next(&n), m, (TgAsk)ask, 0, most, c);
   support_control(next(&n), 40000, c);
   for (unsigned stride = 1; stride <= 14; stride++)
      support_pages_curve(next(&n), m, TG_ASK_LOAD, stride, stride < 4 ? most : 400, c);
   mixed_curve(next(&n), m, TG_ASK_FETCH, most, c);
   tables_curve(next(&n), m, c);
   overlap_curve(next(&n), m, 1, 1, most, c);
   overlap_curve(next(&n), m, 2, 0.6, most, c);
   overlap_curve(next(&n), m, 4, 0.4, most, c);
   for (size_t i = 0; i < n; i++)
      all[i] = room[i].curve;
   return n;
}

static tlb_machine machine;

static void shipped(const char *name)
{
   const tlb_builtin *const b = tlb_builtin_machine(name);
   uint32_t line;
   tlb_reason why;
   assert_true(b && tlb_machine_parse(b->text, b->length, &machine, &line, &why));
}

static TgFacts facts;

static void read_facts(const char *name, uint64_t most)
{
   support_costs c = support_usual;
   shipped(name);
   memset(&facts, 0, sizeof facts);
   snprintf(facts.isa, sizeof facts.isa, "%s", machine.isa);
   tg_facts_read(all, measure(&machine, most, &c), &facts);
}

static void which(void **state)
{
   static const struct {
      const char *name;
      uint64_t most;
   } some[] = { { "skylake", 3600 }, { "haswell", 2400 }, { "core2", 600 }, { "zen4", 7000 },
                { "k8", 1200 }, { "cortex-a72", 2400 }, { "apple-m1", 7000 } };
   (void)state;
   for (unsigned i = 0; i < sizeof some / sizeof *some; i++) {
      TgFit fit[TG_MAX_FITS];
      read_facts(some[i].name, some[i].most);
      const unsigned n = tg_which(&facts, fit), ties = tg_which_ties(fit, n);
      int found = 0;
      fprintf(stderr, "# %s:", some[i].name);
      for (unsigned k = 0; k < ties; k++) {
         found |= strcmp(fit[k].name, some[i].name) == 0;
         fprintf(stderr, " %s %.3f (%u of %u)", fit[k].name, fit[k].score, fit[k].agree,
                 fit[k].compared);
      }
      fprintf(stderr, "\n");
      assert_true(n > 0 && ties >= 1 && found);
   }
}

static void walks(void **state)
{
   (void)state;
   read_facts("skylake", 3600);
   assert_int_equal(facts.n_sides, 3);
   assert_int_equal(facts.n_caches, 2);
   assert_true(facts.cache[0].bytes.value == 512 * 64);
   assert_true(facts.cache[1].bytes.value == 16384 * 64);
   assert_int_equal(facts.n_walks, 1);
   const TgWalkFacts *const w = &facts.walk[0];
   assert_true(fabs(w->near_cycles.value - 36) < 3);
   assert_int_equal(w->n_behind, 3);
   assert_true(w->behind[0].value == 0);
   assert_true(fabs(w->behind[1].value - 20) < 3);
   assert_true(fabs(w->behind[2].value - 100) < 6);
   assert_true(fabs(w->overlap.value - 2.5) < 0.35);
   assert_true(w->n_costs >= 5);
   const TgSide *const loads = tg_facts_side(&facts, TG_ASK_LOAD, 12);
   assert_true(loads && loads->n_levels == 2);
   assert_true(fabs(loads->level[1].overlap.value - 2.5) < 0.6);
}

static void shares(void **state)
{
   (void)state;
   read_facts("skylake", 3600);
   unsigned told = 0;
   for (unsigned i = 0; i < facts.n_shares; i++) {
      const TgShareFacts *const s = &facts.share[i];
      fprintf(stderr, "# level %u: %u, %s\n", s->level, s->share, s->why);
      if (s->share != TG_SHARE_NOT_TOLD) {
         assert_int_equal(s->share, s->level == 1 ? TG_SHARE_YES : TG_SHARE_NO);
         told++;
      }
   }
   assert_int_equal(told, 2);
   read_facts("zen4", 7000);
   for (unsigned i = 0; i < facts.n_shares; i++)
      assert_int_not_equal(facts.share[i].share, TG_SHARE_YES);
}

static void against(void **state)
{
   (void)state;
   TgDifference d[TG_MAX_DIFFERENCES];
   read_facts("skylake", 3600);
   unsigned n = tg_against(&facts, &machine, d), agree = 0;
   for (unsigned i = 0; i < n; i++) {
      fprintf(stderr, "# %-40s %-10s %-12s %u\n", d[i].what, d[i].measured, d[i].machine,
              d[i].verdict);
      agree += d[i].verdict == TG_AGREES;
      /* The costs are made up: those of hits happen to be near. */
      if (!strstr(d[i].what, "cycles"))
         assert_int_not_equal(d[i].verdict, TG_DIFFERS);
   }
   assert_true(agree >= 8);
   shipped("core2");
   n = tg_against(&facts, &machine, d);
   unsigned differ = 0;
   for (unsigned i = 0; i < n; i++)
      differ += d[i].verdict == TG_DIFFERS;
   assert_true(differ >= 4);
}

static void machine_file(void **state)
{
   (void)state;
   static const char *const some[] = { "skylake", "zen4", "cortex-a72", "core2" };
   static char text[TG_MEASURED_TEXT];
   for (unsigned i = 0; i < sizeof some / sizeof *some; i++) {
      tlb_machine read;
      tlb_reason why = { "" };
      uint32_t line = 0;
      read_facts(some[i], strcmp(some[i], "zen4") == 0 ? 7000 : 3600);
      if (!tg_to_machine(&facts, NULL, text, sizeof text, &why))
         fail_msg("%s: %s", some[i], why.text);
      if (i == 0)
         fprintf(stderr, "%s", text);
      if (!tlb_machine_parse(text, strlen(text), &read, &line, &why))
         fail_msg("%s:%u: %s", some[i], line, why.text);
      assert_true(strstr(text, "measured: a step from") != NULL);
      assert_true(read.n_caches == 2 && read.walk_overlap >= 20);
      assert_true(tlb_machine_levels(&read) == tlb_machine_levels(&machine));
   }
}

/* --- what else is known --- */

static const tlb_machine_array *array_of(const tlb_machine *m, unsigned level, unsigned user)
{
   for (unsigned i = 0; i < m->n_arrays; i++) {
      if (m->array[i].level == level && (m->array[i].users & user) != 0)
         return &m->array[i];
   }
   fail_msg("no array of level %u", level);
   return NULL;
}

static tlb_machine written(const tlb_machine *known)
{
   static char text[TG_MEASURED_TEXT];
   tlb_machine read;
   tlb_reason why = { "" };
   uint32_t line = 0;
   if (!tg_to_machine(&facts, known, text, sizeof text, &why))
      fail_msg("%s", why.text);
   if (!tlb_machine_parse(text, strlen(text), &read, &line, &why))
      fail_msg("%u: %s", line, why.text);
   assert_int_equal(read.confidence, TLB_MEASURED);
   return read;
}

/* Half of the rounds take 150 cycles more where the tables are in the second cache. */
static void caches_that_others_use(void **state)
{
   (void)state;
   support_costs c = support_usual;
   read_facts("skylake", 3600);
   const tlb_machine quiet = written(NULL);
   const size_t n = measure(&machine, 3600, &c);
   for (size_t i = 0; i < n; i++) {
      for (size_t k = 0; all[i].kind == TG_CURVE_TABLES && k < all[i].n; k++) {
         TgPoint *const p = &all[i].point[k];
         p->spread = p->pages > 512 && p->pages <= 16384 ? 150 : 0;
      }
   }
   memset(&facts, 0, sizeof facts);
   snprintf(facts.isa, sizeof facts.isa, "%s", machine.isa);
   tg_facts_read(all, n, &facts);
   const TgWalkFacts *const w = &facts.walk[0];
   /* The noise of one point is in it, which the least is freed of. */
   assert_true(fabs(w->behind[1].value - 20) < 3 && fabs(w->usual[1] - 170) < 8);
   assert_non_null(strstr(w->behind[1].why, " or more in half of the rounds"));
   assert_null(strstr(w->behind[2].why, "half of the rounds"));
   /* The lower ends stay; what is farther away costs no less. */
   const tlb_machine busy = written(NULL);
   assert_int_equal(busy.cache[1].cycles, (uint32_t)round(w->usual[1]));
   assert_int_equal(busy.cache[1].cycles - busy.cache[1].spread,
                    quiet.cache[1].cycles - quiet.cache[1].spread);
   assert_int_equal(busy.memory.cycles, busy.cache[1].cycles);
   assert_int_equal(busy.memory.cycles - busy.memory.spread,
                    quiet.memory.cycles - quiet.memory.spread);
   assert_true(quiet.cache[1].cycles < 25 && quiet.memory.cycles > 90);
}

static TgLevel *loads_level(unsigned level)
{
   for (unsigned i = 0; i < facts.n_sides; i++) {
      if (facts.side[i].ask == TG_ASK_LOAD)
         return &facts.side[i].level[level];
   }
   fail_msg("no loads");
   return NULL;
}

static void unsure_levels(void **state)
{
   (void)state;
   read_facts("zen4", 7000);
   TgLevel *const second = loads_level(1);
   second->entries.sure = TG_LIKELY;
   second->entries.value = 2816;
   const tlb_machine alone = written(NULL);
   assert_true(array_of(&alone, 2, TLB_LOADS)->entries_unknown);
   assert_true(array_of(&alone, 2, TLB_LOADS)->ways_unknown);
   assert_false(array_of(&alone, 1, TLB_LOADS)->entries_unknown);
   /* What is known goes before what is likely. */
   const tlb_machine with = written(&machine);
   assert_int_equal(array_of(&with, 2, TLB_LOADS)->g.entries, 3072);
   assert_false(array_of(&with, 2, TLB_LOADS)->entries_unknown);
   assert_int_equal(tlb_machine_levels(&with), 2);
   assert_int_equal(with.n_walk_steps, machine.n_walk_steps);
   assert_false(with.walk_cycles_unknown);
   /* What is sure and differs does not. */
   second->entries.sure = TG_SURE;
   second->entries.value = 2048;
   second->ways.sure = TG_NOT_TOLD;
   const tlb_machine differs = written(&machine);
   assert_int_equal(array_of(&differs, 2, TLB_LOADS)->g.entries, 2048);
   assert_false(array_of(&differs, 2, TLB_LOADS)->entries_unknown);
   assert_true(array_of(&differs, 2, TLB_LOADS)->ways_unknown);
}

static void levels_that_are_not_there(void **state)
{
   (void)state;
   read_facts("zen4", 7000);
   for (unsigned i = 0; i < facts.n_sides; i++) {
      TgSide *const s = &facts.side[i];
      if (s->ask == TG_ASK_FETCH) {
         s->n_levels = 3;
         s->level[1] = s->level[2] = s->level[0];
         s->level[1].fits = 250;
         s->level[2].fits = 773;
         s->level[1].entries.sure = s->level[2].entries.sure = TG_NOT_TOLD;
      }
   }
   const tlb_machine with = written(&machine), alone = written(NULL);
   assert_int_equal(array_of(&with, 2, TLB_FETCHES)->g.entries, 512);
   assert_int_equal(tlb_machine_levels(&with), 2);
   for (unsigned i = 0; i < alone.n_arrays; i++)
      assert_true(alone.array[i].level == 1 || (alone.array[i].users & TLB_FETCHES) == 0);
}

/* Lines in base pages' bytes of large pages: misses as in base pages, or none. */
static void pieces(void **state)
{
   (void)state;
   for (int whole = 0; whole < 2; whole++) {
      support_costs c = support_usual;
      shipped("zen4");
      size_t n = measure(&machine, 7000, &c);
      support_curve *const more = next(&n);
      if (whole)
         support_control(more, 7000, &c);
      else
         support_pages_curve(more, &machine, TG_ASK_LOAD, 0, 7000, &c);
      more->curve.kind = TG_CURVE_PIECES;
      more->curve.page_shift = 21;
      all[n - 1] = more->curve;
      memset(&facts, 0, sizeof facts);
      snprintf(facts.isa, sizeof facts.isa, "%s", machine.isa);
      tg_facts_read(all, n, &facts);
      assert_int_equal(facts.n_large, 1);
      fprintf(stderr, "# %s\n", facts.large[0].why);
      assert_int_equal(facts.large[0].whole, whole ? TG_WHOLE : TG_IN_PIECES);
      assert_int_equal(facts.large[0].walk_cycles.sure == TG_NOT_TOLD, whole);
      const tlb_machine m = written(&machine);
      for (unsigned i = 0; i < m.n_arrays && !whole; i++) {
         assert_true(m.array[i].g.page_sizes == 4096);
         assert_true(m.array[i].splits && !m.array[i].splits_unknown);
      }
      assert_int_equal(m.host_page_shift, whole ? 0 : 12);
      if (!whole) {
         assert_int_equal(tlb_machine_walk_cycles(&m, 12), m.walk_cycles);
         facts.large[0].walk_cycles.value = m.walk_cycles - 9;
         const tlb_machine shorter = written(&machine);
         assert_int_equal(tlb_machine_walk_cycles(&shorter, 21), m.walk_cycles - 9);
         assert_int_equal(shorter.walk[shorter.n_walk_steps - 1].cycles, 9);
         facts.large[0].walk_cycles.sure = TG_NOT_TOLD;
         const tlb_machine unknown = written(&machine);
         assert_int_equal(tlb_machine_walk_cycles(&unknown, 21), m.walk_cycles);
      }
      assert_true(!whole || (array_of(&m, 1, TLB_LOADS)->g.page_sizes & 1u << 21) != 0);
   }
}

/* Sizes that the system tells are facts; those of a curve that rises slowly are none. */
static void caches(void **state)
{
   (void)state;
   static TgPoint point[60];
   TgCacheFacts c[TG_MAX_CACHES];
   const TgGivenCache given[] = { { 32 << 10, 8, 64 }, { 1 << 20, 8, 64 }, { 32 << 20, 16, 64 } };
   TgCurve curve = { TG_CURVE_CONTROL, TG_ASK_LOAD, 12, 0, 1, 60, point };
   for (unsigned i = 0; i < 60; i++) {
      const double lines = 8 * pow(2, i / 4.0);
      /* From half of the second cache to four times its size. */
      const double part = fmin(1, fmax(0, log2(lines / 8192) / 3));
      point[i] = (TgPoint){ (uint64_t)lines, lines <= 512 ? 4 : 14 + 36 * part, 0.1, 6 };
   }
   unsigned n = tg_caches_read(&curve, 64, NULL, 0, c);
   assert_int_equal(n, 2);
   assert_true(c[0].bytes.sure != TG_NOT_TOLD && c[0].bytes.value == 32 << 10);
   assert_int_equal(c[1].bytes.sure, TG_NOT_TOLD);
   n = tg_caches_read(&curve, 64, given, 3, c);
   assert_int_equal(n, 3);
   for (unsigned i = 0; i < 3; i++) {
      assert_int_equal(c[i].bytes.sure, TG_SURE);
      assert_true(c[i].bytes.value == (double)given[i].bytes);
      assert_true(c[i].found.sure != TG_NOT_TOLD);
   }
   assert_true(fabs(c[0].found.value - 4) < 0.2 && fabs(c[1].found.value - 14) < 0.5);
   assert_true(c[2].found.value > 30 && c[2].beyond.sure == TG_NOT_TOLD);
   /* Without a curve their sizes are still known, and nothing of their cycles. */
   n = tg_caches_read(NULL, 64, given, 3, c);
   assert_int_equal(n, 3);
   assert_true(c[1].bytes.sure == TG_SURE && c[1].found.sure == TG_NOT_TOLD);
}

/* --- CSV --- */

static void round_trip(void **state)
{
   (void)state;
   support_costs c = support_usual;
   char why[TG_CSV_WHY];
   shipped("core2");
   const size_t n = measure(&machine, 600, &c), size = tg_curves_print(all, n, NULL, 0) + 1;
   char *const text = malloc(size), *const again = malloc(size);
   assert_true(text && again);
   assert_int_equal(tg_curves_print(all, n, text, size), size - 1);
   size_t read = 0;
   TgCurve *const curve = tg_curves_parse("x.csv", text, size - 1, &read, why);
   assert_non_null(curve);
   assert_int_equal(read, n);
   assert_int_equal(tg_curves_print(curve, read, again, size), size - 1);
   assert_string_equal(text, again);
   tg_curves_free(curve, read);
   free(text);
   free(again);
}

static void refused(void **state)
{
   (void)state;
#define HEAD "kind,ask,page_bytes,stride,chains,pages,cycles,spread,rounds\n"
   static const char *const wrong[][2] = {
      { "", "x:1: no curves" },
      { HEAD, "x:1: no curves" },
      { "kind,ask\n", "x:1: not the heading of curves" },
      { HEAD "pages,load,4096,1,1,2,3.0,0.1\n", "x:2: 8 columns where 9 belong" },
      { HEAD "page,load,4096,1,1,2,3.0,0.1,5\n", "x:2: kind 'page' is none of" },
      { HEAD "pages,read,4096,1,1,2,3.0,0.1,5\n", "x:2: ask 'read' is none of" },
      { HEAD "pages,load,4095,1,1,2,3.0,0.1,5\n", "x:2: page_bytes '4095' is not a power of two" },
      { HEAD "pages,load,4096,0,1,2,3.0,0.1,5\n", "x:2: stride '0' is not a power of two" },
      { HEAD "pages,load,4096,1,-1,2,3.0,0.1,5\n", "x:2: chains '-1' is not a number up to" },
      { HEAD "pages,load,4096,1,1,2,nan,0.1,5\n", "x:2: cycles 'nan' is not a number of cycles" },
      { HEAD "pages,load,4096,1,1,2,3.0,1e5,5\n", "x:2: spread '1e5' is not a number of cycles" },
      { HEAD "pages,load,4096,1,1,2,3.0,0.1,5\npages,load,4096,1,1,2,3.0,0.1,5\n",
        "x:3: 2 pages come after 2" },
      { HEAD "pages,load,4096,1,1,2,3,0,5\npages,store,4096,1,1,2,3,0,5\n"
             "pages,load,4096,1,1,3,3,0,5\n",
        "x:4: the curve's other points stand further up" },
   };
   for (unsigned i = 0; i < sizeof wrong / sizeof *wrong; i++) {
      char why[TG_CSV_WHY] = "";
      size_t n;
      assert_null(tg_curves_parse("x", wrong[i][0], strlen(wrong[i][0]), &n, why));
      if (strncmp(why, wrong[i][1], strlen(wrong[i][1])) != 0)
         fail_msg("'%s' where '%s' belongs", why, wrong[i][1]);
   }
}

/* --- what shows nothing --- */

static void told_nothing(const TgCurve *curve, size_t n)
{
   static char text[TG_MEASURED_TEXT];
   TgFit fit[TG_MAX_FITS];
   TgDifference d[TG_MAX_DIFFERENCES];
   tlb_reason why = { "" };
   memset(&facts, 0, sizeof facts);
   tg_facts_read(curve, n, &facts);
   for (unsigned i = 0; i < facts.n_sides; i++) {
      assert_int_equal(facts.side[i].n_levels, 0);
      assert_int_equal(facts.side[i].sure, TG_NOT_TOLD);
      assert_true(facts.side[i].why[0] != '\0');
   }
   for (unsigned i = 0; i < facts.n_walks; i++) {
      assert_int_equal(facts.walk[i].near_cycles.sure, TG_NOT_TOLD);
      assert_int_equal(facts.walk[i].overlap.sure, TG_NOT_TOLD);
   }
   assert_int_equal(tg_which(&facts, fit), 0);
   shipped("zen4");
   const unsigned rows = tg_against(&facts, &machine, d);
   for (unsigned i = 0; i < rows; i++)
      assert_int_equal(d[i].verdict, TG_NOT_SEEN);
   assert_false(tg_to_machine(&facts, NULL, text, sizeof text, &why));
   assert_true(why.text[0] != '\0');
}

static void nothing(void **state)
{
   (void)state;
   static TgPoint point[3][200];
   TgCurve curve[3];
   told_nothing(NULL, 0);
   for (unsigned i = 0; i < 3; i++)
      curve[i] = (TgCurve){ i == 0 ? TG_CURVE_PAGES : i == 1 ? TG_CURVE_CONTROL : TG_CURVE_TABLES,
                            TG_ASK_LOAD, 12, 0, 1, 0, point[i] };
   told_nothing(curve, 3); /* empty */
   point[0][0] = (TgPoint){ 8, 3, 0, 5 };
   curve[0].n = 1;
   told_nothing(curve, 3); /* one point */
   for (unsigned i = 0; i < 3; i++) {
      curve[i].n = 200;
      for (unsigned k = 0; k < 200; k++)
         point[i][k] = (TgPoint){ 2 + k * k, 5, 0, 5 };
   }
   told_nothing(curve, 3); /* all the same: an emulator */
   uint64_t seed = 5;
   for (unsigned k = 0; k < 200; k++)
      point[0][k].cycles = 5 + 60 * support_random(&seed);
   told_nothing(curve, 3); /* nothing but noise */
   for (unsigned k = 0; k < 200; k++)
      point[0][k].cycles = 200 - k;
   told_nothing(curve, 3); /* ever faster */
   for (unsigned k = 0; k < 200; k++)
      point[0][k] = (TgPoint){ k % 7, k % 3 == 0 ? -1 : k % 3 == 1 ? 0 : NAN, NAN, 0 };
   told_nothing(curve, 3); /* no cycles at all */
   for (unsigned k = 0; k < 200; k++)
      point[0][k] = (TgPoint){ UINT64_MAX - k, 1e300, -1, UINT32_MAX };
   told_nothing(curve, 3);
   for (unsigned k = 0; k < 200; k++)
      point[0][k] = (TgPoint){ 2 + k, 4 + 0.001 * k, 0.1, 5 };
   told_nothing(curve, 3); /* a slow drift */
}

int main(void)
{
   const struct CMUnitTest tests[] = {
      CLAIM("the machine that was measured fits best, or as well as others", which),
      CLAIM("walks cost more as tables outgrow caches, and overlap", walks),
      CLAIM("a level is shared if half of the pages fill it as all do", shares),
      CLAIM("a machine agrees with what was measured of it, another differs", against),
      CLAIM("facts become a machine file that is read", machine_file),
      CLAIM("caches that others use cost up to what half of the rounds took",
            caches_that_others_use),
      CLAIM("what is not sure is assumed, or taken from another description", unsure_levels),
      CLAIM("levels that only time shows are left out", levels_that_are_not_there),
      CLAIM("large pages in pieces make arrays of base pages", pieces),
      CLAIM("caches have the sizes that the system tells", caches),
      CLAIM("curves that are written are read again, to the byte", round_trip),
      CLAIM("what is no curve is refused with its line", refused),
      CLAIM("curves that show nothing tell nothing", nothing),
   };
   return cmocka_run_group_tests_name("measure_facts", tests, NULL, NULL);
}
