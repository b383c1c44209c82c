/* three_machines -- the TLB misses of three processors in one stream of references.
   Part of tlbgrind.  GPL-2.0-or-later; see COPYING.

   The stream is what Valgrind's lackey prints; other lines are passed over:
      valgrind --tool=lackey --trace-mem=yes ls 2>&1 >/dev/null | ./three_machines
   Built with:
      cc -o three_machines three_machines.c $(pkg-config --cflags --libs tlbsim) */

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include <tlbsim.h>

enum { N = 3 };

static const char *const names[N] = { "skylake", "zen4", "cortex-a53" };
static tlb_machine machine[N]; /* what a processor is: must stay while it is simulated */
static tlb_hierarchy mmu[N];   /* its TLBs and what they hold */
static uint64_t references, misses[N], walks[N];

static void begin(int i)
{
   const tlb_builtin *const file = tlb_builtin_machine(names[i]);
   uint32_t line;
   tlb_reason why;
   if (!tlb_machine_parse(file->text, file->length, &machine[i], &line, &why)) {
      fprintf(stderr, "%s:%" PRIu32 ": %s\n", names[i], line, why.text);
      exit(1);
   }
   void *const memory = malloc(tlb_hierarchy_bytes(&machine[i]));
   if (memory == NULL)
      exit(1);
   tlb_hierarchy_init(&mmu[i], &machine[i], machine[i].base_page_shift, 0, memory, NULL, NULL,
                      NULL);
}

static void refer(int i, tlb_user user, uint64_t page)
{
   const uint8_t shift = (uint8_t)machine[i].base_page_shift;
   const tlb_reference r = { .page = page, .now = 2 * references, .user = (uint8_t)user,
                             .page_shift = shift, .block_shift = shift };
   const tlb_outcome outcome = tlb_translate(&mmu[i], &r);
   misses[i] += outcome.missed & 1;
   walks[i] += (uint64_t)outcome.walked;
}

int main(void)
{
   char line[200], kind; /* I fetches, L loads, S stores, M loads and stores */
   uint64_t address, size;
   for (int i = 0; i < N; i++)
      begin(i);
   while (fgets(line, sizeof line, stdin) != NULL) {
      if (sscanf(line, " %c %" SCNx64 ",%" SCNu64, &kind, &address, &size) != 3 || size == 0)
         continue;
      const tlb_user user = kind == 'I' ? TLB_FETCH : kind == 'S' ? TLB_STORE : TLB_LOAD;
      /* All three have base pages of 4K. What crosses to the next page is two references. */
      for (uint64_t page = address >> 12; page <= (address + size - 1) >> 12; page++) {
         references++;
         for (int i = 0; i < N; i++)
            refer(i, user, page);
      }
   }
   printf("%-12s %12s %12s %12s\n", "machine", "references", "L1 misses", "walks");
   for (int i = 0; i < N; i++)
      printf("%-12s %12" PRIu64 " %12" PRIu64 " %12" PRIu64 "\n", names[i], references, misses[i],
             walks[i]);
   return 0;
}
