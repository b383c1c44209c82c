/* Probes: the code that is put into translated code. See tg_probe.h. */

#include "pub_tool_basics.h"

#include "pub_tool_libcassert.h"
#include "pub_tool_libcbase.h"
#include "pub_tool_machine.h"
#include "pub_tool_tooliface.h"

#include "tg_hot.h"
#include "tg_probe.h"
#include "tg_replay.h"
#include "tg_translate.h"

#if VEX_HOST_WORDSIZE == 8
#define WORD(op) Iop_##op##64
#define WORD_TYPE Ity_I64
#define WORD_LT Iop_CmpLT64U
#else
#define WORD(op) Iop_##op##32
#define WORD_TYPE Ity_I32
#define WORD_LT Iop_CmpLT32U
#endif

static UInt page_shift;
static Bool fast_path;
static Bool fetch_times;
static Bool data_times;

/* The block that is being built. */
static IRSB* out;
static Int hot_offset;

/* The values of the segment's bases. */
static IRExpr* base[TG_MAX_BASES];

void tg_probe_init(UInt shift, Bool fast)
{
   page_shift = shift;
   fast_path = fast;
   fetch_times = tg_translate_needs_time(TG_FETCH);
   data_times = tg_translate_needs_time(TG_READ);
}

/* --- Small pieces of IR --- */

static void add(IRStmt* st)
{
   addStmtToIRSB(out, st);
}

/* A new temporary with that value. */
static IRExpr* value(IRType type, IRExpr* e)
{
   const IRTemp t = newIRTemp(out->tyenv, type);
   add(IRStmt_WrTmp(t, e));
   return IRExpr_RdTmp(t);
}

static IRExpr* word(UWord w)
{
#if VEX_HOST_WORDSIZE == 8
   return IRExpr_Const(IRConst_U64(w));
#else
   return IRExpr_Const(IRConst_U32(w));
#endif
}

static IRExpr* binary(IROp op, IRExpr* a, IRExpr* b)
{
   return value(WORD_TYPE, IRExpr_Binop(op, a, b));
}

static IRExpr* plus(IRExpr* a, UWord n)
{
   return n == 0 ? a : binary(WORD(Add), a, word(n));
}

static IRExpr* load(IRType type, IRExpr* address)
{
   return value(type, IRExpr_Load(Iend_LE, type, address));
}

static void store(IRExpr* address, IRExpr* what)
{
   add(IRStmt_Store(Iend_LE, address, what));
}

static Int in_hot(SizeT offset)
{
   return hot_offset + (Int)offset;
}

static IRExpr* get_hot(IRType type, SizeT offset)
{
   return value(type, IRExpr_Get(in_hot(offset), type));
}

static void put_hot(SizeT offset, IRExpr* atom)
{
   add(IRStmt_Put(in_hot(offset), atom));
}

static IRExpr* plus_64(IRExpr* a, ULong n)
{
   return n == 0 ? a
                 : value(Ity_I64, IRExpr_Binop(Iop_Add64, a,
                                               IRExpr_Const(IRConst_U64(n))));
}

static void increment(ULong* counter)
{
   store(word((Addr)counter), plus_64(load(Ity_I64, word((Addr)counter)), 1));
}

/* Lets the clock go on by the segment's references. Returns its new time. */
static IRExpr* advance_clock(const TgSegment* s)
{
   IRExpr* clock = plus_64(get_hot(Ity_I64, offsetof(TgHot, clock)),
                           TG_TICKS * (ULong)s->n_refs);
   put_hot(offsetof(TgHot, clock), clock);
   return clock;
}

/* The time of the segment's reference of that number, given that of its last. */
static IRExpr* time_of(IRExpr* clock, const TgSegment* s, UInt ref)
{
   return plus_64(clock, TG_TICKS * ((ULong)ref + 1 - s->n_refs));
}

/* --- Segments --- */

void tg_probe_begin(IRSB* sb, const VexGuestLayout* layout)
{
   out = sb;
   hot_offset = layout->total_sizeB;
}

void tg_probe_enter(const TgSegment* s)
{
   put_hot(offsetof(TgHot, segment), word(s->number));
   if (!s->guarded)
      increment(s->entered);
   else if (s->attempted != NULL)
      increment(s->attempted);
}

void tg_probe_set_base(UInt number, IRExpr* atom)
{
   base[number] = atom;
   put_hot(offsetof(TgHot, base[0]) + number * sizeof(UWord), atom);
}

static void call(const HChar* name, void* helper, IRExpr* guard)
{
   /* No register parameters: Vex can not put the guest state's address into
      one on x86. */
   IRDirty* d = unsafeIRDirty_0_N(0, name, VG_(fnptr_to_fnentry)(helper),
                                  mkIRExprVec_1(IRExpr_GSPTR()));
   d->guard = guard;
   /* The helper reads TgHot and nothing else of the guest state. */
   d->nFxState = 1;
   VG_(memset)(&d->fxState[0], 0, sizeof d->fxState[0]);
   d->fxState[0].fx = Ifx_Read;
   d->fxState[0].offset = (UShort)hot_offset;
   d->fxState[0].size = sizeof(TgHot);
   add(IRStmt_Dirty(d));
}

static IRExpr* group_address(const TgGroup* g, UWord offset)
{
   return g->base == TG_NO_BASE ? word(offset) : plus(base[g->base], offset);
}

/* The slot of a group's first byte, as an offset into tg_slots. */
static IRExpr* slot_offset(const TgGroup* g)
{
   const UInt probe_shift = 4;
   tl_assert(sizeof(TgProbe) == 1 << probe_shift);
   IRExpr* page = binary(WORD(Shr), group_address(g, g->first),
                         IRExpr_Const(IRConst_U8(
                            (UChar)(page_shift - probe_shift))));
   return binary(WORD(And), page,
                 word((UWord)TG_SLOT_MASK << probe_shift));
}

/* Not zero in the bits of the page number if the group's page is not known. */
static IRExpr* group_differs(const TgGroup* g, IRExpr* slot)
{
   IRExpr* tag = load(WORD_TYPE, plus(slot, (Addr)&tg_slots[0].tag));
   return binary(WORD(Xor), group_address(g, g->last), tag);
}

static IRExpr* either(IRExpr* a, IRExpr* b)
{
   return a == NULL ? b : binary(WORD(Or), a, b);
}

/* Two groups can turn out to lie on one page: the one with the newer reference
   has to write last. */
static void store_data_times(const TgSegment* s, IRExpr* const* slot,
                             IRExpr* clock)
{
   UInt order[TG_MAX_GROUPS];
   for (UInt i = 0; i < s->n_groups; i++) {
      UInt at = i;
      while (at > 0 && s->group[order[at - 1]].newest > s->group[i].newest) {
         order[at] = order[at - 1];
         at--;
      }
      order[at] = i;
   }
   for (UInt i = 0; i < s->n_groups; i++)
      store(plus(slot[order[i]], (Addr)&tg_slots[0].time),
            time_of(clock, s, s->group[order[i]].newest));
}

/* The times of fetches and of data are only compared among themselves, so the
   one fetch that most segments have needs no time of its own. */
static void store_fetch_times(const TgSegment* s, IRExpr* clock)
{
   for (UInt i = 0; i < s->n_refs; i++) {
      if (s->ref[i].kind != TG_FETCH)
         continue;
      const TgProbe* probe = tg_code_probe(s->ref[i].at.page);
      store(word((Addr)&probe->time),
            s->n_fetches == 1 ? clock : time_of(clock, s, i));
   }
}

void tg_probe_check(const TgSegment* s)
{
   if (s->n_refs == 0)
      return;
   IRExpr* clock = advance_clock(s);
   if (!fast_path) {
      call("tg_replay", tg_replay, IRExpr_Const(IRConst_U1(True)));
      return;
   }

   IRExpr* differs = NULL;
   IRExpr* slot[TG_MAX_GROUPS];
   for (UInt i = 0; i < s->n_refs; i++) {
      if (s->ref[i].kind == TG_FETCH) {
         const TgProbe* probe = tg_code_probe(s->ref[i].at.page);
         differs = either(differs, load(WORD_TYPE, word((Addr)&probe->tag)));
      }
   }
   for (UInt i = 0; i < s->n_groups; i++) {
      slot[i] = slot_offset(&s->group[i]);
      differs = either(differs, group_differs(&s->group[i], slot[i]));
   }

   /* Bits below the page number say nothing. */
   const UWord largest_offset = ((UWord)1 << page_shift) - 1;
   call("tg_replay", tg_replay,
        value(Ity_I1, IRExpr_Binop(WORD_LT, word(largest_offset), differs)));

   /* After a replay these write what it has written already; where they would
      not, it has seen to it that they do no harm. */
   if (fetch_times)
      store_fetch_times(s, clock);
   if (data_times)
      store_data_times(s, slot, clock);
}

/* A guarded reference makes the clock go on whether it happens or not. */
void tg_probe_guarded(const TgSegment* s, IRExpr* guard)
{
   advance_clock(s);
   call("tg_replay_guarded", tg_replay_guarded, guard);
}

void tg_probe_leave(void)
{
   put_hot(offsetof(TgHot, segment), word(0));
}
