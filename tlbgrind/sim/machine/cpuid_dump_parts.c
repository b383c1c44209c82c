/* Pieces of the lines of a dump. */

#include "sim/machine/cpuid_dump_parts.h"

int tlb_piece_is_space(char c)
{
   return c == ' ' || c == '\t' || c == '\r';
}

void tlb_piece_skip_space(tlb_piece *p)
{
   while (p->at < p->end && tlb_piece_is_space(*p->at))
      p->at++;
}

tlb_piece tlb_piece_line(tlb_piece *rest)
{
   tlb_piece p = { rest->at, rest->at };
   while (p.end < rest->end && *p.end != '\n')
      p.end++;
   rest->at = p.end < rest->end ? p.end + 1 : p.end;
   tlb_piece_skip_space(&p);
   while (p.at < p.end && tlb_piece_is_space(p.end[-1]))
      p.end--;
   return p;
}

int tlb_piece_take(tlb_piece *p, const char *word)
{
   const size_t n = tlb_text_length(word);
   if ((size_t)(p->end - p->at) < n || !tlb_text_is(p->at, n, word))
      return 0;
   p->at += n;
   return 1;
}

static uint32_t value_of_digit(char c)
{
   return c >= '0' && c <= '9'   ? (uint32_t)(c - '0')
          : c >= 'a' && c <= 'f' ? (uint32_t)(c - 'a') + 10
          : c >= 'A' && c <= 'F' ? (uint32_t)(c - 'A') + 10
                                 : 16;
}

int tlb_piece_take_digits(tlb_piece *p, unsigned fewest, uint32_t *out)
{
   tlb_piece q = *p;
   uint32_t n = 0;
   unsigned digits = 0;
   for (; q.at < q.end && value_of_digit(*q.at) < 16; q.at++, digits++) {
      if (digits == 8)
         return 0;
      n = n << 4 | value_of_digit(*q.at);
   }
   if (digits < fewest)
      return 0;
   *p = q;
   *out = n;
   return 1;
}

int tlb_piece_refuse(tlb_reason *why, tlb_piece value, const char *what)
{
   const size_t n = (size_t)(value.end - value.at);
   tlb_text t = tlb_text_in(why->text, sizeof why->text);
   tlb_text_add(&t, "'");
   tlb_text_add_n(&t, value.at, n < 32 ? n : 32);
   tlb_text_add(&t, "' ");
   tlb_text_add(&t, what);
   return 0;
}
