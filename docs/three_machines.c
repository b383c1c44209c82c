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

enum { N = 3, PAGE_SHIFT = 12 };

static const char *const names[N] = { "skylake", "zen4", "cortex-a53" };

static void *take(size_t bytes, void *unused)
{
   void *const memory = malloc(bytes);
   (void)unused;
   if (memory == NULL)
      abort(); /* the library must not get NULL */
   return memory;
}

static void give(void *memory, void *unused)
{
   (void)unused;
   free(memory);
}

int main(void)
{
   static tlb_machine machine[N]; /* must stay while they are simulated */
   tlb_mmu_machine mmu[N];
   uint32_t wrong_line;
   tlb_reason why;
   for (unsigned i = 0; i < N; i++) {
      const tlb_builtin *const file = tlb_builtin_machine(names[i]);
      if (!tlb_machine_parse(file->text, file->length, &machine[i], &wrong_line, &why)) {
         fprintf(stderr, "%s:%" PRIu32 ": %s\n", names[i], wrong_line, why.text);
         return 1;
      }
      mmu[i] = (tlb_mmu_machine){ .machine = &machine[i] };
   }
   tlb_mmus *const mmus = tlb_mmus_new(&(tlb_mmus_options){
      .n = N, .machine = mmu, .page_shift = PAGE_SHIFT, .memory = { take, give, NULL } });

   char line[200], kind; /* I fetches, L loads, S stores, M loads and stores */
   uint64_t address;
   unsigned size;
   while (fgets(line, sizeof line, stdin) != NULL) {
      if (sscanf(line, " %c %" SCNx64 ",%u", &kind, &address, &size) == 3 && size >= 1
          && size <= 1u << PAGE_SHIFT)
         tlb_mmus_refer(mmus, kind == 'I' ? TLB_FETCH : kind == 'S' ? TLB_STORE : TLB_LOAD,
                        address, size);
   }

   printf("%-12s %12s %12s\n", "machine", "L1 misses", "page walks");
   for (unsigned i = 0; i < N; i++) {
      uint64_t cost[TLB_N_COSTS], misses = 0, walks = 0;
      for (unsigned user = 0; user < TLB_N_USERS; user++) {
         tlb_mmus_counts(mmus, i, (tlb_user)user, cost);
         misses += cost[TLB_COST_MISS_1];
         walks += cost[TLB_COST_WALKS];
      }
      printf("%-12s %12" PRIu64 " %12" PRIu64 "\n", names[i], misses, walks);
   }
   tlb_mmus_free(mmus);
   return 0;
}
