/* Fuzzes the reader of curves, and what is read out of them.
   Part of tlbgrind.  GPL-2.0-or-later; see COPYING. */

#include "fuzz.h"

#include <stdlib.h>
#include <string.h>

#include "measure/curves_csv.h"
#include "measure/facts.h"

const char *const fuzz_words[] = {
   "kind,ask,page_bytes,stride,chains,pages,cycles,spread,rounds\n",
   "pages,load,4096,1,1,", "control,load,4096,1,1,", "stride,load,4096,8,1,",
   "mixed,fetch,4096,1,1,", "overlap,load,4096,1,4,", "tables,load,4096,8,1,",
   "pages,fetch,4096,1,1,", "conflict,load,4096,64,100,",
   "pieces,load,2097152,1,1,", "pages,store,2097152,1,1,", "8,4.0,0.1,5\n", "64,4.1,0.1,5\n",
   "70,9.0,0.1,5\n", "100,9.1,0.1,5\n", "1024,40.5,0.1,5\n", ",", "\n", "0", "1e9", "nan", NULL
};

const char *const fuzz_more = NULL;

static TgFacts facts;
static char machine[TG_MEASURED_TEXT];

static void check_round_trip(const TgCurve *curve, size_t n)
{
   char why[TG_CSV_WHY];
   const size_t size = tg_curves_print(curve, n, NULL, 0) + 1;
   char *const text = malloc(size), *const again = malloc(size);
   if (!text || !again)
      abort();
   tg_curves_print(curve, n, text, size);
   size_t m = 0;
   TgCurve *const second = tg_curves_parse("x", text, size - 1, &m, why);
   if (!second || m != n || tg_curves_print(second, m, again, size) != size - 1
       || strcmp(text, again) != 0)
      fuzz_fail("curves are not read as they were printed");
   tg_curves_free(second, m);
   free(text);
   free(again);
}

void fuzz_one(char *data, size_t size)
{
   char why[TG_CSV_WHY];
   size_t n = 0;
   memset(why, 'x', sizeof why);
   TgCurve *const curve = tg_curves_parse("x", data, size, &n, why);
   if (!curve) {
      fuzz_check_reason(why, sizeof why);
      if (strncmp(why, "x:", 2) != 0)
         fuzz_fail("the reason names no line");
      return;
   }
   check_round_trip(curve, n);
   tlb_reason reason;
   memset(&facts, 0, sizeof facts);
   tg_facts_read(curve, n, &facts);
   tg_to_machine(&facts, NULL, machine, sizeof machine, &reason);
   tg_curves_free(curve, n);
}
