/* How far apart address spaces stand. See spaces.h. */

#include "sim/machine/spaces.h"

#include "sim/base/divisor.h"
#include "sim/base/text.h"

static unsigned largest_page_shift(const tlb_geometry *g)
{
   return 63 - (unsigned)__builtin_clzll(g->page_sizes);
}

/* Below the number of a space, a page number has 2^n values: sets that are a power of two, and
   the bits that an index XORs to them, are chosen among these. The rest of the sets has to
   divide the step. */
static bool extend(const tlb_geometry *g, unsigned spaces, uint64_t *step)
{
   const uint64_t sets = g->entries / g->ways;
   const unsigned even = (unsigned)__builtin_ctzll(sets);
   const uint64_t odd = sets >> even;
   const unsigned room = TLB_SPACE_SHIFT - largest_page_shift(g);
   *step = *step / tlb_common_divisor(*step, odd) * odd;
   return even + g->index_xor <= room
          && *step * (spaces - 1) < UINT64_C(1) << (64 - TLB_SPACE_SHIFT);
}

bool tlb_spaces_step(const tlb_machine *m, unsigned spaces, uint64_t *step, tlb_reason *why)
{
   const char *against = NULL;
   for (unsigned i = 0; i < m->n_arrays && against == NULL; i++)
      against = extend(&m->array[i].g, spaces, step) ? NULL : m->array[i].name;
   for (unsigned i = 0; i < m->n_walk_steps && against == NULL; i++) {
      const tlb_walk_step *const s = &m->walk[i];
      if (tlb_step_has_own_cache(s) && !extend(&s->g, spaces, step))
         against = "of the walk";
   }
   if (against == NULL)
      return true;
   tlb_text t = tlb_text_in(why->text, sizeof why->text);
   tlb_text_add(&t, "with the sets that machine ");
   tlb_text_add(&t, m->name);
   tlb_text_add(&t, " has (array ");
   tlb_text_add(&t, against);
   tlb_text_add(&t, "), not so many copies can be told apart");
   return false;
}
