/* Helpers of all unit tests: random numbers, and arrays in memory of exact size.
   Part of tlbgrind.  GPL-2.0-or-later; see COPYING. */

#ifndef UNIT_H
#define UNIT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* cmocka 2.0 has other names for assert_in_range(), which 1.1 does not have. */
#define CMOCKA_DISABLE_DEPRECATION_WARNINGS
#include <cmocka.h>

#include "sim/machine/machine.h"
#include "sim/tlb/array.h"

#define N(array) ((unsigned)(sizeof(array) / sizeof(array)[0]))

/* A function of a test that needs no state. */
#define TEST(name) static void name(__attribute__((unused)) void **state)

/* A test whose title is what it proves. */
#define CLAIM(title, function) { title, function, NULL, NULL, NULL }
/* One of several whose state is an argument. */
#define CLAIM_OF(title, function, argument) { title, function, NULL, NULL, argument }

/* xorshift64*: the same numbers on every machine. */
static inline uint64_t unit_random(uint64_t *state)
{
   *state ^= *state >> 12;
   *state ^= *state << 25;
   *state ^= *state >> 27;
   return *state * UINT64_C(0x2545F4914F6CDD1D);
}

/* The array of that name, which there must be. */
static inline const tlb_machine_array *unit_array_of(const tlb_machine *m, const char *name)
{
   for (unsigned i = 0; i < m->n_arrays; i++) {
      if (strcmp(m->array[i].name, name) == 0)
         return &m->array[i];
   }
   fail_msg("no array %s", name);
   return NULL;
}

/* Pages in the order of their last references, the last in front: puts one
   there. Returns how many stood before it; all, and there is one more now, if it
   was new. There is room for `room`. */
static inline uint32_t unit_to_front(uint64_t *pages, uint32_t *n, uint32_t room,
                                     uint64_t page)
{
   const uint32_t n_before = *n;
   uint32_t at = 0;
   while (at < n_before && pages[at] != page)
      at++;
   *n += at == n_before;
   assert_true(*n <= room);
   memmove(pages + 1, pages, at * sizeof *pages);
   pages[0] = page;
   return at;
}

static inline tlb_geometry unit_geometry(const char *text)
{
   tlb_geometry g;
   tlb_reason why;
   if (!tlb_geometry_parse(text, 12, &g, &why))
      fail_msg("%s: %s", text, why.text);
   return g;
}

/* An array in memory of exactly its size and full of rubbish, so that the
   sanitizers and the results tell what tlb_array_init() forgets. */
typedef struct {
   tlb_array a;
   void *memory;
   uint64_t now;
} unit_array;

static inline void unit_array_make(unit_array *u, const tlb_geometry *g,
                                   tlb_release *release, void *opaque)
{
   const size_t size = tlb_array_bytes(g);
   u->memory = malloc(size);
   assert_non_null(u->memory);
   memset(u->memory, 0xA5, size);
   memset(&u->a, 0xA5, sizeof u->a);
   tlb_array_init(&u->a, g, u->memory, release, opaque);
   u->now = 0;
}

static inline void unit_array_free(unit_array *u)
{
   free(u->memory);
}

/* Whether the array holds the key, without a reference to it. */
static inline int unit_holds(const unit_array *u, tlb_key key)
{
   for (uint32_t i = 0; i < u->a.g.entries; i++) {
      if (u->a.key[i] == key)
         return 1;
   }
   return 0;
}

/* The key of a page of 4K, of no particular address space. */
static inline tlb_key unit_key(uint64_t page)
{
   return tlb_key_of(page, 12, 0);
}

/* References the key, fills it in if it is missed. Returns TLB_NO_KEY for a
   hit, else what is evicted, or `free_way` if one was free. */
static inline tlb_key unit_reference(unit_array *u, tlb_key key,
                                     tlb_key free_way)
{
   u->now++;
   const uint32_t hit = tlb_array_lookup(&u->a, key, u->now);
   if (hit != TLB_MISS) {
      assert_true(u->a.key[hit] == key);
      return TLB_NO_KEY;
   }
   assert_false(unit_holds(u, key));
   tlb_key *const before = malloc(u->a.g.entries * sizeof *before);
   assert_non_null(before);
   for (uint32_t i = 0; i < u->a.g.entries; i++)
      before[i] = u->a.key[i];
   const uint32_t e = tlb_array_fill(&u->a, key, u->now);
   assert_true(e < u->a.g.entries);
   assert_true(u->a.key[e] == key);
   for (uint32_t i = 0; i < u->a.g.entries; i++) {
      if (i != e)
         assert_true(u->a.key[i] == before[i]);
   }
   const tlb_key evicted = before[e] == TLB_NO_KEY ? free_way : before[e];
   free(before);
   return evicted;
}

/* The same, telling only hit (1) from miss (0). */
static inline int unit_hits(unit_array *u, uint64_t page)
{
   u->now++;
   if (tlb_array_lookup(&u->a, unit_key(page), u->now) != TLB_MISS)
      return 1;
   tlb_array_fill(&u->a, unit_key(page), u->now);
   return 0;
}

#endif
