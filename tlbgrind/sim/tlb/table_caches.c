/* Caches of page tables. See table_caches.h. */

#include "sim/tlb/table_caches.h"

/* Areas are above all numbers that lines with an area have. */
enum { AREA_SHIFT = 47 };

_Static_assert(TLB_MAX_CONTEXT < 1 << (TLB_LINE_OF_SHIFT - TLB_LINE_CONTEXT_SHIFT),
               "each context has bits");
_Static_assert(TLB_N_OF_ENTRIES <= 1 << (64 - TLB_LINE_OF_SHIFT), "and so has each kind of entry");
_Static_assert(TLB_MAX_WALK_LEVELS < 1 << (TLB_LINE_CONTEXT_SHIFT - AREA_SHIFT), "and each area");

/* --- Names of lines --- */

/* A line's name has the upper part of its number as the place of that in `region`, so that it fits
   32 bits: then a set of 16 ways is one line of the host's cache. */
enum { NEAR_BITS = 19, NO_NAME = 0 };
#define IS_REGION (UINT64_C(1) << 63)

_Static_assert((uint64_t)TLB_N_REGIONS + 1 <= UINT64_C(1) << (32 - NEAR_BITS),
               "each region has a name");

/* NO_NAME if there are too many regions: such a line is in no cache. */
static __attribute__((noinline)) uint32_t region_name(tlb_table_caches *t, uint64_t number)
{
   const uint64_t region = number >> NEAR_BITS | IS_REGION;
   uint32_t at = (uint32_t)((region * UINT64_C(0x9E3779B97F4A7C15) >> 32) % TLB_N_REGIONS);
   for (uint32_t tries = 0; tries < TLB_N_REGIONS; tries++) {
      if (t->region[at] == 0)
         t->region[at] = region;
      if (t->region[at] == region)
         return (at + 1) << NEAR_BITS;
      at = at + 1 < TLB_N_REGIONS ? at + 1 : 0;
   }
   return NO_NAME;
}

static uint32_t name_in(uint32_t region, uint64_t number)
{
   return region | (uint32_t)(number & ((1 << NEAR_BITS) - 1));
}

/* --- Memory --- */

/* A table of that size is taken to be in the host's nearer caches: to ask for it takes longer than
   to wait for it. */
enum { HOST_LINE = 64, FAR_BYTES = 20 * 1024 };

static size_t up_to_line(size_t n)
{
   return (n + HOST_LINE - 1) & ~(size_t)(HOST_LINE - 1);
}

/* Before the first set is a word that is read with it. */
static size_t line_bytes(const tlb_table_cache *c)
{
   return HOST_LINE + up_to_line((size_t)tlb_table_cache_sets(c) * c->ways * sizeof(uint32_t));
}

size_t tlb_table_caches_bytes(const tlb_machine *m)
{
   if (!tlb_tables_are_cached(m))
      return 0;
   size_t bytes = HOST_LINE + up_to_line(TLB_N_REGIONS * sizeof(uint64_t));
   for (unsigned i = 0; i < m->n_caches; i++)
      bytes += line_bytes(&m->cache[i]);
   return bytes;
}

void tlb_table_caches_init(tlb_table_caches *t, const tlb_machine *m, void *memory)
{
   uint8_t *at = (uint8_t *)up_to_line((uintptr_t)memory);
   t->n = tlb_tables_are_cached(m) ? m->n_caches : 0;
   t->memory_cycles = m->memory.cycles;
   t->one_size = true;
   t->far = 0;
   for (unsigned of = 0; of < TLB_N_OF_ENTRIES; of++)
      t->newest[of] = (tlb_newest_line){ .number = TLB_NO_LINE };
   if (t->n == 0)
      return;
   t->region = (uint64_t *)(void *)at;
   at += up_to_line(TLB_N_REGIONS * sizeof(uint64_t));
   for (uint32_t r = 0; r < TLB_N_REGIONS; r++)
      t->region[r] = 0;
   for (unsigned i = 0; i < t->n; i++) {
      const tlb_table_cache *const c = &m->cache[i];
      const uint32_t sets = tlb_table_cache_sets(c);
      tlb_lines *const l = &t->cache[i];
      *l = (tlb_lines){ .line = (uint32_t *)(void *)(at + HOST_LINE), .sets = sets,
                        .set_mask = tlb_set_mask(sets, 0), .ways = c->ways,
                        .entry_bits = (unsigned)__builtin_ctz(c->line / tlb_entry_bytes(m)),
                        .cycles = c->cycles };
      l->line[-1] = NO_NAME;
      for (size_t e = 0; e < (size_t)sets * c->ways; e++)
         l->line[e] = NO_NAME;
      at += line_bytes(c);
      if (line_bytes(c) < FAR_BYTES)
         t->far = i + 1;
      t->one_size = t->one_size && l->entry_bits == t->cache[0].entry_bits;
   }
}

/* --- References --- */

/* Four names at once: GCC's vector extensions, which clang has, too. */
typedef uint32_t names4 __attribute__((vector_size(16)));
typedef int32_t signed4 __attribute__((vector_size(16)));
typedef uint64_t words2 __attribute__((vector_size(16)));
enum { AT_ONCE = 4 };

static inline names4 names_at(const uint32_t *at)
{
   names4 names;
   __builtin_memcpy(&names, at, sizeof names);
   return names;
}

static inline names4 all_of(uint32_t number)
{
   return (names4){ number, number, number, number };
}

static const names4 four_ways = { 0, 1, 2, 3 };

static inline __attribute__((always_inline))
bool is_in(const uint32_t *at, uint32_t ways, uint32_t name)
{
   names4 found = { 0 };
#pragma GCC unroll 4
   for (uint32_t i = 0; i < ways; i += AT_ONCE)
      found |= (names4)(names_at(at + i) == all_of(name));
   const words2 w = (words2)found;
   return (w[0] | w[1]) != 0;
}

/* Of a set that has the line: how many of its ways move, up to the one that has it. */
static inline __attribute__((always_inline))
uint32_t moving(const uint32_t *at, uint32_t ways, uint32_t name)
{
   names4 found = { 0 };
#pragma GCC unroll 4
   for (uint32_t i = 0; i < ways; i += AT_ONCE)
      found |= (names4)(names_at(at + i) == all_of(name)) & (all_of(i + 1) + four_ways);
   const words2 w = (words2)found;
   const uint64_t both = w[0] | w[1];
   return (uint32_t)(both | both >> 32);
}

/* Moves all down by one. */
static inline __attribute__((always_inline))
void put_first(uint32_t *at, uint32_t ways, uint32_t name)
{
#pragma GCC unroll 4
   for (uint32_t i = ways; i > 0;) {
      i -= AT_ONCE;
      const names4 now = names_at(at + i - 1);
      __builtin_memcpy(at + i, &now, sizeof now);
   }
   at[0] = name;
}

/* Moves down what stands before the line. No branch depends on where that is, for it cannot be
   foreseen. */
static inline __attribute__((always_inline))
void move_first(uint32_t *at, uint32_t ways, uint32_t name)
{
   const signed4 n = (signed4)all_of(moving(at, ways, name));
#pragma GCC unroll 4
   for (uint32_t i = ways; i > 0;) {
      i -= AT_ONCE;
      const names4 moves = (names4)(n > (signed4)(all_of(i) + four_ways));
      const names4 move = names_at(at + i - 1) & moves, stay = names_at(at + i) & ~moves;
      const names4 now = move | stay;
      __builtin_memcpy(at + i, &now, sizeof now);
   }
   at[0] = name;
}

/* One by one. */
static bool use_any(uint32_t *at, uint32_t ways, uint32_t name)
{
   uint32_t newer = name;
   for (uint32_t i = 0; i < ways; i++) {
      const uint32_t here = at[i];
      at[i] = newer;
      if (here == name)
         return true;
      newer = here;
   }
   return false;
}

/* Whether a set has the line is asked first: mostly it is known before which, and all have to move
   if it has not. */
static inline __attribute__((always_inline))
bool use_many(uint32_t *at, uint32_t ways, uint32_t name)
{
   if (!is_in(at, ways, name)) {
      put_first(at, ways, name);
      return false;
   }
   move_first(at, ways, name);
   return true;
}

/* Apart, so that the loops for any number of ways are not in each place. */
static __attribute__((noinline)) bool use_unusual(uint32_t *at, uint32_t ways, uint32_t name)
{
   return ways == 12            ? use_many(at, 12, name)
          : ways % AT_ONCE == 0 ? use_many(at, ways, name)
                                : use_any(at, ways, name);
}

/* Makes the line the newest of its set. Returns whether it was there. */
static inline __attribute__((always_inline)) bool use(uint32_t *at, uint32_t ways, uint32_t name)
{
   return ways == 16  ? use_many(at, 16, name)
          : ways == 8 ? use_many(at, 8, name)
          : ways == 4 ? use_many(at, 4, name)
                      : use_unusual(at, ways, name);
}

/* Where lines of a kind begin: TLB_TABLE_DISTANCE in table_caches.h. */
static inline uint64_t start_of(unsigned of, unsigned area)
{
   return (uint64_t)TLB_TABLE_DISTANCE * (of + area * TLB_MAX_WALK_LEVELS);
}

/* `at`: the line's number behind the start of its kind. */
static uint32_t *set_at(const tlb_lines *l, uint64_t at)
{
   return l->line + (size_t)tlb_set_of(at, l->sets, l->set_mask, 0) * l->ways;
}

static inline void fetch_set(const tlb_lines *l, uint64_t number)
{
   enum { NAMES = HOST_LINE / sizeof(uint32_t) };
   const uint32_t *const at = set_at(l, number);
   __builtin_prefetch(at, 1);
   for (unsigned way = NAMES; way < l->ways; way += NAMES)
      __builtin_prefetch(at + way, 1);
}

void tlb_table_caches_fetch_program(const tlb_table_caches *t, uint64_t page)
{
   for (unsigned i = t->far; i < t->n; i++)
      fetch_set(&t->cache[i], page + start_of(TLB_OF_PROGRAM, 0));
}

void tlb_table_caches_fetch(const tlb_table_caches *t, unsigned of, uint64_t entry, uint64_t page)
{
   for (unsigned i = t->far; i < t->n; i++) {
      fetch_set(&t->cache[i], (entry >> t->cache[i].entry_bits) + start_of(of, 0));
      fetch_set(&t->cache[i], page + start_of(TLB_OF_PROGRAM, 0));
   }
}

/* `at` as for set_at(). */
static uint32_t read_others(tlb_table_caches *t, uint32_t name, uint64_t at)
{
   for (unsigned i = 1; i < t->n; i++) {
      const tlb_lines *const l = &t->cache[i];
      if (use(set_at(l, at), l->ways, name))
         return l->cycles;
   }
   return t->memory_cycles;
}

/* Where the caches have lines of several sizes: a name for each. */
static uint32_t read_sizes(tlb_table_caches *t, unsigned of, uint64_t whose, uint64_t entry)
{
   for (unsigned i = 1; i < t->n; i++) {
      const tlb_lines *const l = &t->cache[i];
      const uint64_t number = entry >> l->entry_bits;
      const uint32_t region = region_name(t, number | whose);
      if (region != NO_NAME
          && use(set_at(l, number + start_of(of, 0)), l->ways, name_in(region, number)))
         return l->cycles;
   }
   return t->memory_cycles;
}

/* Makes it the newest line of its kind. Returns whether the nearest cache has had it. */
static inline __attribute__((always_inline))
bool read_first(tlb_table_caches *t, tlb_newest_line *newest, uint64_t whose, uint64_t number,
                uint64_t start)
{
   const tlb_lines *const l = &t->cache[0];
   const uint64_t whole = number | whose;
   if (newest->number >> NEAR_BITS != whole >> NEAR_BITS)
      newest->region_name = region_name(t, whole);
   newest->number = TLB_NO_LINE;
   if (newest->region_name == NO_NAME)
      return false;
   uint32_t *const at = set_at(l, number + start);
   newest->number = whole;
   newest->at = at;
   newest->name = name_in(newest->region_name, number);
   return use(at, l->ways, newest->name);
}

uint32_t tlb_table_caches_look_up(tlb_table_caches *t, unsigned of, uint64_t whose, uint64_t entry)
{
   tlb_newest_line *const newest = &t->newest[of];
   const uint64_t number = entry >> t->cache[0].entry_bits;
   const uint64_t start = start_of(of, 0);
   if (read_first(t, newest, whose, number, start))
      return 0;
   if (newest->region_name == NO_NAME)
      return t->memory_cycles;
   return t->one_size ? read_others(t, newest->name, number + start)
                      : read_sizes(t, of, whose, entry);
}

uint32_t tlb_table_caches_read_alone(tlb_table_caches *t, unsigned of, uint32_t context,
                                     uint64_t entry, unsigned area)
{
   const uint64_t whose = tlb_line_whose(of, context) | (uint64_t)area << AREA_SHIFT;
   tlb_newest_line *const newest = &t->newest[of];
   const uint64_t start = start_of(of, area);
   if (tlb_line_is_newest(newest, entry | whose) || read_first(t, newest, whose, entry, start))
      return 0;
   return newest->region_name == NO_NAME ? t->memory_cycles
                                         : read_others(t, newest->name, entry + start);
}

/* No branch depends on whether the last cache has it, for nobody waits for the line. */
void tlb_table_caches_read_program(tlb_table_caches *t, uint32_t context, uint64_t page)
{
   const uint64_t whose = tlb_line_whose(TLB_OF_PROGRAM, context);
   tlb_newest_line *const newest = &t->newest[TLB_OF_PROGRAM];
   const uint64_t start = start_of(TLB_OF_PROGRAM, 0);
   if (tlb_line_is_newest(newest, page | whose) || read_first(t, newest, whose, page, start)
       || newest->region_name == NO_NAME)
      return;
   for (unsigned i = 1; i < t->n; i++) {
      const tlb_lines *const l = &t->cache[i];
      if (use(set_at(l, page + start), l->ways, newest->name))
         return;
   }
}
