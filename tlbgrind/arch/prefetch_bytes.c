/* Decodes data prefetches. See arch/prefetch_bytes.h. */

#include "arch/prefetch_bytes.h"

enum { MAX_LENGTH = 15, NO_REGISTER = TG_PREFETCH_NO_REGISTER };

/* The bytes of one instruction. */
typedef struct {
   const uint8_t *code;
   size_t n;
   size_t at;
   bool ended; /* more bytes were read than there are */
} reader;

static uint8_t next(reader *r)
{
   if (r->at >= r->n) {
      r->ended = true;
      return 0;
   }
   return r->code[r->at++];
}

/* A little-endian number with a sign. */
static int64_t number(reader *r, unsigned bytes)
{
   uint64_t v = 0;
   for (unsigned i = 0; i < bytes; i++)
      v |= (uint64_t)next(r) << (8 * i);
   const uint64_t sign = (uint64_t)1 << (8 * bytes - 1);
   return (int64_t)((v ^ sign) - sign);
}

/* ModRM of 16-bit addresses: pairs of BX (3), BP (5), SI (6) and DI (7). */
static void address_16(reader *r, unsigned mod, unsigned rm, tg_prefetch *p)
{
   static const uint8_t base[8] = { 3, 3, 5, 5, 6, 7, 5, 3 };
   static const uint8_t index[8] = { 6, 7, 6, 7, NO_REGISTER, NO_REGISTER, NO_REGISTER,
                                     NO_REGISTER };
   const bool absolute = mod == 0 && rm == 6;
   p->base = absolute ? NO_REGISTER : base[rm];
   p->index = index[rm];
   if (mod == 1)
      p->displacement = number(r, 1);
   else if (mod == 2 || absolute)
      p->displacement = number(r, 2);
}

/* ModRM and SIB of 32- and 64-bit addresses. */
static void address_32(reader *r, bool amd64, unsigned rex, unsigned mod, unsigned rm,
                       tg_prefetch *p)
{
   bool absolute = mod == 0 && rm == 5;
   p->base = (uint8_t)(rm | (rex & 1) << 3);
   if (rm == 4) {
      const uint8_t sib = next(r);
      const uint8_t index = (uint8_t)((sib >> 3 & 7) | (rex & 2) << 2);
      if (index != 4) {
         p->index = index;
         p->scale = sib >> 6;
      }
      p->base = (uint8_t)((sib & 7) | (rex & 1) << 3);
      absolute = mod == 0 && (sib & 7) == 5;
   } else {
      p->from_next = amd64 && absolute;
   }
   if (absolute)
      p->base = NO_REGISTER;
   if (mod == 1)
      p->displacement = number(r, 1);
   else if (mod == 2 || absolute)
      p->displacement = number(r, 4);
}

/* 0F 18 /0 to /3 (prefetchnta, t0, t1, t2) and 0F 0D /0 and /1 (prefetch, prefetchw). Other /n
   are not prefetches of data, or reserved. */
static bool intel(bool amd64, reader *r, tg_prefetch *p)
{
   unsigned rex = 0;
   uint8_t byte;
   p->address_bits = amd64 ? 64 : 32;
   for (;;) {
      byte = next(r);
      if (amd64 && (byte & 0xf0) == 0x40) {
         rex = byte;
         continue;
      }
      if (byte == 0x64)
         p->segment = TG_SEGMENT_FS;
      else if (byte == 0x65)
         p->segment = TG_SEGMENT_GS;
      else if (byte == 0x2e || byte == 0x36 || byte == 0x3e || byte == 0x26)
         p->segment = amd64 ? p->segment : TG_SEGMENT_FLAT;
      else if (byte == 0x67)
         p->address_bits = amd64 ? 32 : 16;
      else if (byte != 0x66 && byte != 0xf2 && byte != 0xf3)
         break;
      rex = 0; /* counts only right before the opcode */
   }
   if (byte != 0x0f)
      return false;
   const uint8_t opcode = next(r);
   const uint8_t modrm = next(r);
   const unsigned mod = modrm >> 6, what = modrm >> 3 & 7;
   if (mod == 3 || !((opcode == 0x18 && what <= 3) || (opcode == 0x0d && what <= 1)))
      return false;
   if (p->address_bits == 16)
      address_16(r, mod, modrm & 7, p);
   else
      address_32(r, amd64, rex, mod, modrm & 7, p);
   p->index_bits = p->address_bits;
   p->length = (uint8_t)r->at;
   return !r->ended;
}

/* PRFM (immediate, literal, register) and PRFUM, of the types PLD and PST: PLI prefetches code. */
static bool arm64(reader *r, tg_prefetch *p)
{
   const uint32_t code = (uint32_t)number(r, 4);
   const unsigned type = code >> 3 & 3; /* PLD, PLI, PST, reserved */
   if (r->ended || (type != 0 && type != 2))
      return false;
   p->length = 4;
   p->address_bits = p->index_bits = 64;
   if (code >> 24 == 0xd8) {
      const int64_t words = (int64_t)((code >> 5 & 0x7ffff) ^ 0x40000) - 0x40000;
      p->displacement = words * 4;
      p->from_this = true;
      return true;
   }
   p->base = code >> 5 & 31;
   if (code >> 22 == 0x3e6) {
      p->displacement = (int64_t)(code >> 10 & 0xfff) * 8;
      return true;
   }
   if (code >> 21 != 0x7c4 && code >> 21 != 0x7c5)
      return false;
   if ((code & 0x00200c00) == 0) {
      p->displacement = (int64_t)((code >> 12 & 0x1ff) ^ 0x100) - 0x100;
      return true;
   }
   const unsigned option = code >> 13 & 7;
   if ((code & 0x00200c00) != 0x00200800 || (option & 2) == 0)
      return false;
   const uint8_t index = code >> 16 & 31;
   p->index = index == 31 ? NO_REGISTER : index; /* 31: the zero register */
   p->scale = (code >> 12 & 1) != 0 ? 3 : 0;
   p->index_bits = (option & 1) != 0 ? 64 : 32;
   p->index_signed = option >= 4;
   return true;
}

/* dcbt and dcbtst of the program's block (0 to 7) and of one that is soon used no more (16). Other
   numbers describe a stream, or tell that a block is not needed. */
static bool ppc64le(reader *r, tg_prefetch *p)
{
   const uint32_t code = (uint32_t)number(r, 4);
   const unsigned opcode = code >> 1 & 0x3ff, what = code >> 21 & 31, base = code >> 16 & 31;
   if (r->ended || code >> 26 != 31 || (code & 1) != 0 || (opcode != 278 && opcode != 246)
       || (what > 7 && what != 16))
      return false;
   p->length = 4;
   p->address_bits = p->index_bits = 64;
   p->base = base == 0 ? NO_REGISTER : (uint8_t)base;
   p->index = code >> 11 & 31;
   return true;
}

/* PREFETCH.R and PREFETCH.W of Zicbop, which are ORI to register 0: RISC-V, CMO extensions.
   PREFETCH.I prefetches code. */
static bool riscv64(reader *r, tg_prefetch *p)
{
   const uint32_t code = (uint32_t)number(r, 4);
   const unsigned what = code >> 20 & 31;
   if (r->ended || (code & 0x7fff) != 0x6013 || (what != 1 && what != 3))
      return false;
   p->length = 4;
   p->address_bits = p->index_bits = 64;
   p->base = code >> 15 & 31;
   p->displacement = (int64_t)((code >> 20 & 0xfe0) ^ 0x800) - 0x800;
   return true;
}

bool tg_prefetch_decode(tg_prefetch_code kind, const uint8_t *code, size_t n, tg_prefetch *p)
{
   reader r = { .code = code, .n = n < MAX_LENGTH ? n : MAX_LENGTH };
   *p = (tg_prefetch){ .base = NO_REGISTER, .index = NO_REGISTER };
   switch (kind) {
   case TG_CODE_ARM64: return arm64(&r, p);
   case TG_CODE_PPC64LE: return ppc64le(&r, p);
   case TG_CODE_RISCV64: return riscv64(&r, p);
   default: return intel(kind == TG_CODE_AMD64, &r, p);
   }
}
