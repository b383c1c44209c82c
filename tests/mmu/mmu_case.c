/* Cases for sim/mmu. See mmu_case.h.
   Part of tlbgrind.  GPL-2.0-or-later; see COPYING. */

#include "mmu_case.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "naive_mmu.h"

#include "sim/mmu/mmu.h"

/* A case that is played: the simulator's MMUs and naive ones, each with a page map of its own.
   Each naive MMU has its own view: what the simulator shares cannot be what it is told. */
typedef struct {
   const mmu_case *c;
   tlb_page_policy policy[CASE_MACHINES];
   tlb_mmu_machine machine[CASE_MACHINES];
   tlb_machine naive_machine[CASE_MACHINES];
   tlb_mmus *all;
   tlb_pagemap map, naive_map;
   naive_mmu *naive[CASE_CORES][CASE_MACHINES];
   bool in_use[CASE_CORES];
   unsigned core; /* at hand */
   bool naive_asks[CASE_MACHINES];
   unsigned n_backs; /* the events of that kind so far */
   const case_event *back[CASE_EVENTS];
   uint64_t *counts[CASE_LINES][TLB_N_USERS]; /* of the caller's own lines */
   uint64_t now;
   unsigned n_references;
   size_t taken; /* pieces of memory that have not been given back */
} game;

/* --- Memory --- */

/* With rubbish in it. */
static void *take(size_t bytes, void *opaque)
{
   void *const p = malloc(bytes);
   if (p == NULL)
      abort();
   memset(p, 0xA5, bytes);
   ++*(size_t *)opaque;
   return p;
}

static void give(void *memory, void *opaque)
{
   --*(size_t *)opaque;
   free(memory);
}

/* --- What backs a page --- */

static tlb_backing told_backing(const game *g, unsigned view, uint64_t address)
{
   for (unsigned i = g->n_backs; i > 0; i--) {
      const uint64_t *const n = g->back[i - 1]->n;
      if (n[0] == view && n[1] <= address && address < n[2])
         return (tlb_backing){ (uint8_t)n[3], (uint8_t)n[4] };
   }
   return (tlb_backing){ (uint8_t)g->c->page_shift, (uint8_t)g->c->page_shift };
}

static tlb_backing backing(void *opaque, unsigned view, uint64_t address)
{
   return told_backing(opaque, view, address);
}

static tlb_backing naive_backing(game *g, unsigned i, uint64_t address)
{
   const case_machine *const m = &g->c->machine[i];
   const uint8_t base = (uint8_t)m->m.base_page_shift;
   if (!g->naive_asks[i])
      return (tlb_backing){ base, base };
   tlb_backing b = g->c->mapped ? tlb_pagemap_backing(&g->naive_map, i, address)
                                : told_backing(g, m->view, address);
   if (b.page_shift < base)
      b.page_shift = base;
   return b;
}

/* --- Start and end --- */

static void policy_of(const case_machine *m, unsigned base, tlb_page_policy *p)
{
   tlb_reason why;
   memset(p, 0, sizeof *p);
   p->thp = (tlb_thp_mode)m->thp;
   if ((m->rules[0] != '\0' && !tlb_page_rules_parse(m->rules, ',', base, p, &why))
       || (m->pools[0] != '\0' && !tlb_page_pools_parse(m->pools, base, p, &why))) {
      fprintf(stderr, "mmu_case: %s %s: %s\n", m->rules, m->pools, why.text);
      exit(2);
   }
}

static void start_lines(game *g)
{
   for (unsigned line = 0; line < g->c->lines; line++) {
      for (unsigned user = 0; user < TLB_N_USERS; user++)
         g->counts[line][user] = calloc(tlb_mmus_n_counts(g->all), sizeof(uint64_t));
   }
}

bool case_spoilt;

static void start_naive(game *g)
{
   g->in_use[0] = true;
   for (unsigned i = 0; i < g->c->n_machines; i++) {
      const case_machine *const m = &g->c->machine[i];
      policy_of(m, m->m.base_page_shift, &g->policy[i]);
      g->naive_machine[i] = m->m;
      if (case_spoilt)
         g->naive_machine[i].array[0].g.policy = TLB_FIFO;
      for (unsigned core = 0; core < CASE_CORES; core++)
         g->naive[core][i] = naive_new(&g->naive_machine[i], g->c->nested);
      for (unsigned core = 0; core < CASE_CORES && g->c->siblings > 1; core++) {
         if (core % g->c->siblings != 0)
            naive_share(g->naive[core][i], g->naive[core - core % g->c->siblings][i]);
      }
      g->naive_asks[i] = m->asks;
      if (g->c->mapped)
         tlb_pagemap_look_for(
            &g->naive_map,
            tlb_pagemap_add_view(&g->naive_map, m->m.base_page_shift, &g->policy[i], NULL, NULL),
            TLB_MAX_PAGE_SHIFT);
   }
}

static void start(game *g, const mmu_case *c)
{
   const tlb_memory memory = { take, give, &g->taken };
   memset(g, 0, sizeof *g);
   g->c = c;
   tlb_pagemap_init(&g->map, &memory);
   tlb_pagemap_init(&g->naive_map, &memory);
   start_naive(g);
}

/* NULL if it says nothing. */
static const tlb_page_policy *rules_of(const case_machine *m, const tlb_page_policy *p)
{
   return m->rules[0] == '\0' && m->pools[0] == '\0' && m->thp == TLB_THP_NEVER ? NULL : p;
}

static bool tells_backing(const mmu_case *c)
{
   bool tells = false;
   for (unsigned i = 0; i < c->n_events; i++)
      tells = tells || c->event[i].what == CASE_BACK;
   return tells;
}

static void start_simulator(game *g)
{
   const mmu_case *const c = g->c;
   for (unsigned i = 0; i < c->n_machines; i++) {
      const case_machine *const m = &c->machine[i];
      g->machine[i] = (tlb_mmu_machine){ .machine = &m->m, .pages = rules_of(m, &g->policy[i]),
                                         .view = m->view, .asks = m->asks,
                                         .flush = m->flush, .shared = m->shared,
                                         .prefetch = m->prefetch };
      if (!m->asks && tlb_mmus_asks(&m->m, g->machine[i].pages)) {
         fprintf(stderr, "mmu_case: machine %u has to ask from the start\n", i);
         exit(2);
      }
   }
   const tlb_mmus_options options = {
      .n = c->n_machines, .machine = g->machine, .page_shift = c->page_shift,
      .nested = c->nested, .exhaustive = c->exhaustive, .memory = { take, give, &g->taken },
      .map = c->mapped ? &g->map : NULL, .backing = tells_backing(c) ? backing : NULL,
      .opaque = g, .siblings = c->siblings,
      .address_bits = c->spaces > 1 ? CASE_ADDRESS_BITS : 0
   };
   g->all = tlb_mmus_new(&options);
   start_lines(g);
}

static void stop(game *g)
{
   for (unsigned line = 0; line < g->c->lines; line++) {
      for (unsigned user = 0; user < TLB_N_USERS; user++)
         free(g->counts[line][user]);
   }
   for (unsigned i = 0; i < g->c->n_machines; i++)
      for (unsigned core = 0; core < CASE_CORES; core++)
         naive_free(g->naive[core][i]);
   if (g->all != NULL)
      tlb_mmus_free(g->all);
   tlb_pagemap_free(&g->map);
   tlb_pagemap_free(&g->naive_map);
}

/* --- What happens --- */

/* What backs a page is the same in all address spaces. */
static uint64_t in_space(const game *g, uint64_t address)
{
   return g->c->spaces > 1 ? address & ((UINT64_C(1) << CASE_ADDRESS_BITS) - 1) : address;
}

/* Each page of the machine that the reference has a byte of is one translation. */
static void refer_naively(game *g, unsigned i, const case_event *e)
{
   const unsigned shift = g->c->machine[i].m.base_page_shift;
   const uint64_t last = (e->n[0] + e->n[1] - 1) >> shift;
   for (uint64_t page = e->n[0] >> shift; page <= last; page++) {
      const uint64_t address = page == e->n[0] >> shift ? e->n[0] : page << shift;
      const tlb_backing b = naive_backing(g, i, in_space(g, address));
      naive_translate(g->naive[g->core][i], (unsigned)e->what, address, b.page_shift,
                      b.block_shift);
   }
}

static void refer(game *g, const case_event *e)
{
   const unsigned shift = g->c->page_shift;
   const tlb_user user = (tlb_user)e->what;
   if (g->c->lines == 0) {
      tlb_mmus_refer(g->all, user, e->n[0], (unsigned)e->n[1]);
      return;
   }
   uint64_t *const counts = g->counts[g->n_references++ % g->c->lines][user];
   for (uint64_t page = e->n[0] >> shift; page <= (e->n[0] + e->n[1] - 1) >> shift; page++) {
      g->now += 2 + page % 3;
      tlb_mmus_refer_page(g->all, counts, user, page, g->now);
   }
}

static void map(tlb_pagemap *p, const case_event *e)
{
   const tlb_mapping m = { .start = e->n[0], .end = e->n[1], .serial = e->n[0] + 1,
                           .kind = (uint8_t)e->n[2], .prot = (uint8_t)e->n[3],
                           .flags = (uint16_t)e->n[4], .huge_shift = (uint8_t)e->n[5] };
   tlb_pagemap_map(p, &m);
}

static void change(tlb_pagemap *p, const case_event *e)
{
   const uint64_t *const n = e->n;
   switch (e->what) {
   case CASE_MAP:
      map(p, e);
      break;
   case CASE_UNMAP:
      tlb_pagemap_unmap(p, n[0], n[1]);
      break;
   case CASE_PROTECT:
      tlb_pagemap_protect(p, n[0], n[1], (unsigned)n[2]);
      break;
   case CASE_FLAG:
      tlb_pagemap_flag(p, n[0], n[1], (unsigned)n[2], (unsigned)n[3]);
      break;
   case CASE_ZAP:
      tlb_pagemap_zap(p, n[0], n[1]);
      break;
   case CASE_SPLIT:
      tlb_pagemap_split(p, n[0], n[1], (int)n[2]);
      break;
   case CASE_MOVE:
      tlb_pagemap_move(p, n[0], n[1], n[2]);
      break;
   case CASE_COLLAPSE:
      tlb_pagemap_collapse(p, n[0], n[1]);
      break;
   default:
      break;
   }
}

/* How many pages the kernel would flush one by one. */
static uint64_t pages_of(game *g, unsigned i, const case_event *e)
{
   const unsigned base = g->c->machine[i].m.base_page_shift;
   unsigned stride = TLB_MAX_PAGE_SHIFT;
   for (uint64_t a = e->n[0]; a < e->n[1]; a += UINT64_C(1) << g->c->page_shift) {
      const unsigned shift = g->c->mapped && g->naive_asks[i]
                                ? tlb_pagemap_shift(&g->naive_map, i, a) : base;
      stride = shift < stride ? shift : stride;
   }
   stride = stride < base ? base : stride;
   return ((e->n[1] - 1) >> stride) - (e->n[0] >> stride) + 1;
}

/* Whether it is the first hardware thread of its core that is in use. */
static bool is_first_in_use(const game *g, unsigned core)
{
   const unsigned siblings = g->c->siblings == 0 ? 1 : g->c->siblings;
   for (unsigned other = core - core % siblings; other < core; other++) {
      if (g->in_use[other])
         return false;
   }
   return true;
}

static void flush_naively(game *g, unsigned i, const case_event *e)
{
   const tlb_flush_policy *const p = &g->c->machine[i].flush;
   const bool whole = e->n[0] == 0 && e->n[1] == 0;
   const uint64_t pages = whole ? 0 : pages_of(g, i, e);
   uint64_t most = 0;
   if (p->how == TLB_FLUSH_NONE)
      return;
   if (p->how == TLB_FLUSH_CEILING)
      most = p->n;
   else if (p->how == TLB_FLUSH_SHIFT)
      most = naive_last_entries(&g->c->machine[i].m) >> p->n;
   const bool full = whole || pages > most;
   bool asks = false;
   for (unsigned core = 0; core < CASE_CORES; core++) {
      if (g->in_use[core])
         naive_count_flush(g->naive[core][i], e->n[0], e->n[1], pages, full, whole, core != g->core,
                           is_first_in_use(g, core));
   }
   for (unsigned core = 0; core < CASE_CORES; core++) {
      if (!g->in_use[core])
         continue;
      naive_flush(g->naive[core][i], e->n[0], e->n[1], full, whole);
      asks = asks || core != g->core;
   }
   if (asks)
      naive_flush_asks(g->naive[g->core][i]);
}

/* The naive machine's pages may be larger than the run's. */
static void prefetch_naively(game *g, unsigned i, const case_event *e)
{
   const tlb_prefetch_policy p = g->c->machine[i].prefetch;
   tlb_backing b = { 0, 0 };
   if (p == TLB_PREFETCH_IGNORE)
      return;
   if (e->n[1] != 0)
      b = naive_backing(g, i, e->n[0]);
   naive_prefetch(g->naive[g->core][i], e->n[0], b.page_shift, b.block_shift,
                  p == TLB_PREFETCH_STRONG, e->n[1] != 0);
}

static void prefetch(game *g, const case_event *e)
{
   if (g->c->lines == 0) {
      tlb_mmus_prefetch(g->all, e->n[0], e->n[1] != 0);
      return;
   }
   g->now += 2;
   tlb_mmus_prefetch_page(g->all, g->counts[g->n_references++ % g->c->lines][TLB_LOAD],
                          e->n[0] >> g->c->page_shift, g->now, e->n[1] != 0);
}

static void flush(game *g, const case_event *e)
{
   uint64_t *counts = NULL;
   if (g->c->lines > 0)
      counts = g->counts[g->n_references++ % g->c->lines][TLB_LOAD];
   tlb_mmus_flush(g->all, counts, e->n[0], e->n[1], 0);
}

/* --- Others --- */

/* Those of the event's machines that are shared. */
static uint64_t mmus_of(const game *g, const case_event *e)
{
   uint64_t mmus = 0;
   for (unsigned i = 0; i < g->c->n_machines; i++) {
      if (g->c->machine[i].shared && (e->n[0] >> i & 1) != 0)
         mmus |= UINT64_C(1) << i;
   }
   return mmus;
}

/* A page is touched for all machines of a view: also for one that does not see the reference. */
static void touch_naively(game *g, unsigned i, const case_event *e)
{
   const uint64_t mmus = mmus_of(g, e);
   bool touched = false;
   for (unsigned j = 0; j < g->c->n_machines; j++)
      touched |= (mmus >> j & 1) != 0 && tlb_mmus_share_view(&g->machine[j], &g->machine[i]);
   if (touched)
      naive_backing(g, i, e->n[2]);
}

static void others_naively(game *g, unsigned i, const case_event *e)
{
   const unsigned base = g->c->machine[i].m.base_page_shift;
   const uint64_t address = (UINT64_C(1) << 63) + (e->n[2] << base);
   if (e->what == CASE_EMPTY) {
      naive_empty(g->naive[g->core][i]);
   } else if (e->what == CASE_OTHERS) {
      naive_translate_uncounted(g->naive[g->core][i], (unsigned)e->n[1], address, base,
                                g->c->page_shift);
   } else {
      const tlb_backing b = naive_backing(g, i, e->n[2]);
      naive_translate_uncounted(g->naive[g->core][i], (unsigned)e->n[1], e->n[2], b.page_shift,
                                b.block_shift);
   }
}

static void others(game *g, const case_event *e)
{
   const tlb_user user = (tlb_user)e->n[1];
   const uint64_t mmus = mmus_of(g, e);
   if (g->c->lines > 0)
      g->now += 3;
   const uint64_t now = g->c->lines > 0 ? g->now : 0;
   if (e->what == CASE_EMPTY)
      tlb_mmus_empty(g->all, mmus);
   else if (e->what == CASE_OTHERS)
      tlb_mmus_refer_others(g->all, mmus, user, e->n[2], now);
   else
      tlb_mmus_refer_uncounted(g->all, mmus, user, e->n[2] >> g->c->page_shift, now);
}

static void settle_lines(game *g)
{
   for (unsigned line = 0; line < g->c->lines; line++) {
      for (unsigned user = 0; user < TLB_N_USERS; user++)
         tlb_mmus_settle(g->all, (tlb_user)user, g->counts[line][user]);
   }
}

static void end_naively(game *g, unsigned core)
{
   if (core == g->core || !g->in_use[core] || g->c->siblings > 1)
      return;
   g->in_use[core] = false;
   for (unsigned i = 0; i < g->c->n_machines; i++)
      naive_reset(g->naive[core][i]);
}

static void do_naively(game *g, const case_event *e)
{
   if (e->what <= CASE_STORE) {
      for (unsigned i = 0; i < g->c->n_machines; i++)
         refer_naively(g, i, e);
   } else if (e->what == CASE_FLUSH) {
      for (unsigned i = 0; i < g->c->n_machines; i++)
         flush_naively(g, i, e);
   } else if (e->what == CASE_PREFETCH) {
      for (unsigned i = 0; i < g->c->n_machines; i++)
         prefetch_naively(g, i, e);
   } else if (e->what == CASE_CORE) {
      g->core = (unsigned)e->n[0];
      g->in_use[g->core] = true;
   } else if (e->what == CASE_CORE_ENDS) {
      end_naively(g, (unsigned)e->n[0]);
   } else if (e->what >= CASE_EMPTY) {
      for (unsigned i = 0; i < g->c->n_machines; i++) {
         if ((mmus_of(g, e) >> i & 1) != 0)
            others_naively(g, i, e);
         else if (e->what == CASE_UNCOUNTED)
            touch_naively(g, i, e);
      }
   } else if (e->what == CASE_BACK) {
      g->back[g->n_backs++] = e;
   } else if (e->what == CASE_ASK) {
      for (unsigned i = 0; i < g->c->n_machines; i++)
         g->naive_asks[i] = true;
   } else {
      change(&g->naive_map, e);
   }
}

/* After do_naively(), which notes what backs the pages. */
static void do_it(game *g, const case_event *e)
{
   if (e->what <= CASE_STORE) {
      refer(g, e);
   } else if (e->what == CASE_BACK) {
      tlb_mmus_changed(g->all, (unsigned)e->n[0], e->n[1], e->n[2]);
   } else if (e->what == CASE_ASK) {
      settle_lines(g);
      tlb_mmus_ask(g->all);
   } else if (e->what == CASE_FLUSH) {
      flush(g, e);
   } else if (e->what == CASE_PREFETCH) {
      prefetch(g, e);
   } else if (e->what == CASE_CORE) {
      settle_lines(g);
      tlb_mmus_core(g->all, (unsigned)e->n[0]);
   } else if (e->what == CASE_CORE_ENDS) {
      tlb_mmus_core_ends(g->all, (unsigned)e->n[0]);
   } else if (e->what >= CASE_EMPTY) {
      others(g, e);
   } else {
      change(&g->map, e);
   }
}

/* --- The comparison --- */

/* Of all cores. */
static uint64_t naive_sum(const game *g, unsigned machine, unsigned user, unsigned cost)
{
   uint64_t sum = 0;
   for (unsigned core = 0; core < CASE_CORES; core++)
      sum += naive_count(g->naive[core][machine], user, cost);
   return sum;
}

static uint64_t naive_flushes(const game *g, unsigned machine, unsigned cost)
{
   uint64_t sum = 0;
   for (unsigned core = 0; core < CASE_CORES; core++)
      sum += naive_flush_count(g->naive[core][machine], cost);
   return sum;
}

static const char *const users[] = { "fetch", "load", "store" };
static const char *const costs[] = { "misses of level 1", "misses of level 2",
                                     "misses of level 3", "walks", "references of walks",
                                     "cycles" };

static void counts_of(game *g, unsigned machine, unsigned user, uint64_t cost[TLB_N_COSTS])
{
   if (g->c->lines == 0) {
      tlb_mmus_counts(g->all, machine, (tlb_user)user, cost);
      return;
   }
   memset(cost, 0, TLB_N_COSTS * sizeof *cost);
   for (unsigned line = 0; line < g->c->lines; line++) {
      tlb_mmus_settle(g->all, (tlb_user)user, g->counts[line][user]);
      for (unsigned i = 0; i < TLB_N_COSTS; i++)
         cost[i] += g->counts[line][user][tlb_mmus_cost_of(g->all, machine) + i];
   }
}

static void flushes_of(const game *g, unsigned machine, uint64_t cost[TLB_N_FLUSH_COSTS])
{
   tlb_mmus_flushes(g->all, machine, cost);
   for (unsigned line = 0; line < g->c->lines; line++) {
      for (unsigned i = 0; i < TLB_N_FLUSH_COSTS; i++)
         cost[i] += g->counts[line][TLB_LOAD][tlb_mmus_flushes_at(g->all, machine) + i];
   }
}

static bool compare_flushes(const game *g, unsigned machine, case_wrong *wrong)
{
   uint64_t cost[TLB_N_FLUSH_COSTS];
   if (g->c->machine[machine].flush.how == TLB_FLUSH_NONE)
      return true;
   flushes_of(g, machine, cost);
   for (unsigned n = 0; n < TLB_N_FLUSH_COSTS; n++) {
      const uint64_t naive = naive_flushes(g, machine, n);
      if (cost[n] == naive)
         continue;
      snprintf(wrong->text, sizeof wrong->text,
               "machine %u, flushes, cost %u: %" PRIu64 ", the naive model says %" PRIu64, machine,
               n, cost[n], naive);
      return false;
   }
   return true;
}

static bool compare_prefetches(const game *g, unsigned machine, case_wrong *wrong)
{
   uint64_t cost[TLB_N_PREFETCH_COSTS];
   if (g->c->machine[machine].prefetch == TLB_PREFETCH_IGNORE)
      return true;
   tlb_mmus_prefetches(g->all, machine, cost);
   for (unsigned n = 0; n < TLB_N_PREFETCH_COSTS; n++) {
      uint64_t naive = 0;
      for (unsigned core = 0; core < CASE_CORES; core++)
         naive += naive_prefetch_count(g->naive[core][machine], n);
      for (unsigned line = 0; line < g->c->lines; line++)
         cost[n] += g->counts[line][TLB_LOAD][tlb_mmus_prefetches_at(g->all, machine) + n];
      if (cost[n] == naive)
         continue;
      snprintf(wrong->text, sizeof wrong->text,
               "machine %u, prefetches, cost %u: %" PRIu64 ", the naive model says %" PRIu64,
               machine, n, cost[n], naive);
      return false;
   }
   return true;
}

static bool compare(game *g, case_wrong *wrong)
{
   for (unsigned i = 0; i < g->c->n_machines; i++) {
      if (!compare_flushes(g, i, wrong) || !compare_prefetches(g, i, wrong))
         return false;
      for (unsigned user = 0; user < TLB_N_USERS; user++) {
         uint64_t cost[TLB_N_COSTS];
         counts_of(g, i, user, cost);
         for (unsigned n = 0; n < TLB_N_COSTS; n++) {
            if (cost[n] == naive_sum(g, i, user, n))
               continue;
            snprintf(wrong->text, sizeof wrong->text,
                     "machine %u, %s, %s: %" PRIu64 ", the naive model says %" PRIu64, i,
                     users[user], costs[n], cost[n], naive_sum(g, i, user, n));
            return false;
         }
      }
   }
   const char *const disagree = tlb_mmus_check(g->all);
   if (disagree != NULL)
      snprintf(wrong->text, sizeof wrong->text, "tlb_mmus_check(): %s", disagree);
   return disagree == NULL;
}

bool case_play(const mmu_case *c, unsigned every, case_wrong *wrong, unsigned *at)
{
   static game g;
   bool right = true;
   start(&g, c);
   start_simulator(&g);
   for (*at = 0; right && *at < c->n_events; ++*at) {
      do_naively(&g, &c->event[*at]);
      do_it(&g, &c->event[*at]);
      if ((*at + 1) % every == 0 || *at + 1 == c->n_events)
         right = compare(&g, wrong);
   }
   stop(&g);
   if (right && g.taken != 0) {
      snprintf(wrong->text, sizeof wrong->text, "%zu pieces of memory were not given back",
               g.taken);
      right = false;
   }
   return right;
}

void case_print_counts(const mmu_case *c, FILE *out)
{
   static game g;
   start(&g, c);
   for (unsigned i = 0; i < c->n_events; i++)
      do_naively(&g, &c->event[i]);
   for (unsigned i = 0; i < c->n_machines; i++) {
      for (unsigned user = 0; user < TLB_N_USERS; user++) {
         fprintf(out, "counts %u %s", i, users[user]);
         for (unsigned n = 0; n < NAIVE_COSTS; n++)
            fprintf(out, " %" PRIu64, naive_sum(&g, i, user, n));
         fputc('\n', out);
      }
   }
   g.all = NULL;
   stop(&g);
}
