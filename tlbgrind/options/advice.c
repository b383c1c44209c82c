/* The machines of --advice. See options/advice.h. */

#include "pub_tool_basics.h"

#include "pub_tool_libcbase.h"
#include "pub_tool_libcprint.h"
#include "pub_tool_mallocfree.h"

#include "sim/mmu/mmu.h"
#include "sim/pages/advice_rules.h"

#include "options/advice.h"
#include "options/machine_args.h"

/* What the list becomes. */
typedef struct {
   tlb_advice advice;
   UInt n_machines;
   HChar* list;
   HChar* at; /* its end */
   HChar* end;
} Making;

static Bool count_one(const HChar* name, void* opaque)
{
   (void)name;
   Making* making = opaque;
   making->n_machines++;
   return True;
}

/* Adds the machine and its variants. */
static Bool add_group(const HChar* name, void* opaque)
{
   Making* making = opaque;
   const HChar* before_rule = VG_(strchr)(name, '@') == NULL ? "@" : "+";
   making->at += VG_(sprintf)(making->at, "%s%s", making->at == making->list ? "" : ",", name);
   for (UInt i = 1; i < tlb_advice_group(&making->advice); i++) {
      making->at += VG_(sprintf)(making->at, ",%s%s", name, before_rule);
      tlb_text t = { making->at, making->end };
      tlb_advice_add_rule(&making->advice, i, &t);
      making->at = t.at;
   }
   return True;
}

HChar* tg_advice_machines(const HChar* names, const HChar* list, UInt* group, tlb_reason* why)
{
   Making* making = VG_(calloc)("tg.advice", 1, sizeof *making);
   tg_machine_args_each(names, count_one, making);
   if (tlb_advice_parse(&making->advice, list, making->n_machines, TLB_MAX_MMUS, TLB_MAX_MMUS,
                        why)) {
      *group = tlb_advice_group(&making->advice);
      /* No name and no word is longer than the list that it is of. */
      const SizeT longest = VG_(strlen)(names) + VG_(strlen)(list) + sizeof ",@text#2+:yes:64K";
      const SizeT room = making->n_machines * *group * longest;
      making->list = making->at = VG_(malloc)("tg.advice", room);
      making->end = making->list + room - 1;
      tg_machine_args_each(names, add_group, making);
   }
   HChar* made = making->list;
   VG_(free)(making);
   return made;
}
