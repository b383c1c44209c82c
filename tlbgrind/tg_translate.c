/* One translation: the table of known hits, and behind it the simulator. See
   tg_translate.h. */

#include "pub_tool_basics.h"

#include "pub_tool_libcassert.h"
#include "pub_tool_mallocfree.h"

#include "tg_arena.h"
#include "tg_translate.h"

TgProbe tg_slots[TG_N_SLOTS];

/* The entry of the first-level data array that each slot speaks for. */
static UInt slot_entry[TG_N_SLOTS];

static tlb_hierarchy hierarchy;
static UInt page_shift;
static Bool fast_path;

/* The simulator names a probe by the address of its time. */
static void forget(uint64_t* time, void* opaque)
{
   (void)opaque;
   TgProbe* probe = (TgProbe*)(void*)((UChar*)time - offsetof(TgProbe, time));
   probe->tag = TG_UNKNOWN;
}

void tg_translate_init(const tlb_design* design, UInt shift, Bool fast)
{
   page_shift = shift;
   fast_path = fast;
   tlb_hierarchy_init(&hierarchy, design,
                      VG_(malloc)("tg.translate", tlb_hierarchy_bytes(design)),
                      forget, NULL);
   for (UInt i = 0; i < TG_N_SLOTS; i++)
      tg_slots[i].tag = TG_UNKNOWN;
}

static tlb_array* first_level(TgKind kind)
{
   return tlb_first_level(&hierarchy, 0,
                          kind == TG_FETCH ? TLB_INSTRUCTION : TLB_DATA);
}

Bool tg_translate_needs_time(TgKind kind)
{
   return tlb_array_needs_time(first_level(kind)) != 0;
}

TgProbe* tg_code_probe(TgCodePage* page)
{
   if (page->probe == NULL) {
      TgProbe* probe = (TgProbe*)(void*)tg_arena_alloc(2);
      probe->tag = TG_UNKNOWN;
      page->probe = probe;
   }
   return page->probe;
}

static TgOutcome simulate(UWord page_number, tlb_side side, ULong now,
                          UInt* entry)
{
   const tlb_reference r = { .page = page_number, .now = now,
                             .side = (uint8_t)side };
   const tlb_outcome o = tlb_translate(&hierarchy, &r);
   *entry = o.entry;
   return (TgOutcome){ o.missed, o.walked != 0 };
}

TgOutcome tg_translate_fetch(TgCodePage* page, ULong now)
{
   TgProbe* probe = tg_code_probe(page);
   UInt entry;
   if (probe->tag != TG_UNKNOWN) {
      probe->time = now;
      return (TgOutcome){ 0, False };
   }
   const TgOutcome o = simulate(page->number, TLB_INSTRUCTION, now, &entry);
   if (fast_path) {
      tlb_array_attach(first_level(TG_FETCH), entry, &probe->time);
      probe->tag = 0;
   }
   return o;
}

static void detach(UInt slot)
{
   if (tg_slots[slot].tag != TG_UNKNOWN) {
      tlb_array_detach(first_level(TG_READ), slot_entry[slot]);
      tg_slots[slot].tag = TG_UNKNOWN;
   }
}

TgOutcome tg_translate_data(UWord page_number, ULong now)
{
   const UInt slot = (UInt)(page_number % TG_N_SLOTS);
   TgProbe* probe = &tg_slots[slot];
   const UWord tag = page_number << page_shift;
   UInt entry;
   if (probe->tag == tag) {
      probe->time = now;
      return (TgOutcome){ 0, False };
   }
   const TgOutcome o = simulate(page_number, TLB_DATA, now, &entry);
   if (fast_path) {
      detach(slot);
      tlb_array_attach(first_level(TG_READ), entry, &probe->time);
      probe->tag = tag;
      slot_entry[slot] = entry;
   }
   return o;
}

TgOutcome tg_translate_as_cachegrind(TgKind kind, UWord first, UWord last,
                                     ULong now)
{
   const tlb_side side = kind == TG_FETCH ? TLB_INSTRUCTION : TLB_DATA;
   const tlb_reference a = { .page = first, .now = now, .side = (uint8_t)side };
   const tlb_reference b = { .page = last, .now = now, .side = (uint8_t)side };
   TgOutcome o = { 0, True };
   tl_assert(!fast_path);
   for (UInt level = 0; level < hierarchy.levels && o.walked; level++) {
      if (hierarchy.at[0][level][side] == NULL)
         continue;
      const int missed = tlb_translate_level(&hierarchy, &a, level)
                         | tlb_translate_level(&hierarchy, &b, level);
      o.missed |= (UInt)missed << level;
      o.walked = missed != 0;
   }
   return o;
}

void tg_slot_guard(Addr first, Addr last)
{
   const UInt slot = (UInt)((first >> page_shift) % TG_N_SLOTS);
   if (tg_slots[slot].tag != (last >> page_shift) << page_shift)
      detach(slot);
}
