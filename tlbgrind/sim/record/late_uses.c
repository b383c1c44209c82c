/* Uses that are recorded late. See late_uses.h. */

#include "sim/record/late_uses.h"

/* A set of no more ways has its order recorded in full. strength.c asks no more of a tree. */
static bool is_small(const tlb_filter *f)
{
   return f->ways <= TLB_MOST_ORDERED;
}

/* --- Start --- */

bool tlb_late_can(const tlb_strength *s, uint32_t users)
{
   unsigned n = 0, n_many = 0;
   for (unsigned i = 0; i < s->n; i++) {
      const tlb_filter *const f = &s->filter[i];
      if (((f->users | f->behind) & users) == 0)
         continue;
      if (f->users != users || f->behind != 0 || f->ways == 1)
         return false;
      if (f->shift != 0)
         continue;
      if (++n > TLB_LATE_FILTERS || (!is_small(f) && f->sets > 1))
         return false;
      n_many += !is_small(f);
   }
   return n_many == 1;
}

bool tlb_late_may_lack(const tlb_strength *s, const tlb_machine *m, uint32_t users)
{
   return tlb_late_can(s, users) && !tlb_strength_has_in_one_set(s, m, users, TLB_MOST_ORDERED + 1);
}

bool tlb_late_lets_go(const tlb_strength *s)
{
   for (unsigned i = 0; i < s->n; i++) {
      const tlb_filter *const f = &s->filter[i];
      if (f->shift == 0 && is_small(f) && tlb_late_can(s, f->users))
         return true;
   }
   return false;
}

static void *take(const tlb_memory *memory, size_t bytes)
{
   return memory->take(bytes, memory->opaque);
}

static size_t places_of(const tlb_late_filter *f)
{
   return (size_t)f->is.sets * f->is.ways;
}

static void add_filter(tlb_late *l, const tlb_filter *is, const tlb_memory *memory)
{
   tlb_late_filter *const f = &l->filter[l->n];
   *f = (tlb_late_filter){ .is = *is, .has_many_ways = !is_small(is) };
   f->at = take(memory, places_of(f) * sizeof *f->at);
   for (size_t i = 0; i < places_of(f); i++)
      f->at[i] = 0;
   if (f->has_many_ways)
      l->many = l->n;
   else
      l->n_small++;
   l->n++;
}

unsigned tlb_late_pages(const tlb_late *l)
{
   size_t n = 1;
   for (const tlb_late_filter *f = l->filter; f < l->filter + l->n; f++)
      n += places_of(f);
   return (unsigned)n;
}

void tlb_late_init(tlb_late *l, const tlb_strength *s, uint32_t users, const tlb_memory *memory)
{
   l->n = l->n_small = l->many = 0;
   for (unsigned i = 0; i < s->n; i++) {
      if (s->filter[i].users == users && s->filter[i].shift == 0)
         add_filter(l, &s->filter[i], memory);
   }
   const unsigned n_pages = tlb_late_pages(l);
   l->page = take(memory, (n_pages + 1) * sizeof *l->page);
   for (unsigned i = 0; i <= n_pages; i++)
      l->page[i] = (tlb_late_page){ .next = (uint16_t)(i < n_pages ? i + 1 : 0) };
   l->free = 1;
   l->found = l->oldest = l->newest = 0;
   for (unsigned i = 0; i < TLB_LATE_BUCKETS; i++)
      l->bucket[i] = 0;
   l->n_recorded = l->last = l->in_order = 0;
}

/* --- Pages --- */

static uint16_t *bucket_of(tlb_late *l, uint64_t number)
{
   return &l->bucket[(number ^ number >> 8 ^ number >> 20) % TLB_LATE_BUCKETS];
}

static uint16_t find(tlb_late *l, uint64_t number)
{
   uint16_t at = *bucket_of(l, number);
   while (at != 0 && l->page[at].number != number)
      at = l->page[at].next;
   return at;
}

static void forget(tlb_late *l, uint16_t which)
{
   uint16_t *at = bucket_of(l, l->page[which].number);
   while (*at != which)
      at = &l->page[*at].next;
   *at = l->page[which].next;
   l->page[which].next = l->free;
   l->free = which;
}

static uint16_t new_page(tlb_late *l, void *page, uint64_t number, const uint64_t *time)
{
   const uint16_t which = l->free;
   tlb_late_page *const p = &l->page[which];
   uint16_t *const bucket = bucket_of(l, number);
   l->free = p->next;
   *p = (tlb_late_page){ .page = page, .number = number, .time = time, .next = *bucket };
   for (unsigned i = 0; i < TLB_LATE_FILTERS; i++)
      p->place[i] = TLB_LATE_NO_PLACE;
   *bucket = which;
   return which;
}

/* --- The order of what is recorded --- */

/* Of a page of the filter of many ways. */
static void unlink_page(tlb_late *l, uint16_t which)
{
   const tlb_late_page *const p = &l->page[which];
   *(p->older != 0 ? &l->page[p->older].newer : &l->oldest) = p->newer;
   *(p->newer != 0 ? &l->page[p->newer].older : &l->newest) = p->older;
}

static void link_as_newest(tlb_late *l, uint16_t which)
{
   tlb_late_page *const p = &l->page[which];
   p->older = l->newest;
   p->newer = 0;
   *(l->newest != 0 ? &l->page[l->newest].newer : &l->oldest) = which;
   l->newest = which;
}

/* The recording has something of the page now. */
static void note(tlb_late *l, uint16_t which)
{
   tlb_late_page *const p = &l->page[which];
   p->recorded = ++l->n_recorded;
   if (p->place[l->many] == TLB_LATE_NO_PLACE || l->newest == which)
      return;
   unlink_page(l, which);
   link_as_newest(l, which);
}

/* --- Uses --- */

typedef struct {
   uint64_t time;
   uint16_t which;
} use;

/* In the order of their times, and those of one time as they are. */
static void sort(use *u, unsigned n)
{
   for (unsigned i = 1; i < n; i++) {
      const use one = u[i];
      unsigned j = i;
      for (; j > 0 && u[j - 1].time > one.time; j--)
         u[j] = u[j - 1];
      u[j] = one;
   }
}

/* The same of few: each goes to the place that as many are before. No branch depends on a time, for
   which one is later cannot be foreseen. */
static void sort_few(use *u, unsigned n)
{
   use was[TLB_MOST_ORDERED];
   for (unsigned i = 0; i < n; i++)
      was[i] = u[i];
   for (unsigned i = 0; i < n; i++) {
      unsigned before = 0;
      for (unsigned j = 0; j < n; j++)
         before += was[j].time < was[i].time + (j < i);
      u[before] = was[i];
   }
}

enum { MOST = TLB_MAX_FILTER_WAYS, AT_ONCE = 4, PIECE = 4 * AT_ONCE };

_Static_assert(MOST % PIECE == 0, "what is sorted is filled up to a whole piece");

/* Four keys at once: GCC's vector extensions, which clang has, too. */
typedef int32_t keys4 __attribute__((vector_size(16)));

/* Of each of a piece of the n keys, how many of all are less. */
static inline void count_less(const keys4 *key, unsigned n, const keys4 *piece, keys4 *less)
{
   keys4 a = { 0 }, b = { 0 }, c = { 0 }, d = { 0 };
   for (unsigned i = 0; i < n; i++) {
      const int32_t one = key[i / AT_ONCE][i % AT_ONCE];
      const keys4 all = { one, one, one, one };
      a -= all < piece[0];
      b -= all < piece[1];
      c -= all < piece[2];
      d -= all < piece[3];
   }
   less[0] = a;
   less[1] = b;
   less[2] = c;
   less[3] = d;
}

/* The same of up to MOST that are later than `last`. In 32 bits, as most times since then are, four
   are compared at once. */
static void sort_many(use *u, unsigned n, uint64_t last)
{
   use was[MOST];
   keys4 key[MOST / AT_ONCE], less[MOST / AT_ONCE];
   uint64_t all = 0;
   for (unsigned i = 0; i < n; i++)
      all |= u[i].time - last;
   if (all > INT32_MAX / MOST) {
      sort(u, n);
      return;
   }
   for (unsigned i = 0; i < n; i++) {
      was[i] = u[i];
      key[i / AT_ONCE][i % AT_ONCE] = (int32_t)((u[i].time - last) * MOST + i);
   }
   for (unsigned i = n; i % PIECE != 0; i++)
      key[i / AT_ONCE][i % AT_ONCE] = INT32_MAX;
   for (unsigned i = 0; i < n; i += PIECE)
      count_less(key, n, key + i / AT_ONCE, less + i / AT_ONCE);
   for (unsigned i = 0; i < n; i++)
      u[less[i / AT_ONCE][i % AT_ONCE]] = was[i];
}

static unsigned add_uses(tlb_late *l, unsigned n, const use *u, unsigned n_uses)
{
   for (unsigned i = 0; i < n_uses; i++) {
      l->uses[n++] = l->page[u[i].which].number;
      note(l, u[i].which);
   }
   return n;
}

/* How many of the uses, from the first on, the recording has in that order already, behind what it
   had up to `behind`. */
static unsigned n_known(const tlb_late *l, const use *u, unsigned n, uint64_t behind)
{
   unsigned known = 0;
   while (known < n && l->page[u[known].which].recorded > behind)
      behind = l->page[u[known++].which].recorded;
   return known;
}

/* The pages that were used later than `last`, in the order of their times. The filter of many ways
   has them all: none has left it. The others come first in the order of what is recorded, as they
   do already but for those between them. */
static unsigned take_used(tlb_late *l, use *out)
{
   tlb_late_page *const page = l->page;
   const uint64_t last = l->last;
   unsigned n = 0;
   uint16_t before = 0, next;
   for (uint16_t at = l->oldest; at != 0; at = next) {
      tlb_late_page *const p = &page[at];
      next = p->newer;
      out[n] = (use){ *p->time, at };
      if (out[n].time > last) {
         n++;
         continue;
      }
      p->older = before;
      *(before != 0 ? &page[before].newer : &l->oldest) = at;
      before = at;
   }
   sort_many(out, n, last);
   l->newest = before;
   return n;
}

unsigned tlb_late_all(tlb_late *l)
{
   use u[TLB_MAX_FILTER_WAYS + 1];
   tlb_late_page *const page = l->page;
   const unsigned n = take_used(l, u);
   const unsigned known = n_known(l, u, n, l->in_order);
   const uint64_t n_recorded = l->n_recorded + 1 - known;
   uint16_t before = l->newest;
   for (unsigned i = 0; i < n; i++) {
      tlb_late_page *const p = &page[u[i].which];
      p->older = before;
      *(before != 0 ? &page[before].newer : &l->oldest) = u[i].which;
      before = u[i].which;
      if (i < known)
         continue;
      l->uses[i - known] = p->number;
      p->recorded = n_recorded + i;
   }
   if (before != 0)
      page[before].newer = 0;
   l->newest = before;
   l->n_recorded += n - known;
   if (n > 0)
      l->last = u[n - 1].time;
   l->in_order = l->n_recorded;
   return n - known;
}

/* --- What leaves --- */

static uint16_t *set_of(const tlb_late_filter *f, uint64_t number)
{
   return f->at + (size_t)tlb_filter_set(number, f->is.sets) * f->is.ways;
}

/* Puts the set's pages into `out`. Returns how many there are, and finds which leaves: the one that
   was not used for longest, unless a place is empty. *in_order: the recording has the uses in the
   order of their times. Most sets are so, and which page is older cannot be foreseen: no branch
   depends on that. */
static unsigned look_at_set(const tlb_late *l, tlb_late_filter *f, uint64_t number, use *out,
                            bool *in_order)
{
   const uint16_t *const set = set_of(f, number);
   uint64_t recorded[TLB_MOST_ORDERED];
   bool is = true;
   unsigned n = 0, oldest = 0;
   uint64_t least = UINT64_MAX;
   for (; n < f->is.ways && set[n] != 0; n++) {
      const tlb_late_page *const p = &l->page[set[n]];
      const uint64_t time = *p->time;
      for (unsigned i = 0; i < n; i++)
         is &= (out[i].time < time) == (recorded[i] < p->recorded);
      out[n] = (use){ time, set[n] };
      recorded[n] = p->recorded;
      oldest = time < least ? n : oldest;
      least = time < least ? time : least;
   }
   f->leaves = n == f->is.ways ? set[oldest] : 0;
   f->gets = (uint16_t)(set + (n == f->is.ways ? oldest : n) - f->at);
   *in_order = is;
   return n;
}

static void look_at_many(const tlb_late *l, tlb_late_filter *f)
{
   f->leaves = f->n < f->is.ways ? 0 : l->oldest;
   f->gets = f->leaves == 0 ? f->n : l->page[f->leaves].place[f - l->filter];
}

static bool has_left_none(const tlb_late *l, const tlb_late_filter *f)
{
   return f->leaves == 0 || *l->page[f->leaves].time <= l->last;
}

static bool has(const tlb_late *l, unsigned filter)
{
   return l->found != 0 && l->page[l->found].place[filter] != TLB_LATE_NO_PLACE;
}

/* Finds what the reference drives out of a filter of few ways. Returns as look(). */
static inline bool look_at_few(tlb_late *l, unsigned filter, uint64_t number, unsigned *n)
{
   use u[TLB_MOST_ORDERED];
   bool in_order;
   if (has(l, filter) && !l->page[l->found].is_in_doubt)
      return false;
   const unsigned n_pages = look_at_set(l, &l->filter[filter], number, u, &in_order);
   if (in_order)
      return false;
   if (l->n_small > 1)
      return true;
   sort_few(u, n_pages);
   const unsigned known = n_known(l, u, n_pages, 0);
   *n = add_uses(l, *n, u + known, n_pages - known);
   return false;
}

/* Finds what the reference drives out of each filter. Returns whether all uses are to be recorded
   first; if not, *n is how many are. */
static bool look(tlb_late *l, uint64_t number, unsigned *n)
{
   tlb_late_filter *const many = &l->filter[l->many];
   if (!has(l, l->many)) {
      look_at_many(l, many);
      if (!has_left_none(l, many))
         return true;
   }
   for (unsigned i = 0; i < l->n; i++) {
      if (i != l->many && look_at_few(l, i, number, n))
         return true;
   }
   return false;
}

unsigned tlb_late_before(tlb_late *l, uint64_t number, bool all)
{
   unsigned n = 0, unused = 0;
   l->found = find(l, number);
   if (!all && !look(l, number, &n))
      return n;
   n = tlb_late_all(l);
   (void)look(l, number, &unused);
   return n;
}

void tlb_late_doubt(tlb_late *l, unsigned page)
{
   l->page[page].is_in_doubt = true;
}

/* --- A reference --- */

static void let_go(tlb_late *l, unsigned filter, tlb_late_leaves *leaves, void *opaque)
{
   tlb_late_filter *const f = &l->filter[filter];
   const uint16_t which = f->leaves;
   tlb_late_page *const p = &l->page[which];
   leaves(opaque, p->page, p->number, p->n_filters == 1);
   if (f->has_many_ways)
      unlink_page(l, which);
   p->place[filter] = TLB_LATE_NO_PLACE;
   if (--p->n_filters == 0)
      forget(l, which);
}

static void enter(tlb_late *l, unsigned filter, uint16_t which)
{
   tlb_late_filter *const f = &l->filter[filter];
   f->at[f->gets] = which;
   l->page[which].place[filter] = f->gets;
   l->page[which].n_filters++;
   if (f->has_many_ways)
      link_as_newest(l, which);
}

void tlb_late_refer(tlb_late *l, void *page, uint64_t number, const uint64_t *time,
                    tlb_late_leaves *leaves, void *opaque)
{
   const uint16_t which = l->found != 0 ? l->found : new_page(l, page, number, time);
   for (unsigned i = 0; i < l->n; i++) {
      tlb_late_filter *const f = &l->filter[i];
      if (l->page[which].place[i] != TLB_LATE_NO_PLACE)
         continue;
      if (f->leaves != 0)
         let_go(l, i, leaves, opaque);
      else
         f->n++;
      enter(l, i, which);
   }
   l->page[which].is_in_doubt = false;
   note(l, which);
}
