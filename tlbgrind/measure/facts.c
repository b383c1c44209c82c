/* Looks facts up. */

#include "measure/facts.h"

const TgSide *tg_facts_side(const TgFacts *f, TgAsk ask, unsigned page_shift)
{
   for (unsigned i = 0; i < f->n_sides; i++) {
      if (f->side[i].ask == ask && f->side[i].page_shift == page_shift)
         return &f->side[i];
   }
   return NULL;
}

int tg_in_pieces(const TgFacts *f)
{
   for (unsigned i = 0; i < f->n_large; i++) {
      if (f->large[i].whole == TG_IN_PIECES)
         return 1;
   }
   return 0;
}
