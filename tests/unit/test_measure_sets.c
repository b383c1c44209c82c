/* Ways, sets, index and replacement that are read out of strides: those of every machine that is
   shipped, and never wrong.
   Part of tlbgrind.  GPL-2.0-or-later; see COPYING. */

#include "measure_support.h"

#include "measure/overflow.h"
#include "measure/shapes.h"

enum { STRIDES = 14 };

/* The one array of that level that serves loads of base pages, or NULL if there are several. */
static const tlb_machine_array *array_of(const tlb_machine *m, unsigned level)
{
   const tlb_machine_array *found = NULL;
   for (unsigned i = 0; i < m->n_arrays; i++) {
      const tlb_machine_array *const a = &m->array[i];
      if (a->level != level || (a->users & TLB_LOADS) == 0
          || (a->g.page_sizes >> m->base_page_shift & 1) == 0)
         continue;
      if (found)
         return NULL;
      found = a;
   }
   return found;
}

static const char *policy_name(const tlb_geometry *g)
{
   static char text[32];
   tlb_policy_print(g, text, sizeof text);
   return text;
}

/* Behind the last entry: the part of the references that hits, though it would miss under LRU. */
static double stays(const tlb_machine *m, const tlb_machine_array *a)
{
   support_costs c = { { 0, 0, 0 }, 1, 0, 0, 1 };
   double sum = 0;
   unsigned n = 0;
   for (unsigned level = a->level; level < TLB_MAX_LEVELS; level++)
      c.hit[level] = 1;
   for (double part = 1.05; part < 1.7; part += 0.1, n++) {
      const double pages = floor(a->g.entries * part);
      sum += tg_lru_misses(pages, tlb_geometry_sets(&a->g), a->g.ways)
             - support_chase(m, TLB_LOAD, TLB_LOAD, (uint64_t)pages, 0, &c);
   }
   return sum / n;
}

typedef struct {
   unsigned levels, ways, wrong_ways, index, wrong_index, behind, wrong_behind;
} tally;

static void detect(const tlb_machine *m, const support_costs *c, tally *sum)
{
   static support_curve pages, control, stride[STRIDES];
   static TgCurve curve[STRIDES];
   const tlb_machine_array *array[TLB_MAX_LEVELS];
   unsigned n = 0;
   for (unsigned level = 1; level <= tlb_machine_levels(m); level++) {
      const tlb_machine_array *const a = array_of(m, level);
      if (a && !a->g.paired)
         array[n++] = a;
   }
   if (n == 0)
      return;
   const uint64_t most = array[n - 1]->g.entries * 23 / 10 + 16;
   support_pages_curve(&pages, m, TG_ASK_LOAD, 0, most, c);
   support_control(&control, most, c);
   for (unsigned k = 0; k < STRIDES; k++) {
      /* As many as might still fit there, if the stride halves the sets. */
      const uint64_t fewer = k < 4 ? most : most >> (k - 4 < 3 ? k - 4 : 3);
      support_pages_curve(&stride[k], m, TG_ASK_LOAD, k + 1, fewer < 160 ? 160 : fewer, c);
      curve[k] = stride[k].curve;
   }
   TgSide side;
   tg_levels_read(&pages.curve, &control.curve, &side);
   tg_sets_read(curve, STRIDES, &pages.curve, &control.curve, &side);
   for (unsigned l = 0; l < side.n_levels; l++) {
      TgLevel *const level = &side.level[l];
      tg_replacement_read(&pages.curve, &control.curve, level);
      const tlb_machine_array *a = NULL;
      for (unsigned i = 0; i < n; i++) {
         if (fabs(array[i]->g.entries - level->entries.value) <= 0.1 * array[i]->g.entries)
            a = array[i];
      }
      if (!a)
         continue;
      sum->levels++;
      if (level->ways.sure != TG_NOT_TOLD) {
         sum->ways++;
         const int full = level->ways.value == level->entries.value;
         const int wrong = a->g.ways == a->g.entries ? !full : level->ways.value != a->g.ways;
         sum->wrong_ways += (unsigned)wrong;
         if (wrong)
            fprintf(stderr, "# WRONG ways\n");
         if (level->index != TG_INDEX_NOT_TOLD) {
            sum->index++;
            sum->wrong_index += level->index_xor != a->g.index_xor;
         }
      }
      if (level->behind != TG_BEHIND_NOT_TOLD) {
         const double stay = stays(m, a);
         const int wrong = level->behind == TG_BEHIND_LRU_LIKE ? stay > 0.2 : stay < 0.1;
         sum->behind++;
         sum->wrong_behind += (unsigned)wrong;
         if (wrong)
            fprintf(stderr, "# WRONG behind: %.2f stay\n", stay);
      }
      fprintf(stderr, "# %-16s %-12s %5u x %-4u %-16s xor %u: ways %.0f (%s) index %u; %s\n",
              m->name, a->name, a->g.entries, a->g.ways, policy_name(&a->g), a->g.index_xor,
              level->ways.value, level->ways.why, level->index_xor,
              level->behind == TG_BEHIND_LRU_LIKE ? "lru-like"
              : level->behind == TG_BEHIND_SLOPE  ? "slope"
                                                  : level->behind_why);
   }
}

/* Every other one: many differ in what is not looked for here. */
static void every_other_machine(void **state)
{
   (void)state;
   tally sum = { 0, 0, 0, 0, 0, 0, 0 };
   for (unsigned i = 0; i < tlb_n_builtins(); i += 2) {
      tlb_machine m;
      support_machine(i, &m);
      support_costs c = support_usual;
      c.seed = i + 1;
      detect(&m, &c, &sum);
   }
   fprintf(stderr, "# %u levels: ways told of %u, %u wrong; index of %u, %u wrong; "
           "replacement of %u, %u wrong\n",
           sum.levels, sum.ways, sum.wrong_ways, sum.index, sum.wrong_index, sum.behind,
           sum.wrong_behind);
   assert_int_equal(sum.wrong_ways, 0);
   assert_int_equal(sum.wrong_index, 0);
   assert_int_equal(sum.wrong_behind, 0);
   assert_true(sum.ways * 2 >= sum.levels);
   assert_true(sum.behind * 2 >= sum.levels);
}

/* As many pages fit at each stride of a power of two; of more pages, other parts miss. */
static void shapes_that_strides_do_not_tell(void **state)
{
   (void)state;
   const TgShape six = { .entries = 96, .ways = 6, .sets = 16 };
   const TgShape two = { .entries = 96, .ways = 2, .sets = 48 };
   const TgShape by_xor = { .entries = 96, .ways = 6, .sets = 16, .xor = 4 };
   for (unsigned shift = 0; shift < 12; shift++)
      assert_int_equal(tg_shape_fits(&six, shift), tg_shape_fits(&two, shift));
   assert_int_equal(tg_shape_floor(&six), 6);
   assert_int_equal(tg_shape_fits(&by_xor, 4), 96);
   assert_int_equal(tg_shape_fits(&by_xor, 8), 6);
   /* 8 pages in one set of six ways; three, three and two in sets of two. */
   assert_true(tg_shape_can_miss(&six, 8, 4) == 1);
   assert_true(tg_shape_can_miss(&two, 8, 4) == 0.75);
   assert_true(tg_shape_can_miss(&six, 97, 0) == 7.0 / 97);
   assert_true(tg_shape_can_miss(&two, 97, 0) == 3.0 / 97);
   assert_true(tg_shape_can_miss(&six, 6, 4) == 0);
   assert_true(tg_shape_can_miss(&by_xor, 7, 8) == 1);
   /* Of each number up to the largest that is asked for, all shapes have room. */
   for (unsigned entries = 1; entries < 1 << 16; entries++) {
      static TgShape of[TG_SHAPES_OF];
      const unsigned n = tg_shapes_of(entries, of);
      assert_true(n >= 1 && n <= TG_SHAPES_OF && tg_shape_is_full(&of[0]));
   }
}

int main(void)
{
   const struct CMUnitTest tests[] = {
      CLAIM("ways, index and replacement of every other machine are right or not told",
            every_other_machine),
      CLAIM("what can miss tells shapes in which as many pages fit",
            shapes_that_strides_do_not_tell),
   };
   return cmocka_run_group_tests_name("measure_sets", tests, NULL, NULL);
}
