/* The strength of a recording. See strength.h. */

#include "sim/record/strength.h"

#include "sim/base/divisor.h"
#include "sim/base/text.h"

enum { MAX_NEEDS = TLB_MAX_ARRAYS, DATA = TLB_LOADS | TLB_STORES };

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
      for (uint32_t ways = g->ways; ways > 1; ways /= 2)
         n++;
   }
   return n;
}

/* The sets are no more than a filter has, and a filter's ways no more than are certain. */
static tlb_filter filter_of(const tlb_machine_array *a)
{
   const uint32_t sets = a->g.index_xor != 0 || a->g.paired ? 1 : tlb_geometry_sets(&a->g);
   const uint32_t ways = certain(&a->g);
   return (tlb_filter){
      .users = a->users,
      .sets = sets <= TLB_MAX_FILTER_SETS ? sets : (uint32_t)tlb_common_divisor(sets, TLB_MAX_FILTER_SETS),
      .ways = ways < TLB_MAX_FILTER_WAYS ? ways : (uint32_t)TLB_MAX_FILTER_WAYS };
}

/* Whether the array is asked for base pages before any other by some user. */
static int is_first(const tlb_machine *m, const tlb_machine_array *a)
{
   if ((a->g.page_sizes >> m->base_page_shift & 1) == 0)
      return 0;
   for (unsigned user = TLB_FETCHES; user <= TLB_STORES; user *= 2) {
      if ((a->users & user) != 0 && a->level == first_level(m, user))
         return 1;
   }
   return 0;
}

/* Whether some users ask it first and others behind another array. */
static int is_behind(const tlb_machine *m, const tlb_machine_array *a)
{
   for (unsigned user = TLB_FETCHES; user <= TLB_STORES; user *= 2) {
      if ((a->users & user) != 0 && a->level != first_level(m, user))
         return 1;
   }
   return 0;
}

/* Two arrays side by side for the same users are one filter: the page that was referenced last is
   in one of them. */
static int add_need(needs *n, const tlb_machine *m, const tlb_machine_array *a, tlb_reason *why)
{
   const tlb_filter f = filter_of(a);
   for (unsigned i = 0; i < n->n; i++) {
      tlb_filter *const other = &n->filter[i];
      if (other->users == f.users) {
         other->sets = (uint32_t)tlb_common_divisor(other->sets, f.sets);
         other->ways = 1;
         return 1;
      }
      if ((other->users & f.users) != 0)
         return refuse(why, m, "first-level arrays side by side serve different kinds of "
                               "references, which a recording is not made for");
   }
   n->filter[n->n++] = f;
   return 1;
}

static int find_needs(const tlb_machine *m, needs *n, tlb_reason *why)
{
   n->n = 0;
   if (tlb_machine_largest_block(m) != 0)
      return refuse(why, m, "its entries cover several pages (coalescing), which depends on the "
                            "program's mappings: a recording has none");
   for (unsigned i = 0; i < m->n_arrays; i++) {
      const tlb_machine_array *const a = &m->array[i];
      if (a->inclusion == TLB_INCLUSIVE)
         return refuse(why, m, "it has an inclusive level, which can empty the first: a recording "
                               "leaves out what hits there");
      if (!is_first(m, a))
         continue;
      if (is_behind(m, a))
         return refuse(why, m, "an array is first for some references and behind another for "
                               "others, which a recording is not made for");
      if ((a->users & TLB_FETCHES) != 0 && (a->users & DATA) != 0)
         return refuse(why, m, "code and data share a first-level array, which a recording is not "
                               "made for");
      if (!add_need(n, m, a, why))
         return 0;
   }
   return 1;
}

/* --- Filters and needs --- */

static int covers(const tlb_filter *f, const tlb_filter *need)
{
   return f->users == need->users && need->sets % f->sets == 0 && f->ways <= need->ways;
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
   if (s->base_page_shift == 0 || s->base_page_shift == m->base_page_shift)
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
   if (s->n == TLB_MAX_FILTERS)
      return 0;
   s->filter[s->n++] = *f;
   return 1;
}

int tlb_strength_add(tlb_strength *s, const tlb_machine *m, tlb_reason *why)
{
   needs n;
   if (!has_base_page(s, m, why) || !find_needs(m, &n, why))
      return 0;
   s->base_page_shift = m->base_page_shift;
   for (unsigned i = 0; i < n.n; i++) {
      if (!add_filter(s, &n.filter[i]))
         return refuse(why, m, "first levels of so many shapes are too many for one recording");
   }
   return 1;
}

int tlb_strength_covers(const tlb_strength *s, const tlb_machine *m, int *by_strength,
                        tlb_reason *why)
{
   needs n;
   *by_strength = 0;
   if (!has_base_page(s, m, why) || !find_needs(m, &n, why))
      return 0;
   *by_strength = 1;
   for (unsigned i = 0; i < n.n; i++) {
      if (covering(s, &n.filter[i]) == NULL)
         return refuse(why, m, "the recording leaves out what its first level may miss");
   }
   return 1;
}

int tlb_strength_tells_apart(const tlb_strength *s)
{
   for (unsigned i = 0; i < s->n; i++) {
      const uint32_t data = s->filter[i].users & DATA;
      if (data != 0 && data != DATA)
         return 1;
   }
   return 0;
}

/* --- As text --- */

static const char letters[] = "IRW";

void tlb_filter_print(const tlb_filter *f, char *out, size_t size)
{
   tlb_text t = tlb_text_in(out, size);
   for (unsigned i = 0; i < 3; i++) {
      if ((f->users >> i & 1) != 0)
         tlb_text_add_n(&t, letters + i, 1);
   }
   tlb_text_add(&t, " ");
   tlb_text_add_number(&t, f->sets);
   tlb_text_add(&t, " ");
   tlb_text_add_number(&t, f->ways);
}

static int number(const char **at, const char *end, uint32_t most, uint32_t *out)
{
   uint64_t n;
   if (*at == end || *(*at)++ != ' ' || !tlb_text_number(at, end, &n) || n == 0 || n > most)
      return 0;
   *out = (uint32_t)n;
   return 1;
}

int tlb_filter_parse(const char *text, size_t n, tlb_filter *out)
{
   const char *at = text, *const end = text + n;
   out->users = 0;
   for (unsigned i = 0; i < 3; i++) {
      if (at < end && *at == letters[i]) {
         out->users |= 1u << i;
         at++;
      }
   }
   const int is_one_side = (out->users & TLB_FETCHES) == 0 || (out->users & DATA) == 0;
   return out->users != 0 && is_one_side && number(&at, end, TLB_MAX_FILTER_SETS, &out->sets)
          && number(&at, end, TLB_MAX_FILTER_WAYS, &out->ways) && at == end;
}
