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
}

int tlb_cost_is_known(const tlb_machine *m)
{
   return m->walk_cycles != TLB_UNKNOWN;
}

int tlb_cost_is_assumed(const tlb_machine *m)
{
   int assumed = m->walk_cycles_unknown;
   for (unsigned i = 0; i < m->n_arrays; i++)
      assumed |= m->array[i].hit_cycles_unknown;
   return assumed;
}

static int is_range(const tlb_machine *m)
{
   int range = m->walk_spread != 0;
   for (unsigned i = 0; i < m->n_arrays; i++)
      range |= m->array[i].hit_spread != 0;
   return range;
}

/* The cheapest hit of the kind on that level; what is unknown costs nothing, unless another array
   of the level is known. */
static uint32_t least_hit(const tlb_machine *m, unsigned kind, unsigned level)
{
   uint32_t least = TLB_UNKNOWN;
   for (unsigned i = 0; i < m->n_arrays; i++) {
      const tlb_machine_array *const a = &m->array[i];
      if (a->level == level && (a->users >> kind & 1) != 0 && a->hit_cycles != TLB_UNKNOWN
          && a->hit_cycles - a->hit_spread < least)
         least = a->hit_cycles - a->hit_spread;
   }
   return tlb_known_cycles(least);
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
   second: a page that has no array there does not miss it, and may count as a hit of the cheaper
   level. */
static uint64_t least_of_hits(const tlb_machine *m, unsigned kind, const tlb_kind_misses *n)
{
   const unsigned first = first_level(m, kind);
   const uint64_t hits = rest_of(n->missed[first - 1], n->walks);
   if (first == TLB_MAX_LEVELS)
      return 0;
   const uint32_t next = least_hit(m, kind, first + 1);
   if (first + 2 > tlb_machine_levels(m))
      return tlb_cost_of(hits, next);
   const uint32_t last = least_hit(m, kind, TLB_MAX_LEVELS);
   const uint64_t beyond = rest_of(n->missed[first], n->walks);
   return sum(tlb_cost_of(rest_of(hits, beyond), next < last ? next : last),
              tlb_cost_of(beyond < hits ? beyond : hits, last));
}

uint64_t tlb_cost_least(const tlb_machine *m, const tlb_kind_misses of[3], int nested,
                        uint64_t most)
{
   uint64_t least = 0;
   if (!is_range(m) && !nested)
      return most;
   for (unsigned kind = 0; kind < 3; kind++) {
      least = sum(least, least_of_hits(m, kind, &of[kind]));
      least = sum(least, tlb_cost_of(of[kind].walks, tlb_known_cycles(m->walk_cycles)
                                                        - m->walk_spread));
   }
   return least < most ? least : most;
}

uint64_t tlb_cost_share_beyond(uint64_t cost, uint64_t instructions, uint32_t per_cycle)
{
   const uint64_t slots = tlb_cost_of(cost, per_cycle);
   const uint64_t all = sum(slots, instructions);
   return all == 0 ? 0 : tlb_cost_share(slots, all);
}
