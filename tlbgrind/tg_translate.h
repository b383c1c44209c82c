/* One translation: the table of known hits, and behind it the simulator.

   A hit in the first level changes nothing but the time of the entry's last
   reference (LRU, PLRU) or nothing at all (FIFO, random, and NRU as long as
   the used bit is on). So a page that is known to be there needs no simulator:
   it has a "probe", and to note the time in the probe is all that a reference
   to it does. The simulator reads the time from there when it chooses a
   victim, and takes the knowledge back when it stops being true (sim/array.h).

   - A page of code has a probe of its own, since the code that looks at it is
     translated for that page.
   - Data pages share a direct-mapped table, the slots, chosen by the low bits
     of the page number.

   --fast-path=no knows nothing and asks the simulator every time. */

#ifndef TG_TRANSLATE_H
#define TG_TRANSLATE_H

#include "pub_tool_basics.h"

#include "sim/hierarchy.h"

#include "tg_sites.h"

typedef struct {
   UWord tag;  /* code: 0 if known; data: the known page's address; else
                  TG_UNKNOWN, or 0 in slots that were never used */
   uint64_t time; /* of the last reference while known */
} __attribute__((aligned(16))) TgProbe;

#define TG_UNKNOWN (~(UWord)0)

/* The slot of a data page is chosen by these bits of its number: enough low
   ones that 64 MiB of memory do not collide, and one high one in which stack
   and heap differ, for a stack page that shares a slot with a busy page of the
   heap would make every other reference a slow one. The table has holes,
   which cost no memory. */
enum { TG_SLOT_MASK = 0x13fff };

/* In the tool's own data, below 2 GiB: translated code indexes it with a
   32-bit displacement. Page 0 is never known, so that memory which was never
   written to knows nothing. */
extern TgProbe tg_slots[TG_SLOT_MASK + 1];

void tg_translate_init(const tlb_design* design, UInt page_shift,
                       Bool fast_path);

/* Whether probes must note times at all. */
Bool tg_translate_needs_time(TgKind kind);

/* The probe of a page of code, made if there is none. */
TgProbe* tg_code_probe(TgCodePage* page);

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
} TgMiss;

#define TG_NO_PAGE (~(UWord)0)

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

/* Translated code is about to write a time into the slot of `first` because it
   takes the page of `last` to be known there. If it is not, makes the slot
   belong to nobody, so that the time does no harm. The slot of `last`, if that
   is another page, too: an older reference of the segment may lie there, and
   its time would replace that of the newer one that ends at `last`. */
void tg_slot_guard(Addr first, Addr last);

#endif
