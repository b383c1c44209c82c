/* The list of machines in --machine=. See options/machine_args.h. */

#include "pub_tool_basics.h"

#include "pub_tool_libcbase.h"
#include "pub_tool_libcprint.h"
#include "pub_tool_mallocfree.h"

#include "sim/machine/machine_argument.h"
#include "sim/machine/override.h"
#include "sim/mmu/mmu.h"

#include "options/machine_args.h"

static HChar* copy_of(const HChar* text, SizeT n)
{
   HChar* copy = VG_(malloc)("tg.machine.args", n + 1);
   VG_(memcpy)(copy, text, n);
   copy[n] = '\0';
   return copy;
}

Bool tg_machine_args_each(const HChar* list, Bool (*f)(const HChar* machine, void* opaque),
                          void* opaque)
{
   for (;;) {
      const SizeT n = tlb_argument_length(list);
      HChar* machine = copy_of(list, n);
      const Bool good = f(machine, opaque);
      VG_(free)(machine);
      if (!good || list[n] == '\0')
         return good;
      list += n + 1;
   }
}

typedef struct {
   HChar* list;
   SizeT length;
   UInt n;
   tlb_reason* why;
} Expansion;

static Bool expand(const HChar* machine, void* opaque)
{
   Expansion* e = opaque;
   const SizeT room = VG_(strlen)(machine) + 2;
   const UInt n = tlb_argument_count(machine, e->why);
   if (n == 0)
      return False;
   e->n += n;
   if (n > TLB_MAX_MMUS) {
      VG_(snprintf)(e->why->text, sizeof e->why->text,
                    "the ranges make %s%u machines; a run has at most %d",
                    n == TLB_ARGUMENT_MOST ? "at least " : "", n, TLB_MAX_MMUS);
      return False;
   }
   e->list = VG_(realloc)("tg.machine.args", e->list, e->length + n * room);
   for (UInt i = 0; i < n; i++) {
      if (e->length > 0)
         e->list[e->length++] = ',';
      tlb_argument_write(machine, i, e->list + e->length, room);
      e->length += VG_(strlen)(e->list + e->length);
   }
   return True;
}

HChar* tg_machine_args_expand(const HChar* list, tlb_reason* why)
{
   Expansion e = { .why = why };
   if (tg_machine_args_each(list, expand, &e))
      return e.list;
   VG_(free)(e.list);
   return NULL;
}

TgMachineParts tg_machine_args_parts(const HChar* machine)
{
   const tlb_argument_overrides o = tlb_argument_split(machine);
   TgMachineParts p = { .name = copy_of(machine, o.name) };
   const HChar* rest = machine + o.from + o.length;
   if (o.length > 0)
      p.overrides = copy_of(machine + o.from, o.length);
   if (*rest == '@')
      p.rules = VG_(strdup)("tg.machine.args", rest + 1);
   return p;
}

Bool tg_machine_args_change(tlb_machine* m, const HChar* overrides, const HChar** where,
                            tlb_reason* why)
{
   HChar* room = VG_(malloc)("tg.machine.args", TLB_OVERRIDE_ROOM);
   tlb_reason blame;
   const Bool good = tlb_override(m, overrides, room, &blame, why) != 0;
   VG_(free)(room);
   if (!good && blame.text[0] != '\0') {
      HChar* place = VG_(malloc)("tg.machine.args", sizeof blame.text + 2);
      VG_(sprintf)(place, "%s: ", blame.text);
      *where = place;
   }
   return good;
}
