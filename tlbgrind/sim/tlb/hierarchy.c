/* The translation arrays of one core and the way of a reference through them. */

#include "sim/tlb/hierarchy.h"

#include "sim/base/text.h"

/* --- Which arrays hold which pages --- */

static unsigned largest_up_to(uint64_t sizes, unsigned shift)
{
   while (shift > 0 && (sizes >> shift & 1) == 0)
      shift--;
   return shift;
}

static int serves(const tlb_machine_array *a, unsigned user, unsigned level)
{
   return a->level == level + 1 && (a->users >> user & 1) != 0;
}

static unsigned entry_level(const tlb_machine *m, unsigned user)
{
   for (unsigned level = 0; level < TLB_MAX_LEVELS; level++) {
      for (unsigned i = 0; i < m->n_arrays; i++) {
         if (serves(&m->array[i], user, level))
            return level;
      }
   }
   return 0;
}

/* The size of the pieces that an array has of a page, the whole page among them; 0 if the array
   has nothing to do with it. `cut` says that pages are cut to pieces, but never below the base
   page. */
static unsigned piece_shift(const tlb_machine_array *a, unsigned base_shift, unsigned page_shift,
                            int cut)
{
   const unsigned shift = largest_up_to(a->g.page_sizes, page_shift);
   return shift < base_shift || (shift < page_shift && !cut) ? 0 : shift;
}

/* Of the entry that a piece is in. The pieces of one page lie together in memory for certain: they
   coalesce whatever lies around the page. */
static unsigned entry_shift(const tlb_machine_array *a, unsigned base_shift, unsigned piece,
                            unsigned page_shift, unsigned block_shift)
{
   const unsigned block = tlb_array_block(a, piece, base_shift);
   return block != 0 && (block_shift >= block || page_shift >= block) ? block : piece;
}

static tlb_stop stop_at(const tlb_machine *m, unsigned base_shift,
                        unsigned user, unsigned level, unsigned page_shift,
                        unsigned block_shift)
{
   tlb_stop stop = { 0, { 0 }, { 0 } };
   unsigned largest = 0; /* piece */
   /* First those that hold the page whole, then those that say that they cut
      it, and in the first level, where it has to go, any that can. */
   for (unsigned how = 0; how < 3 && stop.n == 0; how++) {
      if (how == 2 && level != entry_level(m, user))
         break;
      for (unsigned i = 0; i < m->n_arrays; i++) {
         const tlb_machine_array *const a = &m->array[i];
         if (!serves(a, user, level) || (how == 1 && !a->splits))
            continue;
         const unsigned piece = piece_shift(a, base_shift, page_shift, how > 0);
         if (piece == 0 || piece < largest)
            continue;
         if (piece > largest)
            stop.n = 0;
         largest = piece;
         if (stop.n == TLB_MAX_SIDE_BY_SIDE)
            continue;
         stop.array[stop.n] = (uint8_t)i;
         stop.shift[stop.n] = (uint8_t)entry_shift(a, base_shift, piece, page_shift, block_shift);
         stop.n++;
      }
   }
   return stop;
}

static unsigned levels_of(const tlb_machine *m)
{
   unsigned levels = 0;
   for (unsigned i = 0; i < m->n_arrays; i++)
      levels = m->array[i].level > levels ? m->array[i].level : levels;
   return levels;
}

int tlb_machine_holds(const tlb_machine *m, unsigned base_shift,
                      tlb_reason *why)
{
   static const char *const users[TLB_N_USERS] = { "instruction", "load",
                                                   "store" };
   for (unsigned user = 0; user < TLB_N_USERS; user++) {
      if (stop_at(m, base_shift, user, entry_level(m, user), base_shift,
                  base_shift).n > 0)
         continue;
      tlb_text t = tlb_text_in(why->text, sizeof why->text);
      tlb_text_add(&t, "no first-level array for ");
      tlb_text_add(&t, users[user]);
      tlb_text_add(&t, "s holds pages of ");
      tlb_text_add_page_size(&t, base_shift);
      return 0;
   }
   return 1;
}

tlb_stop tlb_machine_first_stop(const tlb_machine *m, unsigned user, unsigned page_shift)
{
   return stop_at(m, m->base_page_shift, user, entry_level(m, user), page_shift, page_shift);
}

/* --- Building --- */

/* Each array starts on a line of the cache, and so do sets of 8 ways. */
enum { LINE = 64 };

static size_t up_to_line(size_t n)
{
   return (n + LINE - 1) / LINE * LINE;
}

static size_t array_bytes(const tlb_machine_array *a)
{
   return up_to_line(tlb_array_bytes(&a->g));
}

size_t tlb_hierarchy_bytes(const tlb_machine *m)
{
   size_t bytes = LINE;
   for (unsigned i = 0; i < m->n_arrays; i++)
      bytes += array_bytes(&m->array[i]);
   return bytes + tlb_walker_bytes(m);
}

void tlb_hierarchy_init(tlb_hierarchy *h, const tlb_machine *m,
                        unsigned base_shift, int nested, void *memory,
                        tlb_release *release, tlb_range_time *range_time,
                        void *opaque)
{
   char *at = (char *)up_to_line((uintptr_t)memory);
   h->machine = m;
   h->base_shift = base_shift;
   h->levels = levels_of(m);
   h->lost = NULL;
   for (unsigned user = 0; user < TLB_N_USERS; user++)
      h->entry_level[user] = entry_level(m, user);
   for (unsigned i = 0; i < m->n_arrays; i++) {
      const tlb_machine_array *const a = &m->array[i];
      int first = 0, behind = 0;
      for (unsigned user = 0; user < TLB_N_USERS; user++) {
         if (tlb_asks_first(h, user, i))
            first = 1;
         else if ((a->users >> user & 1) != 0)
            behind = 1;
      }
      tlb_array_init(&h->array[i], &a->g, at, first ? release : NULL, opaque);
      h->array[i].range_time = range_time;
      h->array[i].also_behind = first && behind;
      h->array[i].plain &= !h->array[i].also_behind;
      h->array[i].compared &= !h->array[i].also_behind;
      at += array_bytes(a);
   }
   const int kept_in = tlb_walk_array(m);
   tlb_walker_init(&h->walker, m, nested, at,
                   kept_in < 0 ? NULL : &h->array[kept_in]);
   tlb_inclusion_init(&h->inclusion, m, h->array);
   for (unsigned user = 0; user < TLB_N_USERS; user++) {
      for (unsigned page = 0; page < TLB_N_SIZES; page++) {
         for (unsigned block = 0; block < TLB_N_BLOCKS_OF_PAGES; block++) {
            tlb_route *const route = &h->route[user][page][block];
            for (unsigned level = 0; level < TLB_MAX_LEVELS; level++)
               route->at[level] = stop_at(m, m->base_page_shift, user, level,
                                          page + TLB_MIN_PAGE_SHIFT,
                                          page + block + TLB_MIN_PAGE_SHIFT);
         }
      }
   }
}

/* --- One reference --- */

/* Which of the arrays side by side takes the page: the one that gives up what
   was referenced longest ago, an empty place first of all. So two arrays of 8
   ways are to base pages what one of 16 ways would be. */
unsigned tlb_roomier(tlb_hierarchy *h, const tlb_reference *r,
                        const tlb_stop *stop)
{
   uint64_t oldest = UINT64_MAX;
   unsigned best = 0;
   if (stop->n == 1)
      return 0;
   for (unsigned i = 0; i < stop->n; i++) {
      tlb_array *const a = &h->array[stop->array[i]];
      const tlb_key key = tlb_entry_key(h, r, stop->shift[i]);
      const uint32_t e = tlb_array_place(a, key);
      const uint64_t time = tlb_array_has_room(a, e, key) ? 0 : tlb_array_time(a, e);
      if (time < oldest) {
         oldest = time;
         best = i;
      }
   }
   return best;
}

/* Asks the arrays of one level. Returns whether one of them has the page; then
   *which and *entry say where. */
static int look_up(tlb_hierarchy *h, const tlb_reference *r,
                   const tlb_stop *stop, unsigned *which, uint32_t *entry)
{
   for (unsigned i = 0; i < stop->n; i++) {
      *entry = tlb_array_lookup(&h->array[stop->array[i]],
                                tlb_entry_key(h, r, stop->shift[i]), r->now);
      if (*entry != TLB_MISS) {
         *which = i;
         return 1;
      }
   }
   return 0;
}

/* Fills in what none of them has. Returns the number of the one that has it now. */
static unsigned fill(tlb_hierarchy *h, const tlb_reference *r,
                     const tlb_stop *stop, uint32_t *entry)
{
   const unsigned which = tlb_roomier(h, r, stop);
   *entry = tlb_array_fill(&h->array[stop->array[which]],
                           tlb_entry_key(h, r, stop->shift[which]), r->now);
   return which;
}

/* References one level; fills it on the spot if it misses. Returns whether it
   hit; *which and *entry say where the page is now. */
static int reference(tlb_hierarchy *h, const tlb_reference *r,
                     const tlb_stop *stop, unsigned *which, uint32_t *entry)
{
   if (look_up(h, r, stop, which, entry))
      return 1;
   *which = fill(h, r, stop, entry);
   return 0;
}

static void pay(tlb_outcome *out, uint32_t cycles)
{
   out->cycles += tlb_known_cycles(cycles);
}

void tlb_hierarchy_pay_walk(const tlb_hierarchy *h, unsigned page_shift, tlb_outcome *out)
{
   out->walked = 1;
   out->cycles += tlb_machine_walk_cycles(h->machine, page_shift);
   if (tlb_walker_pays_host(&h->walker))
      pay(out, h->machine->walk_cycles);
}

uint32_t tlb_hierarchy_varying_cycles(const tlb_hierarchy *h, uint32_t references)
{
   return tlb_known_cycles(h->machine->walk_cycles)
             * tlb_walk_guest_references(&h->walker, references)
          + h->walker.table_cycles;
}

uint32_t tlb_hierarchy_references(tlb_hierarchy *h, const tlb_reference *r)
{
   return tlb_walk(&h->walker, r->page << h->base_shift, r->page_shift, r->context,
                   r->now - 1);
}

void tlb_hierarchy_walk(tlb_hierarchy *h, const tlb_reference *r,
                        tlb_outcome *out)
{
   tlb_hierarchy_pay_walk(h, r->page_shift, out);
   out->walk_references = tlb_hierarchy_references(h, r);
   out->cycles += tlb_hierarchy_varying_cycles(h, out->walk_references);
   if (h->lost != NULL)
      tlb_lost_walked(h->lost, r->page, h->base_shift, r->context);
}

void tlb_translate_from(tlb_hierarchy *h, const tlb_reference *r, unsigned level,
                        tlb_outcome *out)
{
   const tlb_route *const route = tlb_route_of(h, r->user, r->page_shift,
                                               r->block_shift);
   const tlb_stop *last = NULL; /* where it goes when the walk is over */
   uint32_t entry;
   for (; level < h->levels; level++) {
      const tlb_stop *const stop = &route->at[level];
      unsigned which = 0;
      int hit;
      if (stop->n == 0)
         continue;
      tlb_array *const a = &h->array[stop->array[0]];
      /* The common case by hand. */
      if (stop->n == 1 && a->compared) {
         entry = tlb_plain_find(a, tlb_entry_key(h, r, stop->shift[0]));
         hit = entry != TLB_MISS;
         if (hit)
            a->time[entry] = r->now;
      } else {
         hit = look_up(h, r, stop, &which, &entry);
      }
      if (hit) {
         pay(out, h->machine->array[stop->array[which]].hit_cycles);
         if (h->inclusion.exclusive != 0)
            tlb_inclusion_hit(&h->inclusion, stop->array[which], entry, r->now);
         return;
      }
      out->missed |= 1u << level;
      if ((h->inclusion.exclusive >> stop->array[0] & 1) != 0)
         continue; /* those side by side are alike */
      if (level + 1 == h->levels)
         last = stop;
      else
         fill(h, r, stop, &entry);
   }
   tlb_hierarchy_walk(h, r, out);
   if (h->inclusion.exclusive != 0)
      tlb_inclusion_move(&h->inclusion, r->now);
   if (last != NULL)
      fill(h, r, last, &entry);
}

void tlb_translate_behind(tlb_hierarchy *h, const tlb_reference *r,
                          tlb_outcome *out)
{
   const unsigned first = h->entry_level[r->user];
   out->missed |= 1u << first;
   tlb_translate_from(h, r, first + 1, out);
}

tlb_outcome tlb_translate(tlb_hierarchy *h, const tlb_reference *r)
{
   const tlb_stop *const stop = tlb_first_stop(h, r);
   tlb_outcome out = { .entry = TLB_MISS };
   unsigned which;
   const int hit = reference(h, r, stop, &which, &out.entry);
   out.array = stop->array[which];
   out.shift = stop->shift[which];
   if (!hit)
      tlb_translate_behind(h, r, &out);
   return out;
}

int tlb_hierarchy_has(tlb_hierarchy *h, const tlb_reference *r)
{
   const tlb_route *const route = tlb_route_of(h, r->user, r->page_shift, r->block_shift);
   for (unsigned level = h->entry_level[r->user]; level < h->levels; level++) {
      const tlb_stop *const stop = &route->at[level];
      for (unsigned i = 0; i < stop->n; i++) {
         if (tlb_array_find(&h->array[stop->array[i]], tlb_entry_key(h, r, stop->shift[i]))
             != TLB_MISS)
            return 1;
      }
   }
   return 0;
}

int tlb_translate_level(tlb_hierarchy *h, const tlb_reference *r,
                        unsigned level)
{
   unsigned which;
   uint32_t entry;
   return !reference(h, r, &tlb_route_of(h, r->user, r->page_shift,
                                         r->block_shift)->at[level],
                     &which, &entry);
}
