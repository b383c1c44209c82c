/* Computes addresses of prefetches. See tool/prefetch_code.h. */

#include "pub_tool_basics.h"

#include "pub_tool_machine.h"
#include "pub_tool_tooliface.h"

#include "arch/arch.h"
#include "engine/program_prefetches.h"
#include "tool/prefetch_code.h"

#if VEX_HOST_WORDSIZE == 8
#define WORD_TYPE Ity_I64
#define WORD(w) IRExpr_Const(IRConst_U64(w))
#define ADD Iop_Add64
#define SHL Iop_Shl64
#else
#define WORD_TYPE Ity_I32
#define WORD(w) IRExpr_Const(IRConst_U32((UInt)(w)))
#define ADD Iop_Add32
#define SHL Iop_Shl32
#endif

Bool tg_prefetch_code_finds(Addr a, UInt length, tg_prefetch* p)
{
   return tg_prefetch_decode(tg_arch.prefetches, (const UChar*)a, length, p)
          && (p->segment == TG_SEGMENT_FLAT || tg_arch.registers.segment_base[p->segment] != 0);
}

static IRExpr* temp(IRSB* out, IRType type, IRExpr* value)
{
   const IRTemp t = newIRTemp(out->tyenv, type);
   addStmtToIRSB(out, IRStmt_WrTmp(t, value));
   return IRExpr_RdTmp(t);
}

static IRExpr* get(IRSB* out, PtrdiffT offset)
{
   return temp(out, WORD_TYPE, IRExpr_Get((Int)offset, WORD_TYPE));
}

/* Registers stand in the order of their numbers. */
static IRExpr* get_register(IRSB* out, UInt number)
{
   return get(out, tg_arch.registers.first + (PtrdiffT)(number * sizeof(UWord)));
}

static IRExpr* add(IRSB* out, IRExpr* a, IRExpr* b)
{
   return temp(out, WORD_TYPE, IRExpr_Binop(ADD, a, b));
}

/* The lower bits, extended. */
static IRExpr* part(IRSB* out, IRExpr* value, UInt bits, Bool is_signed)
{
   if (bits == 8 * sizeof(UWord))
      return value;
#if VEX_HOST_WORDSIZE == 8
   IRExpr* low = temp(out, Ity_I32, IRExpr_Unop(Iop_64to32, value));
   return temp(out, Ity_I64, IRExpr_Unop(is_signed ? Iop_32Sto64 : Iop_32Uto64, low));
#else
   (void)is_signed;
   return temp(out, Ity_I32, IRExpr_Binop(Iop_And32, value, WORD(0xffff)));
#endif
}

static IRExpr* address(IRSB* out, Addr a, const tg_prefetch* p)
{
   const Addr from = p->from_next ? a + p->length : p->from_this ? a : 0;
   IRExpr* sum = WORD(from + (UWord)p->displacement);
   if (p->base != TG_PREFETCH_NO_REGISTER)
      sum = add(out, sum, get_register(out, p->base));
   if (p->index != TG_PREFETCH_NO_REGISTER) {
      IRExpr* index = part(out, get_register(out, p->index), p->index_bits, p->index_signed);
      sum = add(out, sum,
                temp(out, WORD_TYPE, IRExpr_Binop(SHL, index, IRExpr_Const(IRConst_U8(p->scale)))));
   }
   sum = part(out, sum, p->address_bits, False);
   if (p->segment != TG_SEGMENT_FLAT)
      sum = add(out, sum, get(out, tg_arch.registers.segment_base[p->segment]));
   return sum;
}

void tg_prefetch_code_add(IRSB* out, TgSite* site, Addr a, const tg_prefetch* p)
{
   addStmtToIRSB(out, IRStmt_Dirty(unsafeIRDirty_0_N(
      0, "tg_prefetch_refer", VG_(fnptr_to_fnentry)(tg_prefetch_refer),
      mkIRExprVec_2(WORD((Addr)site), address(out, a, p)))));
}
