/* Page walks: the page-table entries that a walk reads, and the walk caches.

   A walk goes down the steps of the machine's page table (machine.h) to the first whose
   entries are not larger than the page, so a large page ends it early. Each step reads one
   entry. A processor caches entries that lead on to a table (not those that end a walk, which
   go to the translation arrays). The walk begins below the deepest cached entry for its
   address, and puts what it reads into the caches, at each step that is cached. The entry that
   was found counts as used; entries of the steps above it, which were not needed, do not.

   Entries of a step stand in a cache of their own, in the cache of a step above, or in the
   last translation array (machine.h: `cached`, `joined`, `in_last_level`), where they compete
   with translations.

   Nested paging. A guest's page tables lie at guest physical addresses. Each reference to
   them, and the one to the page itself, first needs a walk of the host's tables: with n
   references of the guest and m of the host, (n + 1) (m + 1) - 1, which is 24 for four over
   four. The walk caches are assumed to hold what they hold without nesting, with host
   addresses: they spare steps of the guest together with the host's walks for them. The
   places of the guest's tables and pages are unknown here, so nothing of the host is assumed
   to be cached, and all its pages to be small: the number is an upper bound. In cycles, each of
   the host's n + 1 walks costs as much as a walk without nesting, at most; and nothing at least,
   where the processor has all of the host's translations at hand. A machine that was measured as a
   guest (host_page_shift in machine.h) has the host's walks in its cycles, as far as all tables are
   near: there they cost no more, and the references are the same.

   What the references cost. Where the machine says so, each goes through caches (table_caches.h)
   and costs what it takes to the one that has its entry. Behind them the line that the program
   wants goes through the caches, and drives out what was not used for longest. With nested paging
   the host's entries do, too. Where the guest's memory lies in the host's is unknown: a page is
   taken to have the same address there, the guest's tables an area of their own for each step, one
   behind the other, and each entry of the host's tables a line of its own.

   Software walks. Where a trap handler fills the arrays from a translation storage buffer
   (UltraSPARC), each refill is one reference: one load reads tag and data of the buffer's
   entry. A miss of the buffer and the handler's other work are not counted.

   Part of the simulator: plain C11, no libc, no Valgrind. */

#ifndef TLB_WALK_H
#define TLB_WALK_H

#include "sim/base/api.h"
#include "sim/machine/machine.h"
#include "sim/tlb/array.h"
#include "sim/tlb/lazy_lru.h"
#include "sim/tlb/table_caches.h"

TLB_API_BEGIN

typedef struct {
   const tlb_machine *machine;
   unsigned host_references; /* of the walk for one guest physical address; 0:
                                there is no nesting */
   bool pays_host;           /* the host's walks cost more than the machine's cycles, which are
                                those of a walk without nesting */
   tlb_array *cache[TLB_MAX_WALK_LEVELS]; /* where entries of the step stand, or
                                             NULL */
   tlb_array own[TLB_MAX_WALK_LEVELS];
   tlb_lazy_lru *lazy_lru; /* what stands for the last translation array; NULL: it stands
                        for itself */
   uint64_t clock; /* of the caches of its own: each reference has a time */
   tlb_table_caches tables;
   bool is_fetched; /* the caller asks for the memory of each walk before, by tlb_walk_fetch() */
   uint32_t table_cycles; /* what the references of the last walk cost, beyond as many that find
                             their entries in the first cache */
} tlb_walker;

/* Whether the machine says enough of its walks for references to be counted. */
static inline int tlb_walks_described(const tlb_machine *m)
{
   return m->n_walk_steps > 0 || m->software_walk;
}

/* Whether a walk costs walks of a host's tables, too. */
static inline int tlb_walker_pays_host(const tlb_walker *w)
{
   return w->pays_host && !w->machine->software_walk;
}

/* Of the references of a walk that pays for the host's, as tlb_walk() returns them, those to the
   guest's tables; 0 of another. */
static inline uint32_t tlb_walk_guest_references(const tlb_walker *w, uint32_t references)
{
   return !tlb_walker_pays_host(w) ? 0
             : (references - w->host_references) / (w->host_references + 1);
}

/* Bytes of memory that tlb_walker_init() wants. */
size_t tlb_walker_bytes(const tlb_machine *m);

/* Makes a walker with empty caches inside `memory` (aligned for uint64_t). The
   machine must have passed tlb_machine_check() and stay. `last`: the array of
   tlb_walk_array() in its hierarchy, NULL if there is none. `nested`: whether a
   host lies below; with a machine whose walks are a guest's one does in any case. */
void tlb_walker_init(tlb_walker *w, const tlb_machine *m, int nested,
                     void *memory, tlb_array *last);

/* Whether the key, of an entry of the last translation array, is that of a walk's step. */
int tlb_walk_is_step(tlb_key key);

/* Empties the caches of its own. */
void tlb_walker_empty(tlb_walker *w);

/* A walk for a base page is likely to come soon: asks the memory for what it will look at. */
void tlb_walk_fetch(const tlb_walker *w, uint64_t address);

/* Walks for the page of 2^page_shift bytes at `address`, of the context (up to
   126). `now` is the time for the array `last`, before that of the translation that
   is walked for, which is filled in when the walk is over: what the walk wants must
   not have been driven out by it. Returns how many references to page tables
   the walk takes; 0 where walks are not described. `table_cycles` then has what they cost. */
unsigned tlb_walk(tlb_walker *w, uint64_t address, unsigned page_shift,
                  uint32_t context, uint64_t now);

TLB_API_END

#endif
