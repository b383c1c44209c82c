/* Splits addresses into base and offset. See tool/addresses.h. */

#include "pub_tool_basics.h"

#include "pub_tool_mallocfree.h"
#include "pub_tool_tooliface.h"

#include "tool/addresses.h"

/* Base and offset of each temporary of the block. */
static TgAddress* derived;
static Int n_derived;

/* Sums and shifts that the block has computed: Vex computes the address of
   a[i] anew for each access, in temporaries of their own. */
typedef struct {
   IROp op;          /* Iop_INVALID: free */
   IRTemp arg1;      /* roots */
   UWord arg2;       /* a root, or the bits of a shift */
   TgAddress result;   /* of op on the roots */
} Computed;

enum { N_COMPUTED = 64 };
static Computed computed[N_COMPUTED];

#if VEX_HOST_WORDSIZE == 8
#define ADD Iop_Add64
#define SUB Iop_Sub64
#define SHL Iop_Shl64
#else
#define ADD Iop_Add32
#define SUB Iop_Sub32
#define SHL Iop_Shl32
#endif

void tg_addresses_forget(Int n_temps)
{
   if (n_temps > n_derived) {
      n_derived = n_temps * 2;
      derived = VG_(realloc)("tg.addresses.derived", derived,
                             (SizeT)n_derived * sizeof *derived);
   }
   for (Int i = 0; i < n_temps; i++)
      derived[i] = (TgAddress){ (IRTemp)i, 0 };
   for (UInt i = 0; i < N_COMPUTED; i++)
      computed[i].op = Iop_INVALID;
}

Bool tg_constant_of(const IRExpr* e, UWord* c)
{
   if (e->tag != Iex_Const)
      return False;
   switch (e->Iex.Const.con->tag) {
   case Ico_U64: *c = (UWord)e->Iex.Const.con->Ico.U64; return True;
   case Ico_U32: *c = e->Iex.Const.con->Ico.U32; return True;
   default: return False;
   }
}

TgAddress tg_address_of(const IRExpr* atom)
{
   TgAddress a = { IRTemp_INVALID, 0 };
   if (atom->tag == Iex_RdTmp)
      a = derived[atom->Iex.RdTmp.tmp];
   else
      tg_constant_of(atom, &a.offset);
   return a;
}

/* t is `op` on the roots arg1 and arg2, plus `offset`. It gets the root of the last temporary with
   the same operation and roots, or becomes the root of later ones. */
static void relate(IRTemp t, IROp op, IRTemp arg1, UWord arg2, UWord offset)
{
   Computed* c = &computed[((UWord)op + arg1 * 7 + arg2 * 31) % N_COMPUTED];
   if (c->op == op && c->arg1 == arg1 && c->arg2 == arg2) {
      derived[t] = (TgAddress){ c->result.root, c->result.offset + offset };
   } else {
      *c = (Computed){ op, arg1, arg2, { t, -offset } };
   }
}

void tg_addresses_derive(IRTemp t, const IRExpr* e)
{
   if (e->tag == Iex_RdTmp) {
      derived[t] = derived[e->Iex.RdTmp.tmp];
      return;
   }
   if (e->tag != Iex_Binop || e->Iex.Binop.arg1->tag != Iex_RdTmp)
      return;
   const IROp op = e->Iex.Binop.op;
   const IRExpr* arg2 = e->Iex.Binop.arg2;
   const TgAddress a = derived[e->Iex.Binop.arg1->Iex.RdTmp.tmp];
   UWord c;
   if (op == ADD && tg_constant_of(arg2, &c)) {
      derived[t] = (TgAddress){ a.root, a.offset + c };
   } else if (op == SUB && tg_constant_of(arg2, &c)) {
      derived[t] = (TgAddress){ a.root, a.offset - c };
   } else if (op == ADD && arg2->tag == Iex_RdTmp) {
      const TgAddress b = derived[arg2->Iex.RdTmp.tmp];
      relate(t, op, a.root, b.root, a.offset + b.offset);
   } else if (op == SHL && arg2->tag == Iex_Const) {
      const UChar distance = arg2->Iex.Const.con->Ico.U8;
      relate(t, op, a.root, distance, a.offset << distance);
   }
}
