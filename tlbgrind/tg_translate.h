/* One translation: the probes, and behind them the simulator.

   A page of code has a probe of its own. Data pages share a direct-mapped
   table of probes, the slots. --fast-path=no knows nothing and asks the
   simulator every time. */

#ifndef TG_TRANSLATE_H
#define TG_TRANSLATE_H

#include "pub_tool_basics.h"

#include "sim/hierarchy.h"

#include "tg_probe.h"
#include "tg_sites.h"

/* The slot of a data page is chosen by these bits of its number: enough low
   ones that 64 MiB of memory do not collide, and one high one in which stack
   and heap differ, for a stack page that shares a slot with a busy page of the
   heap would make every other reference a slow one. The table has holes,
   which cost no memory. */
enum { TG_SLOT_MASK = 0x13fff };

extern TgProbe tg_slots[TG_SLOT_MASK + 1];

void tg_translate_init(const tlb_design* design, UInt page_shift,
                       Bool fast_path);

/* Both return what was missed: bit l for level l (from 0). */
UInt tg_translate_fetch(TgCodePage* page, ULong now);
UInt tg_translate_data(UWord page_number, ULong now);

/* The common miss, in two steps. The first finds out what a look-up would do,
   without doing it; False if it is not simply an LRU miss of a page that no
   probe knows, or if that can not be told without looking. The second does
   it and returns what was missed. */
typedef struct {
   TgKind kind;
   UWord page;
   TgProbe* probe; /* that will know the page */
   UInt entry;     /* that it will be in */
   UWord evicted;  /* the page that it takes the place of, or TG_NO_PAGE */
   Bool plain;     /* see sim/array.h */
} TgMiss;

Bool tg_miss_foresee(TgMiss* m, TgKind kind, UWord page, TgProbe* probe);
UInt tg_miss_happen(const TgMiss* m, ULong now);

static inline UInt tg_slot_of(UWord page)
{
   return (UInt)(page & TG_SLOT_MASK);
}

/* A reference that crosses from page `first` to page `last`, as cachegrind
   counts it: a level that either misses counts one miss, and a level is asked
   for both if the one before missed either. Only without fast path. */
UInt tg_translate_as_cachegrind(TgKind kind, UWord first, UWord last,
                                ULong now);

#endif
