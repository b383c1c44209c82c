/* Instruments superblocks for the call stacks. See tool/call_code.h. */

#include "pub_tool_basics.h"

#include "pub_tool_debuginfo.h"
#include "pub_tool_libcbase.h"
#include "pub_tool_machine.h"
#include "pub_tool_tooliface.h"

#include "arch/arch.h"
#include "arch/state_call.h"
#include "calls/call_stack.h"
#include "calls/collection.h"
#include "faults/touches.h"
#include "tool/addresses.h"
#include "tool/call_code.h"

#if VEX_HOST_WORDSIZE == 8
#define WORD_TYPE Ity_I64
#define WORD_CONST(w) IRExpr_Const(IRConst_U64(w))
#define IS_NOT Iop_CmpNE64
#define IS_SAME Iop_CmpEQ64
#define WIDEN Iop_1Uto64
#define ADD Iop_Add64
#define IS_BELOW Iop_CmpLT64U
#else
#define WORD_TYPE Ity_I32
#define WORD_CONST(w) IRExpr_Const(IRConst_U32(w))
#define IS_NOT Iop_CmpNE32
#define IS_SAME Iop_CmpEQ32
#define WIDEN Iop_1Uto32
#define ADD Iop_Add32
#define IS_BELOW Iop_CmpLT32U
#endif

static IRExpr* temp(IRSB* out, IRType type, IRExpr* value)
{
   const IRTemp t = newIRTemp(out->tyenv, type);
   addStmtToIRSB(out, IRStmt_WrTmp(t, value));
   return IRExpr_RdTmp(t);
}

enum { LEFT = TG_THREAD_OFFSET(calls.left), REFS = TG_THREAD_OFFSET(calls.refs) };

static void put_left(IRSB* out, UWord site)
{
   addStmtToIRSB(out, IRStmt_Put(LEFT, WORD_CONST(site)));
}

void tg_call_code_begin(IRSB* out, TgSite* first)
{
   if (!tg_call_stacks_on)
      return;
   IRExpr* left = temp(out, WORD_TYPE, IRExpr_Get(LEFT, WORD_TYPE));
   IRDirty* d = tg_state_call("tg_call_stack_enter", (void*)tg_call_stack_enter,
                              mkIRExprVec_2(NULL, WORD_CONST((Addr)tg_entry_of(first))));
   d->guard = temp(out, Ity_I1, IRExpr_Binop(IS_NOT, left, WORD_CONST(0)));
   d->nFxState = 1;
   VG_(memset)(&d->fxState[0], 0, sizeof d->fxState[0]);
   d->fxState[0].fx = Ifx_Modify;
   d->fxState[0].offset = TG_THREAD_OFFSET(calls);
   d->fxState[0].size = sizeof(TgCallArea);
   addStmtToIRSB(out, IRStmt_Dirty(d));
}

/* --- Functions from whose begin to whose end something is done otherwise --- */

/* What is known of such a function in each thread. */
typedef struct {
   Int area; /* where, and how many bytes */
   Int size;
   Int until; /* the stack pointer above which it has been left */
   Int back;  /* where it has been left with that stack pointer */
} Extent;

static const Extent collection = { TG_THREAD_OFFSET(collection), sizeof(TgActiveArea),
                                   TG_THREAD_OFFSET(collection.until),
                                   TG_THREAD_OFFSET(collection.back) };
static const Extent touches = { TG_THREAD_OFFSET(touches), sizeof(TgActiveArea),
                                TG_THREAD_OFFSET(touches.until), TG_THREAD_OFFSET(touches.back) };

static void call(IRSB* out, const HChar* name, void (*f)(UChar*), const Extent* extent,
                 IRExpr* guard)
{
   IRDirty* d = tg_state_call(name, (void*)f, mkIRExprVec_1(NULL));
   if (guard != NULL)
      d->guard = guard;
   d->nFxState = 1;
   VG_(memset)(&d->fxState[0], 0, sizeof d->fxState[0]);
   d->fxState[0].fx = Ifx_Modify;
   d->fxState[0].offset = (UShort)extent->area;
   d->fxState[0].size = (UShort)extent->size;
   addStmtToIRSB(out, IRStmt_Dirty(d));
}

static void call_when_left(IRSB* out, const HChar* name, void (*f)(UChar*), const Extent* extent,
                           Addr a, const VexGuestLayout* layout)
{
   IRExpr* until = temp(out, WORD_TYPE, IRExpr_Get(extent->until, WORD_TYPE));
   IRExpr* sp = temp(out, WORD_TYPE, IRExpr_Get(layout->offset_SP, WORD_TYPE));
   if (tg_arch.registers.links) {
      /* Where the function returns to, the same stack pointer is one above. */
      IRExpr* back = temp(out, WORD_TYPE, IRExpr_Get(extent->back, WORD_TYPE));
      IRExpr* is_back = temp(out, Ity_I1, IRExpr_Binop(IS_SAME, back, WORD_CONST(a)));
      IRExpr* more = temp(out, WORD_TYPE, IRExpr_Unop(WIDEN, is_back));
      sp = temp(out, WORD_TYPE, IRExpr_Binop(ADD, sp, more));
   }
   call(out, name, f, extent, temp(out, Ity_I1, IRExpr_Binop(IS_BELOW, until, sp)));
}

void tg_collection_code_enter(IRSB* out, Addr a)
{
   if (tg_collection_on && tg_collection_begins_at(a))
      call(out, "tg_collection_enter", tg_collection_enter, &collection, NULL);
}

void tg_collection_code_leave(IRSB* out, Addr a, const VexGuestLayout* layout)
{
   if (tg_collection_on)
      call_when_left(out, "tg_collection_leave", tg_collection_leave, &collection, a, layout);
}

void tg_touches_code_enter(IRSB* out, Addr a)
{
   if (tg_touches_on && tg_touches_locale_begins_at(a))
      call(out, "tg_touches_enter", tg_touches_enter, &touches, NULL);
}

void tg_touches_code_leave(IRSB* out, Addr a, const VexGuestLayout* layout)
{
   if (tg_touches_on)
      call_when_left(out, "tg_touches_leave", tg_touches_leave, &touches, a, layout);
}

/* --- How a block is left --- */

/* A function's instructions, as far as they have been seen; first 0: none. */
static struct {
   Addr first, last;
} seen;

void tg_call_code_changed(void)
{
   seen.first = 0;
}

static Bool is_seen(Addr a)
{
   return seen.first != 0 && a - seen.first <= seen.last - seen.first;
}

/* Whether code without symbols jumps to such code of the same object. */
static Bool both_are_nameless(Addr from, Addr to)
{
   const DiEpoch epoch = VG_(current_DiEpoch)();
   return tg_function_at(to) == 0
          && VG_(find_DebugInfo)(epoch, from) == VG_(find_DebugInfo)(epoch, to)
          && VG_(DebugInfo_sect_kind)(NULL, from) == VG_(DebugInfo_sect_kind)(NULL, to);
}

/* Whether a jump stays in the function, and does not lead to its begin. */
static Bool stays(Addr from, Addr to)
{
   if (!is_seen(from)) {
      seen.first = tg_function_at(from);
      seen.last = from;
   }
   if (seen.first == 0)
      return both_are_nameless(from, to);
   if (!is_seen(to)) {
      if (tg_function_at(to) != seen.first)
         return False;
      seen.last = to;
   }
   return tg_arch_global_entry(to) != seen.first;
}

Bool tg_call_code_leave(IRSB* out, TgSite* site, const IRExpr* to, IRJumpKind kind)
{
   UWord a;
   if (!tg_call_stacks_on)
      return False;
   const TgLeaving leaving = kind == Ijk_Ret ? TG_RETURNS
                             : kind == Ijk_Call && !tg_arch_only_jumps(site->address) ? TG_CALLS
                                                                                      : TG_JUMPS;
   if (leaving == TG_JUMPS && tg_constant_of(to, &a) && stays(site->address, a))
      return False;
   put_left(out, (Addr)tg_call_site_of(site, leaving));
   return True;
}

void tg_call_code_stay(IRSB* out)
{
   put_left(out, 0);
}

/* --- References --- */

void tg_call_code_count(IRSB* out, UInt reads, UInt writes, IRExpr* guard)
{
   if (!tg_call_stacks_on || reads + writes == 0)
      return;
   const ULong n = ((ULong)writes << TG_REFS_BITS) + reads;
   IRExpr* more = IRExpr_Const(IRConst_U64(n));
   if (guard != NULL)
      more = temp(out, Ity_I64, IRExpr_ITE(guard, more, IRExpr_Const(IRConst_U64(0))));
   IRExpr* before = temp(out, Ity_I64, IRExpr_Get(REFS, Ity_I64));
   IRExpr* sum = temp(out, Ity_I64, IRExpr_Binop(Iop_Add64, before, more));
   addStmtToIRSB(out, IRStmt_Put(REFS, sum));
}
