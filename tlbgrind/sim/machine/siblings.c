/* Divides arrays among hardware threads. See siblings.h. */

#include "sim/machine/siblings.h"

#include "sim/base/text.h"

bool tlb_siblings_have_own(const tlb_machine_array *a)
{
   return a->threads == 1 || a->sharing == TLB_PARTITIONED || a->sharing == TLB_COPIED;
}

static bool divide(tlb_machine_array *a, unsigned threads)
{
   const uint32_t sets = a->g.entries / a->g.ways;
   if (sets % threads != 0) {
      if (a->g.ways % threads != 0)
         return false;
      a->g.ways /= threads;
   }
   a->g.entries /= threads;
   return true;
}

static uint32_t most_threads(const tlb_machine *m)
{
   uint32_t most = 0;
   for (unsigned i = 0; i < m->n_arrays; i++) {
      if (m->array[i].threads == 0)
         return TLB_UNKNOWN;
      most = m->array[i].threads > most ? m->array[i].threads : most;
   }
   return most;
}

bool tlb_siblings_divide(tlb_machine *m, unsigned threads, tlb_reason *why)
{
   const uint32_t most = most_threads(m);
   tlb_text t = tlb_text_in(why->text, sizeof why->text);
   if (threads > most) {
      tlb_text_add(&t, "a core of ");
      tlb_text_add(&t, m->name);
      tlb_text_add(&t, " has ");
      tlb_text_add_number(&t, most);
      tlb_text_add(&t, most == 1 ? " hardware thread" : " hardware threads");
      return false;
   }
   for (unsigned i = 0; i < m->n_arrays; i++) {
      tlb_machine_array *const a = &m->array[i];
      if (threads > 1 && a->sharing == TLB_PARTITIONED && !divide(a, threads)) {
         tlb_text_add(&t, "array ");
         tlb_text_add(&t, a->name);
         tlb_text_add(&t, " of ");
         tlb_text_add(&t, m->name);
         tlb_text_add(&t, " cannot be divided by ");
         tlb_text_add_number(&t, threads);
         return false;
      }
   }
   return true;
}
