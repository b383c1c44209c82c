/* simdrive: runs the simulator on cases from the standard input.
   Part of tlbgrind.  GPL-2.0-or-later; see COPYING.

   A case is lines of text:
      tlbgrind-machine 1    a machine file, to its line `end`; one for each machine
      base SHIFT            base pages have 2^SHIFT bytes; default 12
      apart                 loads and stores note a time of their own each, even if no
                            machine needs that: one more that does is simulated
      asks                  what backs each page is asked from the start
      ask PERCENT           how many of the references that a short cut could
                            answer are asked of the simulator all the same, if
                            what backs pages is asked; 100: no short cuts at all,
                            and each machine alone
      USER PAGE CONTEXT PAGE-SHIFT BLOCK-SHIFT
                            a reference; USER f, l or s (fetch, load, store); no
                            context but 0 unless there are no short cuts
      change FIRST END      what backs base pages FIRST to END - 1 is another
                            from now on
      ask-now               what backs each page is asked from now on
      end
   For each case and machine one line is printed: a hexadecimal digit for each
   reference (bit l is set if level l + 1 missed, bit 3 if it walked), a blank, and
   the sum of cycles. Without memory of one case in the next. Anything else on the
   standard input ends it with status 1. */

#define DRIVER "simdrive"
#include "../drive.h"

#include "sim/mmu/mmu.h"

enum { MAX_MACHINES = 32, MAX_REFERENCES = 1 << 16, MAX_TEXT = 1 << 16 };

typedef struct {
   unsigned n;
   tlb_machine machine[MAX_MACHINES + 1];
   unsigned base_shift;
   bool apart;
   bool asks;
   unsigned ask_percent;
   uint64_t random;
   uint64_t now;
   bool started;
   tlb_mmus *mmus;                       /* with short cuts */
   tlb_hierarchy *h[MAX_MACHINES];       /* without */
   void *memory[MAX_MACHINES];
   tlb_backing backing;                  /* of the page that is referenced now */
   unsigned n_references;
   char digit[MAX_MACHINES][MAX_REFERENCES];
   uint64_t cycles[MAX_MACHINES];
} run;

static run the_run;

static unsigned draw(run *u)
{
   u->random ^= u->random << 13;
   u->random ^= u->random >> 7;
   u->random ^= u->random << 17;
   return (unsigned)(u->random % 100);
}

/* --- Start --- */

static tlb_backing backing_of(void *opaque, unsigned view, uint64_t address)
{
   const run *const u = opaque;
   (void)view, (void)address;
   return u->backing;
}

/* A machine whose loads and stores have arrays of their own. */
static void make_apart(run *u)
{
   tlb_machine *const m = &u->machine[u->n];
   *m = u->machine[0];
   m->n_arrays = 3;
   for (unsigned i = 0; i < 3; i++) {
      m->array[i] = u->machine[0].array[0];
      m->array[i].level = 1;
      m->array[i].users = i == 0 ? TLB_FETCHES : i == 1 ? TLB_LOADS : TLB_STORES;
      m->array[i].g = (tlb_geometry){ .entries = 2, .ways = 2, .policy = TLB_LRU,
                                      .page_sizes = UINT64_C(1) << u->base_shift };
      m->array[i].coalesce_shift = 0;
      m->array[i].splits = 1;
   }
   m->n_walk_steps = 0;
}

static void make_mmus(run *u)
{
   tlb_mmu_machine machine[MAX_MACHINES + 1];
   const unsigned n = u->n + u->apart;
   if (u->apart)
      make_apart(u);
   for (unsigned i = 0; i < n; i++)
      machine[i] = (tlb_mmu_machine){
         .machine = &u->machine[i], .asks = u->asks };
   u->mmus = tlb_mmus_new(&(tlb_mmus_options){
      .n = n, .machine = machine, .page_shift = u->base_shift, .memory = all_memory(),
      .backing = backing_of, .opaque = u });
}

static void make_alone(run *u, unsigned i)
{
   u->h[i] = take(sizeof *u->h[i], NULL);
   u->memory[i] = take(tlb_hierarchy_bytes(&u->machine[i]), NULL);
   tlb_hierarchy_init(u->h[i], &u->machine[i], u->base_shift, 0, u->memory[i], NULL, NULL,
                      NULL);
}

static void start(run *u)
{
   tlb_reason why;
   if (u->n == 0)
      die("case", "there is no machine");
   for (unsigned i = 0; i < u->n; i++) {
      if (!tlb_machine_holds(&u->machine[i], u->machine[i].base_page_shift, &why))
         die("machine", why.text);
      if (u->ask_percent == 100)
         make_alone(u, i);
   }
   if (u->ask_percent != 100)
      make_mmus(u);
   u->started = true;
}

static void finish(run *u)
{
   for (unsigned i = 0; i < u->n; i++) {
      printf("%.*s %" PRIu64 "\n", (int)u->n_references, u->digit[i], u->cycles[i]);
      free(u->h[i]);
      free(u->memory[i]);
   }
   if (u->mmus != NULL) {
      const char *const wrong = tlb_mmus_check(u->mmus);
      if (wrong != NULL)
         die("check", wrong);
      tlb_mmus_free(u->mmus);
   }
}

static void read_machine_text(run *u, const char *first_line)
{
   static char text[MAX_TEXT];
   size_t n = (size_t)snprintf(text, sizeof text, "%s", first_line);
   uint32_t line;
   tlb_reason why;
   if (u->n == MAX_MACHINES)
      die("case", "too many machines");
   while (n + 1 < sizeof text
          && fgets(text + n, (int)(sizeof text - n), stdin) != NULL) {
      const int ended = strcmp(text + n, "end\n") == 0;
      n += strlen(text + n);
      if (!ended)
         continue;
      if (!tlb_machine_parse(text, n, &u->machine[u->n], &line, &why)) {
         fprintf(stderr, "simdrive: machine:%" PRIu32 ": %s\n", line, why.text);
         exit(1);
      }
      u->n++;
      return;
   }
   die("machine", "it is too long or not ended");
}

/* --- References --- */

static void note(run *u, unsigned i, unsigned missed, bool walked, uint64_t cycles)
{
   u->digit[i][u->n_references] = "0123456789abcdef"[missed | (walked ? 8 : 0)];
   u->cycles[i] += cycles;
}

static void translate_alone(run *u, unsigned i, tlb_reference r)
{
   const uint8_t base = (uint8_t)u->machine[i].base_page_shift;
   r.page_shift = r.page_shift < base ? base : r.page_shift;
   const tlb_outcome o = tlb_translate(u->h[i], &r);
   note(u, i, o.missed, o.walked, o.cycles);
}

/* What a reference came to is what it adds to the counts. */
static void translate_all(run *u, const tlb_reference *r)
{
   uint64_t before[MAX_MACHINES][TLB_N_COSTS], after[TLB_N_COSTS];
   const uint64_t address = r->page << u->base_shift;
   if (r->context != 0)
      die("reference", "a context needs a run without short cuts");
   if (u->asks && draw(u) < u->ask_percent)
      tlb_mmus_changed(u->mmus, 0, address, address + (UINT64_C(1) << u->base_shift));
   u->backing = (tlb_backing){ r->page_shift, r->block_shift };
   for (unsigned i = 0; i < u->n; i++)
      tlb_mmus_counts(u->mmus, i, r->user, before[i]);
   tlb_mmus_refer(u->mmus, r->user, address, 1);
   for (unsigned i = 0; i < u->n; i++) {
      unsigned missed = 0;
      tlb_mmus_counts(u->mmus, i, r->user, after);
      for (unsigned level = 0; level < 3; level++)
         missed |= after[level] != before[i][level] ? 1u << level : 0;
      note(u, i, missed, after[TLB_COST_WALKS] != before[i][TLB_COST_WALKS],
           after[TLB_COST_CYCLES] - before[i][TLB_COST_CYCLES]);
   }
}

static void refer(run *u, char user, tlb_reference *r)
{
   if (!u->started)
      start(u);
   if (u->n_references == MAX_REFERENCES)
      die("reference", "too many in one case");
   r->now = u->now += 2;
   r->user = user == 'f' ? TLB_FETCH : user == 'l' ? TLB_LOAD : TLB_STORE;
   for (unsigned i = 0; u->mmus == NULL && i < u->n; i++)
      translate_alone(u, i, *r);
   if (u->mmus != NULL)
      translate_all(u, r);
   u->n_references++;
}

/* --- Cases --- */

static void begin(run *u)
{
   memset(u, 0, offsetof(run, digit));
   memset(u->cycles, 0, sizeof u->cycles);
   u->ask_percent = 100;
   u->base_shift = 12;
   u->random = 88172645463325252u;
}

/* Runs one case. Returns 0 at the end of the input. */
static int run_case(void)
{
   run *const u = &the_run;
   char line[128], user;
   unsigned context, page_shift, block_shift;
   uint64_t first, end;
   begin(u);
   while (fgets(line, sizeof line, stdin) != NULL) {
      tlb_reference r = { .page = 0 };
      if (strcmp(line, "end\n") == 0) {
         finish(u);
         return 1;
      }
      if (sscanf(line, "%c %" SCNu64 " %u %u %u", &user, &r.page, &context,
                 &page_shift, &block_shift) == 5
          && strchr("fls", user) != NULL) {
         r.context = (uint16_t)context;
         r.page_shift = (uint8_t)page_shift;
         r.block_shift = (uint8_t)block_shift;
         refer(u, user, &r);
      } else if (sscanf(line, "change %" SCNu64 " %" SCNu64, &first, &end)
                 == 2) {
         if (u->mmus != NULL)
            tlb_mmus_changed(u->mmus, 0, first << u->base_shift, end << u->base_shift);
      } else if (strcmp(line, "ask-now\n") == 0) {
         u->asks = true;
         if (u->mmus != NULL)
            tlb_mmus_ask(u->mmus);
      } else if (strncmp(line, "tlbgrind-machine ", 17) == 0) {
         read_machine_text(u, line);
      } else if (strcmp(line, "apart\n") == 0) {
         u->apart = true;
      } else if (strcmp(line, "asks\n") == 0) {
         u->asks = true;
      } else if (sscanf(line, "base %u", &u->base_shift) != 1
                 && sscanf(line, "ask %u", &u->ask_percent) != 1) {
         die(line, "not understood");
      }
   }
   if (u->n != 0)
      die("end of input", "the case is not ended");
   return 0;
}

int main(void)
{
   while (run_case()) {
   }
   return 0;
}
