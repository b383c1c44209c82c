/* Cost: from misses to cycles and to a share of the time. */

#include "sim/machine/cost.h"

#include "sim/base/text.h"

static int is_space(char c)
{
   return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

/* Cuts spaces off both ends of the n bytes at *s. */
static size_t trim(const char **s, size_t n)
{
   while (n > 0 && is_space((*s)[n - 1]))
      n--;
   while (n > 0 && is_space(**s)) {
      (*s)++;
      n--;
   }
   return n;
}

/* A number that the n bytes at s consist of. */
static int read_all(const char *s, size_t n, uint64_t *out)
{
   const char *const end = s + n;
   return tlb_text_number(&s, end, out) && s == end;
}

static int refuse(const char *text, size_t n, const char *allowed,
                  tlb_reason *why)
{
   tlb_text t = tlb_text_in(why->text, sizeof why->text);
   tlb_text_add(&t, "'");
   tlb_text_add_n(&t, text, n);
   tlb_text_add(&t, allowed);
   return 0;
}

int tlb_miss_cost_parse(const char *text, uint32_t *cycles, tlb_reason *why)
{
   static const char *const names[] = { "TLB_MISS_COST=", "TLB_MISS_LATENCY_CYCLES=" };
   uint64_t cost;
   const char *number = text;
   size_t n = trim(&number, tlb_text_length(text));
   for (unsigned i = 0; i < sizeof names / sizeof names[0]; i++) {
      const size_t length = tlb_text_length(names[i]);
      if (n > length && tlb_text_is(number, length, names[i])) {
         number += length;
         n -= length;
         break;
      }
   }
   if (!read_all(number, n, &cost) || cost > TLB_MAX_MISS_COST) {
      const size_t length = tlb_text_length(text);
      return refuse(text, length > 60 ? 60 : length,
                    "' is no cost; allowed are 0 to 1000000 cycles, also as "
                    "TLB_MISS_COST=19", why);
   }
   *cycles = (uint32_t)cost;
   return 1;
}

int tlb_cycles_parse(const char *text, uint64_t *cycles, tlb_reason *why)
{
   const size_t length = tlb_text_length(text);
   if (!read_all(text, length, cycles) || *cycles == 0)
      return refuse(text, length > 60 ? 60 : length,
                    "' is no number of cycles; allowed are 1 to "
                    "18446744073709551615", why);
   return 1;
}

uint64_t tlb_cost_of(uint64_t n, uint32_t cycles)
{
   return cycles != 0 && n > UINT64_MAX / cycles ? UINT64_MAX : n * cycles;
}

/* A number of 128 bits. */
typedef struct {
   uint64_t high, low;
} wide;

static wide product(uint64_t a, uint32_t b)
{
   const uint64_t low = (a & UINT32_MAX) * b;
   const uint64_t high = (a >> 32) * b + (low >> 32);
   return (wide){ high >> 32, high << 32 | (low & UINT32_MAX) };
}

/* n / by, digit by digit as on paper; the quotient must fit. */
static uint64_t quotient(wide n, uint64_t by)
{
   uint64_t rest = n.high, q = 0;
   if (n.high == 0)
      return n.low / by;
   for (unsigned bit = 64; bit-- > 0;) {
      const uint64_t carry = rest >> 63;
      rest = rest << 1 | (n.low >> bit & 1);
      q <<= 1;
      if (carry != 0 || rest >= by) {
         rest -= by;
         q |= 1;
      }
   }
   return q;
}

uint64_t tlb_cost_share(uint64_t cost, uint64_t cycles)
{
   /* No quotient by an odd number lies half-way, so it does no harm that half
      of one is rounded down. */
   const uint64_t half = cycles / 2;
   wide n = product(cost, 100 * 100);
   n.low += half;
   n.high += n.low < half;
   return n.high < cycles ? quotient(n, cycles) : UINT64_MAX;
}

/* --- Ranges --- */

static uint64_t sum(uint64_t a, uint64_t b)
{
   return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

static uint64_t rest_of(uint64_t a, uint64_t b)
{
   return a > b ? a - b : 0;
}

void tlb_cost_set_walk(tlb_machine *m, uint32_t cycles)
{
   m->walk_cycles = cycles;
   m->walk_spread = 0;
   m->walk_cycles_unknown = 0;
   m->walk_overlap = 0;
   m->walk_overlap_unknown = 0;
   m->n_caches = 0;
   m->memory = (tlb_table_cache){ .cycles = 0 };
   for (unsigned i = 0; i < TLB_MAX_WALK_LEVELS; i++)
      m->walk[i].cycles = 0;
}

int tlb_cost_is_known(const tlb_machine *m)
{
   return m->walk_cycles != TLB_UNKNOWN;
}

int tlb_cost_is_assumed(const tlb_machine *m)
{
   int assumed = m->walk_cycles_unknown | m->walk_overlap_unknown | m->window_unknown;
   for (unsigned i = 0; i < m->n_arrays; i++)
      assumed |= m->array[i].hit_cycles_unknown | m->array[i].overlap_unknown;
   if (!tlb_tables_are_cached(m))
      return assumed;
   for (unsigned i = 0; i < m->n_caches; i++)
      assumed |= m->cache[i].cycles_unknown;
   return assumed | m->memory.cycles_unknown;
}

static int overlaps(uint32_t overlap)
{
   return tlb_known_overlap(overlap) > TLB_NO_OVERLAP;
}

static int is_range(const tlb_machine *m)
{
   int range = m->walk_spread != 0 || overlaps(m->walk_overlap);
   for (unsigned i = 0; i < m->n_arrays; i++)
      range |= m->array[i].hit_spread != 0 || overlaps(m->array[i].overlap);
   if (!tlb_tables_are_cached(m))
      return range;
   for (unsigned i = 0; i < m->n_caches; i++)
      range |= m->cache[i].spread != 0;
   return range || m->memory.spread != 0;
}

/* The part of n that is numerator / denominator, rounded down. */
static uint64_t part_of(uint64_t n, uint32_t numerator, uint32_t denominator)
{
   const wide all = product(n, numerator);
   return all.high < denominator ? quotient(all, denominator) : UINT64_MAX;
}

enum { THOUSAND = 1000 };

/* How far misses of a function overlap, in thousandths: as far as the machine can, but no farther
   than so many of them are within its window of instructions when they are spread evenly. */
static uint32_t overlap_within(const tlb_machine *m, uint32_t overlap, uint64_t misses,
                               uint64_t instructions)
{
   const uint32_t most = tlb_known_overlap(overlap) * (THOUSAND / TLB_NO_OVERLAP);
   if (m->window == 0)
      return most;
   const wide all = product(misses, m->window * THOUSAND);
   const uint64_t within = all.high < instructions ? quotient(all, instructions) : UINT64_MAX;
   return within >= most ? most : within < THOUSAND ? THOUSAND : (uint32_t)within;
}

/* Of one function. */
typedef struct {
   const tlb_kind_misses *of; /* by kind */
   uint64_t instructions;
   uint64_t hits; /* behind the first level, of all kinds */
} function_misses;

/* What one hit or walk costs: cycles that are divided by an overlap. */
typedef struct {
   uint32_t cycles;
   uint32_t overlap; /* thousandths; 0: there is no such hit */
} price;

static int is_less(price a, price b)
{
   return (uint64_t)a.cycles * b.overlap < (uint64_t)b.cycles * a.overlap;
}

/* Rounded down. */
static uint64_t pay(uint64_t n, price p)
{
   return p.overlap == 0 ? 0 : part_of(tlb_cost_of(n, p.cycles), THOUSAND, p.overlap);
}

/* The cheapest hit of the kind on that level; what is unknown costs nothing, unless another array
   of the level is known. */
static price least_hit(const tlb_machine *m, unsigned kind, unsigned level,
                       const function_misses *f)
{
   price least = { 0, 0 };
   for (unsigned i = 0; i < m->n_arrays; i++) {
      const tlb_machine_array *const a = &m->array[i];
      if (a->level != level || (a->users >> kind & 1) == 0 || a->hit_cycles == TLB_UNKNOWN)
         continue;
      const price p = { a->hit_cycles - a->hit_spread,
                        overlap_within(m, a->overlap, f->hits, f->instructions) };
      if (least.overlap == 0 || is_less(p, least))
         least = p;
   }
   return least;
}

/* The dearest. */
static price most_hit(const tlb_machine *m, unsigned kind, unsigned level)
{
   price most = { 0, 0 };
   for (unsigned i = 0; i < m->n_arrays; i++) {
      const tlb_machine_array *const a = &m->array[i];
      if (a->level == level && (a->users >> kind & 1) != 0 && a->hit_cycles != TLB_UNKNOWN
          && (most.overlap == 0 || a->hit_cycles > most.cycles))
         most = (price){ a->hit_cycles, THOUSAND };
   }
   return most;
}

/* The level that the kind asks first. */
static unsigned first_level(const tlb_machine *m, unsigned kind)
{
   unsigned first = TLB_MAX_LEVELS;
   for (unsigned i = 0; i < m->n_arrays; i++) {
      if ((m->array[i].users >> kind & 1) != 0 && m->array[i].level < first)
         first = m->array[i].level;
   }
   return first;
}

/* What misses a level behind the first, and is not walked for, hits the third. The rest hit the
   second: a page that has no array there does not miss it, and may count as a hit of the third, if
   that makes the sum smaller, or, with `most`, larger. */
static uint64_t cost_of_hits(const tlb_machine *m, unsigned kind, const function_misses *f,
                             int most)
{
   const tlb_kind_misses *const n = &f->of[kind];
   const unsigned first = first_level(m, kind);
   const uint64_t hits = rest_of(n->missed[first - 1], n->walks);
   if (first == TLB_MAX_LEVELS)
      return 0;
   const price next = most ? most_hit(m, kind, first + 1) : least_hit(m, kind, first + 1, f);
   if (first + 2 > tlb_machine_levels(m))
      return pay(hits, next);
   const price last = most ? most_hit(m, kind, TLB_MAX_LEVELS)
                           : least_hit(m, kind, TLB_MAX_LEVELS, f);
   const uint64_t beyond = rest_of(n->missed[first], n->walks);
   const uint64_t before = pay(rest_of(hits, beyond), next);
   const uint64_t instead = pay(rest_of(hits, beyond), last);
   return sum((before < instead) == (most == 0) ? before : instead,
              pay(beyond < hits ? beyond : hits, last));
}

/* Of what table entries cost at most, which any of the caches can have had: at least. */
static uint64_t least_of_tables(const tlb_machine *m, uint64_t most)
{
   uint64_t least = most;
   for (unsigned i = 1; i <= m->n_caches; i++) {
      const tlb_table_cache *const c = i < m->n_caches ? &m->cache[i] : &m->memory;
      const uint64_t from_here = c->cycles == 0 ? most
                                                : part_of(most, c->cycles - c->spread, c->cycles);
      least = from_here < least ? from_here : least;
   }
   return least;
}

/* Of all that was counted, what is no hit, at least: the walks. */
static uint64_t most_beyond_hits(const tlb_machine *m, const function_misses *f, uint64_t most)
{
   uint64_t hits = 0;
   for (unsigned kind = 0; kind < 3; kind++)
      hits = sum(hits, cost_of_hits(m, kind, f, 1));
   return rest_of(most, hits);
}

/* Of so many walks one after the other, which cost `most` at most. Those for larger pages can end
   before steps that the walk's cycles hold. */
static uint64_t least_of_walks(const tlb_machine *m, uint64_t n, int nested, uint64_t most)
{
   const uint32_t cycles = tlb_known_cycles(m->walk_cycles);
   uint64_t walks = tlb_cost_of(n, cycles - m->walk_spread);
   if (tlb_tables_are_cached(m) && !nested)
      walks = sum(walks, least_of_tables(m, rest_of(most, tlb_cost_of(n, cycles))));
   return walks < most ? walks : most;
}

uint64_t tlb_cost_least(const tlb_machine *m, const tlb_kind_misses of[3], uint64_t instructions,
                        int nested, uint64_t most)
{
   function_misses f = { of, instructions, 0 };
   uint64_t hits = 0, n_walks = 0;
   if (!is_range(m) && !nested)
      return most;
   for (unsigned kind = 0; kind < 3; kind++) {
      f.hits = sum(f.hits, rest_of(of[kind].missed[first_level(m, kind) - 1], of[kind].walks));
      n_walks = sum(n_walks, of[kind].walks);
   }
   for (unsigned kind = 0; kind < 3; kind++)
      hits = sum(hits, cost_of_hits(m, kind, &f, 0));
   const uint64_t walks = least_of_walks(m, n_walks, nested, most_beyond_hits(m, &f, most));
   const uint64_t least = sum(hits, part_of(walks, THOUSAND,
                                            overlap_within(m, m->walk_overlap, n_walks,
                                                           instructions)));
   return least < most ? least : most;
}

uint64_t tlb_cost_share_beyond(uint64_t cost, uint64_t instructions, uint32_t per_cycle)
{
   const uint64_t slots = tlb_cost_of(cost, per_cycle);
   const uint64_t all = sum(slots, instructions);
   return all == 0 ? 0 : tlb_cost_share(slots, all);
}
