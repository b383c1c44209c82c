/* Random cases for sim/mmu. See random_case.h.
   Part of tlbgrind.  GPL-2.0-or-later; see COPYING. */

#include "random_case.h"

#include <string.h>

#include "sim/mmu/mmu.h"

/* --- Dice --- */

dice dice_of_seed(uint64_t seed)
{
   /* Seeds that are near each other begin far apart. */
   return (dice){ .state = (seed + 1) * UINT64_C(0x9E3779B97F4A7C15) };
}

dice dice_of_bytes(const void *bytes, size_t n)
{
   return (dice){ .bytes = bytes, .left = n };
}

static unsigned next_byte(dice *d)
{
   if (d->left == 0)
      return 0;
   d->left--;
   return *d->bytes++;
}

unsigned roll(dice *d, unsigned sides)
{
   if (d->bytes != NULL) {
      const unsigned low = next_byte(d);
      return (sides > 256 ? next_byte(d) << 8 | low : low) % sides;
   }
   d->state ^= d->state >> 12;
   d->state ^= d->state << 25;
   d->state ^= d->state >> 27;
   return (unsigned)(d->state * UINT64_C(0x2545F4914F6CDD1D) >> 33) % sides;
}

/* --- Machines --- */

/* No two that mean the same. With the pools and the modes there can be more views than a page's
   record has room for. */
static const char *const rules[] = { "", "", "all:64K", "all:2M", "all:thp", "all:contig",
                                     "anon:16K,heap:2M,file:64K", "heap:thp,stack:64K",
                                     "anon:2M", "heap:64K", "file:2M,all:16K" };

static void random_rules(dice *d, const mmu_case *c, case_machine *m)
{
   if (!c->mapped) {
      m->view = roll(d, c->n_views);
      return;
   }
   strcpy(m->rules, rules[roll(d, sizeof rules / sizeof *rules)]);
   if (roll(d, 6) == 5)
      strcpy(m->pools, "2M:2");
   m->thp = roll(d, 4) < 3 ? TLB_THP_MADVISE : roll(d, 3);
   if (m->m.base_page_shift > 14)
      m->rules[0] = m->pools[0] = '\0';
}

static bool has_to_ask(const case_machine *m)
{
   bool asks = m->rules[0] != '\0' || m->thp == TLB_THP_ALWAYS;
   for (unsigned i = 0; i < m->m.n_arrays; i++)
      asks = asks || tlb_array_largest_block(&m->m.array[i]) != 0;
   return asks;
}

/* A machine like another, but for one thing. */
static void make_different(dice *d, const mmu_case *c, const family *f, case_machine *m)
{
   case_machine other = { .view = 0 };
   random_machine(d, f, &other.m);
   switch (roll(d, 7)) {
   case 0: /* equal */
      break;
   case 1: /* LRU arrays of the first level that hold each other's pages */
      for (unsigned i = 0; i < m->m.n_arrays; i++) {
         tlb_geometry *const g = &m->m.array[i].g;
         const uint32_t sets = g->entries / g->ways;
         if (m->m.array[i].level > 1 || g->policy == TLB_PLRU || g->policy == TLB_MRU_PLRU)
            continue;
         g->ways = 1 + roll(d, 12);
         g->entries = sets * g->ways;
      }
      break;
   case 2: /* behind the first level */
      for (unsigned i = 0; i < m->m.n_arrays; i++) {
         tlb_geometry *const g = &m->m.array[i].g;
         if (m->m.array[i].level == 1 || g->policy == TLB_PLRU || g->policy == TLB_MRU_PLRU)
            continue;
         g->ways = 1 + roll(d, 12);
         const uint32_t now = 1 + roll(d, 5);
         g->entries = now * g->ways;
         if (now == 1 || (now & (now - 1)) != 0)
            g->index_xor = 0;
         m->m.array[i].hit_cycles = roll(d, 10);
      }
      break;
   case 3: /* walks */
      if (other.m.base_page_shift != m->m.base_page_shift)
         break;
      m->m.walk_cycles = other.m.walk_cycles;
      m->m.software_walk = other.m.software_walk;
      m->m.host_page_shift = 0;
      for (unsigned i = 0; i < m->m.n_walk_steps; i++)
         m->m.walk[i].cycles = 0;
      m->m.n_caches = 0;
      m->m.memory.cycles = 0;
      break;
   case 5: /* what their references cost */
      if (m->m.n_caches == 0)
         break;
      m->m.memory.cycles += roll(d, 2);
      if (roll(d, 4) == 0)
         m->m.host_page_shift = 0;
      if (roll(d, 4) == 0)
         m->m.walk[m->m.n_walk_steps - 1].cycles = 0;
      m->m.cache[roll(d, m->m.n_caches)].share = 1 + roll(d, 100);
      break;
   case 4:
      random_rules(d, c, m);
      break;
   default:
      m->m.array[roll(d, m->m.n_arrays)].g.policy = TLB_LRU;
      break;
   }
}

static void random_machines(dice *d, mmu_case *c)
{
   static const unsigned char above[] = { 0, 0, 0, 0, 1, 2, 2, 4, 6, 8 };
   family f[3];
   for (unsigned i = 0; i < 3; i++)
      f[i] = random_family(d, c->page_shift + above[roll(d, sizeof above)]);
   c->n_views = roll(d, 3) ? 3 : 1 + roll(d, TLB_MAX_VIEWS);
   c->n_machines = roll(d, 5) == 0 ? 1 : 1 + roll(d, roll(d, 2) ? CASE_MACHINES : 5);
   for (unsigned i = 0; i < c->n_machines; i++) {
      case_machine *const m = &c->machine[i];
      const family *const of = &f[roll(d, 4) % 3];
      memset(m, 0, sizeof *m);
      if (i > 0 && roll(d, 2)) {
         *m = c->machine[roll(d, i)];
         make_different(d, c, of, m);
      } else {
         random_machine(d, of, &m->m);
         random_rules(d, c, m);
      }
      m->asks = has_to_ask(m) || roll(d, 8) == 7;
   }
}

/* --- Pages --- */

enum { SPOTS = 100 };

/* The pages of a stream: some near each other, some of them far away. */
typedef struct {
   uint64_t at, end; /* where the pages are */
   unsigned n;
   uint64_t page[SPOTS]; /* addresses */
   unsigned next;        /* of a sweep */
   unsigned hot;         /* pages from there on are referenced most */
   unsigned manner, left; /* how they are referenced, and for how long */
} area;

static area random_area(dice *d, const mmu_case *c, uint64_t at)
{
   static const unsigned spans[] = { 8, 24, 64, 256, 1100, 10000 };
   area a = { .at = at, .n = 2 + roll(d, 40) };
   const unsigned span = spans[roll(d, 6)];
   const bool in_order = roll(d, 2) == 0;
   a.n += span > 1100 ? SPOTS - 42 : 0; /* more records than have room at first */
   a.end = at + ((uint64_t)span << c->page_shift);
   for (unsigned i = 0; i < a.n; i++)
      a.page[i] = at + ((uint64_t)(in_order ? i % span : roll(d, span)) << c->page_shift);
   return a;
}

static uint64_t next_page(dice *d, area *a)
{
   if (a->left == 0) {
      a->left = 1 + roll(d, 40);
      a->manner = roll(d, 4);
      a->hot = roll(d, a->n);
   }
   a->left--;
   switch (a->manner) {
   case 0: /* a hot set */
      return a->page[(a->hot + roll(d, 3)) % a->n];
   case 1: /* a sweep */
      return a->page[a->next++ % a->n];
   case 2: /* bursts */
      a->next += roll(d, 3) == 2;
      return a->page[a->next % a->n];
   default:
      return a->page[roll(d, a->n)];
   }
}

/* --- What happens --- */

static case_event random_reference(dice *d, const mmu_case *c, area *code, area *data)
{
   const uint64_t size = UINT64_C(1) << c->page_shift;
   const unsigned user = roll(d, 8) < 2 ? CASE_FETCH : CASE_LOAD + roll(d, 2);
   const uint64_t page = next_page(d, user == CASE_FETCH ? code : data);
   case_event e = { .what = (case_what)user, .n = { page + 8 * roll(d, 16), 1 + roll(d, 8) } };
   if (roll(d, 12) == 11) { /* to the next page */
      e.n[0] = page + size - 1 - roll(d, 8);
      e.n[1] = roll(d, 4) ? 10 + roll(d, 6) : size;
   }
   return e;
}

/* Addresses that like to be where large pages begin and end. */
static void random_range(dice *d, const area *a, uint64_t *start, uint64_t *end)
{
   static const unsigned char grain[] = { 12, 13, 14, 16, 16, 18, 21 };
   const uint64_t g = UINT64_C(1) << grain[roll(d, sizeof grain)];
   const uint64_t pages = (a->end - a->at) / g + 1;
   *start = a->at / g * g + roll(d, (unsigned)pages) * g;
   *end = *start + (1 + roll(d, 4)) * g;
   if (roll(d, 4) == 3)
      *end = a->end + (UINT64_C(1) << 21);
   if (*end <= *start)
      *end = *start + g;
}

/* An aligned piece of memory is backed by pages of one size, with blocks of one. No base page of
   a machine is backed in two ways. */
static case_event random_back(dice *d, const mmu_case *c, const area *a)
{
   static const unsigned char shifts[] = { 12, 12, 13, 14, 16, 18, 21, 21, 22 };
   unsigned shift = shifts[roll(d, sizeof shifts)];
   unsigned block = c->page_shift + roll(d, 5);
   if (shift < c->page_shift)
      shift = c->page_shift;
   block = block > 16 ? 16 : block;
   if (shift > c->page_shift && block < shift)
      block = shift > 16 && roll(d, 2) ? shift + roll(d, TLB_MAX_BLOCK_BITS + 1) : shift;
   unsigned around = block > 16 ? block : 16;
   for (unsigned i = 0; i < c->n_machines; i++) {
      if (c->machine[i].m.base_page_shift > around)
         around = c->machine[i].m.base_page_shift;
   }
   const uint64_t size = UINT64_C(1) << around;
   const uint64_t start = a->page[roll(d, a->n)] / size * size;
   block = block < c->page_shift ? c->page_shift : block;
   return (case_event){ CASE_BACK,
                        { roll(d, c->n_views), start, start + size * (1 + roll(d, 2)), shift,
                          block } };
}

static case_event random_map(dice *d, uint64_t start, uint64_t end)
{
   static const unsigned char kinds[] = { TLB_ANON, TLB_ANON, TLB_ANON, TLB_HEAP, TLB_STACK,
                                          TLB_FILE };
   case_event e = { CASE_MAP, { start, end, kinds[roll(d, sizeof kinds)], TLB_MAY_READ } };
   e.n[3] |= roll(d, 4) ? TLB_MAY_WRITE : TLB_MAY_EXECUTE;
   if (e.n[2] == TLB_ANON && roll(d, 5) == 4) {
      e.n[4] = TLB_MAP_HUGETLB;
      e.n[5] = roll(d, 2) ? 21 : 16;
   } else if (roll(d, 3) == 2) {
      e.n[4] = TLB_MAP_HUGEPAGE;
   }
   return e;
}

static case_event random_change(dice *d, const mmu_case *c, const area *a)
{
   static const unsigned flags[] = { TLB_MAP_HUGEPAGE, TLB_MAP_NOHUGEPAGE, TLB_MAP_LOCKED };
   uint64_t start, end;
   if (!c->mapped)
      return random_back(d, c, a);
   random_range(d, a, &start, &end);
   switch (roll(d, 10)) {
   case 0:
      return (case_event){ CASE_UNMAP, { start, end } };
   case 1:
      return (case_event){ CASE_PROTECT, { start, end, TLB_MAY_READ | roll(d, 4) } };
   case 2: {
      const unsigned flag = flags[roll(d, 3)], set = roll(d, 3);
      return (case_event){ CASE_FLAG, { start, end, set ? flag : 0, set ? 0 : flag } };
   }
   case 3:
      return (case_event){ CASE_ZAP, { start, end } };
   case 4:
      return (case_event){ CASE_SPLIT, { start, end, roll(d, 2) } };
   case 5: {
      const uint64_t to = start + (end - start) * (1 + roll(d, 3));
      return (case_event){ CASE_MOVE, { start, to, end - start } };
   }
   case 6:
      return (case_event){ CASE_COLLAPSE, { start, end } };
   default:
      return random_map(d, start, end);
   }
}

static bool wants_to_ask(const mmu_case *c)
{
   for (unsigned i = 0; i < c->n_machines; i++) {
      if (!c->machine[i].asks)
         return true;
   }
   return false;
}

static void random_events(dice *d, mmu_case *c, area *code, area *data)
{
   static const unsigned char rates[] = { 0, 0, 1, 4, 12 };
   const unsigned rate = rates[roll(d, sizeof rates)]; /* changes in a hundred */
   const unsigned ask_at = roll(d, 2) && wants_to_ask(c) ? roll(d, 300) : CASE_EVENTS;
   const unsigned n = 40 + roll(d, roll(d, 8) ? 260 : CASE_EVENTS - 50);
   if (c->mapped) {
      c->event[c->n_events++] = random_map(d, code->at, code->end);
      c->event[c->n_events++] = random_map(d, data->at, data->end + (UINT64_C(1) << 21));
   }
   while (c->n_events < n) {
      if (c->n_events == ask_at)
         c->event[c->n_events++] = (case_event){ CASE_ASK, { 0 } };
      else if (roll(d, 100) < rate && c->n_events < CASE_EVENTS)
         c->event[c->n_events++] = random_change(d, c, roll(d, 4) ? data : code);
      else
         c->event[c->n_events++] = random_reference(d, c, code, data);
      if (d->bytes != NULL && d->left == 0)
         return;
   }
}

void random_case(dice *d, mmu_case *c)
{
   static const uint64_t places[] = { 0, 0x10000, 0x400000, 0x7ffff7000000, UINT64_C(1) << 40,
                                      0xffffff0000000000 };
   c->n_machines = c->n_events = 0;
   c->page_shift = roll(d, 6) < 5 ? 12 : 13 + roll(d, 4);
   c->nested = roll(d, 6) == 5;
   c->exhaustive = roll(d, 10) == 9;
   c->mapped = roll(d, 2) != 0;
   c->lines = roll(d, 5) == 4 ? 1 + roll(d, 3) : 0;
   random_machines(d, c);
   const uint64_t at = places[roll(d, 6)];
   area data = random_area(d, c, at);
   area code = roll(d, 3) ? random_area(d, c, at + (UINT64_C(1) << 30)) : data;
   random_events(d, c, &code, &data);
}

/* --- Flushes --- */

static tlb_flush_policy random_policy(dice *d)
{
   static const unsigned char most[] = { 0, 1, 2, 4, 8, 33 };
   switch (roll(d, 4)) {
   case 0: return (tlb_flush_policy){ TLB_FLUSH_CEILING, most[roll(d, sizeof most)] };
   case 1: return (tlb_flush_policy){ TLB_FLUSH_SHIFT, roll(d, 7) };
   case 2: return (tlb_flush_policy){ TLB_FLUSH_ALL, 0 };
   default: return (tlb_flush_policy){ TLB_FLUSH_NONE, 0 };
   }
}

/* Of some pages around one that was referenced before. */
static case_event random_flush(dice *d, const mmu_case *c, unsigned at)
{
   const uint64_t size = UINT64_C(1) << c->page_shift;
   const case_event *near = &c->event[roll(d, at)];
   case_event e = { .what = CASE_FLUSH };
   if (near->what > CASE_STORE || roll(d, 20) == 0)
      return e;
   const uint64_t page = near->n[0] / size;
   const uint64_t before = roll(d, 3) ? 0 : roll(d, 40);
   const uint64_t first = page - (before < page ? before : page);
   e.n[0] = first * size;
   e.n[1] = (page + 1 + (roll(d, 3) ? 0 : roll(d, 600))) * size;
   return e;
}

void add_flushes(dice *d, mmu_case *c)
{
   static const unsigned char rates[] = { 1, 3, 10, 30 };
   const unsigned rate = rates[roll(d, sizeof rates)];
   for (unsigned i = 0; i < c->n_machines; i++) {
      c->machine[i].flush = random_policy(d);
      if (roll(d, 2))
         strcpy(c->machine[i].m.isa, "x86-64");
   }
   for (unsigned i = 1; i < c->n_events; i++) {
      if (c->event[i].what <= CASE_STORE && roll(d, 100) < rate)
         c->event[i] = random_flush(d, c, i);
   }
}

/* --- Others --- */

/* Of the program's pages, one that was referenced before. */
static case_event random_others(dice *d, const mmu_case *c, unsigned at)
{
   static const unsigned char how_many[] = { 3, 20, 200 };
   case_event e = { .what = CASE_EMPTY, .n = { roll(d, 8) ? UINT64_MAX : roll(d, 1 << 24),
                                               roll(d, TLB_N_USERS) } };
   const case_event *near = &c->event[roll(d, at)];
   switch (roll(d, 5)) {
   case 0:
      break;
   case 1:
      if (near->what <= CASE_STORE) {
         e.what = CASE_UNCOUNTED;
         e.n[2] = near->n[0];
         break;
      }
      /* fall through */
   default:
      e.what = CASE_OTHERS;
      e.n[2] = roll(d, how_many[roll(d, 3)]);
   }
   return e;
}

void add_others(dice *d, mmu_case *c)
{
   static const unsigned char rates[] = { 1, 3, 10, 30 };
   const unsigned rate = rates[roll(d, sizeof rates)];
   for (unsigned i = 0; i < c->n_machines; i++)
      c->machine[i].shared = roll(d, 4) != 0;
   for (unsigned i = 1; i < c->n_events; i++) {
      if (c->event[i].what <= CASE_STORE && roll(d, 100) < rate)
         c->event[i] = random_others(d, c, i);
   }
}

/* --- Cores --- */

void add_cores(dice *d, mmu_case *c)
{
   static const unsigned char rates[] = { 1, 3, 10, 30 };
   const unsigned rate = rates[roll(d, sizeof rates)];
   for (unsigned i = 1; i < c->n_events; i++) {
      if (c->event[i].what <= CASE_STORE && roll(d, 100) < rate)
         c->event[i] = (case_event){ .what = roll(d, 4) ? CASE_CORE : CASE_CORE_ENDS,
                                     .n = { roll(d, CASE_CORES) } };
   }
}

void add_siblings(dice *d, mmu_case *c)
{
   static const tlb_sharing kinds[] = { TLB_SHARED, TLB_SHARED, TLB_COPIED, TLB_PARTITIONED,
                                        TLB_SHARING_UNKNOWN };
   c->siblings = 2 << roll(d, 2);
   for (unsigned i = 0; i < c->n_machines; i++) {
      for (unsigned k = 0; k < c->machine[i].m.n_arrays; k++) {
         tlb_machine_array *const a = &c->machine[i].m.array[k];
         a->threads = roll(d, 6) == 0 ? 1 : 4;
         a->sharing = a->threads == 1 ? TLB_SHARING_UNKNOWN : kinds[roll(d, 5)];
      }
   }
}

/* --- Prefetches --- */

/* In most cases none of the machines ignores them: else the simulator has no fast path. */
void add_prefetches(dice *d, mmu_case *c)
{
   static const unsigned char rates[] = { 1, 3, 10, 30 };
   const unsigned rate = rates[roll(d, sizeof rates)];
   /* With a page map a prefetch of a page that was never referred to is its first touch for those
      that heed it alone, which no program can do: then none of them ignores it. */
   const unsigned kind = c->mapped ? 1 + roll(d, 7) : roll(d, 8);
   for (unsigned i = 0; i < c->n_machines; i++)
      c->machine[i].prefetch
         = (tlb_prefetch_policy)(kind == 0 ? roll(d, 3) : kind < 4 ? 1 + kind % 2 : 1 + roll(d, 2));
   for (unsigned i = 1; i < c->n_events; i++) {
      case_event *const e = &c->event[i];
      if (e->what > CASE_STORE || roll(d, 100) >= rate)
         continue;
      *e = (case_event){ .what = CASE_PREFETCH, .n = { e->n[0], roll(d, 8) > 0 } };
   }
}

/* --- Address spaces --- */

void add_spaces(dice *d, mmu_case *c)
{
   const unsigned stay = roll(d, 100);
   unsigned space = 0;
   c->spaces = 0;
   for (unsigned i = 0; i < c->n_events; i++) {
      const case_event *const e = &c->event[i];
      if (e->what <= CASE_STORE && (e->n[0] + e->n[1]) >> CASE_ADDRESS_BITS != 0)
         return;
   }
   c->spaces = 2 + roll(d, CASE_SPACES - 1);
   for (unsigned i = 0; i < c->n_events; i++) {
      case_event *const e = &c->event[i];
      if (e->what > CASE_STORE)
         continue;
      space = roll(d, 100) < stay ? space : roll(d, c->spaces);
      /* 3 times as far apart, as if some array had sets of which 3 is a divisor. */
      e->n[0] |= (uint64_t)3 * space << CASE_ADDRESS_BITS;
   }
}
