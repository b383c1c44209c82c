/* Levels read out of published lists of latency by pages. They have a point for each power of two
   and one between, in whole cycles, so a level is told only where a step is higher than that.
   Part of tlbgrind.  GPL-2.0-or-later; see COPYING. */

#include "measure_support.h"

/* Facts of InstLatx64's files NewMemLat: one reference in each page (stride 4K), and for the caches
   alone the same bytes in steps of 256. Entries as CPUID or the vendor has them; `seen`: the step
   is higher than a cycle and does not lie where a cache of these bytes ends. */
typedef struct {
   const char *name;
   struct {
      unsigned entries;
      int seen;
   } known[3];
   struct {
      unsigned pages, cycles, caches;
   } point[24];
} published;

static const published some[] = {
   { "Conroe (Core 2 X6800)",
     { { 16, 0 }, { 256, 1 } },
     { { 2, 3, 3 },        { 3, 3, 3 },        { 4, 3, 3 },        { 6, 3, 3 },
       { 8, 3, 3 },        { 12, 14, 14 },     { 16, 14, 14 },     { 24, 16, 15 },
       { 32, 16, 15 },     { 48, 16, 15 },     { 64, 16, 16 },     { 96, 16, 16 },
       { 128, 16, 16 },    { 192, 16, 16 },    { 256, 16, 16 },    { 384, 23, 16 },
       { 512, 23, 16 },    { 768, 24, 17 },    { 1024, 25, 18 },   { 1536, 173, 166 },
       { 2048, 216, 206 }, { 3072, 240, 230 }, { 4096, 245, 235 }, { 6144, 249, 236 } } },
   { "Thuban (Phenom II X6)",
     { { 48, 0 }, { 512, 1 } },
     { { 4, 3, 3 },        { 6, 3, 3 },        { 8, 3, 3 },        { 12, 3, 3 },
       { 16, 3, 3 },       { 24, 18, 15 },     { 32, 17, 16 },     { 48, 18, 16 },
       { 64, 19, 16 },     { 96, 20, 16 },     { 128, 19, 17 },    { 192, 55, 53 },
       { 256, 55, 53 },    { 384, 55, 53 },    { 512, 56, 54 },    { 768, 74, 56 },
       { 1024, 80, 58 },   { 1536, 85, 59 },   { 2048, 211, 182 }, { 3072, 223, 191 },
       { 4096, 223, 192 }, { 6144, 223, 192 }, { 8192, 223, 191 }, { 12288, 223, 192 } } },
   { "ZX-E (KX-U6780A)",
     { { 96, 1 } },
     { { 2, 4, 4 },        { 3, 4, 4 },        { 4, 4, 4 },        { 6, 4, 4 },
       { 8, 4, 4 },        { 12, 34, 34 },     { 16, 34, 34 },     { 24, 34, 34 },
       { 32, 34, 34 },     { 48, 34, 34 },     { 64, 34, 34 },     { 96, 34, 34 },
       { 128, 45, 35 },    { 192, 46, 35 },    { 256, 46, 35 },    { 384, 46, 35 },
       { 512, 46, 35 },    { 768, 53, 35 },    { 1024, 151, 127 }, { 1536, 283, 260 },
       { 2048, 283, 260 }, { 3072, 283, 261 }, { 4096, 283, 260 }, { 6144, 285, 261 } } },
   { "Prescott (Pentium 4 3.20)",
     { { 64, 1 } },
     { { 2, 4, 4 },        { 3, 4, 4 },        { 4, 4, 4 },        { 6, 4, 28 },
       { 8, 4, 28 },       { 12, 28, 28 },     { 16, 28, 28 },     { 24, 28, 28 },
       { 32, 28, 28 },     { 48, 28, 28 },     { 64, 28, 28 },     { 96, 64, 31 },
       { 128, 65, 31 },    { 192, 64, 31 },    { 256, 65, 31 },    { 384, 65, 31 },
       { 512, 77, 41 },    { 768, 405, 345 },  { 1024, 406, 345 }, { 1536, 406, 345 },
       { 2048, 405, 346 }, { 3072, 408, 346 }, { 4096, 408, 346 }, { 6144, 409, 345 } } },
   { "Broadwell (Core M)",
     { { 64, 0 }, { 1536, 0 } },
     { { 2, 4, 4 },        { 3, 4, 4 },        { 4, 4, 4 },        { 6, 4, 4 },
       { 8, 4, 4 },        { 12, 12, 12 },     { 16, 12, 12 },     { 24, 12, 12 },
       { 32, 12, 12 },     { 48, 13, 12 },     { 64, 12, 12 },     { 96, 44, 37 },
       { 128, 45, 37 },    { 192, 45, 37 },    { 256, 45, 37 },    { 384, 45, 37 },
       { 512, 45, 43 },    { 768, 102, 50 },   { 1024, 81, 67 },   { 1536, 108, 86 },
       { 2048, 125, 95 },  { 3072, 142, 104 }, { 4096, 149, 108 }, { 6144, 156, 113 } } },
   { "Dhyana (Hygon C86 7185)",
     { { 64, 0 }, { 1536, 0 } },
     { { 2, 4, 4 },        { 3, 4, 4 },        { 4, 4, 4 },        { 6, 4, 4 },
       { 8, 4, 4 },        { 12, 13, 10 },     { 16, 13, 11 },     { 24, 13, 12 },
       { 32, 13, 12 },     { 48, 13, 12 },     { 64, 13, 12 },     { 96, 15, 13 },
       { 128, 17, 13 },    { 192, 44, 40 },    { 256, 46, 43 },    { 384, 45, 44 },
       { 512, 46, 45 },    { 768, 47, 46 },    { 1024, 47, 46 },   { 1536, 54, 48 },
       { 2048, 79, 76 },   { 3072, 211, 204 }, { 4096, 211, 211 }, { 6144, 217, 212 } } },
};

static void lists(void **state)
{
   (void)state;
   unsigned seen = 0, found = 0, wrong = 0, all = 0;
   for (unsigned i = 0; i < sizeof some / sizeof *some; i++) {
      static TgPoint point[2][24];
      TgCurve pages = { TG_CURVE_PAGES, TG_ASK_LOAD, 12, 0, 1, 0, point[0] };
      TgCurve control = { TG_CURVE_CONTROL, TG_ASK_LOAD, 12, 0, 1, 0, point[1] };
      TgSide side;
      for (unsigned k = 0; k < 24 && some[i].point[k].pages > 0; k++) {
         point[0][k] = (TgPoint){ some[i].point[k].pages, some[i].point[k].cycles, 0, 1 };
         point[1][k] = (TgPoint){ some[i].point[k].pages, some[i].point[k].caches, 0, 1 };
         pages.n = control.n = k + 1;
      }
      tg_levels_read(&pages, &control, &side);
      fprintf(stderr, "# %s:", some[i].name);
      for (unsigned l = 0; l < side.n_levels; l++) {
         const TgLevel *const level = &side.level[l];
         int right = 0;
         fprintf(stderr, " [%u, %u)", (unsigned)level->fits, (unsigned)level->misses);
         for (unsigned k = 0; k < 3; k++)
            right |= some[i].known[k].entries >= level->fits
                     && some[i].known[k].entries < level->misses;
         wrong += !right;
      }
      fprintf(stderr, " %s\n", side.why);
      for (unsigned k = 0; k < 3 && some[i].known[k].entries > 0; k++) {
         int told = 0;
         for (unsigned l = 0; l < side.n_levels; l++)
            told |= some[i].known[k].entries >= side.level[l].fits
                    && some[i].known[k].entries < side.level[l].misses;
         all++;
         seen += some[i].known[k].seen != 0;
         found += told && some[i].known[k].seen;
      }
   }
   fprintf(stderr, "# %u of %u levels with a step, of %u; %u steps are of no known level\n", found,
           seen, all, wrong);
   assert_int_equal(found, seen);
   assert_true(wrong <= 1);
}

int main(void)
{
   const struct CMUnitTest tests[] = {
      CLAIM("in published lists each level whose step stands clear of the caches' is told", lists),
   };
   return cmocka_run_group_tests_name("measure_public", tests, NULL, NULL);
}
