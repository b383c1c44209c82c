/* Inclusive and exclusive levels: what the eviction of an entry does to other levels.

   What an inclusive array evicts leaves the levels in front of it, too: all entries there that
   cover one of its bytes, in arrays for some of its references. An exclusive array gets what the
   level in front of it evicts, as the entry that it was there, and nothing else; a hit takes the
   entry out of it. What is invalidated, by a flush, is evicted by nobody.

   The first level has its new entry before the levels behind it are looked up, and gives up
   another for it. An exclusive level takes that one when it has been looked up itself, and any
   walk is over: what hits there makes room for it.

   Part of the simulator: plain C11, no libc, no Valgrind. */

#ifndef TLB_INCLUSION_H
#define TLB_INCLUSION_H

#include "sim/base/api.h"
#include "sim/machine/machine.h"
#include "sim/tlb/array.h"

TLB_API_BEGIN

typedef struct tlb_inclusion_state tlb_inclusion_state;

/* An array that tells what it evicts, by number. */
typedef struct {
   tlb_inclusion_state *of;
   unsigned number;
} tlb_leaver;

/* What a level has evicted for the reference at hand; `from`: which array. */
typedef struct {
   tlb_key key;
   unsigned from;
} tlb_victim;

/* Drops what array `number` has of the key's bytes on other hardware threads of the core, which
   share the inclusive array that evicts it, and not that one. */
typedef void tlb_drop_elsewhere(void *opaque, unsigned number, tlb_key key);

struct tlb_inclusion_state {
   const tlb_machine *machine;
   tlb_array *array;    /* all of the machine's, as it has them */
   uint32_t exclusive;  /* a bit each */
   uint32_t victims;    /* a bit for each level, from 0: what is in `victim` has not been moved */
   tlb_victim victim[TLB_MAX_LEVELS];
   tlb_leaver leaver[TLB_MAX_ARRAYS];
   tlb_drop_elsewhere *elsewhere; /* NULL: there is nothing */
   void *opaque;
};

/* Lets the arrays tell what they evict, as far as the machine's inclusion asks for it. */
void tlb_inclusion_init(tlb_inclusion_state *s, const tlb_machine *m, tlb_array *array);

/* An entry of that array was hit at the time `now`: it leaves if the array is exclusive. And
   tlb_inclusion_move(). */
void tlb_inclusion_hit(tlb_inclusion_state *s, unsigned number, uint32_t entry, uint64_t now);

/* What has been evicted for the reference goes to the level behind, if that is exclusive. */
void tlb_inclusion_move(tlb_inclusion_state *s, uint64_t now);

/* Drops all entries that cover one of the key's bytes, or are covered by it. */
void tlb_inclusion_drop(tlb_array *a, tlb_key key);

TLB_API_END

#endif
