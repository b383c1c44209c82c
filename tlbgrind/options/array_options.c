/* Parses --itlb=, --dtlb= and --stlb=. See options/array_options.h. */

#include "pub_tool_basics.h"

#include "pub_tool_libcbase.h"
#include "pub_tool_libcprint.h"
#include "pub_tool_mallocfree.h"

#include "sim/machine/machine.h"

#include "options/array_options.h"
#include "options/given.h"

/* One of the options. It may be given several times. */
typedef struct {
   const HChar* option;
   const HChar* name; /* of the array that it makes */
   UInt level;
   UInt users;
} ArrayOption;

static const ArrayOption arrays[] = {
   { "--itlb", "ITLB", 1, TLB_FETCHES },
   { "--dtlb", "DTLB", 1, TLB_LOADS | TLB_STORES },
   { "--stlb", "STLB", 2, TLB_FETCHES | TLB_LOADS | TLB_STORES },
};

enum { N_ARRAYS = sizeof arrays / sizeof arrays[0] };

Bool tg_array_options_given(void)
{
   for (UInt i = 0; i < N_ARRAYS; i++) {
      if (tg_given(arrays[i].option) != NULL)
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
   if (!tlb_geometry_parse(tg_given_value(arg), page_shift, &g, why))
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
   const HChar *arg, *last = NULL; /* of the options so far */
   tg_machine_default(&fallback, page_shift);
   tg_machine_begin(m, "custom", page_shift);
   for (UInt i = 0; i < N_ARRAYS; i++) {
      const ArrayOption* a = &arrays[i];
      for (UInt j = 0; (arg = tg_given_nth(a->option, j)) != NULL; j++) {
         last = arg;
         if (!add_array(m, a, arg, page_shift, why))
            return arg;
      }
      if (a->level > 1 || tg_given(a->option) != NULL)
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
   return tg_given_nth(VG_(strstr)(none.text, "instruction") != NULL ? "--itlb" : "--dtlb", 0);
}

/* --- Beside --machine= --- */

/* Whether the array is one that the option can be for. */
static Bool is_for(const ArrayOption* a, const tlb_machine_array* array)
{
   return array->level == a->level && array->users == a->users;
}

static UInt n_commas(const HChar* text)
{
   UInt n = 0;
   for (; *text != '\0'; text++)
      n += *text == ',';
   return n;
}

/* "skylake has 2 such arrays, DTLB-4K and DTLB-2M; ..." */
static void refuse_array(const ArrayOption* a, const tlb_machine* m, ULong sizes, tlb_reason* why)
{
   HChar names[80] = "";
   UInt n = 0;
   for (UInt i = 0; i < m->n_arrays; i++) {
      const tlb_machine_array* array = &m->array[i];
      const SizeT used = VG_(strlen)(names);
      if (!is_for(a, array) || (array->g.page_sizes & sizes) == 0)
         continue;
      n++;
      VG_(snprintf)(names + used, (Int)(sizeof names - used), "%s%s", used == 0 ? "" : ", ",
                    array->name);
   }
   if (n == 0)
      VG_(snprintf)(why->text, sizeof why->text,
                    "%s has no such array on level %u, for these references and pages; "
                    "--show-machine=%s prints those that it has", m->name, a->level, m->name);
   else
      VG_(snprintf)(why->text, sizeof why->text,
                    "%s has %u such arrays, %s; give one option for the pages of each", m->name,
                    n, names);
}

/* The machine's array that the option is for: it holds pages of these sizes. NULL: there is none,
   or more than one, with the reason. */
static const tlb_machine_array* array_of(const ArrayOption* a, const tlb_machine* m, ULong sizes,
                                         tlb_reason* why)
{
   const tlb_machine_array* found = NULL;
   UInt n = 0;
   for (UInt i = 0; i < m->n_arrays; i++) {
      if (is_for(a, &m->array[i]) && (m->array[i].g.page_sizes & sizes) != 0) {
         found = &m->array[i];
         n++;
      }
   }
   if (n == 1)
      return found;
   refuse_array(a, m, sizes, why);
   return NULL;
}

/* Writes the lines that the option changes, each as PART.LINE=VALUE. */
static void write_lines(const HChar* part, const HChar* value, const tlb_geometry* g, HChar* out,
                        UInt size)
{
   HChar words[64];
   UInt n = VG_(snprintf)(out, (Int)size, "%s.entries=%u,%s.ways=", part, g->entries, part);
   if (g->ways == g->entries)
      n += VG_(snprintf)(out + n, (Int)(size - n), "full");
   else
      n += VG_(snprintf)(out + n, (Int)(size - n), "%u", g->ways);
   if (n_commas(value) >= 2) {
      tlb_page_sizes_print(g->page_sizes, words, sizeof words);
      n += VG_(snprintf)(out + n, (Int)(size - n), ",%s.pages=%s", part, words);
   }
   if (n_commas(value) >= 3) {
      tlb_policy_print(g, words, sizeof words);
      VG_(snprintf)(out + n, (Int)(size - n), ",%s.policy=%s", part, words);
   }
}

static Bool add_lines(const ArrayOption* a, const HChar* value, const tlb_machine* m, HChar** list,
                      tlb_reason* why)
{
   tlb_geometry g;
   HChar lines[4 * TLB_NAME_SIZE + 256];
   if (!tlb_geometry_parse(value, m->base_page_shift, &g, why))
      return False;
   const tlb_machine_array* array = array_of(a, m, g.page_sizes, why);
   if (array == NULL)
      return False;
   write_lines(array->name, value, &g, lines, sizeof lines);
   const SizeT n = *list == NULL ? 0 : VG_(strlen)(*list);
   *list = VG_(realloc)("tg.options", *list, n + VG_(strlen)(lines) + 2);
   VG_(sprintf)(*list + n, "%s%s", n == 0 ? "" : ",", lines);
   return True;
}

const HChar* tg_array_options_overrides(const tlb_machine* m, HChar** overrides, tlb_reason* why)
{
   const HChar* arg;
   *overrides = NULL;
   for (UInt i = 0; i < N_ARRAYS; i++) {
      for (UInt j = 0; (arg = tg_given_nth(arrays[i].option, j)) != NULL; j++) {
         if (!add_lines(&arrays[i], tg_given_value(arg), m, overrides, why))
            return arg;
      }
   }
   return NULL;
}
