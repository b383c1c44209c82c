/* Parses --itlb=, --dtlb= and --stlb=. See options/array_options.h. */

#include "pub_tool_basics.h"

#include "pub_tool_libcbase.h"
#include "pub_tool_libcprint.h"
#include "pub_tool_mallocfree.h"
#include "pub_tool_xarray.h"

#include "sim/machine/machine.h"

#include "options/array_options.h"

/* One of the options, with all its arguments. */
typedef struct {
   const HChar* option;
   const HChar* name; /* of the array that it makes */
   UInt level;
   UInt users;
   XArray* args; /* HChar*: whole arguments, in the order given; they are
                    parsed when the base page is set */
} ArrayOption;

static ArrayOption arrays[] = {
   { "--itlb", "ITLB", 1, TLB_FETCHES, NULL },
   { "--dtlb", "DTLB", 1, TLB_LOADS | TLB_STORES, NULL },
   { "--stlb", "STLB", 2, TLB_FETCHES | TLB_LOADS | TLB_STORES, NULL },
};

enum { N_ARRAYS = sizeof arrays / sizeof arrays[0] };

static UInt n_given(const ArrayOption* a)
{
   return a->args == NULL ? 0 : (UInt)VG_(sizeXA)(a->args);
}

static const HChar* given(const ArrayOption* a, UInt i)
{
   return *(const HChar**)VG_(indexXA)(a->args, (Word)i);
}

/* The core can pass an argument more than once, in its several modes of parsing. So an equal
   argument adds no array. */
static void note_array(ArrayOption* a, const HChar* arg)
{
   for (UInt i = 0; i < n_given(a); i++) {
      if (VG_(strcmp)(given(a, i), arg) == 0)
         return;
   }
   const HChar* copy = VG_(strdup)("tg.options", arg);
   if (a->args == NULL)
      a->args = VG_(newXA)(VG_(malloc), "tg.options", VG_(free), sizeof copy);
   VG_(addToXA)(a->args, &copy);
}

Bool tg_array_options_take(const HChar* arg)
{
   for (UInt i = 0; i < N_ARRAYS; i++) {
      const SizeT n = VG_(strlen)(arrays[i].option);
      if (VG_(strncmp)(arg, arrays[i].option, n) == 0 && arg[n] == '=') {
         note_array(&arrays[i], arg);
         return True;
      }
   }
   return False;
}

Bool tg_array_options_given(void)
{
   for (UInt i = 0; i < N_ARRAYS; i++) {
      if (n_given(&arrays[i]) > 0)
         return True;
   }
   return False;
}

/* Whether the machine has room for one more array, from an option or from the default machine. */
static Bool has_room(const TgMachine* m, tlb_reason* why)
{
   if (m->m.n_arrays < TLB_MAX_ARRAYS)
      return True;
   VG_(snprintf)(why->text, sizeof why->text, "a machine has at most %d arrays",
                 TLB_MAX_ARRAYS);
   return False;
}

/* Adds an array to the machine. False, with the reason: it conflicts with the others. */
static Bool add_array(TgMachine* m, const ArrayOption* a, const HChar* arg, UInt page_shift,
                      tlb_reason* why)
{
   tlb_geometry g;
   if (!tlb_geometry_parse(VG_(strchr)(arg, '=') + 1, page_shift, &g, why))
      return False;
   for (UInt i = 0; i < m->m.n_arrays; i++) {
      const tlb_machine_array* other = &m->m.array[i];
      if (other->level == a->level && other->users == a->users
          && (other->g.page_sizes & g.page_sizes) != 0) {
         VG_(snprintf)(why->text, sizeof why->text,
                       "%s has an array for pages of that size already; give "
                       "each array other sizes, such as %s=64,4,4K "
                       "%s=32,4,2M", a->option, a->option, a->option);
         return False;
      }
   }
   if (!has_room(m, why))
      return False;
   tg_machine_add(m, a->name, a->level, a->users, &g);
   return True;
}

const HChar* tg_array_options_finish(UInt page_shift, TgMachine* m, tlb_reason* why)
{
   TgMachine fallback;
   const HChar* last = NULL; /* of the options so far */
   tg_machine_default(&fallback, page_shift);
   tg_machine_begin(m, "custom", page_shift);
   for (UInt i = 0; i < N_ARRAYS; i++) {
      const ArrayOption* a = &arrays[i];
      for (UInt j = 0; j < n_given(a); j++) {
         last = given(a, j);
         if (!add_array(m, a, last, page_shift, why))
            return last;
      }
      if (a->level > 1 || n_given(a) > 0)
         continue;
      if (!has_room(m, why))
         return last;
      tg_machine_add(m, a->name, a->level, a->users,
                     &fallback.m.array[i].g);
      tg_machine_assume(m, "%s is not given; the default machine's is taken",
                        a->option);
   }
   tlb_reason none;
   if (tlb_machine_holds(&m->m, page_shift, &none))
      return NULL;
   VG_(snprintf)(why->text, sizeof why->text, "%s, the base page of this run", none.text);
   return given(&arrays[VG_(strstr)(none.text, "instruction") != NULL ? 0 : 1], 0);
}
