/* An LRU stack of fully associative LRU arrays. See lru_stack.h. */

#include "sim/tlb/lru_stack.h"

enum { END = 0 };

static uint32_t nodes(const uint32_t *sizes, uint32_t n)
{
   /* All pages but those of the smallest array; one more while what does not
      fit makes its way down; and the ends. */
   return sizes[n - 1] - sizes[0] + 2;
}

size_t tlb_lru_stack_bytes(const uint32_t *sizes, uint32_t n)
{
   return nodes(sizes, n) * sizeof(tlb_lru_stack_node);
}

void tlb_lru_stack_init(tlb_lru_stack *l, const uint32_t *sizes, uint32_t n,
                     void *memory)
{
   const uint32_t n_nodes = nodes(sizes, n);
   *l = (tlb_lru_stack){ .n_sizes = n, .node = memory, .free = 1,
                      .room = sizes[n - 1] - sizes[0] };
   for (uint32_t i = 0; i < n; i++)
      l->size[i].entries = sizes[i];
   for (uint32_t i = 0; i < n_nodes; i++)
      l->node[i] = (tlb_lru_stack_node){ .older = i + 1 < n_nodes ? i + 1 : END };
   l->node[END].older = END;
}

static void unlink_node(tlb_lru_stack *l, const tlb_lru_stack_node *p)
{
   l->node[p->newer].older = p->older;
   l->node[p->older].newer = p->newer;
}

/* Makes the page of that place, which is in no order, the newest. */
static void put_first(tlb_lru_stack *l, uint32_t at, void *page)
{
   tlb_lru_stack_node *const p = &l->node[at];
   *p = (tlb_lru_stack_node){ .page = page, .newer = END, .older = l->node[END].older,
                     .size = 1 };
   l->node[p->older].newer = at;
   l->node[END].older = at;
}

/* --- While not all sizes are full --- */

/* The oldest page of a size leaves it. */
static void drop_oldest(tlb_lru_stack *l, uint32_t size)
{
   l->size[size].oldest = l->node[l->size[size].oldest].newer;
   l->size[size].n--;
}

/* Takes the page off its size. */
static void take(tlb_lru_stack *l, uint32_t at)
{
   tlb_lru_stack_node *const p = &l->node[at];
   const uint32_t size = p->size;
   if (l->size[size].oldest == at)
      drop_oldest(l, size);
   else
      l->size[size].n--;
   unlink_node(l, p);
   *p = (tlb_lru_stack_node){ .older = l->free };
   l->free = at;
   l->room++;
}

/* There is room: what does not fit on one size does on the next, or on one behind. */
static uint32_t put(tlb_lru_stack *l, void *page)
{
   const uint32_t at = l->free;
   uint32_t comes = at;
   uint32_t size = 1;
   l->free = l->node[at].older;
   put_first(l, at, page);
   for (;; size++) {
      l->node[comes].size = size;
      if (l->size[size].n++ == 0)
         l->size[size].oldest = comes;
      if (l->size[size].n <= l->size[size].entries - l->size[size - 1].entries)
         break;
      comes = l->size[size].oldest;
      drop_oldest(l, size);
   }
   l->room--;
   return at;
}

/* --- When all are --- */

/* The place of the page, which is on that size, is for the one that comes, and from
   each size before it the oldest page goes to the next. */
static void exchange(tlb_lru_stack *l, uint32_t at, uint32_t size, void *comes)
{
   const uint32_t newer = l->node[at].newer;
   unlink_node(l, &l->node[at]);
   put_first(l, at, comes);
   if (l->size[size].oldest == at && newer != END)
      l->size[size].oldest = newer;
   for (uint32_t r = 1; r < size; r++) {
      tlb_lru_stack_node *const oldest = &l->node[l->size[r].oldest];
      oldest->size = r + 1;
      l->size[r].oldest = oldest->newer;
   }
}

uint32_t tlb_lru_stack_miss(tlb_lru_stack *l, const void *page, uint32_t node,
                         void *evicted, uint32_t *evicted_place)
{
   const int there = node != END && l->node[node].page == page;
   const uint32_t last = l->n_sizes - 1;
   const uint32_t missed = there ? l->node[node].size : l->n_sizes;
   if (evicted == NULL)
      return missed;
   if (l->room == 0) {
      const uint32_t at = there ? node : l->size[last].oldest;
      exchange(l, at, there ? missed : last, evicted);
      *evicted_place = at;
      return missed;
   }
   if (there)
      take(l, node);
   *evicted_place = put(l, evicted);
   return missed;
}

/* --- Checking --- */

const char *tlb_lru_stack_check(const tlb_lru_stack *l)
{
   uint32_t n[TLB_LRU_STACK_MAX_SIZES] = { 0 };
   uint32_t size = 1;
   uint32_t last = END;
   for (uint32_t at = l->node[END].older; at != END; at = l->node[at].older) {
      if (l->node[at].newer != last || l->node[at].page == NULL)
         return "an LRU stack's pages are no list";
      if (l->node[at].size < size || l->node[at].size >= l->n_sizes)
         return "an LRU stack's sizes are not in order";
      size = l->node[at].size;
      n[size]++;
      last = at;
      if (n[size] == l->size[size].n && l->size[size].oldest != at)
         return "an LRU stack's oldest page of a size is another";
   }
   for (size = 1; size < l->n_sizes; size++) {
      if (n[size] != l->size[size].n)
         return "an LRU stack's counts of pages are wrong";
   }
   return NULL;
}
