/* Changes of the page map as bytes of a recording. docs/internals/formats.md has them.

   Part of the simulator: plain C11, no libc, no Valgrind. */

#ifndef TLB_MAP_EVENTS_H
#define TLB_MAP_EVENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/pages/pagemap.h"

enum {
   TLB_EVENT_NAME = 4095,                   /* bytes of a file's name, at most */
   TLB_EVENT_BYTES = 16 * 10 + TLB_EVENT_NAME /* of an event */
};

/* A piece of memory that is collapsed at once is no longer: more than machines have, and few enough
   huge pages to be gone through. */
#define TLB_EVENT_MOST_COLLAPSED (UINT64_C(1) << 42)

/* Stores the event's bytes, and returns how many. Longer names are cut. */
size_t tlb_event_put(const tlb_map_event *e, uint8_t out[TLB_EVENT_BYTES]);

/* Reads them. `mapping` is that of the event, if it has one, and `name` the mapping's. False: no
   address space has such a change. */
bool tlb_event_take(const uint8_t *bytes, size_t n, tlb_map_event *e, tlb_mapping *mapping,
                    char name[TLB_EVENT_NAME + 1]);

#endif
