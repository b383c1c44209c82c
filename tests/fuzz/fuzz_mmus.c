/* Fuzzes MMUs of many machines (sim/mmu): bytes are the dice that make a case (tests/mmu), which is
   played against naive MMUs.
   Part of tlbgrind.  GPL-2.0-or-later; see COPYING. */

#include "fuzz.h"

#include "../mmu/random_case.h"

const char *const fuzz_words[] = { NULL };

const char *const fuzz_more = NULL;

/* More bytes are not looked at: some hundred events. Counts are compared behind every so many. */
enum { MOST = 1500, EVERY = 20 };

static mmu_case the_case;

void fuzz_one(char *data, size_t size)
{
   case_wrong wrong;
   unsigned at;
   dice d = dice_of_bytes(data, size < MOST ? size : MOST);
   random_case(&d, &the_case);
   if (case_play(&the_case, EVERY, &wrong, &at))
      return;
   case_print(&the_case, stderr);
   fuzz_fail(wrong.text);
}
