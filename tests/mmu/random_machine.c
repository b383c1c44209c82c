/* Random machines. See random_case.h.
   Part of tlbgrind.  GPL-2.0-or-later; see COPYING. */

#include "random_case.h"

#include <stdio.h>
#include <string.h>

#include "naive_mmu.h"

#include "sim/tlb/hierarchy.h"

enum { F = TLB_FETCHES, L = TLB_LOADS, S = TLB_STORES };

/* Which references have arrays of their own, 0 at the end: on the first level, and behind. */
static const unsigned char first_groups[][4] = {
   { F, L | S }, { F, L | S }, { F, L | S }, { F, L, S }, { F, L }, { F | L | S },
   { F, L, L | S }, { F | L, S }, { F | S, L }, { F, S }, { L | S }, { F }
};
static const unsigned char later_groups[][4] = {
   { F | L | S }, { F | L | S }, { F, L | S }, { L | S }, { F, L, S }, { F }
};
enum {
   N_FIRST = sizeof first_groups / sizeof *first_groups,
   N_PLAIN = 5, /* of these the ones whose arrays are asked by code or by data */
   N_LATER = sizeof later_groups / sizeof *later_groups
};

static bool one_in(dice *d, unsigned n)
{
   return roll(d, n) == n - 1;
}

static uint64_t larger_sizes(dice *d, unsigned base)
{
   static const unsigned char shifts[] = { 13, 14, 15, 16, 18, 21, 22, 24, 30 };
   uint64_t sizes = 0;
   for (unsigned n = roll(d, 4); n > 0; n--) {
      const unsigned shift = shifts[roll(d, sizeof shifts)];
      sizes |= shift > base ? UINT64_C(1) << shift : 0;
   }
   return sizes;
}

family random_family(dice *d, unsigned base)
{
   static const unsigned char sets[] = { 1, 1, 2, 3, 4, 8 };
   family f = { .base = base, .sets = sets[roll(d, sizeof sets)] };
   f.sizes = larger_sizes(d, base);
   f.plain = roll(d, 5) < 3;
   f.policy = one_in(d, 3) ? roll(d, TLB_N_POLICIES) : TLB_LRU;
   f.groups = roll(d, f.plain ? N_PLAIN : N_FIRST);
   f.is_inclusive = one_in(d, 3);
   return f;
}

static tlb_geometry geometry(dice *d, unsigned policy, unsigned sets, unsigned most)
{
   static const unsigned char ways[] = { 1, 2, 3, 4, 4, 5, 6, 7, 8, 12, 16, 20, 32, 33 };
   static const unsigned char trees[] = { 1, 2, 4, 4, 8, 16, 32 };
   if (policy == TLB_MRU_PLRU && most < 12)
      policy = TLB_LRU;
   tlb_geometry g = { .policy = (tlb_policy)policy };
   do {
      g.ways = policy == TLB_PLRU ? trees[roll(d, sizeof trees)] : ways[roll(d, sizeof ways)];
   } while (g.ways > most);
   if (policy == TLB_MRU_PLRU)
      g.ways = 12;
   while (sets > 1 && sets * g.ways > most)
      sets /= 2;
   g.entries = g.ways * sets;
   g.seed = policy == TLB_RANDOM ? roll(d, 250) : 0;
   return g;
}

static tlb_machine_array *add_array(tlb_machine *m, unsigned level, unsigned users)
{
   tlb_machine_array *const a = &m->array[m->n_arrays];
   *a = (tlb_machine_array){ .level = level, .users = users, .hit_cycles = TLB_UNKNOWN,
                             .threads = 1 };
   snprintf(a->name, sizeof a->name, "A%u", m->n_arrays++);
   if (level == 1)
      a->hit_cycles = 0;
   return a;
}

/* Blocks of pages of each size, no two of the same size. */
static void give_blocks(dice *d, tlb_machine_array *a)
{
   unsigned largest = 0;
   for (unsigned page = TLB_MIN_PAGE_SHIFT; page < TLB_MAX_PAGE_SHIFT; page++) {
      if ((a->g.page_sizes >> page & 1) == 0)
         continue;
      const unsigned block = page + 1 + roll(d, TLB_MAX_BLOCK_BITS);
      if (block <= largest || block > TLB_MAX_PAGE_SHIFT || one_in(d, 4))
         continue;
      a->block_shift[page] = (uint8_t)block;
      largest = block;
   }
}

/* Pages of an array; the first of its group takes base pages. */
static void give_pages(dice *d, const family *f, tlb_machine_array *a, bool is_first)
{
   unsigned least = f->base;
   if (!is_first && f->sizes != 0) {
      least = (unsigned)__builtin_ctzll(f->sizes);
      for (unsigned n = roll(d, 4); n > 0; n--) {
         const uint64_t above = f->sizes >> (least + 1) << (least + 1);
         least = above != 0 ? (unsigned)__builtin_ctzll(above) : least;
      }
   }
   a->g.page_sizes = UINT64_C(1) << least;
   for (unsigned shift = least + 1; shift <= TLB_MAX_PAGE_SHIFT; shift++) {
      if ((f->sizes >> shift & 1) != 0 && roll(d, 5) < 2)
         a->g.page_sizes |= UINT64_C(1) << shift;
   }
   if (one_in(d, 8))
      a->g.page_sizes |= UINT64_C(1) << TLB_MIN_PAGE_SHIFT;
   a->splits = (int)roll(d, 2);
   if (!f->plain && one_in(d, 4)) {
      a->coalesce_shift = 13 + roll(d, 7);
      if ((a->g.page_sizes & ((UINT64_C(1) << a->coalesce_shift) - 1)) == 0
          || a->coalesce_shift > f->base + TLB_MAX_BLOCK_BITS)
         a->coalesce_shift = 0;
   } else if (!f->plain && one_in(d, 4)) {
      give_blocks(d, a);
   }
}

/* Machines of one run are mostly such that each finds something for others, too. */
static tlb_inclusion random_inclusion(dice *d, const family *f)
{
   return !f->is_inclusive || roll(d, 2) ? TLB_NEITHER
          : roll(d, 2)                   ? TLB_INCLUSIVE
                                         : TLB_EXCLUSIVE;
}

static void add_group(dice *d, const family *f, tlb_machine *m, unsigned level, unsigned users)
{
   static const unsigned char sets[] = { 1, 1, 2, 3, 4, 5, 8, 16 };
   const unsigned n = one_in(d, f->plain ? 8 : 3) ? 2 : 1;
   const tlb_inclusion inclusion = level == 1 ? TLB_NEITHER : random_inclusion(d, f);
   for (unsigned i = 0; i < n; i++) {
      tlb_machine_array *const a = add_array(m, level, users);
      const unsigned policy = one_in(d, 4)           ? roll(d, TLB_N_POLICIES)
                              : level == 1 || f->plain ? f->policy
                                                       : TLB_LRU;
      const unsigned own_sets = level == 1 && (f->plain || one_in(d, 2)) ? f->sets
                                                    : sets[roll(d, sizeof sets)];
      a->g = geometry(d, policy, own_sets, level == 1 ? 33 : 64);
      give_pages(d, f, a, i == 0 || one_in(d, 3));
      const uint32_t sets_of = a->g.entries / a->g.ways;
      if (sets_of > 1 && (sets_of & (sets_of - 1)) == 0 && one_in(d, 4))
         a->g.index_xor = 1 + roll(d, one_in(d, 3) ? 9 : 3);
      a->g.paired = !f->plain && one_in(d, 4);
      if (sets_of == 1 && one_in(d, 4))
         a->wired = 1 + roll(d, 4);
      if (level > 1) {
         a->hit_cycles = one_in(d, 3) ? TLB_UNKNOWN : roll(d, 10);
         a->inclusion = one_in(d, 4) ? random_inclusion(d, f) : inclusion;
      }
      if (a->inclusion == TLB_EXCLUSIVE)
         a->g.paired = 0;
   }
}

static void add_levels(dice *d, const family *f, tlb_machine *m)
{
   static const unsigned char depths[] = { 2, 1, 2, 2, 3, 3 };
   const unsigned depth = depths[roll(d, sizeof depths)];
   for (unsigned level = 1; level <= depth; level++) {
      const unsigned char *const groups
         = level == 1 ? first_groups[f->plain || roll(d, 2) ? f->groups : roll(d, N_FIRST)]
                      : later_groups[roll(d, N_LATER)];
      for (unsigned i = 0; i < 4 && groups[i] != 0; i++)
         add_group(d, f, m, level, groups[i]);
   }
}

/* Whether pages of any size go to two arrays at most: which of three take one is not said. */
static bool is_clear(const tlb_machine *m)
{
   unsigned array[TLB_MAX_ARRAYS];
   for (unsigned user = 0; user < NAIVE_USERS; user++) {
      for (unsigned level = 1; level <= TLB_MAX_LEVELS; level++) {
         for (unsigned shift = m->base_page_shift; shift <= TLB_MAX_PAGE_SHIFT; shift++) {
            if (naive_takers(m, user, level, shift, array) > TLB_MAX_SIDE_BY_SIDE)
               return false;
         }
      }
   }
   return true;
}

static bool can_be(const tlb_machine *m)
{
   tlb_reason why;
   return tlb_machine_check(m, &why) && tlb_machine_holds(m, m->base_page_shift, &why)
          && is_clear(m);
}

/* Tables that cover so little that short streams go through many. At most one step is in the
   last level: of two entries that come into a set together it is not said which is older. */
static void add_steps(dice *d, tlb_machine *m)
{
   bool in_last = false, own = false;
   unsigned shift = m->base_page_shift;
   unsigned shifts[TLB_MAX_WALK_LEVELS];
   const unsigned n = 1 + roll(d, 5);
   for (unsigned i = n; i-- > 0;) {
      shifts[i] = shift;
      shift += 1 + roll(d, 9);
   }
   for (unsigned i = 0; i < n; i++) {
      tlb_walk_step *const s = &m->walk[i];
      *s = (tlb_walk_step){ .shift = shifts[i] };
      const unsigned how = i + 1 == n ? 0 : roll(d, 5);
      s->cached = how > 0 && !(how == 3 && (in_last || naive_keeps_steps(m) < 0))
                  && !(how == 4 && !own);
      s->in_last_level = s->cached && how == 3;
      s->joined = s->cached && how == 4;
      in_last |= s->in_last_level;
      if (s->cached && how < 3) {
         s->g = geometry(d, one_in(d, 4) ? roll(d, TLB_N_POLICIES) : TLB_LRU, 1 + roll(d, 3), 8);
         s->g.page_sizes = UINT64_C(1) << s->shift;
         own = true;
      }
   }
   m->n_walk_steps = n;
}

/* So small that short streams of references drive lines out of them. */
static void add_caches(dice *d, tlb_machine *m)
{
   static const uint32_t ways[] = { 1, 2, 3, 4, 5, 8, 12, 16 };
   m->entry_bytes = one_in(d, 2) ? 0 : 4u << roll(d, 3);
   m->n_caches = 1 + roll(d, one_in(d, 4) ? TLB_MAX_TABLE_CACHES : 2);
   for (unsigned i = 0; i < m->n_caches; i++) {
      tlb_table_cache *const c = &m->cache[i];
      *c = (tlb_table_cache){ .line = 16u << roll(d, 4),
                              .ways = ways[roll(d, sizeof ways / sizeof *ways)],
                              .share = one_in(d, 2) ? 100 : 1 + roll(d, 100),
                              .cycles = i == 0 ? 0 : roll(d, 50) };
      c->size = c->line * c->ways * (1 + roll(d, 6)) + roll(d, 64);
      snprintf(c->name, sizeof c->name, "C%u", i);
   }
   m->memory.cycles = roll(d, 300);
}

static void add_walk(dice *d, tlb_machine *m)
{
   m->walk_cycles = one_in(d, 3) ? TLB_UNKNOWN : roll(d, 200);
   m->software_walk = one_in(d, 10);
   if (!m->software_walk && roll(d, 3) > 0)
      add_steps(d, m);
   if (m->n_walk_steps > 0 && roll(d, 2))
      add_caches(d, m);
   if (m->n_walk_steps > 0 && one_in(d, 4))
      m->host_page_shift = m->walk[m->n_walk_steps - 1].shift;
   uint32_t left = m->walk_cycles == TLB_UNKNOWN ? 0 : m->walk_cycles;
   for (unsigned i = 0; i < m->n_walk_steps && one_in(d, 2); i++) {
      m->walk[i].cycles = left == 0 ? 0 : roll(d, left + 1);
      left -= m->walk[i].cycles;
   }
}

static void simplest_arrays(const family *f, tlb_machine *m)
{
   for (unsigned users = F; users <= (L | S); users += (L | S) - F) {
      tlb_machine_array *const a = add_array(m, 1, users);
      a->g = (tlb_geometry){ .entries = 4, .ways = 4, .page_sizes = UINT64_C(1) << f->base };
   }
}

void random_machine(dice *d, const family *f, tlb_machine *m)
{
   bool made = false;
   for (unsigned tries = 0; !made && tries < 20; tries++) {
      memset(m, 0, sizeof *m);
      m->base_page_shift = f->base;
      m->year = 2000;
      m->confidence = 'C';
      strcpy(m->name, "random");
      strcpy(m->title, "random");
      strcpy(m->isa, "none");
      m->walk_cycles = TLB_UNKNOWN;
      add_levels(d, f, m);
      made = can_be(m);
   }
   if (!made) {
      m->n_arrays = 0;
      simplest_arrays(f, m);
   }
   add_walk(d, m);
   if (!can_be(m)) {
      m->n_walk_steps = 0;
      m->host_page_shift = 0;
      m->software_walk = 0;
      m->n_caches = 0;
      m->memory.cycles = 0;
   }
}
