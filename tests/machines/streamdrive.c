/* streamdrive [--walks] FILE...: simulates streams of references on machine files.

   The files are read once, in this order; without --walks nothing is kept of page tables. On the
   standard input, for each case:
      MACHINE               its number, from 0
      USER ADDRESS SHIFT BLOCK
                            a reference: f, l or s; a page of 2^SHIFT bytes in
                            a block of 2^BLOCK bytes (pagemap.h)
      end
   For each case one line is printed, a hexadecimal digit for each reference:
   bit l is set if level l + 1 missed, bit 3 if it walked. Each case begins with
   empty arrays.
   Part of tlbgrind.  GPL-2.0-or-later; see COPYING. */

#define DRIVER "streamdrive"
#include "../drive.h"

#include "sim/tlb/hierarchy.h"

/* Returns whether there was an `end`. */
static int run_case(const tlb_machine *m)
{
   static const char users[] = "fls";
   static tlb_hierarchy h;
   void *const memory = take(tlb_hierarchy_bytes(m), NULL);
   char line[80], user;
   uint64_t address, now = 0;
   unsigned shift, block;
   int ended = 0;
   tlb_hierarchy_init(&h, m, m->base_page_shift, 0, memory, NULL, NULL, NULL);
   while (!ended && fgets(line, sizeof line, stdin) != NULL) {
      ended = strcmp(line, "end\n") == 0;
      if (ended
          || sscanf(line, "%c %" SCNu64 " %u %u", &user, &address, &shift,
                    &block) != 4)
         break;
      const tlb_reference r = {
         .page = address >> m->base_page_shift,
         .now = now += 2, /* walks have times of their own */
         .user = (uint8_t)(strchr(users, user) - users),
         .page_shift = (uint8_t)shift,
         .block_shift = (uint8_t)block,
      };
      const tlb_outcome out = tlb_translate(&h, &r);
      putchar("0123456789abcdef"[out.missed | (out.walked ? 8u : 0u)]);
   }
   putchar('\n');
   free(memory);
   return ended;
}

int main(int argc, char **argv)
{
   char line[80];
   int good = 1;
   tlb_machine *const machines = calloc((size_t)argc, sizeof *machines);
   if (machines == NULL)
      return 2;
   const int walks = argc > 1 && strcmp(argv[1], "--walks") == 0;
   const int n = argc - 1 - walks;
   for (int i = 0; i < n; i++) {
      read_machine(argv[1 + walks + i], &machines[i]);
      if (!walks)
         machines[i].n_walk_steps = 0;
   }
   while (good && fgets(line, sizeof line, stdin) != NULL) {
      const int which = atoi(line);
      good = which >= 0 && which < n && run_case(&machines[which]);
   }
   free(machines);
   return !good;
}
