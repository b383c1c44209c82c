/* Copies of the program on one core. See mmu.h.

   Each makes the program's references, in a context of its own: behind each reference of the
   program comes one of each copy. So nothing is known of a page, and all is looked up. */

#include "sim/mmu/copies.h"

#include "sim/mmu/known_hits.h"
#include "sim/mmu/l1_lookup.h"
#include "sim/mmu/mmu.h"
#include "sim/mmu/mmu_memory.h"
#include "sim/mmu/refer.h"

/* From one reference to the next, for its walk may leave something in the last level. */
enum { TICKS = 2 };

/* A reference in the ring: the page, what part it is, its kind. */
enum { USER_BITS = 2, PART_BITS = 2 };

static uint64_t pack(tlb_page_number number, tlb_user user, unsigned part)
{
   return (uint64_t)number << (USER_BITS + PART_BITS) | (uint64_t)part << USER_BITS | user;
}

void tlb_copies_init(tlb_mmus *all)
{
   const tlb_mmus_options *const o = &all->options;
   if (o->copies < 2)
      return;
   all->copies.room = (uint64_t)(o->copies - 1) * o->copies_behind + 1;
   all->copies.made = tlb_mmus_take(all, (size_t)all->copies.room * sizeof *all->copies.made);
   all->copies.cost = tlb_mmus_take_zeroes(all, (size_t)o->copies * o->n
                                                   * sizeof *all->copies.cost);
}

/* Whether all copies have the same memory there: what a file has, which none of them may change. */
static bool is_same_for_all(const tlb_mmus *all, uint64_t address)
{
   const tlb_mapping *const m = all->options.map == NULL
                                   ? NULL
                                   : tlb_mappings_find(&all->options.map->mappings, address);
   return m != NULL && m->inode != 0
          && ((m->flags & TLB_MAP_SHARED) != 0 || (m->prot & TLB_MAY_WRITE) == 0);
}

static tlb_copy_cost *cost_of(const tlb_mmus *all, unsigned copy, unsigned machine)
{
   return &all->copies.cost[copy * all->n_mmus + machine];
}

static tlb_outcome look_up(tlb_mmu *mmu, tlb_page *p, tlb_page_number number, tlb_user user,
                           unsigned context, uint64_t now)
{
   tlb_reference ref;
   tlb_l1_ask(mmu, p, number, user, &ref);
   ref.now = now;
   ref.context = (uint16_t)context;
   return tlb_translate(&mmu->h, &ref);
}

/* Of a reference in parts only the first miss counts. */
static void count(tlb_copy_cost *c, tlb_user user, unsigned part, unsigned misses)
{
   uint64_t *const cost = c->of[user];
   if ((part & TLB_PART_SECOND) == 0) {
      cost[TLB_COPY_REFERENCES]++;
      c->missed = 0;
   }
   const unsigned first = misses & ~c->missed;
   cost[TLB_COPY_MISSES] += first & 1;
   cost[TLB_COPY_WALKS] += first >> 1;
   c->missed |= misses;
}

static unsigned misses_of(const tlb_outcome *out)
{
   return (out->missed & 1) | (out->walked != 0 ? 2u : 0u);
}

static void refer(tlb_mmus *all, unsigned copy, uint64_t made, uint64_t now)
{
   const tlb_user user = (tlb_user)(made & ((1 << USER_BITS) - 1));
   const unsigned part = made >> USER_BITS & ((1 << PART_BITS) - 1);
   const tlb_page_number number = (tlb_page_number)(made >> (USER_BITS + PART_BITS));
   tlb_page *const p = tlb_page_of(all, tlb_side_of_user(user), number);
   const bool same = all->options.shared_context
                     && is_same_for_all(all, (uint64_t)number << all->traits.page_shift);
   const unsigned context = same ? 0 : copy;
   for (unsigned i = 0; i < all->n_mmus; i++) {
      tlb_mmu *const mmu = &all->mmu[i];
      const tlb_outcome out = look_up(mmu, p, number, user, context, now);
      unsigned misses = misses_of(&out);
      if ((part & TLB_PART_MODIFIES) != 0) {
         const tlb_outcome store = look_up(mmu, p, number, TLB_STORE, context, now);
         misses |= misses_of(&store);
      }
      count(cost_of(all, copy, i), user, part, misses);
   }
}

/* Each copy's next reference, after so many of the program's. */
static void copies_refer(tlb_mmus *all, uint64_t n, uint64_t now)
{
   const tlb_mmus_options *const o = &all->options;
   for (unsigned copy = 1; copy < o->copies; copy++) {
      const uint64_t behind = (uint64_t)copy * o->copies_behind;
      if (n > behind && n - behind <= all->copies.n_made)
         refer(all, copy, all->copies.made[(n - behind - 1) % all->copies.room],
               now + copy * TICKS);
   }
}

void tlb_copies_refer(tlb_mmus *all, uint64_t *counts, tlb_page *p, tlb_page_number number,
                      tlb_user user, unsigned part, uint64_t now)
{
   /* The nearest that two of these are. */
   const uint64_t time = now * (TICKS * all->options.copies);
   tlb_refer_all(all, counts, p, number, user, time);
   if ((part & TLB_PART_MODIFIES) != 0)
      tlb_refer_all(all, counts, p, number, TLB_STORE, time);
   all->copies.made[all->copies.n_made % all->copies.room] = pack(number, user, part);
   all->copies.n_made++;
   all->copies.time = time;
   copies_refer(all, all->copies.n_made, time);
}

void tlb_mmus_copies_end(tlb_mmus *all)
{
   const tlb_mmus_options *const o = &all->options;
   const uint64_t behind = o->copies < 2 ? 0 : (uint64_t)(o->copies - 1) * o->copies_behind;
   for (uint64_t i = 1; i <= behind; i++) {
      all->copies.time += o->copies * TICKS;
      copies_refer(all, all->copies.n_made + i, all->copies.time);
   }
}

void tlb_mmus_copy_counts(const tlb_mmus *all, unsigned machine, unsigned copy, tlb_user user,
                          uint64_t cost[TLB_N_COPY_COSTS])
{
   for (unsigned i = 0; i < TLB_N_COPY_COSTS; i++)
      cost[i] = cost_of(all, copy, machine)->of[user][i];
}

void tlb_mmus_copies_zero(tlb_mmus *all)
{
   for (unsigned i = 0; i < all->options.copies * all->n_mmus && all->copies.cost != NULL; i++)
      all->copies.cost[i] = (tlb_copy_cost){ 0 };
}
