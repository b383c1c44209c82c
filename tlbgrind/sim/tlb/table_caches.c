/* Caches of page tables. See table_caches.h. */

#include "sim/tlb/table_caches.h"

/* A line's number, with what tells it from others: of which area, which context, and whose. Areas
   are above all numbers that lines with an area have. */
enum { AREA_SHIFT = 47, CONTEXT_SHIFT = TLB_KEY_PAGE_BITS, OF_SHIFT = CONTEXT_SHIFT + 7 };

_Static_assert(TLB_MAX_CONTEXT < 1 << (OF_SHIFT - CONTEXT_SHIFT), "each context has bits");
_Static_assert(TLB_N_OF_ENTRIES <= 1 << (64 - OF_SHIFT), "and so has each kind of entry");
_Static_assert(TLB_MAX_WALK_LEVELS < 1 << (CONTEXT_SHIFT - AREA_SHIFT), "and each area");

static size_t line_bytes(const tlb_table_cache *c)
{
   return (size_t)tlb_table_cache_sets(c) * c->ways * sizeof(uint64_t);
}

/* Up to whole words. */
static size_t filled_bytes(const tlb_table_cache *c)
{
   return (tlb_table_cache_sets(c) * sizeof(uint16_t) + 7) & ~(size_t)7;
}

size_t tlb_table_caches_bytes(const tlb_machine *m)
{
   size_t bytes = 0;
   for (unsigned i = 0; tlb_tables_are_cached(m) && i < m->n_caches; i++)
      bytes += line_bytes(&m->cache[i]) + filled_bytes(&m->cache[i]);
   return bytes;
}

/* The lines are left as they are: large caches of which a program uses little take little memory. */
void tlb_table_caches_init(tlb_table_caches *t, const tlb_machine *m, void *memory)
{
   uint8_t *at = memory;
   t->n = tlb_tables_are_cached(m) ? m->n_caches : 0;
   t->memory_cycles = m->memory.cycles;
   for (unsigned i = 0; i < t->n; i++) {
      const tlb_table_cache *const c = &m->cache[i];
      const uint32_t sets = tlb_table_cache_sets(c);
      tlb_lines *const l = &t->cache[i];
      *l = (tlb_lines){ .sets = sets, .set_mask = tlb_set_mask(sets, 0), .ways = c->ways,
                        .entry_bits = (unsigned)__builtin_ctz(c->line / tlb_entry_bytes(m)),
                        .cycles = c->cycles };
      l->line = (uint64_t *)(void *)at;
      at += line_bytes(c);
      l->n_filled = (uint16_t *)(void *)at;
      at += filled_bytes(c);
      for (uint32_t s = 0; s < sets; s++)
         l->n_filled[s] = 0;
   }
}

/* Makes the line the newest of its set. Returns whether it was there. One pass both looks for it and
   moves the newer ones down. */
static int use(tlb_lines *l, uint32_t set, uint64_t line)
{
   uint64_t *const at = l->line + (size_t)set * l->ways;
   const unsigned n = l->n_filled[set];
   uint64_t newer = line;
   for (unsigned i = 0; i < n; i++) {
      const uint64_t here = at[i];
      at[i] = newer;
      if (here == line)
         return 1;
      newer = here;
   }
   if (n < l->ways) {
      at[n] = newer;
      l->n_filled[set] = (uint16_t)(n + 1);
   }
   return 0;
}

uint32_t tlb_table_caches_read(tlb_table_caches *t, unsigned of, uint32_t context, uint64_t entry)
{
   const uint64_t whose = (uint64_t)context << CONTEXT_SHIFT | (uint64_t)of << OF_SHIFT;
   for (unsigned i = 0; i < t->n; i++) {
      tlb_lines *const l = &t->cache[i];
      const uint64_t number = entry >> l->entry_bits;
      if (use(l, tlb_set_of(number, l->sets, l->set_mask, 0), number | whose))
         return l->cycles;
   }
   return t->memory_cycles;
}

uint32_t tlb_table_caches_read_alone(tlb_table_caches *t, unsigned of, uint32_t context,
                                     uint64_t entry, unsigned area)
{
   const uint64_t whose = (uint64_t)area << AREA_SHIFT | (uint64_t)context << CONTEXT_SHIFT
                          | (uint64_t)of << OF_SHIFT;
   for (unsigned i = 0; i < t->n; i++) {
      tlb_lines *const l = &t->cache[i];
      if (use(l, tlb_set_of(entry, l->sets, l->set_mask, 0), entry | whose))
         return l->cycles;
   }
   return t->memory_cycles;
}
