/* Random cases for sim/mmu: from a seed, or from bytes that a fuzzer makes.
   Part of tlbgrind.  GPL-2.0-or-later; see COPYING. */

#ifndef RANDOM_CASE_H
#define RANDOM_CASE_H

#include <stddef.h>

#include "mmu_case.h"

/* Each roll takes a byte or two of the bytes, and is 0 when none are left. Without bytes it is
   a generator's: the same numbers everywhere. */
typedef struct {
   uint64_t state;
   const unsigned char *bytes; /* NULL: there are none */
   size_t left;
} dice;

dice dice_of_seed(uint64_t seed);
dice dice_of_bytes(const void *bytes, size_t n);

unsigned roll(dice *d, unsigned sides); /* from 0 */

void random_case(dice *d, mmu_case *c);

/* Gives machines of the case policies for flushes, and flushes between its events. */
void add_flushes(dice *d, mmu_case *c);

/* Lets its events be of several cores. */
void add_cores(dice *d, mmu_case *c);

/* Lets cores have two hardware threads, or four; with add_cores(). */
void add_siblings(dice *d, mmu_case *c);

/* Deals the references out to several address spaces, if their addresses have room for that. */
void add_spaces(dice *d, mmu_case *c);

/* Has others use some of its machines between its events. */
void add_others(dice *d, mmu_case *c);

/* Has machines of the case do something on prefetches, and makes some of its events prefetches. */
void add_prefetches(dice *d, mmu_case *c);

/* A machine with base pages of that size. Machines of one family have first levels that are
   equal or hold each other's pages. */
typedef struct {
   bool plain;      /* all machines' first levels are alike, for base pages alone */
   unsigned sets;   /* of first levels */
   unsigned base;
   uint64_t sizes;  /* of larger pages, a bit for each */
   unsigned policy; /* which mostly is that of first levels */
   unsigned groups; /* which references have arrays of their own */
   bool is_inclusive; /* some have inclusive or exclusive levels */
} family;

family random_family(dice *d, unsigned base);
void random_machine(dice *d, const family *f, tlb_machine *m);

#endif
