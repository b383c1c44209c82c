/* The levels that are read out of curves: those of every machine that is shipped.
   Part of tlbgrind.  GPL-2.0-or-later; see COPYING. */

#include "measure_support.h"

static const char *const ask_name[] = { "loads", "stores", "fetches" };

/* How many pages of the base size the levels hold for that kind of reference, nearest first. */
static unsigned truth(const tlb_machine *m, TgAsk ask, double out[TLB_MAX_LEVELS])
{
   static const unsigned users[] = { TLB_LOADS, TLB_STORES, TLB_FETCHES };
   unsigned n = 0;
   for (unsigned level = 1; level <= tlb_machine_levels(m); level++) {
      double entries = 0;
      for (unsigned i = 0; i < m->n_arrays; i++) {
         const tlb_machine_array *const a = &m->array[i];
         if (a->level == level && (a->users & users[ask]) != 0
             && (a->g.page_sizes >> m->base_page_shift & 1) != 0)
            entries += a->g.entries * (a->g.paired ? 2.0 : 1.0);
      }
      if (entries > 0)
         out[n++] = entries;
   }
   return n;
}

typedef struct {
   unsigned asked, found, wrong, sure;
} tally;

/* One kind of reference of a machine: each of its levels must be among those read. */
static int detect(const tlb_machine *m, TgAsk ask, const support_costs *c, tally *sum)
{
   static support_curve pages, control;
   double known[TLB_MAX_LEVELS];
   const unsigned n = truth(m, ask, known);
   if (n == 0)
      return 1;
   const uint64_t most = (uint64_t)(known[n - 1] * 2.3) + 16;
   support_pages_curve(&pages, m, ask, 0, most, c);
   support_control(&control, most, c);
   TgSide side;
   tg_levels_read(&pages.curve, &control.curve, &side);
   int all = 1;
   char line[200] = "";
   for (unsigned i = 0; i < n; i++) {
      int found = 0;
      for (unsigned k = 0; k < side.n_levels; k++) {
         const TgFigure *const f = &side.level[k].entries;
         if (f->sure != TG_NOT_TOLD && f->value >= known[i] * 0.9 && f->value <= known[i] * 1.1)
            found = 1;
      }
      sum->asked++;
      sum->found += (unsigned)found;
      all &= found;
   }
   for (unsigned k = 0; k < side.n_levels; k++) {
      const TgFigure *const f = &side.level[k].entries;
      int right = 0;
      for (unsigned i = 0; i < n; i++)
         right |= f->value >= known[i] * 0.9 && f->value <= known[i] * 1.1;
      sum->wrong += f->sure != TG_NOT_TOLD && !right;
      sum->sure += f->sure == TG_SURE;
      snprintf(line + strlen(line), sizeof line - strlen(line), " %.0f%s", f->value,
               f->sure == TG_SURE ? "" : f->sure == TG_LIKELY ? "?" : "-");
   }
   if (!all || side.n_levels != n) {
      fprintf(stderr, "# %s, %s: has", m->name, ask_name[ask]);
      for (unsigned i = 0; i < n; i++)
         fprintf(stderr, " %.0f", known[i]);
      fprintf(stderr, "; read%s (%s)\n", line, side.why);
   }
   return all;
}

static void every_machine(void **state)
{
   (void)state;
   tally data = { 0, 0, 0, 0 }, fetches = { 0, 0, 0, 0 };
   unsigned told = 0;
   for (unsigned i = 0; i < tlb_n_builtins(); i++) {
      tlb_machine m;
      support_machine(i, &m);
      support_costs c = support_usual;
      c.seed = i + 1;
      int all = detect(&m, TG_ASK_LOAD, &c, &data);
      all &= detect(&m, TG_ASK_STORE, &c, &data);
      told += (unsigned)all;
      detect(&m, TG_ASK_FETCH, &c, &fetches);
   }
   fprintf(stderr, "# data: %u of %u levels, %u wrong, %u sure; fetches: %u of %u, %u wrong; "
           "all data levels of %u of %u machines\n",
           data.found, data.asked, data.wrong, data.sure, fetches.found, fetches.asked,
           fetches.wrong, told, tlb_n_builtins());
   assert_true(told * 100 >= tlb_n_builtins() * 93);
   assert_true((data.wrong + fetches.wrong) * 100 <= (data.asked + fetches.asked) * 2);
}

int main(void)
{
   const struct CMUnitTest tests[] = {
      CLAIM("of at least 93 in 100 machines all data levels are read within 10 %, through noise",
            every_machine),
   };
   return cmocka_run_group_tests_name("measure_levels", tests, NULL, NULL);
}
