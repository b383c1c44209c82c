/* Traits: what of a machine decides how its MMU is simulated. They follow from its
   description and the page sizes of the run alone. */

#ifndef TG_TRAITS_H
#define TG_TRAITS_H

#include "pub_tool_basics.h"

#include "mmu/mmu.h"

/* The following are of an MMU of which `machine`, `base_shift`, `h` and `asks` are
   there, and each may ask for those above it. */

/* Whether code asks an array first that holds data, too: whose page was referenced last
   depends on each single instruction, and no record need have all its times. */
Bool tg_is_mixed(const TgMmu* mmu);

/* Whether loads and stores ask different arrays first. */
Bool tg_tells_apart(const TgMmu* mmu);

/* Whether a page can stand in two arrays that are asked first, as entries of two
   sizes or for different references. */
Bool tg_has_doubles(const TgMmu* mmu);

/* Whether an array is asked first by some references and by others when they have missed
   elsewhere. */
Bool tg_has_also_behind(const TgMmu* mmu);

/* Whether such an array is asked first by data, and by code that was missed elsewhere:
   that can drive data out. */
Bool tg_has_code_behind(const TgMmu* mmu);

/* Whether references known by their times alone can have set used bits (NRU). */
Bool tg_clears_used_bits(const TgMmu* mmu);

/* Whether somebody chooses by more than who is oldest, or in the middle of
   references that went elsewhere first. */
Bool tg_needs_exact_times(const TgMmu* mmu);

/* How much larger the machine's base pages are than the run's (2^n of them), if its
   entries can know all of one or nothing; else 0. */
UInt tg_large_of(const TgMmu* mmu);

/* The arrays, side by side, that a kind of reference is looked up in first, if the
   machine is plain and the records of its pages can answer for it. Returns how many. */
enum { TG_MAX_BASE_ARRAYS = 2 };
UInt tg_base_arrays(TgMmu* mmu, TgKind kind, tlb_array* array[TG_MAX_BASE_ARRAYS]);

/* That array, if there is only one; else NULL. */
tlb_array* tg_base_array(TgMmu* mmu, TgKind kind);

#endif
