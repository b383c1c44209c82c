/* Reads all curves of a machine into its facts, each by the file of its subject. */

#include "measure/facts.h"

const TgSide *tg_facts_side(const TgFacts *f, TgAsk ask, unsigned page_shift)
{
   for (unsigned i = 0; i < f->n_sides; i++) {
      if (f->side[i].ask == ask && f->side[i].page_shift == page_shift)
         return &f->side[i];
   }
   return NULL;
}
