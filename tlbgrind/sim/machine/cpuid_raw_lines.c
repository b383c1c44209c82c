/* Lines of a dump as `cpuid -r` prints them.

   "CPU 0:" or "CPU:" begins each processor; then come lines such as

    0x00000018 0x03: eax=0x00000000 ebx=0x0010000f ecx=0x00000001 edx=0x00004125

   with the leaf, the sub-leaf and the registers. */

#include "sim/machine/cpuid_dump_parts.h"

static const char *const what_a_line_is
   = "is no line of a CPUID dump; expected CPU N: or 0xLEAF 0xSUBLEAF: "
     "eax=0x... ebx=0x... ecx=0x... edx=0x...";

/* Takes "0x" and digits. A register always has eight, so that one that has been cut off is not
   taken for another value. */
static int take_hex(tlb_piece *p, unsigned fewest, uint32_t *out)
{
   tlb_piece q = *p;
   if (!tlb_piece_take(&q, "0x") || !tlb_piece_take_digits(&q, fewest, out))
      return 0;
   *p = q;
   return 1;
}

int tlb_cpuid_raw_header(tlb_piece line, uint32_t *cpu)
{
   uint64_t n = 0;
   if (!tlb_piece_take(&line, "CPU"))
      return 0;
   tlb_piece_skip_space(&line);
   if (tlb_text_number(&line.at, line.end, &n) && n > UINT32_MAX)
      return 0;
   if (!tlb_piece_take(&line, ":"))
      return 0;
   tlb_piece_skip_space(&line);
   *cpu = (uint32_t)n;
   return line.at == line.end;
}

/* "   vendor_id = ...", "   version information (1/eax):": cpuid's words for the registers. */
static int is_decoded(tlb_piece line)
{
   if (tlb_piece_take(&line, "vendor_id")
       || (line.end - line.at >= 2 && tlb_text_is(line.end - 2, 2, "):")))
      return 1;
   for (const char *s = line.at; s + 3 <= line.end; s++) {
      if (tlb_text_is(s, 3, " = "))
         return 1;
   }
   return 0;
}

/* "0x00000018 0x03: eax=0x00000000 ... edx=0x00004125". */
static int parse_answer(const tlb_piece line, tlb_dump_answer *a, tlb_reason *why)
{
   static const char *const names[4] = { "eax=", "ebx=", "ecx=", "edx=" };
   tlb_piece p = line;
   if (!take_hex(&p, 8, &a->leaf))
      return tlb_piece_refuse(why, line, is_decoded(line)
                                            ? "is what cpuid prints without -r; make the dump "
                                              "with cpuid -r"
                                            : what_a_line_is);
   tlb_piece_skip_space(&p);
   a->is_numbered = 1;
   if (!take_hex(&p, 1, &a->subleaf) || !tlb_piece_take(&p, ":"))
      return tlb_piece_refuse(why, line, what_a_line_is);
   for (unsigned i = 0; i < 4; i++) {
      tlb_piece_skip_space(&p);
      if (p.at == p.end)
         return tlb_piece_refuse(why, line, "ends too early; the dump is cut off");
      if (!tlb_piece_take(&p, names[i]))
         return tlb_piece_refuse(why, p, "where eax=, ebx=, ecx= and edx= are expected, "
                                         "in this order");
      if (!take_hex(&p, 8, &a->reg[i]))
         return tlb_piece_refuse(why, p, "is no value of a register; expected 0x and 8 "
                                         "hexadecimal digits");
      if (p.at < p.end && !tlb_piece_is_space(*p.at))
         return tlb_piece_refuse(why, p, "follows a register without a space");
   }
   tlb_piece_skip_space(&p);
   if (p.at < p.end)
      return tlb_piece_refuse(why, p, "is too much behind edx");
   return 1;
}

tlb_dump_kind tlb_cpuid_raw_line(tlb_piece line, uint32_t *cpu, tlb_dump_answer *a,
                                 tlb_reason *why)
{
   if (tlb_cpuid_raw_header(line, cpu))
      return TLB_DUMP_PROCESSOR;
   return parse_answer(line, a, why) ? TLB_DUMP_ANSWER : TLB_DUMP_WRONG;
}
