/* Traits: what of a machine decides how its MMU is simulated. They follow from its
   description and the page sizes of the run alone.

   Part of the simulator: plain C11, no libc, no Valgrind. */

#ifndef TLB_TRAITS_H
#define TLB_TRAITS_H

#include "sim/mmu/mmu_data.h"

/* The following are of an MMU of which `machine`, `base_shift`, `h` and `asks` are
   there, and each may ask for those above it. */

/* Whether code asks an array first that holds data, too: whose page was referenced last
   depends on each single instruction, and no record need have all its times. */
bool tlb_is_mixed(const tlb_mmu *mmu);

/* Whether loads and stores ask different arrays first. */
bool tlb_tells_apart(const tlb_mmu *mmu);

/* Whether a page can stand in two arrays that are asked first, as entries of two
   sizes or for different references. */
bool tlb_has_doubles(const tlb_mmu *mmu);

/* Whether an array that is asked first has paired entries, whose time is not that of one
   page. */
bool tlb_has_pairs_first(const tlb_mmu *mmu);

/* Whether a hit in an array that is asked first changes more than a time (TLB_BY_HITS). */
bool tlb_sees_hits_first(const tlb_mmu *mmu);

/* Whether an array is asked first by some references and by others when they have missed
   elsewhere. */
bool tlb_has_also_behind(const tlb_mmu *mmu);

/* Whether such an array is asked first by data, and by code that was missed elsewhere:
   that can drive data out. */
bool tlb_has_code_behind(const tlb_mmu *mmu);

/* Whether an array chooses by more than which entry is oldest, or in the middle of
   references that went elsewhere first. */
bool tlb_needs_exact_times(const tlb_mmu *mmu);

/* Whether some level is inclusive, or exclusive. */
bool tlb_has_inclusion(const tlb_mmu *mmu, tlb_inclusion inclusion);

/* Whether data can drive out the page that code executes in, which an inclusive level shared by
   both does: then each instruction behind a data reference looks its page up. */
bool tlb_drives_out_code(const tlb_mmu *mmu);

/* How much larger the machine's base pages are than the run's (2^n of them), if its
   entries can know all of one or nothing; else 0. */
unsigned tlb_large_of(const tlb_mmu *mmu);

/* The arrays, side by side, that a kind of reference is looked up in first, if the
   machine is plain and the records of its pages can answer for it. Returns how many. */
enum { TLB_MAX_BASE_ARRAYS = 2 };
unsigned tlb_base_arrays(tlb_mmu *mmu, tlb_user user,
                         tlb_array *array[TLB_MAX_BASE_ARRAYS]);

/* That array, if there is only one; else NULL. */
tlb_array *tlb_base_array(tlb_mmu *mmu, tlb_user user);

#endif
