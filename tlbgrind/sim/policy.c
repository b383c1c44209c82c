/* Who is evicted: the replacement policies. */

#include "policy.h"

/* Up to this many ways the oldest is found by looking at all of them. */
enum { MAX_SCANNED_WAYS = 16 };

int tlb_policy_uses_heap(const tlb_geometry *g)
{
   return g->policy == TLB_LRU && g->ways > MAX_SCANNED_WAYS;
}

/* LRU of many ways. A binary heap orders the ways by the time that each had
   when it was last put in its place. References do not touch the heap: they
   make an entry younger, so the time the heap knows is a lower bound. The root
   is the oldest if its own bound is still its true time; if not, it is put in
   its new place and the next root is asked. Each such step pays for at least
   one reference since, so a victim costs O(log ways) amortized, and a hit
   nothing. `time` of an entry without short cut moves on hits too, hence the
   bounds are kept apart. A way begins with the bound 0, below every time, so
   the first question about it puts it in its place. */

static void sift_down(tlb_heap_node *heap, uint32_t n,
                      tlb_heap_node moved)
{
   uint32_t at = 0;
   for (;;) {
      uint32_t child = 2 * at + 1;
      if (child >= n)
         break;
      if (child + 1 < n && heap[child + 1].bound < heap[child].bound)
         child++;
      if (moved.bound <= heap[child].bound)
         break;
      heap[at] = heap[child];
      at = child;
   }
   heap[at] = moved;
}

static uint32_t oldest_by_heap(const tlb_array *a, uint32_t set)
{
   tlb_heap_node *const heap = a->heap + (size_t)set * a->g.ways;
   const uint32_t first = set * a->g.ways;
   for (;;) {
      const tlb_heap_node root = heap[0];
      const uint64_t time = tlb_array_time(a, first + root.way);
      if (time == root.bound)
         return root.way;
      sift_down(heap, a->g.ways, (tlb_heap_node){ time, root.way });
   }
}

/* Three loops of one shape: a test in the middle of one would cost more than
   all the rest of it. */
static uint32_t oldest_by_scan(const tlb_array *a, uint32_t set)
{
   const uint32_t ways = a->g.ways;
   const uint32_t first = set * ways;
   uint32_t oldest = 0;
   uint64_t oldest_time = UINT64_MAX;
   if (a->n_attached == 0) {
      const uint64_t *const time = a->time + first;
      for (uint32_t way = 0; way < ways; way++) {
         oldest = time[way] < oldest_time ? way : oldest;
         oldest_time = time[way] < oldest_time ? time[way] : oldest_time;
      }
   } else if (tlb_array_all_attached(a)) {
      uint64_t *const *const time = a->short_cut + first;
      for (uint32_t way = 0; way < ways; way++) {
         oldest = *time[way] < oldest_time ? way : oldest;
         oldest_time = *time[way] < oldest_time ? *time[way] : oldest_time;
      }
   } else {
      for (uint32_t way = 0; way < ways; way++) {
         const uint64_t time = tlb_array_time(a, first + way);
         oldest = time < oldest_time ? way : oldest;
         oldest_time = time < oldest_time ? time : oldest_time;
      }
   }
   return oldest;
}

/* The last reference to any of n entries from `first` on. */
static uint64_t youngest(const tlb_array *a, uint32_t first, uint32_t n)
{
   uint64_t youngest_time = 0;
   for (uint32_t i = first; i < first + n; i++) {
      const uint64_t time = tlb_array_time(a, i);
      if (time > youngest_time)
         youngest_time = time;
   }
   return youngest_time;
}

/* Tree PLRU. Each bit of the tree points away from the half that was
   referenced last, so the bits need not be kept: the half with the older last
   reference is where they point. Only full sets are asked, so every way has
   been referenced and no two times are equal. */
static uint32_t victim_by_tree(const tlb_array *a, uint32_t set)
{
   const uint32_t first = set * a->g.ways;
   uint32_t from = first;
   for (uint32_t half = a->g.ways / 2; half > 0; half /= 2) {
      if (youngest(a, from, half) > youngest(a, from + half, half))
         from += half;
   }
   return from - first;
}

/* NRU never leaves a set of two ways or more with all used bits on. */
static uint32_t first_unused(const tlb_array *a, uint32_t set)
{
   const uint32_t first = set * a->g.ways;
   uint32_t way = 0;
   while (way + 1 < a->g.ways && a->used[first + way])
      way++;
   return way;
}

uint32_t tlb_policy_victim(tlb_array *a, uint32_t set)
{
   switch (a->g.policy) {
   case TLB_LRU:
      return tlb_policy_uses_heap(&a->g) ? oldest_by_heap(a, set)
                                         : oldest_by_scan(a, set);
   case TLB_PLRU:
      return victim_by_tree(a, set);
   case TLB_NRU:
      return first_unused(a, set);
   case TLB_RANDOM:
      return tlb_random_next(&a->random, a->g.ways);
   case TLB_FIFO:
   case TLB_N_POLICIES:
      break;
   }
   const uint32_t way = a->next[set];
   a->next[set] = way + 1 == a->g.ways ? 0 : way + 1;
   return way;
}

/* Sets the used bit of e; if that leaves none clear, clears all the others,
   whose next references therefore matter again. */
void tlb_policy_use(tlb_array *a, uint32_t set, uint32_t e)
{
   const uint32_t first = set * a->g.ways;
   if (a->used[e])
      return;
   a->used[e] = 1;
   if (++a->next[set] < a->g.ways)
      return;
   for (uint32_t other = first; other < first + a->g.ways; other++) {
      if (other == e)
         continue;
      a->used[other] = 0;
      tlb_array_release(a, other);
   }
   a->next[set] = 1;
}
