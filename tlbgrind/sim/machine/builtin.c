/* The machine files that are built in: looking them up. */

#include "sim/machine/builtin.h"

#include "sim/base/closeness.h"
#include "sim/base/text.h"

const tlb_builtin *tlb_builtin_machine(const char *name)
{
   for (unsigned i = 0; i < tlb_n_builtins(); i++) {
      if (tlb_text_is(name, tlb_text_length(name), tlb_builtin_at(i)->name))
         return tlb_builtin_at(i);
   }
   return NULL;
}

void tlb_builtin_refuse(const char *name, tlb_reason *why)
{
   enum { MOST = 6, SHOWN = 40 };
   const size_t length = tlb_text_length(name);
   unsigned told = 0;
   tlb_text t = tlb_text_in(why->text, sizeof why->text);
   tlb_text_add(&t, "'");
   tlb_text_add_n(&t, name, length < SHOWN ? length : SHOWN);
   tlb_text_add(&t, "' is no machine");
   /* The closest first. */
   for (unsigned d = 0; d < TLB_FAR && told < MOST; d++) {
      for (unsigned i = 0; i < tlb_n_builtins() && told < MOST; i++) {
         if (tlb_distance(name, tlb_builtin_at(i)->name) != d)
            continue;
         tlb_text_add(&t, told == 0 ? "; did you mean " : ", ");
         tlb_text_add(&t, tlb_builtin_at(i)->name);
         told++;
      }
   }
   tlb_text_add(&t, told > 0 ? "?" : "; --list-machines tells their names");
}
