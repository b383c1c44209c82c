/* Makes RUNNING_ON_VALGRIND return 0. See native/running_on_valgrind.h. */

#include "pub_tool_basics.h"

#include "pub_tool_tooliface.h"

#include "valgrind.h"

#include "arch/arch.h"
#include "native/running_on_valgrind.h"

#if VG_WORDSIZE == 8
#define WORD Ity_I64
#define SAME Iop_CmpEQ64
#define NUMBER IRConst_U64
#else
#define WORD Ity_I32
#define SAME Iop_CmpEQ32
#define NUMBER IRConst_U32
#endif

static Bool answers;

void tg_running_on_valgrind_init(void)
{
   answers = True;
}

static IRExpr* assign(IRSB* out, IRType type, IRExpr* e)
{
   const IRTemp t = newIRTemp(out->tyenv, type);
   addStmtToIRSB(out, IRStmt_WrTmp(t, e));
   return IRExpr_RdTmp(t);
}

void tg_running_on_valgrind_end(IRSB* out)
{
   if (!answers || out->jumpkind != Ijk_ClientReq || out->next->tag != Iex_Const)
      return;
   IRExpr* const request = assign(out, WORD, IRExpr_Get((Int)tg_arch.registers.request, WORD));
   IRExpr* const number = assign(out, WORD, IRExpr_Load(Iend_LE, WORD, request));
   IRExpr* const this_request = IRExpr_Const(NUMBER(VG_USERREQ__RUNNING_ON_VALGRIND));
   IRExpr* const is_this = assign(out, Ity_I1, IRExpr_Binop(SAME, number, this_request));
   addStmtToIRSB(out, IRStmt_Exit(is_this, Ijk_Boring, out->next->Iex.Const.con, out->offsIP));
}
