/* Page walks and their caches. See walk.h. */

#include "sim/tlb/walk.h"

/* An entry of step i, in a cache that holds those of other steps and
   translations as well: where a translation has the mark of its page size, it
   has one that no page size has. */
enum {
   FIRST_MARK = TLB_MAX_PAGE_SHIFT - TLB_MIN_PAGE_SHIFT + 1,
   MARK_BITS = 5
};

_Static_assert(FIRST_MARK + TLB_MAX_WALK_LEVELS <= 1 << MARK_BITS,
               "the marks of all steps fit");

static tlb_key key_of(const tlb_walker *w, unsigned step, uint64_t address,
                      uint32_t context)
{
   return address >> w->machine->walk[step].shift
          | (uint64_t)(FIRST_MARK + step) << TLB_KEY_PAGE_BITS
          | (uint64_t)context << (TLB_KEY_PAGE_BITS + MARK_BITS);
}

int tlb_walk_is_step(tlb_key key)
{
   return (key >> TLB_KEY_PAGE_BITS & ((1 << MARK_BITS) - 1)) >= FIRST_MARK;
}

void tlb_walker_empty(tlb_walker *w)
{
   for (unsigned i = 0; i < w->machine->n_walk_steps; i++) {
      if (!tlb_step_has_own_cache(&w->machine->walk[i]))
         continue;
      for (uint32_t e = 0; e < w->own[i].g.entries; e++) {
         if (w->own[i].key[e] != TLB_NO_KEY)
            tlb_array_invalidate(&w->own[i], e);
      }
   }
}

/* Each cache starts aligned again. */
static size_t cache_bytes(const tlb_walk_step *s)
{
   return tlb_step_has_own_cache(s) ? (tlb_array_bytes(&s->g) + 7) & ~(size_t)7
                                    : 0;
}

size_t tlb_walker_bytes(const tlb_machine *m)
{
   size_t bytes = 0;
   for (unsigned i = 0; i < m->n_walk_steps; i++)
      bytes += cache_bytes(&m->walk[i]);
   return bytes + tlb_table_caches_bytes(m);
}

void tlb_walker_init(tlb_walker *w, const tlb_machine *m, int nested,
                     void *memory, tlb_array *last)
{
   char *at = memory;
   tlb_array *nearest = NULL; /* of the steps so far that have their own */
   w->machine = m;
   w->clock = 0;
   w->lazy_lru = NULL;
   w->table_cycles = 0;
   w->is_fetched = false;
   w->host_references = nested || m->host_page_shift != 0 ? m->n_walk_steps : 0;
   w->pays_host = w->host_references != 0 && m->host_page_shift == 0;
   for (unsigned i = 0; i < m->n_walk_steps; i++) {
      const tlb_walk_step *const s = &m->walk[i];
      if (tlb_step_has_own_cache(s)) {
         nearest = &w->own[i];
         tlb_array_init(nearest, &s->g, at, NULL, NULL);
         at += cache_bytes(s);
      }
      w->cache[i] = !s->cached ? NULL : s->in_last_level ? last : nearest;
   }
   tlb_table_caches_init(&w->tables, m, at);
}

/* The step that a walk for such a page ends at. */
static unsigned last_step(const tlb_machine *m, unsigned page_shift)
{
   unsigned i = m->n_walk_steps - 1;
   while (i > 0 && m->walk[i - 1].shift <= page_shift)
      i--;
   return i;
}

/* A cache that several steps share must know which of them was used last. */
static uint64_t time_of(tlb_walker *w, unsigned step, uint64_t now)
{
   return w->machine->walk[step].in_last_level ? now : ++w->clock;
}

static int find(tlb_walker *w, unsigned step, tlb_key key, uint64_t now)
{
   const uint64_t time = time_of(w, step, now);
   if (w->lazy_lru != NULL && w->machine->walk[step].in_last_level)
      return tlb_lazy_lru_find(w->lazy_lru, key, time);
   return tlb_array_lookup(w->cache[step], key, time) != TLB_MISS;
}

static void keep(tlb_walker *w, unsigned step, tlb_key key, uint64_t now)
{
   const uint64_t time = time_of(w, step, now);
   if (w->lazy_lru != NULL && w->machine->walk[step].in_last_level)
      tlb_lazy_lru_fill_key(w->lazy_lru, key, time);
   else
      tlb_array_fill(w->cache[step], key, time);
}

/* The walk of the host for an address of the guest's memory. */
static uint32_t read_host(tlb_walker *w, uint64_t address, unsigned of, uint32_t context,
                          unsigned area)
{
   uint32_t cycles = 0;
   for (unsigned i = 0; i < w->host_references; i++)
      cycles += tlb_table_caches_read_alone(&w->tables, of + i, context,
                                            address >> w->machine->walk[i].shift, area);
   return cycles;
}

/* The references of a walk, from step `first` to `end`, and behind them the program's. */
static uint32_t read_tables(tlb_walker *w, unsigned first, unsigned end, uint64_t address,
                            uint32_t context)
{
   const tlb_machine *const m = w->machine;
   const bool nested = w->host_references != 0;
   uint32_t cycles = 0;
   if (!w->is_fetched)
      tlb_table_caches_fetch_program(&w->tables, address >> m->base_page_shift);
   for (unsigned i = first; i <= end; i++) {
      const uint64_t entry = address >> m->walk[i].shift;
      if (nested)
         cycles += read_host(w, entry * tlb_entry_bytes(m), TLB_OF_HOST_FOR_TABLE, context, i + 1);
      cycles += tlb_table_caches_read(&w->tables, TLB_OF_STEP + i, context, entry);
   }
   if (nested)
      cycles += read_host(w, address, TLB_OF_HOST, context, 0);
   /* What the program waits for here it waits for without a walk, too. */
   tlb_table_caches_read_program(&w->tables, context, address >> m->base_page_shift);
   return cycles;
}

void tlb_walk_fetch(const tlb_walker *w, uint64_t address)
{
   const tlb_machine *const m = w->machine;
   if (w->tables.far < w->tables.n)
      tlb_table_caches_fetch(&w->tables, TLB_OF_STEP + m->n_walk_steps - 1,
                             address >> m->walk[m->n_walk_steps - 1].shift,
                             address >> m->base_page_shift);
}

unsigned tlb_walk(tlb_walker *w, uint64_t address, unsigned page_shift,
                  uint32_t context, uint64_t now)
{
   const tlb_machine *const m = w->machine;
   if (m->software_walk)
      return 1;
   if (m->n_walk_steps == 0)
      return 0;
   const unsigned end = last_step(m, page_shift);
   unsigned first = end; /* the first step that has to be read */
   while (first > 0) {
      if (w->cache[first - 1] != NULL
          && find(w, first - 1, key_of(w, first - 1, address, context), now))
         break;
      first--;
   }
   for (unsigned i = first; i < end; i++) {
      if (w->cache[i] != NULL)
         keep(w, i, key_of(w, i, address, context), now);
   }
   if (w->tables.n > 0)
      w->table_cycles = read_tables(w, first, end, address, context);
   const unsigned references = end - first + 1;
   return references * (w->host_references + 1) + w->host_references;
}
