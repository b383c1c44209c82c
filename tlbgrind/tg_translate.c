/* One translation: the table of known hits, and behind it the simulator. See
   tg_translate.h. */

#include "pub_tool_basics.h"

#include "pub_tool_libcassert.h"
#include "pub_tool_mallocfree.h"

#include "tg_translate.h"

TgProbe tg_slots[TG_SLOT_MASK + 1];

/* The entry of the first-level data array that each slot speaks for. */
static UInt slot_entry[TG_SLOT_MASK + 1];

static tlb_hierarchy hierarchy;
static UInt page_shift;
static Bool fast_path;

/* What a slot holds that knows nothing: page 0, which is never known, in a slot
   that is not its own; in its own, page 2. No look-up matches them, for the
   last byte of a reference lies on the page of the slot or on the next. (The
   last page of the address space would not do: with 32 bits and large pages
   the stack is there.) */
static UWord nothing(UInt slot)
{
   return slot == 0 ? (UWord)2 << page_shift : 0;
}

/* The simulator names a probe by the address of its time. */
static void forget(uint64_t* time, void* opaque)
{
   (void)opaque;
   TgProbe* probe = (TgProbe*)(void*)((UChar*)time - offsetof(TgProbe, time));
   const Bool is_slot = probe >= tg_slots && probe <= &tg_slots[TG_SLOT_MASK];
   probe->tag = is_slot ? nothing((UInt)(probe - tg_slots)) : TG_UNKNOWN;
}

void tg_translate_init(const tlb_design* design, UInt shift, Bool fast)
{
   page_shift = shift;
   fast_path = fast;
   tlb_hierarchy_init(&hierarchy, design,
                      VG_(malloc)("tg.translate", tlb_hierarchy_bytes(design)),
                      forget, NULL);
   tg_slots[0].tag = nothing(0);
}

static tlb_array* first_level(TgKind kind)
{
   return tlb_first_level(&hierarchy, 0,
                          kind == TG_FETCH ? TLB_INSTRUCTION : TLB_DATA);
}

static tlb_outcome simulate(UWord page_number, tlb_side side, ULong now)
{
   const tlb_reference r = { .page = page_number, .now = now,
                             .side = (uint8_t)side };
   return tlb_translate(&hierarchy, &r);
}

UInt tg_translate_fetch(TgCodePage* page, ULong now)
{
   TgProbe* probe = &page->probe;
   if (probe->tag != TG_UNKNOWN) {
      probe->time = now;
      return 0;
   }
   const tlb_outcome o = simulate(page->number, TLB_INSTRUCTION, now);
   if (fast_path) {
      tlb_array_attach(first_level(TG_FETCH), o.entry, &probe->time);
      probe->tag = 0;
   }
   return o.missed;
}

static Bool is_taken(UInt slot)
{
   return tg_slots[slot].tag != nothing(slot);
}

static void detach(UInt slot)
{
   if (is_taken(slot)) {
      tlb_array_detach(first_level(TG_READ), slot_entry[slot]);
      tg_slots[slot].tag = nothing(slot);
   }
}

UInt tg_translate_data(UWord page_number, ULong now)
{
   const UInt slot = tg_slot_of(page_number);
   TgProbe* probe = &tg_slots[slot];
   const UWord tag = page_number << page_shift;
   if (probe->tag == tag) {
      probe->time = now;
      return 0;
   }
   const tlb_outcome o = simulate(page_number, TLB_DATA, now);
   if (fast_path && tag != 0) {
      detach(slot);
      tlb_array_attach(first_level(TG_READ), o.entry, &probe->time);
      probe->tag = tag;
      slot_entry[slot] = o.entry;
   }
   return o.missed;
}

Bool tg_miss_foresee(TgMiss* m, TgKind kind, UWord page, TgProbe* probe)
{
   tlb_array* a = first_level(kind);
   const tlb_key key = tlb_key_of(page, 0);
   if (page == 0 || (kind != TG_FETCH && is_taken(tg_slot_of(page))))
      return False;
   m->kind = kind;
   m->page = page;
   m->probe = probe;
   m->plain = a->plain && tlb_plain_is_full(a, key);
   if (m->plain)
      m->entry = tlb_plain_oldest(a, key);
   else if (a->g.policy == TLB_LRU && tlb_array_all_attached(a))
      m->entry = tlb_array_place(a, key);
   else
      return False;
   m->evicted = a->key[m->entry] == TLB_NO_KEY ? TG_NO_PAGE
                                               : (UWord)a->key[m->entry];
   return True;
}

UInt tg_miss_happen(const TgMiss* m, ULong now)
{
   tlb_array* a = first_level(m->kind);
   const tlb_side side = m->kind == TG_FETCH ? TLB_INSTRUCTION : TLB_DATA;
   const tlb_reference r = { .page = m->page, .now = now,
                             .side = (uint8_t)side };
   if (m->plain) {
      forget(a->short_cut[m->entry], NULL);
      tlb_plain_replace(a, m->entry, tlb_key_of(m->page, 0), &m->probe->time);
   } else {
      tlb_array_fill_entry(a, m->entry, tlb_key_of(m->page, 0), now);
      tlb_array_attach(a, m->entry, &m->probe->time);
   }
   m->probe->time = now;
   if (m->kind == TG_FETCH) {
      m->probe->tag = 0;
   } else {
      m->probe->tag = m->page << page_shift;
      slot_entry[tg_slot_of(m->page)] = m->entry;
   }
   return tlb_translate_behind(&hierarchy, &r);
}

UInt tg_translate_as_cachegrind(TgKind kind, UWord first, UWord last,
                                ULong now)
{
   const tlb_side side = kind == TG_FETCH ? TLB_INSTRUCTION : TLB_DATA;
   const tlb_reference a = { .page = first, .now = now - 1,
                             .side = (uint8_t)side };
   const tlb_reference b = { .page = last, .now = now, .side = (uint8_t)side };
   UInt missed = 0;
   tl_assert(!fast_path);
   for (UInt level = 0; level < hierarchy.levels; level++) {
      if (hierarchy.at[0][level][side] == NULL)
         continue;
      const int either = tlb_translate_level(&hierarchy, &a, level)
                         | tlb_translate_level(&hierarchy, &b, level);
      if (!either)
         break;
      missed |= 1u << level;
   }
   return missed;
}
