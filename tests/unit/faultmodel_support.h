/* One fault model at a time, with mappings and touches, for both of its tests.
   Part of tlbgrind.  GPL-2.0-or-later; see COPYING. */

#ifndef FAULTMODEL_SUPPORT_H
#define FAULTMODEL_SUPPORT_H

#include "memory_support.h"

#include "sim/faults/faultmodel.h"

enum { PAGE = 4096 };

static const uint64_t BASE = UINT64_C(0x7f0000000000);

static const tlb_fault_settings usual = {
   .page_shift = 12, .fault_around = 65536, .read_ahead = 131072,
   .thp = TLB_THP_MADVISE, .phases = 1,
};

static tlb_fault_model m;
static tlb_fault out[TLB_N_VIEWS];

static inline void begin(const tlb_fault_settings *s)
{
   given = 0;
   memset(&m, 0xA5, sizeof m);
   tlb_fault_init(&m, s, &memory);
}

static inline void end(void)
{
   tlb_fault_free(&m);
   assert_int_equal(given, 0);
}

static inline void map_anon(uint64_t start, uint64_t bytes)
{
   const tlb_mapping v = { .start = start, .end = start + bytes,
                           .prot = TLB_MAY_READ | TLB_MAY_WRITE };
   tlb_fault_map(&m, &v);
}

/* `pages` of file `inode` from its page `first` on. */
static inline void map_file(uint64_t start, uint64_t pages, unsigned prot,
                            unsigned flags, uint64_t inode, uint64_t first)
{
   const tlb_mapping v = {
      .start = start, .end = start + pages * PAGE, .device = 1,
      .inode = inode, .offset = first * PAGE, .prot = (uint8_t)prot,
      .flags = (uint16_t)flags,
   };
   tlb_fault_map(&m, &v);
}

enum { RX = TLB_MAY_READ | TLB_MAY_EXECUTE, RW = TLB_MAY_READ | TLB_MAY_WRITE };

static inline tlb_fault_kind touch(uint64_t address, tlb_touch how)
{
   tlb_fault_touch(&m, address, how, out);
   return out[TLB_VIEW_WARM].kind;
}

#endif
