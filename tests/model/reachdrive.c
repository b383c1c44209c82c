/* reachdrive: measures stack distances of cases from the standard input.
   Part of tlbgrind.  GPL-2.0-or-later; see COPYING.

   A case is lines of text:
      ask PERCENT    how many of the references to known pages are told all the
                     same; 100: no page is known to the caller
      PAGE           a reference, and more of them
      end
   For each case three lines are printed, for pages of 4K, 64K and 2M: the cold
   misses, and then ENTRIES:MISSES for the smallest array and for each larger
   one that misses less than the one before it. Anything else on the standard
   input ends it with status 1. */

#define DRIVER "reachdrive"
#include "../drive.h"

#include "sim/tlb/reach.h"

enum { MAX_KNOWN = TLB_REACH_SMALLEST };

/* What the caller knows. */
typedef struct {
   uint64_t time; /* 0: the place is free */
   uint64_t page;
} known_page;

static known_page known[MAX_KNOWN];

static void forget(uint64_t *time, void *opaque)
{
   (void)opaque;
   *time = 0;
}

static uint64_t draw(uint64_t *state)
{
   *state ^= *state << 13;
   *state ^= *state >> 7;
   *state ^= *state << 17;
   return *state;
}

static known_page *find(uint64_t page)
{
   for (known_page *k = known; k < known + MAX_KNOWN; k++) {
      if (k->time != 0 && k->page == page)
         return k;
   }
   return NULL;
}

static known_page *free_place(void)
{
   for (known_page *k = known; k < known + MAX_KNOWN; k++) {
      if (k->time == 0)
         return k;
   }
   return NULL;
}

static void reference(tlb_reach *r, uint64_t page, uint64_t now,
                      unsigned ask_percent, uint64_t *state)
{
   uint64_t time; /* of a page that is about to be known */
   known_page *k = find(page);
   if (ask_percent == 100) {
      tlb_reach_reference(r, page, now, NULL);
   } else if (k == NULL) {
      /* Only then is there a place for it. */
      tlb_reach_reference(r, page, now, &time);
      k = free_place();
      if (k == NULL)
         die("known pages", "more than eight");
      *k = (known_page){ now, page };
      tlb_reach_reference(r, page, now, &k->time);
   } else if (draw(state) % 100 < ask_percent) {
      tlb_reach_reference(r, page, now, &k->time);
   } else {
      k->time = now;
   }
}

static void print(const tlb_reach *r)
{
   static uint64_t misses[TLB_REACH_SIZES];
   for (int size = 0; size < TLB_REACH_CURVES; size++) {
      tlb_reach_misses(r, (tlb_reach_size)size, misses);
      printf("%" PRIu64, tlb_reach_cold(r, (tlb_reach_size)size));
      for (int i = 0; i < TLB_REACH_SIZES; i++) {
         if (i == 0 || misses[i] != misses[i - 1])
            printf(" %d:%" PRIu64, i + TLB_REACH_SMALLEST, misses[i]);
      }
      putchar('\n');
   }
}

/* Runs one case. Returns 0 at the end of the input. */
static int run_case(void)
{
   static tlb_reach r;
   char line[128];
   unsigned ask_percent = 100;
   uint64_t state = 88172645463325252u, now = 0, page;

   memset(known, 0, sizeof known);
   tlb_reach_init(&r, all_memory(), forget, NULL);
   while (fgets(line, sizeof line, stdin) != NULL) {
      if (sscanf(line, "ask %u", &ask_percent) == 1) {
      } else if (strcmp(line, "end\n") == 0) {
         print(&r);
         tlb_reach_destroy(&r);
         return 1;
      } else if (sscanf(line, "%" SCNu64, &page) == 1) {
         reference(&r, page, ++now, ask_percent, &state);
      } else {
         die(line, "not understood");
      }
   }
   if (now != 0)
      die("end of input", "the case is not ended");
   tlb_reach_destroy(&r);
   return 0;
}

int main(void)
{
   while (run_case()) {
   }
   return 0;
}
