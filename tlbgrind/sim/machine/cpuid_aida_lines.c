/* Lines of a dump as AIDA64 and its predecessor EVEREST write them, and the collection InstLatx64
   keeps them.

   A line with "Logical CPU #0" between brackets, or "CPU#000 AffMask: 0x1", begins each processor;
   then come, among much else, lines such as

    CPUID 00000018: 00000000-0010000F-00000001-00004125 [SL 03]

   with the leaf, EAX, EBX, ECX, EDX and the sub-leaf in hexadecimal digits. More brackets behind
   them hold explanations. Other programs write such lines, too: with spaces between the registers
   or before the colon, with "CPU 0:" in front of each processor or nothing, and without sub-leaves,
   whose lines then stand in their order. */

#include "sim/machine/cpuid_dump_parts.h"

/* Moves *p behind the first place where the word stands. */
static int find(tlb_piece *p, const char *word)
{
   tlb_piece q = *p;
   for (; q.at < q.end; q.at++) {
      if (tlb_piece_take(&q, word)) {
         *p = q;
         return 1;
      }
   }
   return 0;
}

static int take_number(tlb_piece *p, uint32_t *out)
{
   uint64_t n;
   if (!tlb_text_number(&p->at, p->end, &n) || n > UINT32_MAX)
      return 0;
   *out = (uint32_t)n;
   return 1;
}

/* "------[ CPUID Registers / Logical CPU #0 ]------", "------[ Logical CPU #0 ]------",
   "CPU#000 AffMask: 0x0000000000000001". */
static int parse_header(tlb_piece line, uint32_t *cpu)
{
   tlb_piece p = line;
   if (tlb_piece_take(&p, "CPU#"))
      return take_number(&p, cpu) && find(&p, "AffMask");
   if (!tlb_piece_take(&p, "---") || !find(&p, "[") || !find(&p, "Logical CPU #"))
      return 0;
   return take_number(&p, cpu) && find(&p, "]");
}

/* "CPUID 00000018:", whose colon a report in columns does not have. Other lines that begin so, such
   as "CPUID Revision", have no eight digits. */
static int take_leaf(tlb_piece *p, uint32_t *leaf)
{
   tlb_piece q = *p;
   if (!tlb_piece_take(&q, "CPUID "))
      return 0;
   tlb_piece_skip_space(&q);
   if (!tlb_piece_take_digits(&q, 8, leaf))
      return 0;
   tlb_piece colon = q;
   tlb_piece_skip_space(&colon);
   if (tlb_piece_take(&colon, ":"))
      q = colon;
   else if ( q.at < q.end && !tlb_piece_is_space(*q.at))
      return 0;
   tlb_piece_skip_space(&q);
   *p = q;
   return 1;
}

/* "-", or spaces with another register behind them. */
static int take_separator(tlb_piece *p)
{
   tlb_piece q = *p;
   uint32_t ignored;
   if (tlb_piece_take(p, "-"))
      return 1;
   tlb_piece_skip_space(&q);
   if (q.at == p->at)
      return 0;
   *p = q;
   return tlb_piece_take_digits(&q, 8, &ignored);
}

static int parse_registers(const tlb_piece line, tlb_piece p, tlb_dump_answer *a, tlb_reason *why)
{
   for (unsigned i = 0; i < 4; i++) {
      if (i > 0 && p.at < p.end && !take_separator(&p))
         return tlb_piece_refuse(why, p, "where '-' and the next register are expected");
      if (p.at == p.end)
         return tlb_piece_refuse(why, line, "ends too early; the dump is cut off");
      if (!tlb_piece_take_digits(&p, 8, &a->reg[i]))
         return tlb_piece_refuse(why, p, "is no value of a register; expected 8 hexadecimal "
                                         "digits");
   }
   if (p.at < p.end && !tlb_piece_is_space(*p.at) && *p.at != '[')
      return tlb_piece_refuse(why, p, "follows the registers without a space");
   a->subleaf = 0;
   a->is_numbered = find(&p, "[SL");
   if (!a->is_numbered)
      return 1;
   tlb_piece_skip_space(&p);
   if (!tlb_piece_take_digits(&p, 1, &a->subleaf) || !tlb_piece_take(&p, "]"))
      return tlb_piece_refuse(why, p, "is no sub-leaf; expected hexadecimal digits and ']'");
   return 1;
}

tlb_dump_kind tlb_cpuid_aida_line(tlb_piece line, uint32_t *cpu, tlb_dump_answer *a,
                                  tlb_reason *why)
{
   tlb_piece p = line;
   /* Where the line is the first of a file of Windows, the mark of UTF-8 may stand before it. */
   tlb_piece_take(&p, "\xef\xbb\xbf");
   if (parse_header(p, cpu) || tlb_cpuid_raw_header(p, cpu))
      return TLB_DUMP_PROCESSOR;
   if (!take_leaf(&p, &a->leaf))
      return TLB_DUMP_OTHER;
   return parse_registers(line, p, a, why) ? TLB_DUMP_ANSWER : TLB_DUMP_WRONG;
}
