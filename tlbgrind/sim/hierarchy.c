/* The arrays of one core and the way of a translation through them. */

#include "hierarchy.h"

#include "text.h"

static const char *const side_names[TLB_N_SIDES] = {
   [TLB_INSTRUCTION] = "instruction",
   [TLB_DATA] = "data",
};

static int describes_array(const tlb_design *d, unsigned level, unsigned side)
{
   return d->at[level][side].present
          && !(d->unified[level] && side != TLB_DATA);
}

int tlb_design_check(const tlb_design *d, unsigned page_shift, tlb_reason *why)
{
   for (unsigned side = 0; side < TLB_N_SIDES; side++) {
      if (!d->at[0][side].present) {
         tlb_text t = tlb_text_in(why->text, sizeof why->text);
         tlb_text_add(&t, "there is no first-level ");
         tlb_text_add(&t, side_names[side]);
         tlb_text_add(&t, " array");
         return 0;
      }
   }
   for (unsigned level = 0; level < d->levels; level++) {
      for (unsigned side = 0; side < TLB_N_SIDES; side++) {
         if (!describes_array(d, level, side))
            continue;
         const tlb_geometry *const g = &d->at[level][side].g;
         if (!tlb_geometry_check(g, why))
            return 0;
         if ((g->page_sizes >> page_shift & 1) == 0) {
            tlb_text t = tlb_text_in(why->text, sizeof why->text);
            tlb_text_add(&t, "the level ");
            tlb_text_add_number(&t, level + 1);
            tlb_text_add(&t, " ");
            tlb_text_add(&t, d->unified[level] ? "unified" : side_names[side]);
            tlb_text_add(&t, " array does not hold pages of ");
            tlb_text_add_page_size(&t, page_shift);
            tlb_text_add(&t, ", the base page of this run");
            return 0;
         }
      }
   }
   return 1;
}

size_t tlb_hierarchy_bytes(const tlb_design *d)
{
   size_t bytes = 0;
   for (unsigned level = 0; level < d->levels; level++) {
      for (unsigned side = 0; side < TLB_N_SIDES; side++) {
         /* Each array starts aligned again. */
         if (describes_array(d, level, side))
            bytes += (tlb_array_bytes(&d->at[level][side].g) + 7) & ~(size_t)7;
      }
   }
   return bytes;
}

void tlb_hierarchy_init(tlb_hierarchy *h, const tlb_design *d, void *memory,
                        tlb_release *release, void *opaque)
{
   char *at = memory;
   h->levels = d->levels;
   h->n_arrays = 0;
   for (unsigned level = 0; level < TLB_MAX_LEVELS; level++) {
      for (unsigned side = 0; side < TLB_N_SIDES; side++) {
         tlb_array *a = NULL;
         if (level < d->levels && describes_array(d, level, side)) {
            const tlb_geometry *const g = &d->at[level][side].g;
            a = &h->arrays[h->n_arrays++];
            tlb_array_init(a, g, at, level == 0 ? release : NULL, opaque);
            at += (tlb_array_bytes(g) + 7) & ~(size_t)7;
         }
         h->at[0][level][side] = a;
      }
      if (level < d->levels && d->unified[level])
         h->at[0][level][TLB_INSTRUCTION] = h->at[0][level][TLB_DATA];
      for (unsigned side = 0; side < TLB_N_SIDES; side++) {
         if (h->at[0][level][side] != NULL)
            h->last_level[side] = level;
      }
   }
}

/* References one array. Fills it on the spot if it misses, for nothing happens
   between a miss and its fill. */
static int reference(tlb_array *a, const tlb_reference *r, uint32_t *entry)
{
   const tlb_key key = tlb_key_of(r->page, r->context);
   *entry = tlb_array_lookup(a, key, r->now);
   if (*entry != TLB_MISS)
      return 1;
   *entry = tlb_array_fill(a, key, r->now);
   return 0;
}

unsigned tlb_translate_behind(tlb_hierarchy *h, const tlb_reference *r)
{
   unsigned missed = 1;
   for (unsigned level = 1; level < h->levels; level++) {
      tlb_array *const a = h->at[r->core][level][r->side];
      uint32_t entry;
      if (a == NULL)
         continue;
      /* The common case by hand: a hit in a plain second level. */
      if (a->plain && a->short_cut == NULL) {
         entry = tlb_plain_find(a, tlb_key_of(r->page, r->context));
         if (entry != TLB_MISS) {
            a->time[entry] = r->now;
            break;
         }
         tlb_array_fill(a, tlb_key_of(r->page, r->context), r->now);
      } else if (reference(a, r, &entry)) {
         break;
      }
      missed |= 1u << level;
   }
   return missed;
}

tlb_outcome tlb_translate(tlb_hierarchy *h, const tlb_reference *r)
{
   tlb_outcome out = { 0, 0, TLB_MISS };
   if (!reference(h->at[r->core][0][r->side], r, &out.entry)) {
      out.missed = tlb_translate_behind(h, r);
      out.walked = (int)(out.missed >> h->last_level[r->side] & 1);
   }
   return out;
}

int tlb_translate_level(tlb_hierarchy *h, const tlb_reference *r,
                        unsigned level)
{
   uint32_t entry;
   return !reference(h->at[r->core][level][r->side], r, &entry);
}
