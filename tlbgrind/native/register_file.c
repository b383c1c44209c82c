/* Changes the size of the register file in CPUID's results. See native/register_file.h. */

#include "pub_tool_basics.h"

#include "pub_tool_guest.h"
#include "pub_tool_libcbase.h"
#include "pub_tool_machine.h"
#include "pub_tool_tooliface.h"

#include "sim/machine/cpuid_here.h"
#include "native/register_file.h"

/* The size in bytes that CPUID reports to the program; 0: Valgrind's own. */
static UInt shown_size;

#if defined(VGA_amd64)

enum {
   SIZE_LEAF = 0xd,
   LEGACY = 576,       /* bytes of x87, SSE and the header of XSAVE */
   FIRST_EXTENDED = 2, /* state components: AVX */
   /* The components that the dynamic linker saves: SSE, AVX, the bound registers, and
      the three of AVX-512. */
   SAVED = 1 << 1 | 1 << 2 | 1 << 3 | 1 << 5 | 1 << 6 | 1 << 7,
   XSAVEC = 1 << 1,    /* in eax of sub-leaf 1 */
   ALIGNED = 1 << 1    /* in ecx of a component's sub-leaf */
};

/* The bytes that the dynamic linker saves natively. With XSAVEC the components are stored side
   by side, else in the whole area with all its gaps. */
static UInt native_size(void)
{
   UInt bytes = LEGACY;
   if (tlb_cpuid_here(NULL, 0, 0).eax < SIZE_LEAF)
      return 0;
   if ((tlb_cpuid_here(NULL, SIZE_LEAF, 1).eax & XSAVEC) == 0)
      return tlb_cpuid_here(NULL, SIZE_LEAF, 0).ebx;
   for (UInt i = FIRST_EXTENDED; i < 32; i++) {
      if (((UInt)SAVED >> i & 1) == 0)
         continue;
      const tlb_cpuid component = tlb_cpuid_here(NULL, SIZE_LEAF, i);
      if ((component.ecx & ALIGNED) != 0)
         bytes = (bytes + 63) & ~63u;
      bytes += component.eax;
   }
   return bytes;
}

void tg_native_cpuid_init(void)
{
   shown_size = native_size();
}

static IRTemp assign(IRSB* out, IRType type, IRExpr* e)
{
   const IRTemp t = newIRTemp(out->tyenv, type);
   addStmtToIRSB(out, IRStmt_WrTmp(t, e));
   return t;
}

/* The lower half of a register. */
static IRExpr* low(IRSB* out, Int offset)
{
   const IRTemp all = assign(out, Ity_I64, IRExpr_Get(offset, Ity_I64));
   return IRExpr_RdTmp(assign(out, Ity_I32,
                              IRExpr_Unop(Iop_64to32, IRExpr_RdTmp(all))));
}

IRTemp tg_native_cpuid_before(IRSB* out, const IRStmt* st)
{
   static const HChar helper[] = "amd64g_dirtyhelper_CPUID_";
   if (shown_size == 0 || st->tag != Ist_Dirty
       || VG_(strncmp)(st->Ist.Dirty.details->cee->name, helper,
                       sizeof helper - 1) != 0)
      return IRTemp_INVALID;
   IRExpr* const leaf = low(out, offsetof(VexGuestAMD64State, guest_RAX));
   IRExpr* const sub = low(out, offsetof(VexGuestAMD64State, guest_RCX));
   const IRTemp other = assign(out, Ity_I32,
                               IRExpr_Binop(Iop_Xor32, leaf,
                                            IRExpr_Const(IRConst_U32(SIZE_LEAF))));
   const IRTemp any = assign(out, Ity_I32,
                             IRExpr_Binop(Iop_Or32, IRExpr_RdTmp(other), sub));
   return assign(out, Ity_I1,
                 IRExpr_Binop(Iop_CmpEQ32, IRExpr_RdTmp(any),
                              IRExpr_Const(IRConst_U32(0))));
}

void tg_native_cpuid_after(IRSB* out, IRTemp is_size)
{
   const Int ebx = offsetof(VexGuestAMD64State, guest_RBX);
   if (is_size == IRTemp_INVALID)
      return;
   const IRTemp reported = assign(out, Ity_I64, IRExpr_Get(ebx, Ity_I64));
   const IRTemp now = assign(out, Ity_I64,
                             IRExpr_ITE(IRExpr_RdTmp(is_size),
                                        IRExpr_Const(IRConst_U64(shown_size)),
                                        IRExpr_RdTmp(reported)));
   addStmtToIRSB(out, IRStmt_Put(ebx, IRExpr_RdTmp(now)));
}

#else

void tg_native_cpuid_init(void) { shown_size = 0; }

IRTemp tg_native_cpuid_before(IRSB* out, const IRStmt* st)
{
   (void)out;
   (void)st;
   return IRTemp_INVALID;
}

void tg_native_cpuid_after(IRSB* out, IRTemp is_size)
{
   (void)out;
   (void)is_size;
}

#endif
