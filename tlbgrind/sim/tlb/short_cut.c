/* The short cuts of entries: begin and end. */

#include "sim/tlb/short_cut.h"

uint64_t tlb_range;

static void cut(tlb_array *a, uint32_t entry)
{
   a->n_ranges -= a->short_cut[entry] == &tlb_range;
   a->short_cut[entry] = NULL;
   a->n_attached--;
}

void tlb_array_attach(tlb_array *a, uint32_t entry, uint64_t *time)
{
   if (a->second_time == 0)
      *time = a->time[entry];
   a->short_cut[entry] = time;
   a->n_attached++;
}

void tlb_array_attach_range(tlb_array *a, uint32_t entry)
{
   a->short_cut[entry] = &tlb_range;
   a->n_attached++;
   a->n_ranges++;
}

void tlb_array_detach(tlb_array *a, uint32_t entry)
{
   a->time[entry] = tlb_array_time(a, entry);
   cut(a, entry);
}

void tlb_array_release(tlb_array *a, uint32_t entry)
{
   if (a->short_cut == NULL || a->short_cut[entry] == NULL)
      return;
   uint64_t *const time = a->short_cut[entry];
   tlb_array_detach(a, entry);
   a->release(time, a->key[entry], a->opaque);
}

void tlb_array_evict(tlb_array *a, uint32_t entry)
{
   uint64_t *const time = a->short_cut == NULL ? NULL : a->short_cut[entry];
   if (time == NULL)
      return;
   cut(a, entry);
   a->release(time, a->key[entry], a->opaque);
}
