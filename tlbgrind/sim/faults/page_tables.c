/* What the page tables of the fault model hold. See faultmodel_parts.h. */

#include "sim/faults/faultmodel_parts.h"

enum { FIRST_SLOTS = 256 };

static tlb_fault_chunk **slot_of(const tlb_fault_model *m, uint64_t number)
{
   const uint64_t mixed = number * 0x9e3779b97f4a7c15u;
   return &m->chunk[(mixed >> 32) & (m->chunk_slots - 1)];
}

tlb_fault_chunk *tlb_chunk_find(tlb_fault_model *m, uint64_t number)
{
   tlb_fault_chunk *c = m->last;
   if (c != NULL && c->number == number)
      return c;
   for (c = *slot_of(m, number); c != NULL; c = c->next) {
      if (c->number == number) {
         m->last = c;
         return c;
      }
   }
   return NULL;
}

static void more_slots(tlb_fault_model *m)
{
   tlb_fault_chunk **const old = m->chunk;
   const size_t n_old = m->chunk_slots;
   m->chunk_slots *= 4;
   m->chunk = tlb_take_zeroed(&m->memory, m->chunk_slots * sizeof *m->chunk);
   for (size_t i = 0; i < n_old; i++) {
      while (old[i] != NULL) {
         tlb_fault_chunk *c = old[i];
         old[i] = c->next;
         tlb_fault_chunk **const slot = slot_of(m, c->number);
         c->next = *slot;
         *slot = c;
      }
   }
   tlb_give(&m->memory, old);
}

tlb_fault_chunk *tlb_chunk_need(tlb_fault_model *m, uint64_t number)
{
   tlb_fault_chunk *c = tlb_chunk_find(m, number);
   if (c != NULL)
      return c;
   if (m->n_chunks >= m->chunk_slots)
      more_slots(m);
   c = tlb_take_zeroed(&m->memory, sizeof *c);
   c->number = number;
   tlb_fault_chunk **const slot = slot_of(m, number);
   c->next = *slot;
   *slot = c;
   m->n_chunks++;
   m->last = c;
   return c;
}

void tlb_chunk_free(tlb_fault_model *m, tlb_fault_chunk *c)
{
   tlb_fault_chunk **link = slot_of(m, c->number);
   while (*link != c)
      link = &(*link)->next;
   *link = c->next;
   tlb_give(&m->memory, c->phases);
   tlb_give(&m->memory, c->trials);
   tlb_give(&m->memory, c);
   m->n_chunks--;
   m->last = NULL;
}

uint8_t *tlb_chunk_plane(const tlb_fault_model *m, tlb_fault_chunk *c,
                         unsigned plane)
{
   if (plane < TLB_N_VIEWS)
      return c->views + plane * TLB_CHUNK_PAGES;
   if (plane >= TLB_FIRST_TRIAL) {
      if (c->trials == NULL)
         c->trials = tlb_take_zeroed(&m->memory, TLB_MAX_TRIALS * TLB_CHUNK_PAGES);
      return c->trials + (plane - TLB_FIRST_TRIAL) * TLB_CHUNK_PAGES;
   }
   if (c->phases == NULL)
      c->phases = tlb_take_zeroed(&m->memory, (TLB_FIRST_TRIAL - TLB_N_VIEWS)
                                              * TLB_CHUNK_PAGES);
   return c->phases + (plane - TLB_N_VIEWS) * TLB_CHUNK_PAGES;
}

uint8_t *tlb_pte_at(tlb_fault_model *m, unsigned plane, uint64_t page)
{
   return tlb_chunk_plane(m, tlb_chunk_need(m, page >> TLB_CHUNK_SHIFT), plane)
          + (page & (TLB_CHUNK_PAGES - 1));
}

uint8_t tlb_pte(tlb_fault_model *m, unsigned plane, uint64_t page)
{
   tlb_fault_chunk *c = tlb_chunk_find(m, page >> TLB_CHUNK_SHIFT);
   if (c == NULL || !tlb_chunk_has_plane(c, plane))
      return 0;
   return tlb_chunk_plane(m, c, plane)[page & (TLB_CHUNK_PAGES - 1)];
}

void tlb_chunk_within(tlb_fault_model *m, tlb_fault_chunk *c, uint64_t first,
                      uint64_t end, tlb_chunk_do *each, const void *opaque)
{
   const uint64_t low = c->number << TLB_CHUNK_SHIFT;
   if (low >= end || low + TLB_CHUNK_PAGES <= first)
      return;
   each(m, c, (size_t)(tlb_max(first, low) - low),
        (size_t)(tlb_min(end, low + TLB_CHUNK_PAGES) - low), opaque);
}

void tlb_chunk_each(tlb_fault_model *m, uint64_t first, uint64_t end,
                    tlb_chunk_do *each, const void *opaque)
{
   if (first >= end)
      return;
   const uint64_t low = first >> TLB_CHUNK_SHIFT;
   const uint64_t high = (end - 1) >> TLB_CHUNK_SHIFT;
   if (high - low < m->n_chunks) {
      for (uint64_t n = low; n <= high; n++) {
         tlb_fault_chunk *c = tlb_chunk_find(m, n);
         if (c != NULL)
            tlb_chunk_within(m, c, first, end, each, opaque);
      }
      return;
   }
   for (size_t i = 0; i < m->chunk_slots; i++) {
      tlb_fault_chunk *next;
      for (tlb_fault_chunk *c = m->chunk[i]; c != NULL; c = next) {
         next = c->next; /* `each` may free the chunk */
         tlb_chunk_within(m, c, first, end, each, opaque);
      }
   }
}

void tlb_chunks_init(tlb_fault_model *m)
{
   m->chunk_slots = FIRST_SLOTS;
   m->chunk = tlb_take_zeroed(&m->memory, m->chunk_slots * sizeof *m->chunk);
}

void tlb_chunks_free(tlb_fault_model *m)
{
   for (size_t i = 0; i < m->chunk_slots; i++) {
      while (m->chunk[i] != NULL)
         tlb_chunk_free(m, m->chunk[i]);
   }
   tlb_give(&m->memory, m->chunk);
}
