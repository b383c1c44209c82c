/* One translation array: look-up, fill, and the entries' short cuts. */

#include "array.h"

#include "policy.h"

/* Up to this many ways a look-up compares all of them; above, it asks an index
   of the whole array: buckets of chained entries. */
enum { MAX_COMPARED_WAYS = 8 };

#define END UINT32_MAX

static int has_index(const tlb_geometry *g)
{
   return g->ways > MAX_COMPARED_WAYS;
}

/* Twice as many buckets as entries, or a little more: short chains. */
static unsigned bucket_bits(const tlb_geometry *g)
{
   unsigned bits = 1;
   while (((uint32_t)1 << bits) < 2 * g->entries)
      bits++;
   return bits;
}

/* The parts of the memory, in order of alignment. */
typedef struct {
   size_t entries, heap, buckets, filled, next, all;
} layout;

static layout layout_of(const tlb_geometry *g)
{
   const size_t sets = tlb_geometry_sets(g);
   layout l = { 0 };
   l.entries = g->entries * sizeof(tlb_entry);
   l.heap = tlb_policy_uses_heap(g) ? g->entries * sizeof(tlb_heap_node) : 0;
   l.buckets = has_index(g) ? sizeof(uint32_t) << bucket_bits(g) : 0;
   l.filled = sets * sizeof(uint32_t);
   l.next = sets * sizeof(uint32_t);
   l.all = l.entries + l.heap + l.buckets + l.filled + l.next;
   return l;
}

size_t tlb_array_bytes(const tlb_geometry *g)
{
   return layout_of(g).all;
}

void tlb_array_init(tlb_array *a, const tlb_geometry *g, void *memory,
                    tlb_release *release, void *opaque)
{
   const layout l = layout_of(g);
   char *at = memory;

   *a = (tlb_array){ .g = *g, .sets = tlb_geometry_sets(g),
                     .release = release, .opaque = opaque };
   if ((a->sets & (a->sets - 1)) == 0)
      a->set_mask = a->sets - 1;
   a->random = g->seed;

   a->entry = (tlb_entry *)(void *)at;
   at += l.entries;
   a->heap = (tlb_heap_node *)(void *)at;
   at += l.heap;
   a->bucket = (uint32_t *)(void *)at;
   at += l.buckets;
   a->filled = (uint32_t *)(void *)at;
   at += l.filled;
   a->next = (uint32_t *)(void *)at;

   for (uint32_t i = 0; i < g->entries; i++)
      a->entry[i] = (tlb_entry){ .key = TLB_NO_KEY, .chain = END };
   if (l.heap != 0) {
      for (uint32_t i = 0; i < g->entries; i++)
         a->heap[i] = (tlb_heap_node){ 0, i % g->ways };
   }
   if (l.buckets != 0) {
      a->index_shift = 64 - bucket_bits(g);
      for (size_t i = 0; i < l.buckets / sizeof *a->bucket; i++)
         a->bucket[i] = END;
   }
   for (uint32_t i = 0; i < a->sets; i++)
      a->filled[i] = a->next[i] = 0;
}

/* Sets are chosen by the page number alone: contexts share the sets. */
static uint32_t set_of(const tlb_array *a, tlb_key key)
{
   const uint64_t page = key & ((UINT64_C(1) << TLB_KEY_PAGE_BITS) - 1);
   if (a->set_mask != 0 || a->sets == 1)
      return (uint32_t)page & a->set_mask;
   return (uint32_t)(page % a->sets);
}

/* Multiplicative hashing: the upper bits of the product depend on all bits. */
static uint32_t *bucket_of(const tlb_array *a, tlb_key key)
{
   return a->bucket + (key * UINT64_C(0x9E3779B97F4A7C15) >> a->index_shift);
}

uint32_t tlb_array_lookup(tlb_array *a, tlb_key key, uint64_t now)
{
   const uint32_t set = set_of(a, key);
   uint32_t i;
   if (has_index(&a->g)) {
      i = *bucket_of(a, key);
      while (i != END && a->entry[i].key != key)
         i = a->entry[i].chain;
   } else {
      const uint32_t first = set * a->g.ways;
      uint32_t way = 0;
      while (way < a->g.ways && a->entry[first + way].key != key)
         way++;
      i = way < a->g.ways ? first + way : END;
   }
   if (i == END)
      return TLB_MISS;
   tlb_policy_touch(a, set, i, now);
   return i;
}

static void unlink_entry(tlb_array *a, uint32_t i)
{
   uint32_t *link = bucket_of(a, a->entry[i].key);
   while (*link != i)
      link = &a->entry[*link].chain;
   *link = a->entry[i].chain;
}

uint32_t tlb_array_fill(tlb_array *a, tlb_key key, uint64_t now)
{
   const uint32_t set = set_of(a, key);
   uint32_t way;
   if (a->filled[set] < a->g.ways)
      way = a->filled[set]++;
   else
      way = tlb_policy_victim(a, set);

   const uint32_t i = set * a->g.ways + way;
   tlb_entry *const e = a->entry + i;
   tlb_array_release(a, e);
   if (e->used) {
      e->used = 0;
      a->next[set]--;
   }
   if (has_index(&a->g)) {
      if (e->key != TLB_NO_KEY)
         unlink_entry(a, i);
      uint32_t *const bucket = bucket_of(a, key);
      e->chain = *bucket;
      *bucket = i;
   }
   e->key = key;
   tlb_policy_touch(a, set, i, now);
   return i;
}

void tlb_array_attach(tlb_array *a, uint32_t entry, uint64_t *time)
{
   *time = a->entry[entry].time;
   a->entry[entry].short_cut = time;
}

void tlb_array_detach(tlb_array *a, uint32_t entry)
{
   tlb_entry *const e = a->entry + entry;
   e->time = *e->short_cut;
   e->short_cut = NULL;
}

void tlb_array_release(tlb_array *a, tlb_entry *e)
{
   uint64_t *const time = e->short_cut;
   if (time == NULL)
      return;
   e->time = *time;
   e->short_cut = NULL;
   a->release(time, a->opaque);
}

int tlb_array_needs_time(const tlb_array *a)
{
   return a->g.ways > 1
          && (a->g.policy == TLB_LRU || a->g.policy == TLB_PLRU);
}
