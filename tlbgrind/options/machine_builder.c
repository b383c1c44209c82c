/* Puts machines together. See options/machine_builder.h. */

#include "pub_tool_basics.h"

#include "pub_tool_libcassert.h"
#include "pub_tool_libcbase.h"
#include "pub_tool_libcprint.h"
#include "pub_tool_mallocfree.h"

#include "sim/machine/machine_input.h"

#include "options/machine_builder.h"

void tg_machine_assume(TgMachine* m, const HChar* format, ...)
{
   HChar text[256];
   va_list args;
   va_start(args, format);
   VG_(vsnprintf)(text, sizeof text, format, args);
   va_end(args);
   const HChar* copy = VG_(strdup)("tg.machines.assumption", text);
   VG_(addToXA)(m->assumptions, &copy);
}

void tg_machine_begin(TgMachine* m, const HChar* name, UInt page_shift)
{
   VG_(memset)(m, 0, sizeof *m);
   m->given = VG_(strdup)("tg.machines.name", name);
   m->m.base_page_shift = page_shift;
   m->m.walk_cycles = TLB_UNKNOWN;
   m->assumptions = VG_(newXA)(VG_(malloc), "tg.machines", VG_(free),
                               sizeof(HChar*));
}

void tg_machine_add(TgMachine* m, const HChar* name, UInt level, UInt users,
                    const tlb_geometry* g)
{
   tl_assert(m->m.n_arrays < TLB_MAX_ARRAYS);
   tlb_machine_array* a = &m->m.array[m->m.n_arrays++];
   *a = (tlb_machine_array){ .level = level, .users = users, .g = *g,
                             .hit_cycles = TLB_UNKNOWN };
   VG_(snprintf)(a->name, sizeof a->name, "%s", name);
}

void tg_machine_default(TgMachine* m, UInt page_shift)
{
   tg_machine_begin(m, "default", page_shift);
   tlb_machine_default(page_shift, &m->m);
}
