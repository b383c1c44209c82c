/* The shape of one translation array: its text form and what can not be. */

#include "sim/machine/geometry.h"

#include "sim/base/text.h"

static const struct {
   const char *name;
   uint32_t ways;
   int has_seed;
} policies[TLB_N_POLICIES] = {
#define ROW(policy, file, words, ways, seed) [policy] = { words, ways, seed },
   TLB_POLICIES(ROW)
};

/* A piece of the option's text: [at, end). */
typedef struct {
   const char *at;
   const char *end;
} piece;

static size_t length(piece p)
{
   return (size_t)(p.end - p.at);
}

/* Cuts the next piece off *s, up to `separator` or the end. */
static piece cut(piece *s, char separator)
{
   piece p = { s->at, s->at };
   while (p.end < s->end && *p.end != separator)
      p.end++;
   s->at = p.end < s->end ? p.end + 1 : p.end;
   return p;
}

static int refuse(tlb_reason *why, piece value, const char *what)
{
   tlb_text t = tlb_text_in(why->text, sizeof why->text);
   tlb_text_add_refusal(&t, value.at, length(value), what);
   return 0;
}

static int whole_number(piece p, uint64_t *out)
{
   const char *s = p.at;
   return tlb_text_number(&s, p.end, out) && s == p.end;
}

static unsigned page_shift(piece p, tlb_reason *why)
{
   const char *s = p.at;
   uint64_t n;
   if (tlb_text_number(&s, p.end, &n) && n != 0 && (n & (n - 1)) == 0) {
      unsigned shift = (unsigned)__builtin_ctzll(n);
      if (s < p.end) {
         const char unit = *s++;
         shift += unit == 'K' ? 10 : unit == 'M' ? 20 : unit == 'G' ? 30 : 64;
      }
      if (s == p.end && shift >= TLB_MIN_PAGE_SHIFT
          && shift <= TLB_MAX_PAGE_SHIFT)
         return shift;
   }
   refuse(why, p,
          "is no page size; allowed are powers of two from 4K to 16G, "
          "such as 4K, 64K, 2M or 1G");
   return 0;
}

unsigned tlb_page_size_parse(const char *text, tlb_reason *why)
{
   const piece all = { text, text + tlb_text_length(text) };
   return page_shift(all, why);
}

static int parse_sizes(piece p, uint64_t *sizes, tlb_reason *why)
{
   piece size;
   *sizes = 0;
   do {
      size = cut(&p, '+');
      const unsigned shift = page_shift(size, why);
      if (shift == 0)
         return 0;
      if ((*sizes >> shift & 1) != 0)
         return refuse(why, size,
                       "is there already; allowed is each page size once");
      *sizes |= (uint64_t)1 << shift;
   } while (size.end < p.end);
   return 1;
}

/* Such as "lru, plru and random:SEED". */
static void add_policies(tlb_text *t)
{
   for (int i = 0; i < TLB_N_POLICIES; i++) {
      const char *const before_last = i == TLB_N_POLICIES - 1 ? " and " : ", ";
      tlb_text_add(t, i == 0 ? "" : policies[i].has_seed ? ", " : before_last);
      tlb_text_add(t, policies[i].name);
      if (policies[i].has_seed) {
         tlb_text_add(t, before_last);
         tlb_text_add(t, policies[i].name);
         tlb_text_add(t, ":SEED");
      }
   }
}

static int parse_policy(piece p, tlb_geometry *g, tlb_reason *why)
{
   piece rest = p;
   const piece name = cut(&rest, ':');
   for (int i = 0; i < TLB_N_POLICIES; i++) {
      if (!tlb_text_is(name.at, length(name), policies[i].name))
         continue;
      g->policy = (tlb_policy)i;
      if (name.end == p.end)
         return 1;
      if (policies[i].has_seed && whole_number(rest, &g->seed))
         return 1;
      break;
   }
   tlb_text t = tlb_text_in(why->text, sizeof why->text);
   tlb_text_add_refusal(&t, p.at, length(p), "is no replacement policy; allowed are ");
   add_policies(&t);
   return 0;
}

int tlb_page_sizes_parse(const char *text, uint64_t *out, tlb_reason *why)
{
   const piece all = { text, text + tlb_text_length(text) };
   return parse_sizes(all, out, why);
}

int tlb_policy_parse(const char *text, tlb_geometry *g, tlb_reason *why)
{
   const piece all = { text, text + tlb_text_length(text) };
   g->seed = 0;
   return parse_policy(all, g, why);
}

int tlb_geometry_parse(const char *text, unsigned base_page_shift,
                       tlb_geometry *out, tlb_reason *why)
{
   piece rest = { text, text + tlb_text_length(text) };
   const piece all = rest;
   const piece entries = cut(&rest, ',');
   const piece ways = cut(&rest, ',');
   tlb_geometry g = { .page_sizes = (uint64_t)1 << base_page_shift,
                      .policy = TLB_DEFAULT_POLICY };
   uint64_t n;

   if (entries.end == all.end)
      return refuse(why, all,
                    "is no array; expected ENTRIES,WAYS[,SIZES[,POLICY]]");
   if (!whole_number(entries, &n) || n == 0 || n > TLB_MAX_ENTRIES)
      return refuse(why, entries,
                    "is no number of entries; allowed are 1 to 1048576");
   g.entries = (uint32_t)n;
   if (tlb_text_is(ways.at, length(ways), "full"))
      g.ways = g.entries;
   else if (whole_number(ways, &n) && n != 0 && n <= TLB_MAX_ENTRIES)
      g.ways = (uint32_t)n;
   else
      return refuse(why, ways,
                    "is no number of ways; allowed are 1 to the entries, "
                    "or full");
   if (ways.end < all.end) {
      const piece sizes = cut(&rest, ',');
      if (!parse_sizes(sizes, &g.page_sizes, why))
         return 0;
      if (sizes.end < all.end) {
         if (!parse_policy(rest, &g, why))
            return 0;
      }
   }
   *out = g;
   return tlb_geometry_check(&g, why);
}

/* Page-number bits are folded onto those of the set: there must be such. */
static int is_index_possible(const tlb_geometry *g)
{
   const uint32_t sets = tlb_geometry_sets(g);
   return g->index_xor == 0
          || (g->index_xor <= TLB_MAX_INDEX_XOR && sets > 1 && (sets & (sets - 1)) == 0);
}

static int are_ways_possible(const tlb_geometry *g)
{
   const uint32_t ways = policies[g->policy].ways;
   return ways == TLB_ANY_WAYS
          || (ways == TLB_2_TO_N_WAYS ? (g->ways & (g->ways - 1)) == 0 : g->ways == ways);
}

const char *tlb_geometry_blames(const tlb_geometry *g)
{
   if (g->entries == 0 || g->entries > TLB_MAX_ENTRIES)
      return "entries";
   if (g->ways == 0 || g->ways > g->entries || g->entries % g->ways != 0)
      return "ways";
   if (!are_ways_possible(g))
      return "policy";
   if (!is_index_possible(g))
      return "index";
   return g->page_sizes == 0 ? "pages" : NULL;
}

int tlb_geometry_check(const tlb_geometry *g, tlb_reason *why)
{
   tlb_text t = tlb_text_in(why->text, sizeof why->text);
   if (g->entries == 0 || g->entries > TLB_MAX_ENTRIES) {
      tlb_text_add_number(&t, g->entries);
      tlb_text_add(&t, " entries; allowed are 1 to 1048576");
   } else if (g->ways == 0 || g->ways > g->entries
              || g->entries % g->ways != 0) {
      tlb_text_add_number(&t, g->ways);
      tlb_text_add(&t, " ways do not divide ");
      tlb_text_add_number(&t, g->entries);
      tlb_text_add(&t, " entries; ways must divide the entries, or be full");
   } else if (!are_ways_possible(g)) {
      const uint32_t needed = policies[g->policy].ways;
      tlb_text_add(&t, policies[g->policy].name);
      tlb_text_add(&t, " needs ");
      if (needed == TLB_2_TO_N_WAYS)
         tlb_text_add(&t, "a power of two of");
      else
         tlb_text_add_number(&t, needed);
      tlb_text_add(&t, " ways, not ");
      tlb_text_add_number(&t, g->ways);
   } else if (!is_index_possible(g)) {
      tlb_text_add(&t, "index xor needs a power of two of sets, at least 2, not ");
      tlb_text_add_number(&t, tlb_geometry_sets(g));
   } else if (g->page_sizes == 0) {
      tlb_text_add(&t, "an array must hold pages of at least one size");
   } else {
      return 1;
   }
   return 0;
}

static void add_page_sizes(tlb_text *t, uint64_t sizes)
{
   int first = 1;
   for (unsigned shift = 0; shift < 64; shift++) {
      if ((sizes >> shift & 1) == 0)
         continue;
      if (!first)
         tlb_text_add(t, "+");
      tlb_text_add_page_size(t, shift);
      first = 0;
   }
}

static void add_policy(tlb_text *t, const tlb_geometry *g)
{
   tlb_text_add(t, policies[g->policy].name);
   if (policies[g->policy].has_seed) {
      tlb_text_add(t, ":");
      tlb_text_add_number(t, g->seed);
   }
}

void tlb_page_sizes_print(uint64_t sizes, char *out, size_t size)
{
   tlb_text t = tlb_text_in(out, size);
   add_page_sizes(&t, sizes);
}

void tlb_policy_print(const tlb_geometry *g, char *out, size_t size)
{
   tlb_text t = tlb_text_in(out, size);
   add_policy(&t, g);
}

void tlb_geometry_print(const tlb_geometry *g, char *out, size_t size)
{
   tlb_text t = tlb_text_in(out, size);
   tlb_text_add_number(&t, g->entries);
   tlb_text_add(&t, g->entries == 1 ? " entry, " : " entries, ");
   if (g->ways == g->entries) {
      tlb_text_add(&t, "fully associative");
   } else if (g->ways == 1) {
      tlb_text_add(&t, "direct-mapped");
   } else {
      tlb_text_add_number(&t, g->ways);
      tlb_text_add(&t, "-way, ");
      tlb_text_add_number(&t, tlb_geometry_sets(g));
      tlb_text_add(&t, " sets");
      if (g->index_xor != 0) {
         tlb_text_add(&t, " by xor ");
         tlb_text_add_number(&t, g->index_xor);
      }
   }
   tlb_text_add(&t, g->paired ? ", pairs of pages " : ", pages ");
   add_page_sizes(&t, g->page_sizes);
   tlb_text_add(&t, ", ");
   add_policy(&t, g);
}
