/* The arrays of an MMU, and what they are for the records of pages. See ports.h. */

#include "sim/mmu/ports.h"

#include "sim/mmu/l1_lookup.h"

void tlb_mmu_make_arrays(tlb_mmu *mmu)
{
   const tlb_mmus *const all = mmu->all;
   tlb_hierarchy_init(&mmu->h, mmu->machine, all->traits.page_shift, all->options.nested,
                      mmu->memory, tlb_l1_release, tlb_l1_range_time, NULL);
}

static void init_port(tlb_mmu *mmu, unsigned i)
{
   const bool split = mmu->all->traits.split;
   tlb_port *const port = &mmu->port[i];
   port->mmu = mmu;
   port->array = &mmu->h.array[i];
   port->code = tlb_asks_first(&mmu->h, TLB_FETCH, i) != 0;
   port->reads = tlb_asks_first(&mmu->h, TLB_LOAD, i) != 0;
   port->writes = tlb_asks_first(&mmu->h, TLB_STORE, i) != 0;
   const bool stores_only = port->writes && !port->reads && !port->code;
   port->time_at = split && stores_only ? offsetof(tlb_page_record, write.time)
                                        : offsetof(tlb_page_record, page.time);
   port->array->opaque = port;
   if (split && port->reads && port->writes)
      port->array->second_time = TLB_SECOND_TIME;
}

void tlb_mmu_make_ports(tlb_mmu *mmu)
{
   for (unsigned i = 0; i < mmu->machine->n_arrays; i++)
      init_port(mmu, i);
}
