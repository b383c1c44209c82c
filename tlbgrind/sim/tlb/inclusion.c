/* Inclusive and exclusive levels. See inclusion.h. */

#include "sim/tlb/inclusion.h"

#include "sim/machine/siblings.h"
#include "sim/tlb/walk.h"

/* --- What an inclusive array evicts --- */

static uint64_t first_byte(tlb_key key)
{
   return tlb_key_page(key) << tlb_key_shift(key);
}

static uint64_t last_byte(tlb_key key)
{
   return first_byte(key) + ((UINT64_C(1) << tlb_key_shift(key)) - 1);
}

static int meet(tlb_key a, tlb_key b)
{
   return tlb_key_context(a) == tlb_key_context(b) && first_byte(a) <= last_byte(b)
          && first_byte(b) <= last_byte(a);
}

void tlb_inclusion_drop(tlb_array *a, tlb_key key)
{
   for (uint32_t e = 0; e < a->g.entries && a->n_filled > 0; e++) {
      for (unsigned part = 0; part < tlb_array_parts(a); part++) {
         const tlb_key own = tlb_array_part(a, e, part);
         if (own != TLB_NO_KEY && !tlb_walk_is_step(own) && meet(own, key))
            tlb_array_remove_part(a, e, part);
      }
   }
}

static void drop_in_front(tlb_inclusion_state *s, unsigned number, tlb_key key)
{
   const tlb_machine_array *const a = &s->machine->array[number];
   for (unsigned i = 0; i < s->machine->n_arrays; i++) {
      const tlb_machine_array *const b = &s->machine->array[i];
      if (b->level >= a->level || (b->users & a->users) == 0)
         continue;
      tlb_inclusion_drop(&s->array[i], key);
      if (s->elsewhere != NULL && !tlb_siblings_have_own(a) && tlb_siblings_have_own(b))
         s->elsewhere(s->opaque, i, key);
   }
}

/* --- What an exclusive array gets --- */

static int holds_entries_of(const tlb_machine_array *a, unsigned shift)
{
   int blocks = a->coalesce_shift == shift;
   for (unsigned page = 0; page < shift; page++)
      blocks |= a->block_shift[page] == shift;
   return blocks || (a->g.page_sizes >> shift & 1) != 0;
}

static int takes(const tlb_inclusion_state *s, unsigned number, const tlb_victim *v)
{
   const tlb_machine_array *const a = &s->machine->array[number];
   const tlb_machine_array *const from = &s->machine->array[v->from];
   return (s->exclusive >> number & 1) != 0 && a->level == from->level + 1
          && (a->users & from->users) != 0 && holds_entries_of(a, tlb_key_shift(v->key));
}

/* Of several it goes to the one that has it, or that gives up what was referenced longest ago. */
static void move(tlb_inclusion_state *s, const tlb_victim *v, uint64_t now)
{
   uint64_t oldest = UINT64_MAX;
   tlb_array *best = NULL;
   for (unsigned i = 0; i < s->machine->n_arrays; i++) {
      tlb_array *const a = &s->array[i];
      if (!takes(s, i, v))
         continue;
      if (tlb_array_lookup(a, v->key, now) != TLB_MISS)
         return;
      const uint32_t e = tlb_array_place(a, v->key);
      const uint64_t time = tlb_array_has_room(a, e, v->key) ? 0 : tlb_array_time(a, e);
      if (time < oldest) {
         oldest = time;
         best = a;
      }
   }
   if (best != NULL)
      tlb_array_fill(best, v->key, now);
}

/* Nearest first: what one evicts for it can go to the next. */
void tlb_inclusion_move(tlb_inclusion_state *s, uint64_t now)
{
   for (unsigned level = 0; level < TLB_MAX_LEVELS; level++) {
      if ((s->victims >> level & 1) == 0)
         continue;
      const tlb_victim v = s->victim[level];
      s->victims &= ~(1u << level);
      move(s, &v, now);
   }
}

void tlb_inclusion_hit(tlb_inclusion_state *s, unsigned number, uint32_t entry, uint64_t now)
{
   if ((s->exclusive >> number & 1) != 0)
      tlb_array_invalidate(&s->array[number], entry);
   tlb_inclusion_move(s, now);
}

/* --- An eviction --- */

static void leaves(void *leaver, tlb_key key)
{
   const tlb_leaver *const l = leaver;
   tlb_inclusion_state *const s = l->of;
   const tlb_machine_array *const a = &s->machine->array[l->number];
   if (tlb_walk_is_step(key))
      return;
   if (a->inclusion == TLB_INCLUSIVE)
      drop_in_front(s, l->number, key);
   s->victim[a->level - 1] = (tlb_victim){ key, l->number };
   s->victims |= 1u << (a->level - 1);
}

void tlb_inclusion_init(tlb_inclusion_state *s, const tlb_machine *m, tlb_array *array)
{
   uint32_t any = 0;
   *s = (tlb_inclusion_state){ .machine = m, .array = array };
   for (unsigned i = 0; i < m->n_arrays; i++) {
      any |= m->array[i].inclusion != TLB_NEITHER;
      if (m->array[i].inclusion == TLB_EXCLUSIVE)
         s->exclusive |= 1u << i;
   }
   for (unsigned i = 0; any && i < m->n_arrays; i++) {
      s->leaver[i] = (tlb_leaver){ s, i };
      array[i].gives_up = leaves;
      array[i].leaver = &s->leaver[i];
   }
}
