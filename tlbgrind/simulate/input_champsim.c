/* ChampSim's traces: a record of 64 bytes for each instruction.

   | bytes | what |
   |  0- 7 | address of the instruction |
   |  8    | 1: it is a branch; 9: 1: which was taken |
   | 10-11 | registers that it writes; 12-15: that it reads |
   | 16-31 | two addresses that it stores to |
   | 32-63 | four addresses that it loads from |

   Numbers have their lowest byte first; an address of 0 is none. There is no head, no end and no
   size.
   Part of tlbgrind.  GPL-2.0-or-later; see COPYING. */

#include "simulate/trace.h"

enum { RECORD = 64, STORES_AT = 16, STORES = 2, LOADS_AT = 32, LOADS = 4 };

static void add_all(TgTrace *t, tlb_user user, const uint8_t *at, unsigned n)
{
   for (unsigned i = 0; i < n; i++) {
      const uint64_t address = tg_trace_number(at + 8 * i, 8);
      if (address != 0)
         tg_trace_add(t, user, address, 1);
   }
}

static TgTraceFound next(TgTrace *t)
{
   size_t left;
   const uint8_t *const record = tg_trace_bytes(t, RECORD, &left);
   if (record == NULL)
      return left == 0 ? TG_TRACE_END : TG_TRACE_CUT;
   t->at_unit++;
   if (record[8] > 1 || record[9] > 1)
      return tg_trace_damaged(t, "its bytes 8 and 9 tell of a branch, and are %u and %u; allowed "
                                 "are 0 and 1", record[8], record[9]);
   tg_trace_add(t, TLB_FETCH, tg_trace_number(record, 8), 1);
   add_all(t, TLB_LOAD, record + LOADS_AT, LOADS);
   add_all(t, TLB_STORE, record + STORES_AT, STORES);
   return TG_TRACE_MORE;
}

const TgTraceFormat tg_input_champsim = {
   .name = "champsim",
   .unit = "record",
   .lacks = "no sizes, so that no reference crosses to another page; no names, no lines of source, "
            "no mappings, no page sizes, no threads",
   .next = next
};
