/* Asks whether a sample is due. See tool/sample_code.h. */

#include "pub_tool_basics.h"

#include "pub_tool_machine.h"
#include "pub_tool_tooliface.h"

#include "tool/sample_code.h"
#include "trace/sampling.h"
#include "trace/segment_run.h"

#if VEX_HOST_WORDSIZE == 8
#define ADDRESS(a) IRExpr_Const(IRConst_U64(a))
#else
#define ADDRESS(a) IRExpr_Const(IRConst_U32(a))
#endif

#if defined(VG_BIGENDIAN)
#define ENDNESS Iend_BE
#else
#define ENDNESS Iend_LE
#endif

static IRExpr* temp_of(IRSB* out, IRType type, IRExpr* value)
{
   const IRTemp t = newIRTemp(out->tyenv, type);
   addStmtToIRSB(out, IRStmt_WrTmp(t, value));
   return IRExpr_RdTmp(t);
}

static IRExpr* load(IRSB* out, const ULong* from)
{
   return temp_of(out, Ity_I64, IRExpr_Load(ENDNESS, Ity_I64, ADDRESS((Addr)from)));
}

void tg_sample_code(IRSB* out)
{
   if (tg_sample == NULL)
      return;
   /* The sign of the difference, in the upper half, which hosts of 32 bits can compare, too. */
   IRExpr* over = temp_of(out, Ity_I64,
                          IRExpr_Binop(Iop_Sub64, load(out, &tg_clock),
                                       load(out, &tg_sample_due)));
   IRExpr* high = temp_of(out, Ity_I32, IRExpr_Unop(Iop_64HIto32, over));
   IRDirty* d = unsafeIRDirty_0_N(0, "tg_sample", VG_(fnptr_to_fnentry)(tg_sample),
                                  mkIRExprVec_0());
   d->guard = temp_of(out, Ity_I1,
                      IRExpr_Binop(Iop_CmpLE32S, IRExpr_Const(IRConst_U32(0)), high));
   addStmtToIRSB(out, IRStmt_Dirty(d));
}
