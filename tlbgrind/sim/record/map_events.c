/* Changes of the page map as bytes. See map_events.h. */

#include "sim/record/map_events.h"

#include "sim/record/numbers.h"
#include "sim/tlb/key.h"

/* Which numbers an event has, in this order. */
enum { START = 1, END = 2, TO = 4, SET = 8, CLEAR = 16, VALUE = 32, MAPPING = 64 };

static const uint8_t parts[TLB_N_EVENTS] = {
   [TLB_EVENT_MAP] = START | END | MAPPING,
   [TLB_EVENT_UNMAP] = START | END,
   [TLB_EVENT_PROTECT] = START | END | VALUE,
   [TLB_EVENT_FLAG] = START | END | SET | CLEAR,
   [TLB_EVENT_RENAME] = START | END | SET | VALUE,
   [TLB_EVENT_ZAP] = START | END,
   [TLB_EVENT_SPLIT] = START | END | VALUE,
   [TLB_EVENT_MOVE] = START | END | TO,
   [TLB_EVENT_COLLAPSE] = START | END,
   [TLB_EVENT_WRITTEN] = START | VALUE,
   [TLB_EVENT_CONSENT] = VALUE,
};

/* The largest `value` of each. */
static const uint8_t most_value[TLB_N_EVENTS] = {
   [TLB_EVENT_PROTECT] = TLB_MAY_READ | TLB_MAY_WRITE | TLB_MAY_EXECUTE,
   [TLB_EVENT_RENAME] = TLB_N_KINDS - 1,
   [TLB_EVENT_SPLIT] = 1,
   [TLB_EVENT_WRITTEN] = 1,
   [TLB_EVENT_CONSENT] = TLB_THP_DISABLED,
};

/* --- Writing --- */

static uint8_t *put_mapping(uint8_t *at, const tlb_mapping *m)
{
   at = tlb_put_number(at, m->device);
   at = tlb_put_number(at, m->inode);
   at = tlb_put_number(at, m->offset);
   at = tlb_put_number(at, m->serial);
   at = tlb_put_number(at, m->flags);
   at = tlb_put_number(at, m->prot);
   at = tlb_put_number(at, m->kind);
   at = tlb_put_number(at, m->huge_shift);
   at = tlb_put_number(at, m->name != NULL);
   for (size_t i = 0; m->name != NULL && i < TLB_EVENT_NAME && m->name[i] != '\0'; i++)
      *at++ = (uint8_t)m->name[i];
   return at;
}

size_t tlb_event_put(const tlb_map_event *e, uint8_t out[TLB_EVENT_BYTES])
{
   const unsigned has = parts[e->what];
   uint8_t *at = tlb_put_number(out, e->what);
   if ((has & START) != 0)
      at = tlb_put_number(at, e->start);
   if ((has & END) != 0)
      at = tlb_put_number(at, e->end - e->start);
   if ((has & TO) != 0)
      at = tlb_put_number(at, e->to);
   if ((has & SET) != 0)
      at = tlb_put_number(at, e->set);
   if ((has & CLEAR) != 0)
      at = tlb_put_number(at, e->clear);
   if ((has & VALUE) != 0)
      at = tlb_put_number(at, e->value);
   if ((has & MAPPING) != 0)
      at = put_mapping(at, e->mapping);
   return (size_t)(at - out);
}

/* --- Reading --- */

/* A number up to that. */
static bool take(const uint8_t **at, const uint8_t *end, uint64_t most, uint64_t *out)
{
   return tlb_take_number(at, end, out) && *out <= most;
}

static bool take_small(const uint8_t **at, const uint8_t *end, unsigned most, uint8_t *out)
{
   uint64_t n;
   if (!take(at, end, most, &n))
      return false;
   *out = (uint8_t)n;
   return true;
}

static bool take_flags(const uint8_t **at, const uint8_t *end, uint32_t *out)
{
   uint64_t n;
   if (!take(at, end, UINT32_MAX, &n))
      return false;
   *out = (uint32_t)n;
   return true;
}

/* The rest is the name. */
static bool take_mapping(const uint8_t **at, const uint8_t *end, tlb_mapping *m,
                         char name[TLB_EVENT_NAME + 1])
{
   uint64_t has_name;
   if (!tlb_take_number(at, end, &m->device) || !tlb_take_number(at, end, &m->inode)
       || !tlb_take_number(at, end, &m->offset) || !tlb_take_number(at, end, &m->serial)
       || !take_flags(at, end, &m->flags)
       || !take_small(at, end, TLB_MAY_READ | TLB_MAY_WRITE | TLB_MAY_EXECUTE, &m->prot)
       || !take_small(at, end, TLB_N_KINDS - 1, &m->kind)
       || !take_small(at, end, TLB_MAX_PAGE_SHIFT, &m->huge_shift)
       || !take(at, end, 1, &has_name) || end - *at > TLB_EVENT_NAME)
      return false;
   const bool huge = (m->flags & TLB_MAP_HUGETLB) != 0;
   if (huge != (m->huge_shift >= TLB_MIN_PAGE_SHIFT) || (!huge && m->huge_shift != 0))
      return false;
   m->name = has_name != 0 ? name : NULL;
   if (has_name == 0)
      return *at == end;
   for (; *at < end; (*at)++) {
      if (**at == 0)
         return false;
      *name++ = (char)**at;
   }
   *name = '\0';
   return true;
}

bool tlb_event_take(const uint8_t *bytes, size_t n, tlb_map_event *e, tlb_mapping *mapping,
                    char name[TLB_EVENT_NAME + 1])
{
   const uint64_t most = UINT64_C(1) << (TLB_KEY_PAGE_BITS + TLB_MIN_PAGE_SHIFT - 1);
   const uint8_t *at = bytes, *const end = bytes + n;
   uint64_t what, length = 1;
   if (!take(&at, end, TLB_N_EVENTS - 1, &what))
      return false;
   const unsigned has = parts[what];
   *e = (tlb_map_event){ .what = (tlb_map_event_what)what };
   if (((has & START) != 0 && !take(&at, end, most - 1, &e->start))
       || ((has & END) != 0 && !take(&at, end, most - e->start, &length))
       || ((has & TO) != 0 && !take(&at, end, most - length, &e->to))
       || ((has & SET) != 0 && !take_flags(&at, end, &e->set))
       || ((has & CLEAR) != 0 && !take_flags(&at, end, &e->clear))
       || ((has & VALUE) != 0 && !take_small(&at, end, most_value[what], &e->value)))
      return false;
   e->end = e->start + length;
   if (what == TLB_EVENT_COLLAPSE && length > TLB_EVENT_MOST_COLLAPSED)
      return false;
   if ((has & MAPPING) == 0)
      return at == end;
   *mapping = (tlb_mapping){ .start = e->start, .end = e->end };
   e->mapping = mapping;
   return take_mapping(&at, end, mapping, name);
}
