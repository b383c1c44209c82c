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
   static const char name[] = "TLB_MISS_COST=";
   enum { NAME_LENGTH = sizeof name - 1 };
   uint64_t cost;
   const char *number = text;
   size_t n = trim(&number, tlb_text_length(text));
   if (n > NAME_LENGTH && tlb_text_is(number, NAME_LENGTH, name)) {
      number += NAME_LENGTH;
      n -= NAME_LENGTH;
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
