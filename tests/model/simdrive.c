/* simdrive: runs the simulator on cases from the standard input.
   Part of tlbgrind.  GPL-2.0-or-later; see COPYING.

   A case is lines of text:
      LEVEL SIDE GEOMETRY   an array: LEVEL from 1; SIDE i, d, or u for both
      ask PERCENT           how many of the references that a short cut could
                            answer are asked of the simulator all the same;
                            100: no short cuts at all
      SIDE PAGE CONTEXT     a reference (SIDE i or d), and more of them
      end
   For each case one line is printed, a hexadecimal digit for each reference:
   bit l is set if level l + 1 missed, bit 3 if it walked. Without memory of one
   case in the next. Anything else on the standard input ends it with status 1. */

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hierarchy.h"

enum { SLOTS = 16 };

/* What is known to hit: like the tool's table, with a slot for each of a few
   pages, on either side. */
typedef struct {
   uint64_t time;
   tlb_key key; /* TLB_NO_KEY: empty */
   uint32_t entry;
} slot;

static slot slots[TLB_N_SIDES][SLOTS];

static void forget(uint64_t *time, void *opaque)
{
   slot *const s = (slot *)(void *)((char *)time - offsetof(slot, time));
   (void)opaque;
   s->key = TLB_NO_KEY;
   s->time = 0;
}

static void die(const char *what, const char *why)
{
   fprintf(stderr, "simdrive: %s: %s\n", what, why);
   exit(1);
}

static uint64_t draw(uint64_t *state)
{
   *state ^= *state << 13;
   *state ^= *state >> 7;
   *state ^= *state << 17;
   return *state;
}

static tlb_outcome translate(tlb_hierarchy *h, const tlb_reference *r,
                             unsigned ask_percent, uint64_t *state)
{
   const tlb_key key = tlb_key_of(r->page, r->context);
   slot *const s = &slots[r->side][r->page % SLOTS];
   tlb_array *const first = tlb_first_level(h, 0, (tlb_side)r->side);
   if (ask_percent == 100)
      return tlb_translate(h, r);
   if (s->key == key && draw(state) % 100 >= ask_percent) {
      if (tlb_array_needs_time(first))
         s->time = r->now;
      return (tlb_outcome){ 0, 0, s->entry };
   }
   const tlb_outcome o = tlb_translate(h, r);
   if (s->key == key)
      return o;
   if (s->key != TLB_NO_KEY)
      tlb_array_detach(first, s->entry);
   *s = (slot){ .key = key, .entry = o.entry };
   tlb_array_attach(first, o.entry, &s->time);
   return o;
}

static void add_array(tlb_design *d, unsigned level, char side,
                      const char *geometry)
{
   tlb_reason why;
   const unsigned at = side == 'i' ? TLB_INSTRUCTION : TLB_DATA;
   if (level < 1 || level > TLB_MAX_LEVELS)
      die(geometry, "no such level");
   level--;
   d->at[level][at].present = 1;
   d->unified[level] |= side == 'u';
   if (d->levels <= level)
      d->levels = level + 1;
   if (!tlb_geometry_parse(geometry, TLB_MIN_PAGE_SHIFT, &d->at[level][at].g,
                           &why))
      die(geometry, why.text);
}

/* Runs one case. Returns 0 at the end of the input. */
static int run_case(void)
{
   char line[128], geometry[64], side;
   tlb_design d;
   tlb_hierarchy h;
   tlb_reason why;
   void *memory = NULL;
   tlb_reference r = { .now = 0 };
   unsigned level, context, ask_percent = 100;
   uint64_t state = 88172645463325252u;

   memset(&d, 0, sizeof d);
   for (int i = 0; i < SLOTS; i++)
      slots[0][i].key = slots[1][i].key = TLB_NO_KEY;
   while (fgets(line, sizeof line, stdin) != NULL) {
      if (sscanf(line, "%u %c %63s", &level, &side, geometry) == 3) {
         add_array(&d, level, side, geometry);
      } else if (sscanf(line, "ask %u", &ask_percent) == 1) {
      } else if (strcmp(line, "end\n") == 0) {
         putchar('\n');
         free(memory);
         return 1;
      } else if (sscanf(line, "%c %" SCNu64 " %u", &side, &r.page, &context)
                 == 3) {
         if (memory == NULL) {
            if (!tlb_design_check(&d, TLB_MIN_PAGE_SHIFT, &why))
               die("design", why.text);
            memory = malloc(tlb_hierarchy_bytes(&d));
            if (memory == NULL)
               die("malloc", "out of memory");
            memset(memory, 0xA5, tlb_hierarchy_bytes(&d));
            tlb_hierarchy_init(&h, &d, memory, forget, NULL);
         }
         r.now++;
         r.context = (uint16_t)context;
         r.side = side == 'i' ? TLB_INSTRUCTION : TLB_DATA;
         const tlb_outcome o = translate(&h, &r, ask_percent, &state);
         putchar("0123456789abcdef"[o.missed | (o.walked ? 8 : 0)]);
      } else {
         die(line, "not understood");
      }
   }
   if (d.levels != 0)
      die("end of input", "the case is not ended");
   return 0;
}

int main(void)
{
   while (run_case()) {
   }
   return 0;
}
