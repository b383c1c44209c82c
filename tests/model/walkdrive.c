/* walkdrive: walks page tables for cases from the standard input.
   Part of tlbgrind.  GPL-2.0-or-later; see COPYING.

   A case is lines of text:
      last GEOMETRY         there is a second level, of this array
      nested                a host lies below
      step SHIFT uncached   a step of the walk, from the root down, ...
      step SHIFT last       ... whose entries stand in the array
      step SHIFT joined     ... or in the cache of a step above
      step SHIFT GEOMETRY   ... or in a cache of their own
      walk ADDRESS SHIFT CONTEXT   a walk for a page of 2^SHIFT bytes
      page NUMBER CONTEXT   a reference to the array
      end
   For each case one line is printed, a number for each walk and for each
   reference: how many references the walk takes, whether the array misses.
   Anything else on the standard input ends it with status 1. */

#define DRIVER "walkdrive"
#include "../drive.h"

#include "sim/tlb/walk.h"

static void read_geometry(const char *text, tlb_geometry *g)
{
   tlb_reason why;
   if (!tlb_geometry_parse(text, TLB_MIN_PAGE_SHIFT, g, &why))
      die(text, why.text);
}

static void add_step(tlb_machine *m, unsigned shift, const char *what)
{
   if (m->n_walk_steps == TLB_MAX_WALK_LEVELS)
      die(what, "too many steps");
   tlb_walk_step *const s = &m->walk[m->n_walk_steps++];
   s->shift = shift;
   s->cached = strcmp(what, "uncached") != 0;
   s->in_last_level = strcmp(what, "last") == 0;
   s->joined = strcmp(what, "joined") == 0;
   if (s->cached && !s->in_last_level && !s->joined)
      read_geometry(what, &s->g);
}

static void add_array(tlb_machine *m, unsigned level, const char *geometry)
{
   tlb_machine_array *const a = &m->array[m->n_arrays++];
   a->level = level;
   a->users = TLB_FETCHES | TLB_LOADS | TLB_STORES;
   read_geometry(geometry, &a->g);
}

typedef struct {
   tlb_machine m;
   int nested;
   int started;
   tlb_walker w;
   tlb_array last;
   void *memory[2];
   uint64_t now;
} walk_case;

static void start(walk_case *c)
{
   if (c->started)
      return;
   const int n = tlb_walk_array(&c->m);
   if (c->m.n_arrays > 1) {
      c->memory[0] = take(tlb_array_bytes(&c->m.array[1].g), NULL);
      tlb_array_init(&c->last, &c->m.array[1].g, c->memory[0], NULL, NULL);
   }
   c->memory[1] = take(tlb_walker_bytes(&c->m), NULL);
   tlb_walker_init(&c->w, &c->m, c->nested, c->memory[1],
                   n == 1 ? &c->last : NULL);
   c->started = 1;
}

static int misses(tlb_array *a, tlb_key key, uint64_t now)
{
   if (tlb_array_lookup(a, key, now) != TLB_MISS)
      return 0;
   tlb_array_fill(a, key, now);
   return 1;
}

/* Runs one case. Returns 0 at the end of the input. */
static int run_case(void)
{
   static walk_case c;
   char line[128], word[64];
   unsigned shift, context;
   uint64_t number;

   memset(&c, 0, sizeof c);
   add_array(&c.m, 1, "1,1");
   while (fgets(line, sizeof line, stdin) != NULL) {
      if (sscanf(line, "last %63s", word) == 1) {
         add_array(&c.m, 2, word);
      } else if (strcmp(line, "nested\n") == 0) {
         c.nested = 1;
      } else if (sscanf(line, "step %u %63s", &shift, word) == 2) {
         add_step(&c.m, shift, word);
      } else if (sscanf(line, "walk %" SCNu64 " %u %u", &number, &shift,
                        &context) == 3) {
         start(&c);
         printf("%u ", tlb_walk(&c.w, number, shift, context, ++c.now));
      } else if (sscanf(line, "page %" SCNu64 " %u", &number, &context) == 2) {
         start(&c);
         printf("%d ", misses(&c.last, number | (uint64_t)context << 57,
                              ++c.now));
      } else if (strcmp(line, "end\n") == 0) {
         putchar('\n');
         free(c.memory[0]);
         free(c.memory[1]);
         return 1;
      } else {
         die(line, "not understood");
      }
   }
   if (c.started)
      die("end of input", "the case is not ended");
   return 0;
}

int main(void)
{
   while (run_case()) {
   }
   return 0;
}
