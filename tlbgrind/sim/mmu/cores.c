/* Cores with TLBs of their own. See mmu.h.

   The MMUs' arrays are those of the core at hand; those of others are kept beside, without
   short cuts. So what a page's record says is true of the core at hand alone. */

#include "sim/mmu/mmu.h"

#include "sim/machine/siblings.h"
#include "sim/mmu/cores.h"
#include "sim/mmu/known_hits.h"
#include "sim/mmu/l1_lookup.h"
#include "sim/mmu/l1_misses.h"
#include "sim/mmu/l1_sharing.h"
#include "sim/mmu/l2_presence.h"
#include "sim/mmu/mmu_memory.h"
#include "sim/mmu/ports.h"

/* One machine's part of a core that is not at hand. */
typedef struct {
   void *memory;
   tlb_lost *lost;
   tlb_array array[TLB_MAX_ARRAYS];
   tlb_walker walker;
} kept;

struct tlb_core {
   tlb_core *next;
   unsigned number;
   bool in_use; /* else its TLBs are empty */
   kept mmu[];
};

static tlb_core *core_of(tlb_mmus *all, unsigned number)
{
   tlb_core *c = all->cores.first;
   while (c != NULL && c->number != number)
      c = c->next;
   if (c != NULL)
      return c;
   c = tlb_mmus_take_zeroes(all, sizeof *c + all->n_mmus * sizeof c->mmu[0]);
   c->number = number;
   c->next = all->cores.first;
   all->cores.first = c;
   return c;
}

static unsigned n_siblings(const tlb_mmus *all)
{
   return all->options.siblings == 0 ? 1 : all->options.siblings;
}

/* The first of a core's hardware threads, which keeps what they share. */
static tlb_core *home_of(tlb_mmus *all, const tlb_core *c)
{
   return core_of(all, c->number - c->number % n_siblings(all));
}

/* --- From one to another --- */

static void keep(tlb_mmu *mmu, kept *own, kept *shared)
{
   tlb_l1_release_between(mmu, 0, ~(tlb_page_number)0);
   own->memory = mmu->memory;
   shared->lost = mmu->h.lost;
   for (unsigned i = 0; i < mmu->machine->n_arrays; i++)
      (tlb_siblings_have_own(&mmu->machine->array[i]) ? own : shared)->array[i] = mmu->h.array[i];
   shared->walker = mmu->h.walker;
}

static void bring_shared(tlb_mmu *mmu, const kept *shared)
{
   for (unsigned i = 0; i < mmu->machine->n_arrays; i++) {
      if (!tlb_siblings_have_own(&mmu->machine->array[i]))
         mmu->h.array[i] = shared->array[i];
   }
   mmu->h.walker = shared->walker;
   mmu->h.lost = shared->lost;
}

static void bring_back(tlb_mmu *mmu, const kept *own)
{
   mmu->memory = own->memory;
   for (unsigned i = 0; i < mmu->machine->n_arrays; i++) {
      if (tlb_siblings_have_own(&mmu->machine->array[i]))
         mmu->h.array[i] = own->array[i];
   }
}

/* What an array has that is another hardware thread's own: for an inclusive one behind it that both
   share. */
static void drop_of_siblings(void *opaque, unsigned number, tlb_key key)
{
   const tlb_mmu *const mmu = opaque;
   tlb_mmus *const all = mmu->all;
   const tlb_core *const home = home_of(all, all->cores.at_hand);
   for (tlb_core *c = all->cores.first; c != NULL; c = c->next) {
      if (c != all->cores.at_hand && c->in_use && home_of(all, c) == home)
         tlb_inclusion_drop(&c->mmu[mmu->number].array[number], key);
   }
}

static void reach_siblings(tlb_mmu *mmu)
{
   mmu->h.inclusion.elsewhere = drop_of_siblings;
   mmu->h.inclusion.opaque = mmu;
}

/* What flushes have thrown away is that of all hardware threads of a core. */
static void begin_lost(tlb_mmu *mmu, const kept *k)
{
   tlb_mmus *const all = mmu->all;
   tlb_lost *lost = k->lost;
   if (lost == NULL && mmu->flush.how != TLB_FLUSH_NONE) {
      lost = tlb_mmus_take(all, sizeof *lost);
      tlb_lost_init(lost, &all->options.memory);
   } else if (lost != NULL) {
      tlb_lost_forget_all(lost);
   }
   mmu->h.lost = lost;
}

static void begin_empty(tlb_mmu *mmu, const kept *k)
{
   tlb_mmus *const all = mmu->all;
   mmu->memory = k->memory != NULL
                    ? k->memory
                    : tlb_mmus_take(all, tlb_hierarchy_bytes(mmu->machine));
   tlb_mmu_make_arrays(mmu);
   tlb_mmu_make_ports(mmu);
   reach_siblings(mmu);
}

/* From now on nothing is found for two machines, and nothing later. */
static void part(tlb_mmus *all)
{
   for (unsigned user = 0; user < TLB_N_USERS && all->counts[user] != NULL; user++)
      tlb_l2_settle(all, tlb_side_of_user(user), all->counts[user]);
   tlb_sharing_part(all);
   tlb_l2_part(all);
   for (unsigned i = 0; i < all->n_mmus; i++) {
      tlb_l1_release_between(&all->mmu[i], 0, ~(tlb_page_number)0);
      reach_siblings(&all->mmu[i]);
   }
   for (unsigned table = 0; table < TLB_N_TABLES; table++)
      tlb_pages_forget(all, table, 0, ~(tlb_page_number)0, TLB_OBSERVERS_MMUS, TLB_NO_VIEW);
   all->cores.at_hand = core_of(all, 0);
   all->cores.at_hand->in_use = true;
}

static void go_to(tlb_mmus *all, tlb_core *to)
{
   tlb_core *const home = home_of(all, to);
   if (home != to && !home->in_use)
      go_to(all, home);
   tlb_core *const from = all->cores.at_hand;
   tlb_core *const home_of_from = home_of(all, from);
   for (unsigned i = 0; i < all->n_mmus; i++) {
      keep(&all->mmu[i], &from->mmu[i], &home_of_from->mmu[i]);
      if (to->in_use)
         bring_back(&all->mmu[i], &to->mmu[i]);
      else
         begin_empty(&all->mmu[i], &to->mmu[i]);
      if (home->in_use)
         bring_shared(&all->mmu[i], &home->mmu[i]);
      else
         begin_lost(&all->mmu[i], &home->mmu[i]);
   }
   to->in_use = true;
   all->cores.at_hand = to;
   tlb_l1_groups_find(all);
}

void tlb_mmus_core(tlb_mmus *all, unsigned core)
{
   if (all->cores.at_hand == NULL && core == 0)
      return;
   if (all->cores.at_hand == NULL)
      part(all);
   if (all->cores.at_hand->number != core)
      go_to(all, core_of(all, core));
}

void tlb_mmus_core_ends(tlb_mmus *all, unsigned core)
{
   if (n_siblings(all) == 1 && all->cores.at_hand != NULL && all->cores.at_hand->number != core)
      core_of(all, core)->in_use = false;
}

bool tlb_cores_others(tlb_mmus *all, void (*each)(tlb_mmus *all, void *opaque), void *opaque)
{
   tlb_core *const at_hand = all->cores.at_hand;
   bool any = false;
   for (tlb_core *c = all->cores.first; c != NULL; c = c->next) {
      if (c == at_hand || !c->in_use)
         continue;
      go_to(all, c);
      each(all, opaque);
      any = true;
   }
   if (any)
      go_to(all, at_hand);
   return any;
}

bool tlb_cores_share(const tlb_mmus *all)
{
   return n_siblings(all) > 1;
}

bool tlb_cores_at_home(tlb_mmus *all)
{
   return all->cores.at_hand == NULL || home_of(all, all->cores.at_hand) == all->cores.at_hand;
}

void tlb_cores_free(tlb_mmus *all)
{
   const tlb_core *const home = all->cores.at_hand == NULL ? NULL
                                                           : home_of(all, all->cores.at_hand);
   for (tlb_core *c = all->cores.first; c != NULL; c = c->next) {
      for (unsigned i = 0; i < all->n_mmus && c != home; i++) {
         if (c->mmu[i].lost != NULL)
            tlb_lost_free(c->mmu[i].lost);
      }
   }
}
