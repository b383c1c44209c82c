/* What Linux does with faults on files, by version: how much is read from the disk, and what is
   mapped along with a page.

   Everything else in the fault model is that of Linux 6.18, whatever the version.

   Part of the simulator: plain C11, no libc, no Valgrind. */

#ifndef TLB_KERNEL_RULES_H
#define TLB_KERNEL_RULES_H

#include "sim/base/api.h"

TLB_API_BEGIN

typedef struct {
   const char *name;      /* the version that was looked at, such as "6.18" */
   unsigned since[2];     /* the first version that is taken to have these rules */
   int large_folios;      /* files of ext4 are read in folios of several pages */
   unsigned first_order;  /* of these folios in a window that goes on with none */
   int grows_by_folio;    /* a window that goes on has folios four times as large as the one that
                             was touched, and ends anywhere; else four times as large as the window
                             before, and it ends with such a one */
   int code_ahead;        /* mappings that may be executed are read from the page on, also with
                             MADV_RANDOM, and on arm64 in folios of 64K */
   int whole_folios;      /* fault-around maps all of a folio of which it maps a page, if the
                             mapping and the page table have all of it */
   int few_hits;          /* a fault-around takes back one of the misses that end read-ahead, and
                             none if it had to wait for the disk; before, as many as it finds pages.
                             In mappings that may be executed or are read in sequence, nothing
                             counts, so that read-ahead never ends there */
   int caps_huge;         /* MADV_HUGEPAGE reads folios of 2M; before, of what a page table maps */
   int no_mark_at_end;    /* a window that ends with its file has no page that makes it go on */
   int next_keeps_mark;   /* it has one if it follows another */
   int follows_behind;    /* a touch right behind a window makes it go on, too */
   int scans_less;        /* of two streams in turn, one may go on once more: the search for the end
                             of what is cached ends a page early */
   int reading_on_waits;  /* a fault that makes a window go on counts as major */
} tlb_kernel_rules;

enum { TLB_N_KERNELS = 6 };

/* The oldest first. */
extern const tlb_kernel_rules tlb_kernels[TLB_N_KERNELS];

/* The rules of the version, MAJOR.MINOR: of the newest that is not newer, or of the oldest. */
const tlb_kernel_rules *tlb_kernel_of(unsigned major, unsigned minor);

/* By their name; NULL: there are none. */
const tlb_kernel_rules *tlb_kernel_named(const char *name);

/* What a model has that is not told its kernel's rules: Linux 6.18. */
const tlb_kernel_rules *tlb_kernel_usual(void);

TLB_API_END

#endif
