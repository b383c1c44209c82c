/* The layout: where the kernel would have put what the program maps. See
   layout.h. */

#include "sim/faults/layout.h"

void tlb_layout_init(tlb_layout *l, const tlb_layout_rules *rules,
                     const tlb_mappings *there, const tlb_memory *memory)
{
   l->rules = *rules;
   l->there = there;
   tlb_mappings_init(&l->here, memory);
   tlb_layout_freed(l);
}

void tlb_layout_free(tlb_layout *l)
{
   tlb_mappings_free(&l->here);
}

void tlb_layout_add(tlb_layout *l, uint64_t start, uint64_t end, uint64_t there,
                    uint64_t id)
{
   /* With an inode, pieces join only where `offset` goes on. */
   const tlb_mapping m = { .start = start, .end = end, .device = id,
                           .inode = 1, .offset = there };
   tlb_mappings_add(&l->here, &m);
}

void tlb_layout_remove(tlb_layout *l, uint64_t start, uint64_t end)
{
   tlb_mappings_remove(&l->here, start, end);
}

void tlb_layout_freed(tlb_layout *l)
{
   l->full_from = l->rules.mmap_base;
   l->full_bytes = 0;
}

const tlb_mapping *tlb_layout_find(tlb_layout *l, uint64_t here)
{
   return tlb_mappings_find(&l->here, here);
}

/* The start of the highest gap of so many bytes, or 0. */
static uint64_t highest_gap(tlb_layout *l, uint64_t bytes)
{
   const tlb_mappings *t = l->there;
   uint64_t top = bytes >= l->full_bytes ? l->full_from : l->rules.mmap_base;
   size_t i = tlb_mappings_above(t, top);
   if (i < t->count && t->at[i]->start < top)
      top = t->at[i]->start;
   for (;; i--) {
      const uint64_t bottom = i == 0 ? l->rules.lowest : t->at[i - 1]->end;
      const uint64_t gap = i < t->count && t->at[i]->kind == TLB_STACK
                                   && t->at[i]->start == top
                              ? l->rules.stack_gap : 0;
      if (bottom < top && top - bottom >= gap && top - bottom - gap >= bytes) {
         if (bytes >= l->full_bytes || top > l->full_from) {
            l->full_from = top;
            l->full_bytes = bytes;
         }
         return top - gap - bytes;
      }
      if (i == 0)
         return 0;
      top = t->at[i - 1]->start < top ? t->at[i - 1]->start : top;
   }
}

/* thp_get_unmapped_area(): looks for room for one huge page more, and moves to
   where offset and address agree. */
static uint64_t aligned_gap(tlb_layout *l, uint64_t bytes, uint64_t offset)
{
   const uint64_t huge = l->rules.huge_bytes;
   const uint64_t first = (offset + huge - 1) & ~(huge - 1);
   if (offset + bytes <= first || offset + bytes - first < huge)
      return 0;
   const uint64_t gap = highest_gap(l, bytes + huge);
   if (gap == 0)
      return 0;
   const uint64_t distance = (offset - gap) & (huge - 1);
   return gap + (distance == 0 ? huge : distance);
}

uint64_t tlb_layout_place(tlb_layout *l, uint64_t bytes, tlb_placed what,
                          uint64_t offset, int *aligned)
{
   const uint64_t huge = l->rules.huge_bytes;
   uint64_t start = 0;
   *aligned = 0;
   /* Anonymous memory is aligned only if huge pages fill it. */
   const int is_aligned
      = what == TLB_PLACED_HUGETLB
        || (!l->rules.unaligned
            && (what == TLB_PLACED_FILE || (what == TLB_PLACED_MEMORY && bytes % huge == 0)));
   if (huge != 0 && bytes >= huge && is_aligned)
      start = aligned_gap(l, bytes, what == TLB_PLACED_FILE ? offset : 0);
   *aligned = start != 0;
   return start != 0 ? start : highest_gap(l, bytes);
}
