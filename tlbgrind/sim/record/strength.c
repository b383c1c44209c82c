/* The strength of a recording. See strength.h. */

#include "sim/record/strength.h"

#include "sim/base/divisor.h"
#include "sim/base/text.h"
#include "sim/tlb/reach.h"

enum { MAX_NEEDS = 2 * TLB_MAX_ARRAYS, DATA = TLB_LOADS | TLB_STORES };

/* The filters that one machine needs. */
typedef struct {
   unsigned n;
   tlb_filter filter[MAX_NEEDS];
} needs;

/* --- What a machine needs --- */

static int refuse(tlb_reason *why, const tlb_machine *m, const char *what)
{
   tlb_text t = tlb_text_in(why->text, sizeof why->text);
   tlb_text_add(&t, m->name);
   tlb_text_add(&t, ": ");
   tlb_text_add(&t, what);
   return 0;
}

/* The first level, from 1, that any array has for the user; 0: none. */
static unsigned first_level(const tlb_machine *m, unsigned user)
{
   unsigned first = 0;
   for (unsigned i = 0; i < m->n_arrays; i++) {
      const tlb_machine_array *const a = &m->array[i];
      if ((a->users & user) != 0 && (first == 0 || a->level < first))
         first = a->level;
   }
   return first;
}

/* How many pages of a set are certain to be there: those that were referenced last. */
static uint32_t certain(const tlb_geometry *g)
{
   if (g->policy == TLB_LRU && !g->paired)
      return g->ways;
   uint32_t n = 1;
   if (g->policy == TLB_PLRU && !g->paired) {
      for (uint32_t ways = g->ways; ways > 1 && n < TLB_MOST_ORDERED; ways /= 2)
         n++;
   }
   return n;
}

static uint32_t up_to(uint32_t n, uint32_t most)
{
   return n < most ? n : most;
}

/* The sets that a page is in one of, which its number chooses, as far as a filter has so many. */
static uint32_t sets_of(const tlb_machine_array *a, int is_mixed)
{
   if (is_mixed || a->g.index_xor != 0 || a->g.paired)
      return 1;
   const uint32_t sets = tlb_geometry_sets(&a->g);
   return sets <= TLB_MAX_FILTER_SETS ? sets
                                      : (uint32_t)tlb_common_divisor(sets, TLB_MAX_FILTER_SETS);
}

/* What the arrays of a machine see before all others see it: by array and size of entries, a bit
   for each user; and by array, which array is beside it for the same page, from 1. */
typedef struct {
   uint8_t users[TLB_MAX_ARRAYS][TLB_MAX_PAGE_SHIFT + 1];
   uint8_t beside[TLB_MAX_ARRAYS];
} views;

static void look_at(const tlb_machine *m, unsigned page_shift, views *v)
{
   for (unsigned user = 0; user < TLB_N_USERS; user++) {
      const tlb_stop stop = tlb_machine_first_stop(m, user, page_shift);
      for (unsigned i = 0; i < stop.n; i++)
         v->users[stop.array[i]][stop.shift[i]] |= (uint8_t)(1u << user);
      if (stop.n == 2) {
         v->beside[stop.array[0]] = (uint8_t)(stop.array[1] + 1);
         v->beside[stop.array[1]] = (uint8_t)(stop.array[0] + 1);
      }
   }
}

static views find_views(const tlb_machine *m, uint64_t large)
{
   views v = { .beside = { 0 } };
   look_at(m, m->base_page_shift, &v);
   for (unsigned shift = m->base_page_shift + 1; shift <= TLB_MAX_PAGE_SHIFT; shift++) {
      if ((large >> shift & 1) != 0)
         look_at(m, shift, &v);
   }
   return v;
}

/* The users that ask the array behind others. */
static uint32_t users_behind(const tlb_machine *m, const tlb_machine_array *a)
{
   uint32_t users = 0;
   for (unsigned user = TLB_FETCHES; user <= TLB_STORES; user *= 2) {
      if ((a->users & user) != 0 && a->level != first_level(m, user))
         users |= user;
   }
   return users;
}

/* The users that ask it first. */
static uint32_t users_first(const views *v, unsigned array)
{
   uint32_t users = 0;
   for (unsigned i = 0; i <= TLB_MAX_PAGE_SHIFT; i++)
      users |= v->users[array][i];
   return users;
}

/* How many sizes of entries the array has; *shift: that of one of them. */
static unsigned sizes_of(const views *v, unsigned array, unsigned *shift)
{
   unsigned n = 0;
   for (unsigned i = 0; i <= TLB_MAX_PAGE_SHIFT; i++) {
      if (v->users[array][i] != 0) {
         *shift = i;
         n++;
      }
   }
   return n;
}

/* Whether some of its users ask it for pages of a size and others do not. */
static int is_for_some(const views *v, unsigned array)
{
   for (unsigned i = 0; i <= TLB_MAX_PAGE_SHIFT; i++) {
      if (v->users[array][i] != 0 && v->users[array][i] != users_first(v, array))
         return 1;
   }
   return 0;
}

/* The filter that an array needs in a recording with these pages. Pieces of a size that it does not
   tell of are no more than base pages. */
static tlb_filter need_of(const tlb_machine *m, const views *v, unsigned array,
                          const tlb_strength *s)
{
   const tlb_machine_array *const a = &m->array[array];
   unsigned shift = 0;
   const int is_mixed = sizes_of(v, array, &shift) > 1 || tlb_array_largest_block(a) != 0
                        || (shift != s->base_page_shift && (s->large >> shift & 1) == 0);
   const uint32_t ways = up_to(certain(&a->g), TLB_MAX_FILTER_WAYS);
   return (tlb_filter){ .users = users_first(v, array), .behind = users_behind(m, a),
                        .sets = sets_of(a, is_mixed), .ways = is_for_some(v, array) ? 1 : ways,
                        .shift = is_mixed || shift == s->base_page_shift ? 0 : shift };
}

/* Of two arrays side by side: the page that was referenced last is in one of them. */
static tlb_filter together(const tlb_filter *a, const tlb_filter *b)
{
   const int alike = a->shift == b->shift;
   return (tlb_filter){ .users = a->users | b->users, .behind = a->behind | b->behind, .ways = 1,
                        .shift = alike ? a->shift : 0,
                        .sets = alike ? (uint32_t)tlb_common_divisor(a->sets, b->sets) : 1 };
}

/* What an inclusive array needs, of all that are in front of it. */
static tlb_filter need_of_inclusive(const tlb_machine *m, unsigned array, uint64_t large)
{
   const tlb_machine_array *const a = &m->array[array];
   const int in_any_set = large != 0 || tlb_walk_array(m) == (int)array;
   return (tlb_filter){ .users = a->users, .ways = 1, .sets = sets_of(a, in_any_set) };
}

/* `large`: the pages that the machine can have. */
static needs find_needs(const tlb_machine *m, uint64_t large, const tlb_strength *s)
{
   needs n = { .n = 0 };
   const views v = find_views(m, large);
   for (unsigned i = 0; i < m->n_arrays; i++) {
      unsigned shift;
      if (m->array[i].inclusion == TLB_INCLUSIVE)
         n.filter[n.n++] = need_of_inclusive(m, i, s->large);
      if (sizes_of(&v, i, &shift) == 0)
         continue;
      tlb_filter f = need_of(m, &v, i, s);
      if (v.beside[i] != 0) {
         const tlb_filter other = need_of(m, &v, v.beside[i] - 1u, s);
         f = together(&f, &other);
      }
      n.filter[n.n++] = f;
   }
   return n;
}

/* --- Filters and needs --- */

/* One set of smaller pages tells of larger ones, too: of these there are no more. Prefetches that
   take places make a filter no less good for machines that ignore them. */
static int covers(const tlb_filter *f, const tlb_filter *need)
{
   return f->users == need->users && (f->behind & ~(uint32_t)TLB_PREFETCHERS) == need->behind
          && f->ways <= need->ways
          && (f->shift == need->shift ? need->sets % f->sets == 0
                                      : f->sets == 1 && f->shift < need->shift);
}

static const tlb_filter *covering(const tlb_strength *s, const tlb_filter *need)
{
   for (unsigned i = 0; i < s->n; i++) {
      if (covers(&s->filter[i], need))
         return &s->filter[i];
   }
   return NULL;
}

static int has_base_page(const tlb_strength *s, const tlb_machine *m, tlb_reason *why)
{
   if (s->base_page_shift <= m->base_page_shift)
      return 1;
   tlb_text t = tlb_text_in(why->text, sizeof why->text);
   tlb_text_add(&t, m->name);
   tlb_text_add(&t, ": its base pages have ");
   tlb_text_add_page_size(&t, m->base_page_shift);
   tlb_text_add(&t, ", and those of the recording ");
   tlb_text_add_page_size(&t, s->base_page_shift);
   return 0;
}

static void remove_filter(tlb_strength *s, unsigned i)
{
   for (s->n--; i < s->n; i++)
      s->filter[i] = s->filter[i + 1];
}

/* A filter that covers what another is for makes that one needless. */
static int add_filter(tlb_strength *s, const tlb_filter *f)
{
   if (covering(s, f) != NULL)
      return 1;
   for (unsigned i = s->n; i-- > 0;) {
      if (covers(f, &s->filter[i]))
         remove_filter(s, i);
   }
   if (s->n == TLB_MAX_FILTERS - 2) /* see tlb_strength_complete() */
      return 0;
   s->filter[s->n++] = *f;
   return 1;
}

uint64_t tlb_strength_own_sizes(const tlb_strength *s, const tlb_machine *m)
{
   const uint64_t block = UINT64_C(1) << tlb_machine_largest_block(m);
   uint64_t sizes = m->base_page_shift > s->base_page_shift ? UINT64_C(1) << m->base_page_shift : 0;
   if ((s->large | sizes) < block && block > 1)
      sizes |= block;
   return sizes;
}

/* Its own size of huge pages is for the machine, if it is told of. */
static uint64_t sizes_for(const tlb_strength *s, const tlb_machine *m)
{
   const uint64_t huge = UINT64_C(1) << tlb_machine_thp_shift(m, m->isa);
   return s->large & (~s->not_for_all | huge);
}

static tlb_covered refuse_pages(uint64_t missing, const tlb_machine *m, tlb_reason *why)
{
   tlb_text t = tlb_text_in(why->text, sizeof why->text);
   tlb_text_add(&t, m->name);
   tlb_text_add(&t, ": the recording is not made for pages of ");
   tlb_text_add_page_size(&t, (unsigned)__builtin_ctzll(missing));
   return TLB_COVERED_BY_PAGES;
}

int tlb_strength_add(tlb_strength *s, const tlb_machine *m, tlb_reason *why)
{
   if (s->base_page_shift == 0)
      s->base_page_shift = m->base_page_shift;
   if (!has_base_page(s, m, why))
      return 0;
   const uint64_t missing = tlb_strength_own_sizes(s, m) & ~s->large;
   if (missing != 0) {
      refuse_pages(missing, m, why);
      return 0;
   }
   const needs n = find_needs(m, sizes_for(s, m), s);
   for (unsigned i = 0; i < n.n; i++) {
      if (!add_filter(s, &n.filter[i]))
         return refuse(why, m, "first levels of so many shapes are too many for one recording");
   }
   return 1;
}

static const tlb_filter reach[] = {
   { .users = TLB_FETCHES, .sets = 1, .ways = TLB_REACH_SMALLEST },
   { .users = DATA, .sets = 1, .ways = TLB_REACH_SMALLEST } };

int tlb_strength_add_reach(tlb_strength *s, tlb_reason *why)
{
   static const tlb_machine curve = { .name = "reach" };
   if (!add_filter(s, &reach[0]) || !add_filter(s, &reach[1]))
      return refuse(why, &curve, "first levels of so many shapes are too many for one recording");
   return 1;
}

int tlb_strength_covers_reach(const tlb_strength *s)
{
   return covering(s, &reach[0]) != NULL && covering(s, &reach[1]) != NULL;
}

void tlb_strength_complete(tlb_strength *s)
{
   uint32_t users = TLB_FETCHES | DATA;
   for (unsigned i = 0; i < s->n; i++) {
      if (s->filter[i].shift == 0)
         users &= ~s->filter[i].users;
   }
   const tlb_filter code = { .users = users & TLB_FETCHES, .sets = 1, .ways = TLB_MAX_FILTER_WAYS };
   const tlb_filter data = { .users = users & DATA, .sets = 1, .ways = TLB_MAX_FILTER_WAYS };
   if (code.users != 0)
      s->filter[s->n++] = code;
   if (data.users != 0)
      s->filter[s->n++] = data;
}

/* Whether a prefetch, which looks for its page as a load does, can take a place of the filter. */
static int is_for_loads(const tlb_filter *f)
{
   return ((f->users | f->behind) & TLB_LOADS) != 0;
}

void tlb_strength_add_prefetches(tlb_strength *s)
{
   for (unsigned i = 0; i < s->n; i++)
      s->filter[i].behind |= is_for_loads(&s->filter[i]) ? TLB_PREFETCHERS : 0;
}

int tlb_strength_has_prefetches(const tlb_strength *s)
{
   int any = 0, all = 1;
   for (unsigned i = 0; i < s->n; i++) {
      const int has = (s->filter[i].behind & TLB_PREFETCHERS) != 0;
      any |= has;
      all &= has || !is_for_loads(&s->filter[i]);
   }
   return any && all;
}

tlb_covered tlb_strength_covers(const tlb_strength *s, const tlb_machine *m, uint64_t large,
                                uint64_t *missing, tlb_reason *why)
{
   if (!has_base_page(s, m, why))
      return TLB_COVERED_BY_NONE;
   large &= ~((UINT64_C(2) << m->base_page_shift) - 1);
   *missing = (large | tlb_strength_own_sizes(s, m)) & ~s->large;
   if (*missing != 0)
      return refuse_pages(*missing, m, why);
   const needs n = find_needs(m, large, s);
   for (unsigned i = 0; i < n.n; i++) {
      if (covering(s, &n.filter[i]) == NULL) {
         refuse(why, m, "the recording leaves out what its first level may miss");
         return TLB_COVERED_BY_MACHINES;
      }
   }
   return TLB_COVERED;
}

static int is_in_one_set(const tlb_strength *s, const tlb_filter *need, uint32_t ways)
{
   for (unsigned i = 0; i < s->n; i++) {
      const tlb_filter *const f = &s->filter[i];
      if (f->sets == 1 && f->ways >= ways && covers(f, need))
         return 1;
   }
   return 0;
}

int tlb_strength_has_in_one_set(const tlb_strength *s, const tlb_machine *m, uint32_t users,
                                uint32_t ways)
{
   const needs n = find_needs(m, 0, s);
   for (unsigned i = 0; i < n.n; i++) {
      if ((n.filter[i].users & users) != 0 && n.filter[i].shift == 0
          && !is_in_one_set(s, &n.filter[i], ways))
         return 0;
   }
   return 1;
}

/* --- What a run has to tell apart --- */

int tlb_strength_tells_apart(const tlb_strength *s)
{
   for (unsigned i = 0; i < s->n; i++) {
      const uint32_t data = s->filter[i].users & DATA;
      if (data != 0 && data != DATA)
         return 1;
   }
   return 0;
}

int tlb_strength_is_joint(const tlb_strength *s)
{
   for (unsigned i = 0; i < s->n; i++) {
      if ((s->filter[i].users & TLB_FETCHES) != 0 && (s->filter[i].users & DATA) != 0)
         return 1;
   }
   return 0;
}

static int has_behind(const tlb_strength *s, uint32_t users, uint32_t behind)
{
   for (unsigned i = 0; i < s->n; i++) {
      if ((s->filter[i].users & users) != 0 && (s->filter[i].behind & behind) != 0)
         return 1;
   }
   return 0;
}

int tlb_strength_needs_each(const tlb_strength *s)
{
   return tlb_strength_is_joint(s) || has_behind(s, TLB_FETCHES, DATA);
}

int tlb_strength_has_behind(const tlb_strength *s)
{
   return has_behind(s, TLB_FETCHES | DATA, TLB_FETCHES | DATA);
}

int tlb_strength_has_code_behind(const tlb_strength *s)
{
   return has_behind(s, DATA, TLB_FETCHES);
}

uint32_t tlb_strength_sets(const tlb_strength *s, int of_fetches)
{
   const uint32_t users = tlb_strength_is_joint(s) ? TLB_FETCHES | DATA
                          : of_fetches             ? TLB_FETCHES
                                                   : DATA;
   uint32_t sets = 0;
   for (unsigned i = 0; i < s->n; i++) {
      if (s->filter[i].shift == 0 && (s->filter[i].users & users) != 0)
         sets = (uint32_t)tlb_common_divisor(s->filter[i].sets, sets);
   }
   return sets;
}

int tlb_strength_is_new(const tlb_strength *s)
{
   unsigned n_sizes = 0;
   for (uint64_t rest = s->large; rest != 0; rest &= rest - 1)
      n_sizes++;
   for (unsigned i = 0; i < s->n; i++) {
      if (s->filter[i].behind != 0)
         return 1;
   }
   return tlb_strength_is_joint(s) || s->n > 24 || n_sizes > 7;
}

/* --- Sizes of pages --- */

uint64_t tlb_policy_sizes(const tlb_page_policy *policy, unsigned base_page_shift)
{
   uint64_t sizes = UINT64_C(1) << base_page_shift;
   for (unsigned i = 0; i < policy->n_rules; i++)
      sizes |= UINT64_C(1) << tlb_page_rule_shift(policy, &policy->rule[i], base_page_shift);
   if (policy->thp == TLB_THP_ALWAYS)
      sizes |= UINT64_C(1) << tlb_thp_shift(policy, base_page_shift);
   sizes |= UINT64_C(1) << policy->code_shift;
   return sizes & ~UINT64_C(1); /* of no size */
}

static int refuse_size(tlb_reason *why, const char *text, size_t n, const char *what)
{
   tlb_text t = tlb_text_in(why->text, sizeof why->text);
   tlb_text_add_refusal(&t, text, n, what);
   return 0;
}

int tlb_record_sizes_parse(const char *text, unsigned base_page_shift, uint64_t *out,
                           tlb_reason *why)
{
   *out = 0;
   if (tlb_text_same(text, "none"))
      return 1;
   for (unsigned n_sizes = 0;; n_sizes++) {
      char size[24];
      size_t n = 0;
      tlb_reason unused;
      while (text[n] != '\0' && text[n] != ',')
         n++;
      tlb_text t = tlb_text_in(size, sizeof size);
      tlb_text_add_n(&t, text, n);
      const unsigned shift = n < sizeof size ? tlb_page_size_parse(size, &unused) : 0;
      if (shift <= base_page_shift)
         return refuse_size(why, text, n, "is no large page; allowed are none, and powers of two "
                                          "above the base page, up to 16G, such as 2M,1G");
      if (n_sizes == TLB_MAX_RECORD_SIZES)
         return refuse_size(why, text, n, "is one size too many; allowed are 15");
      *out |= UINT64_C(1) << shift;
      if (text[n] == '\0')
         return 1;
      text += n + 1;
   }
}

/* --- As text --- */

static const char letters[] = "IRWP";

enum { N_BEHIND = TLB_N_USERS + 1 };

static void add_users(tlb_text *t, uint32_t users)
{
   for (unsigned i = 0; i < N_BEHIND; i++) {
      if ((users >> i & 1) != 0)
         tlb_text_add_n(t, letters + i, 1);
   }
}

void tlb_filter_print(const tlb_filter *f, char *out, size_t size)
{
   tlb_text t = tlb_text_in(out, size);
   add_users(&t, f->users);
   tlb_text_add(&t, f->behind != 0 ? "/" : "");
   add_users(&t, f->behind);
   tlb_text_add(&t, " ");
   tlb_text_add_number(&t, f->sets);
   tlb_text_add(&t, " ");
   tlb_text_add_number(&t, f->ways);
   if (f->shift != 0) {
      tlb_text_add(&t, " ");
      tlb_text_add_number(&t, f->shift);
   }
}

static int number(const char **at, const char *end, uint32_t most, uint32_t *out)
{
   uint64_t n;
   if (*at == end || *(*at)++ != ' ' || !tlb_text_number(at, end, &n) || n == 0 || n > most)
      return 0;
   *out = (uint32_t)n;
   return 1;
}

static uint32_t take_users(const char **at, const char *end, unsigned n)
{
   uint32_t users = 0;
   for (unsigned i = 0; i < n; i++) {
      if (*at < end && **at == letters[i]) {
         users |= 1u << i;
         (*at)++;
      }
   }
   return users;
}

int tlb_filter_parse(const char *text, size_t n, tlb_filter *out)
{
   const char *at = text, *const end = text + n;
   *out = (tlb_filter){ .users = take_users(&at, end, TLB_N_USERS) };
   if (at < end && *at == '/') {
      at++;
      out->behind = take_users(&at, end, N_BEHIND);
      if (out->behind == 0)
         return 0;
   }
   if (out->users == 0 || (out->users & out->behind) != 0
       || !number(&at, end, TLB_MAX_FILTER_SETS, &out->sets)
       || !number(&at, end, TLB_MAX_FILTER_WAYS, &out->ways))
      return 0;
   return at == end
          || (number(&at, end, TLB_MAX_PAGE_SHIFT, &out->shift) && at == end
              && out->shift > TLB_MIN_PAGE_SHIFT);
}
