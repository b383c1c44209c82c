/* Large mappings, by number. See large.h. */

#include "sim/pages/large.h"

/* The kind whose mappings are counted together with it; TLB_OF_ALL: it gets no number. */
static tlb_rule_what counted_as(const tlb_mapping *m)
{
   switch ((tlb_kind)m->kind) {
   case TLB_ANON:
   case TLB_SHM:
      return TLB_OF_ANON;
   case TLB_IMAGE:
      return (m->prot & TLB_MAY_EXECUTE) != 0 ? TLB_OF_TEXT : TLB_OF_DATA;
   case TLB_BSS:
      return TLB_OF_DATA;
   case TLB_FILE:
      return TLB_OF_FILE;
   default:
      return TLB_OF_ALL;
   }
}

void tlb_large_init(tlb_large *l, const tlb_memory *memory)
{
   *l = (tlb_large){ .is_used = 0 };
   tlb_mappings_init(&l->ranges, memory);
}

void tlb_large_free(tlb_large *l)
{
   tlb_mappings_free(&l->ranges);
}

void tlb_large_use(tlb_large *l, const tlb_mappings *mapped)
{
   if (l->is_used)
      return;
   l->is_used = 1;
   for (size_t i = 0; i < mapped->count; i++)
      tlb_large_map(l, mapped->at[i]);
}

void tlb_large_map(tlb_large *l, const tlb_mapping *m)
{
   if (!l->is_used)
      return;
   tlb_mappings_remove(&l->ranges, m->start, m->end);
   if ((m->end - m->start) >> TLB_LARGE_SHIFT == 0 || counted_as(m) == TLB_OF_ALL)
      return;
   /* A device of its own keeps it apart from its neighbours. */
   const tlb_mapping range = { .start = m->start, .end = m->end, .device = ++l->n_calls };
   tlb_mappings_add(&l->ranges, &range);
}

void tlb_large_unmap(tlb_large *l, uint64_t start, uint64_t end)
{
   if (l->is_used)
      tlb_mappings_remove(&l->ranges, start, end);
}

void tlb_large_move(tlb_large *l, uint64_t from, uint64_t to, uint64_t length)
{
   if (!l->is_used)
      return;
   tlb_mappings_remove(&l->ranges, to, to + length);
   uint64_t at = from;
   for (tlb_mapping m; tlb_mappings_piece(&l->ranges, at, from + length, &m);) {
      at = m.end;
      m.end += to - from;
      m.start += to - from;
      tlb_mappings_add(&l->ranges, &m);
   }
}

static void give_number(tlb_large *l, tlb_mapping *range, const tlb_mapping *m)
{
   const tlb_rule_what what = counted_as(m);
   if (l->n_numbered[what] < TLB_LAST_NUMBER)
      l->n_numbered[what]++;
   range->number = (uint8_t)l->n_numbered[what];
   range->kind = (uint8_t)what;
   tlb_large_mapping *const known = &l->by_number[what][range->number];
   if (known->count++ == 0) {
      known->name = m->name;
      known->start = range->start;
   }
   known->bytes += range->end - range->start;
}

tlb_mapping tlb_large_part(tlb_large *l, const tlb_mapping *m, uint64_t address)
{
   tlb_mapping part = *m;
   const size_t i = tlb_mappings_above(&l->ranges, address);
   if (i == l->ranges.count || l->ranges.at[i]->start > address)
      return part;
   tlb_mapping *const range = l->ranges.at[i];
   /* What another mapping has taken the place of, as in a library, may have left a small rest. */
   if (range->number == 0 && (range->end - range->start) >> TLB_LARGE_SHIFT != 0
       && counted_as(m) != TLB_OF_ALL)
      give_number(l, range, m);
   if (range->number == 0 || (tlb_rule_what)range->kind != counted_as(m))
      return part;
   part.number = range->number;
   if (part.start < range->start) {
      part.offset += range->start - part.start;
      part.start = range->start;
   }
   if (part.end > range->end)
      part.end = range->end;
   return part;
}
