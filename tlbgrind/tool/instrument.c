/* Instruments superblocks. See tool/instrument.h.

   References are counted as by cachegrind: every instruction is a fetch; a load and an adjacent
   store of the same bytes by one instruction (a modify) are one read; a compare-and-swap is a
   modify; guarded references count when they are made.

   Fetches are looked up where the page can change: at the block's begin, at an instruction that
   begins in another page than the last one ended, and at one that crosses into the next page. All
   others hit the entry that was referenced last on their side, which changes no array under any
   policy. */

#include "pub_tool_basics.h"

#include "pub_tool_libcassert.h"
#include "pub_tool_libcbase.h"
#include "pub_tool_machine.h"
#include "pub_tool_mallocfree.h"
#include "pub_tool_tooliface.h"
#include "pub_tool_xarray.h"

#include "trace/superblocks.h"
#include "engine/check.h"
#include "faults/touches.h"
#include "order/code_entries.h"
#include "trace/shadow_area.h"
#include "calls/call_stack.h"
#include "calls/collection.h"
#include "tool/addresses.h"
#include "tool/call_code.h"
#include "tool/instrument.h"
#include "tool/prefetch_code.h"
#include "tool/sample_code.h"
#include "tool/unmatched.h"
#include "arch/arch.h"
#include "arch/state_call.h"
#include "attribution/made_code.h"
#include "attribution/sites.h"
#include "native/running_on_valgrind.h"
#include "space/merged_code.h"
#include "trace/instrumentation.h"
#include "trace/run_mmus.h"
#include "data/blocks.h"
#include "data/references.h"
#include "order/data_uses.h"

/* References with one base within MAX_SPAN bytes are a group, looked up together. A larger value
   means fewer groups, but more groups that span two pages, whose segments are replayed. */
enum { MAX_SPAN = 256 };

static UInt page_shift;
static Bool as_cachegrind;
static Bool prefetches; /* they are simulated */
static Bool faults; /* first touches of pages are recorded while instrumentation is off, too */

/* An argument of a call that is to be a segment's address. */
typedef struct {
   IRConst* address;
   UInt segment; /* its number in the block */
} SegmentArg;

static XArray* segment_args; /* SegmentArg, of one block: set when it is finished */

/* The block that is being instrumented. */
typedef struct {
   IRSB* out;
   const VexGuestExtents* extents;
   Int ip_offset;         /* of the guest's instruction pointer */
   TgSite* site;          /* of the current instruction */
   UWord fetched_page;    /* of the last fetch; TLB_NO_PAGE at the begin */
   Bool data_since_fetch; /* a data reference has been made since */
   IRExpr* last_atom;     /* the address of the last reference */
   UInt n_segments;       /* begun so far */
   /* Of the segment that is open: */
   Bool segment_open;
   UInt n_refs[TLB_N_USERS];
   UInt n_bases;
   IRTemp base_root[TG_MAX_BASES]; /* the roots of its bases */
} Block;

#if VEX_HOST_WORDSIZE == 8
#define WIDEN Iop_1Uto64
#define WORD_TYPE Ity_I64
#define WORD_CONST(w) IRConst_U64(w)
#else
#define WIDEN Iop_1Uto32
#define WORD_TYPE Ity_I32
#define WORD_CONST(w) IRConst_U32(w)
#endif

void tg_instrument_init(const TgOptions* options)
{
   page_shift = options->page_shift;
   as_cachegrind = options->as_cachegrind;
   faults = options->faults.simulated;
   prefetches = options->kernel.prefetches;
   segment_args = VG_(newXA)(VG_(malloc), "tg.instrument.args", VG_(free),
                             sizeof(SegmentArg));
}

/* --- Segments --- */

static void put_shadow(const Block* b, SizeT offset, IRExpr* atom)
{
   addStmtToIRSB(b->out, IRStmt_Put(TG_THREAD_OFFSET(segment) + (Int)offset, atom));
}

/* Stores the number of the current segment in the shadow area; 0: none. */
static void put_segment(Block* b, UInt number)
{
   put_shadow(b, offsetof(TgShadowArea, segment), IRExpr_Const(WORD_CONST(number)));
}

static void begin_segment(Block* b)
{
   put_segment(b, tg_segment_begin());
   b->n_segments++;
   b->n_bases = 0;
   b->n_refs[TLB_LOAD] = b->n_refs[TLB_STORE] = 0;
   b->last_atom = NULL;
}

/* Adds a call of a function like those of engine/check.h for the current segment. */
static void call_check(const Block* b, const HChar* name, void* function, IRExpr* happens)
{
   const SegmentArg arg = { WORD_CONST(0), b->n_segments - 1 };
   IRExpr* s = IRExpr_Const(arg.address);
   VG_(addToXA)(segment_args, &arg);
   IRDirty* d = tg_state_call(name, function, happens == NULL ? mkIRExprVec_2(NULL, s)
                                                              : mkIRExprVec_3(NULL, s, happens));
   /* It reads TgShadowArea and nothing else of the guest state. */
   d->nFxState = 1;
   VG_(memset)(&d->fxState[0], 0, sizeof d->fxState[0]);
   d->fxState[0].fx = Ifx_Read;
   d->fxState[0].offset = TG_THREAD_OFFSET(segment);
   d->fxState[0].size = sizeof(TgShadowArea);
   addStmtToIRSB(b->out, IRStmt_Dirty(d));
}

static Bool has_data(const TgSegment* s)
{
   return s->n_refs > s->n_fetches;
}

static void end_segment(Block* b)
{
   if (b->segment_open) {
      tg_call_code_count(b->out, b->n_refs[TLB_LOAD], b->n_refs[TLB_STORE], NULL);
      if (tg_data_on && tg_instrumented && has_data(tg_segment_at_hand()))
         call_check(b, "tg_data_check", tg_data_check, NULL);
      if (tg_instrumented && tg_segment_at_hand()->n_fetches > 0)
         tg_sample_code(b->out);
      call_check(b, "tg_check", tg_check_for(tg_segment_at_hand()), NULL);
   }
   b->segment_open = False;
}

static void need_segment(Block* b)
{
   if (!b->segment_open)
      begin_segment(b);
   b->segment_open = True;
}

/* Stores the addresses of the segments as arguments of the calls. */
static void fill_in_segments(const TgSuperblock* s, UInt n_segments)
{
   tl_assert(n_segments == s->n_segments);
   for (Word i = 0; i < VG_(sizeXA)(segment_args); i++) {
      const SegmentArg* arg = VG_(indexXA)(segment_args, i);
      if (VEX_HOST_WORDSIZE == 8)
         arg->address->Ico.U64 = (Addr)s->segment[arg->segment];
      else
         arg->address->Ico.U32 = (UInt)(Addr)s->segment[arg->segment];
   }
}

/* The number of the address's base in the segment. Begins a new segment if this one has no room for
   another base. */
static UInt base_of(Block* b, TgAddress a)
{
   if (a.root == IRTemp_INVALID)
      return TG_NO_BASE;
   for (UInt i = 0; i < b->n_bases; i++) {
      if (b->base_root[i] == a.root)
         return i;
   }
   if (b->n_bases == TG_MAX_BASES) {
      end_segment(b);
      need_segment(b);
   }
   b->base_root[b->n_bases] = a.root;
   put_shadow(b, offsetof(TgShadowArea, base[0]) + b->n_bases * sizeof(UWord),
           IRExpr_RdTmp(a.root));
   return b->n_bases++;
}

/* Extends a group of the base by `size` bytes at `offset`, or makes a new group. */
static void join_group(UInt base, UWord offset, UInt size, UShort ref,
                       tlb_user kind)
{
   const UInt n = tg_segment_at_hand()->n_groups;
   for (UInt i = 0; i < n; i++) {
      TgGroup* g = tg_segment_group(i);
      if (g->base != base
          || (tg_mmus.traits.split && g->probe_at != tlb_probe_at(kind)))
         continue;
      /* Differences are compared, because addresses may wrap around. */
      const Word below = (Word)(g->first - offset);
      const Word above = (Word)(offset + size - 1 - (g->first + g->span));
      const UInt span = g->span + (below > 0 ? (UInt)below : 0)
                        + (above > 0 ? (UInt)above : 0);
      if (below >= MAX_SPAN || above >= MAX_SPAN
          || (span >= MAX_SPAN && span != g->span))
         continue;
      g->first = below > 0 ? offset : g->first;
      g->span = (UShort)span;
      g->newest = ref;
      if (kind == TLB_STORE)
         g->probe_at = tlb_probe_at(TLB_STORE);
      return;
   }
   tg_segment_add_group((TgGroup){ .first = offset, .span = (UShort)(size - 1),
                                   .oldest = ref, .newest = ref,
                                   .base = (UChar)base,
                                   .probe_at = tlb_probe_at(kind) });
}

/* --- References --- */

/* A second fetch from the same page changes nothing, unless an array holds code and data: then data
   referenced in between can have evicted the page's entry or be more recent. */
static void fetch_page(Block* b, Addr a, Bool crossing)
{
   const UWord page = tg_merged_code_address(a) >> page_shift;
   if (page == b->fetched_page && !(tg_mmus.traits.mixed && b->data_since_fetch))
      return;
   b->fetched_page = page;
   b->data_since_fetch = False;
   tg_segment_add_ref((TgRef){ .site = b->site, .at.page = tlb_record_of(&tg_mmus, TLB_CODE, page),
                               .size = crossing, .kind = TLB_FETCH });
   b->last_atom = NULL;
}

static void fetch(Block* b, Addr a, UInt size)
{
   need_segment(b);
   b->site = tg_site_use(a);
   tg_site_set_length(b->site, (UChar)size);
   tg_segment_add_instr(b->site);
   fetch_page(b, a, False);
   fetch_page(b, a + size - 1, True);
   b->last_atom = NULL;
}

/* The instruction is a prefetch: what the program has done before is simulated first. */
static void prefetch(Block* b, const IRStmt* mark)
{
   tg_prefetch p;
   if (!tg_prefetch_code_finds(mark->Ist.IMark.addr, mark->Ist.IMark.len, &p))
      return;
   end_segment(b);
   tg_prefetch_code_add(b->out, b->site, mark->Ist.IMark.addr, &p);
   b->data_since_fetch = True;
}

static void data(Block* b, tlb_user kind, IRExpr* atom, UInt size)
{
   need_segment(b);
   /* Room for two references: see data_write(b). */
   const TgSegment* s = tg_segment_at_hand();
   if (s->n_groups + 2u > TG_MAX_GROUPS
       || s->n_refs + 2u > tg_max_refs(tg_n_instrs(s))) {
      end_segment(b);
      need_segment(b);
   }
   const TgAddress a = tg_address_of(atom);
   const UInt base = base_of(b, a);
   const UShort ref = tg_segment_add_ref(
      (TgRef){ .site = b->site, .at.offset = a.offset, .size = (UShort)size,
               .base = (UChar)base, .kind = (UChar)kind });
   join_group(base, a.offset, size, ref, kind);
   b->n_refs[kind]++;
   b->last_atom = atom;
   b->data_since_fetch = True;
}

static void data_read(Block* b, IRExpr* atom, UInt size)
{
   data(b, TLB_LOAD, atom, size);
}

/* A write of what the instruction has just read makes the read a modify. */
static void data_write(Block* b, IRExpr* atom, UInt size)
{
   TgRef* last = b->segment_open ? tg_segment_last_ref() : NULL;
   if (last != NULL && b->last_atom != NULL && last->kind == TLB_LOAD
       && last->site == b->site && last->size == size
       && eqIRAtom(b->last_atom, atom)) {
      last->modifies = True;
      join_group(last->base, last->at.offset, size,
                 (UShort)(tg_segment_at_hand()->n_refs - 1), TLB_STORE);
      b->last_atom = NULL;
      return;
   }
   data(b, TLB_STORE, atom, size);
}

/* For a locked instruction Vex has a load and a compare-and-swap. Both are counted, as by
   cachegrind; the processor makes one touch, a write. */
static void is_locked(Block* b, const IRExpr* atom)
{
   TgRef* last = b->segment_open ? tg_segment_last_ref() : NULL;
   if (last != NULL && b->last_atom != NULL && last->kind == TLB_LOAD
       && last->site == b->site && eqIRAtom(b->last_atom, atom))
      last->locked = True;
}

/* A reference that is made only if the guard holds, in a segment of its own.
   `helper`: of a helper function, see TgSuperblockTotals. */
static void data_guarded(Block* b, tlb_user kind, IRExpr* atom, UInt size, IRExpr* guard,
                         Bool helper)
{
   end_segment(b);
   begin_segment(b);
   tg_segment_at_hand()->guarded = True;
   tg_segment_at_hand()->helper = helper != 0;
   const TgAddress a = tg_address_of(atom);
   const UInt base = base_of(b, a);
   tg_segment_add_ref((TgRef){ .site = b->site, .at.offset = a.offset,
                               .size = (UShort)size, .base = (UChar)base,
                               .kind = (UChar)kind });
   b->data_since_fetch = True;
   tg_call_code_count(b->out, kind == TLB_LOAD, kind == TLB_STORE, guard);
   const IRTemp happens = newIRTemp(b->out->tyenv, WORD_TYPE);
   addStmtToIRSB(b->out, IRStmt_WrTmp(happens, IRExpr_Unop(WIDEN, guard)));
   call_check(b, "tg_check_guarded", tg_check_for_guarded(), IRExpr_RdTmp(happens));
}

static Bool always(const IRExpr* guard)
{
   return guard == NULL
          || (guard->tag == Iex_Const && guard->Iex.Const.con->tag == Ico_U1
              && guard->Iex.Const.con->Ico.U1);
}

/* Calls of Vex's helpers, which implement fxsave, xsave, fnstenv, cpuid. */
static void helper(Block* b, const IRDirty* d)
{
   if (d->mFx == Ifx_None)
      return;
   /* engine/replay.c assumes that no reference is longer than the smallest page. */
   tl_assert(d->mSize > 0 && d->mSize <= 4096);
   const Bool reads = d->mFx == Ifx_Read || d->mFx == Ifx_Modify;
   const Bool writes = d->mFx == Ifx_Write || d->mFx == Ifx_Modify;
   const UInt size = (UInt)d->mSize;
   if (always(d->guard) || as_cachegrind) {
      if (reads)
         data_read(b, d->mAddr, size);
      if (writes)
         data_write(b, d->mAddr, size);
   } else {
      /* A modify is one read, guarded or not. */
      data_guarded(b, reads ? TLB_LOAD : TLB_STORE, d->mAddr, size, d->guard, True);
   }
}

/* Whether a jump to `to` may lead into this block. */
static Bool may_return(const Block* b, const IRExpr* to)
{
   UWord a;
   if (!tg_constant_of(to, &a))
      return True;
   for (Int i = 0; i < b->extents->n_used; i++) {
      if (a - b->extents->base[i] < b->extents->len[i])
         return True;
   }
   return False;
}

/* Before an exit to an address in this block, stores that there is no current segment: a signal
   that is delivered at that address would otherwise look like a fault of the segment. */
static void leave(Block* b, const IRExpr* to)
{
   end_segment(b);
   if (may_return(b, to))
      put_segment(b, 0);
}

/* Whether the expression is a division that can fault. Vex updates the guest's instruction pointer
   only before accesses to memory, but engine/replay.c needs it to find the references before a
   fault. */
static Bool may_fault(const IRExpr* e)
{
   if (e->tag != Iex_Binop)
      return False;
   switch (e->Iex.Binop.op) {
   case Iop_DivModU64to32: case Iop_DivModS64to32:
   case Iop_DivModU128to64: case Iop_DivModS128to64:
      return True;
   default:
      return False;
   }
}

static void update_ip(const Block* b)
{
   addStmtToIRSB(b->out, IRStmt_Put(b->ip_offset,
                                 IRExpr_Const(WORD_CONST(b->site->address))));
}

static void statement(Block* b, const IRStmt* st)
{
   const IRTypeEnv* types = b->out->tyenv;
   switch (st->tag) {
   case Ist_NoOp:
   case Ist_AbiHint:
   case Ist_Put:
   case Ist_PutI:
   case Ist_MBE:
      break;

   case Ist_IMark:
      /* Length 0: Vex cannot decode the instruction. */
      fetch(b, st->Ist.IMark.addr,
            st->Ist.IMark.len == 0 ? VG_MIN_INSTR_SZB : st->Ist.IMark.len);
      break;

   case Ist_WrTmp: {
      const IRExpr* e = st->Ist.WrTmp.data;
      if (e->tag == Iex_Load)
         data_read(b, e->Iex.Load.addr, (UInt)sizeofIRType(e->Iex.Load.ty));
      else
         tg_addresses_derive(st->Ist.WrTmp.tmp, e);
      if (may_fault(e))
         update_ip(b);
      break;
   }

   case Ist_Store:
      data_write(b, st->Ist.Store.addr,
                 (UInt)sizeofIRType(typeOfIRExpr(types, st->Ist.Store.data)));
      break;

   case Ist_LoadG: {
      const IRLoadG* lg = st->Ist.LoadG.details;
      IRType loaded, widened;
      typeOfIRLoadGOp(lg->cvt, &widened, &loaded);
      data_guarded(b, TLB_LOAD, lg->addr, (UInt)sizeofIRType(loaded), lg->guard,
                   False);
      break;
   }

   case Ist_StoreG: {
      const IRStoreG* sg = st->Ist.StoreG.details;
      data_guarded(b, TLB_STORE, sg->addr,
                   (UInt)sizeofIRType(typeOfIRExpr(types, sg->data)),
                   sg->guard, False);
      break;
   }

   case Ist_CAS: {
      /* A read and a write, whether it succeeds or not; the halves of a double one are adjacent. */
      const IRCAS* cas = st->Ist.CAS.details;
      const UInt size = (UInt)sizeofIRType(typeOfIRExpr(types, cas->dataLo))
                        * (cas->dataHi != NULL ? 2 : 1);
      is_locked(b, cas->addr);
      data_read(b, cas->addr, size);
      data_write(b, cas->addr, size);
      break;
   }

   case Ist_LLSC: {
      const IRExpr* stored = st->Ist.LLSC.storedata;
      if (stored == NULL) {
         data_read(b, st->Ist.LLSC.addr,
                   (UInt)sizeofIRType(typeOfIRTemp(types,
                                                   st->Ist.LLSC.result)));
         /* Calls between load-linked and store-conditional could make the latter fail. */
         end_segment(b);
      } else {
         data_write(b, st->Ist.LLSC.addr,
                    (UInt)sizeofIRType(typeOfIRExpr(types, stored)));
      }
      break;
   }

   case Ist_Dirty:
      helper(b, st->Ist.Dirty.details);
      break;

   case Ist_Exit:
      leave(b, IRExpr_Const(st->Ist.Exit.dst));
      break;

   default:
      ppIRStmt(st);
      VG_(tool_panic)("tlbgrind: unknown kind of IR statement");
   }
}

/* A block while instrumentation is off: as it is, but for what changes the program's view of the
   processor and of Valgrind. */
static void copy_uninstrumented(const Block* b, const IRSB* in)
{
   tg_data_uses_block(b->extents->base[0]);
   for (Int i = 0; i < in->stmts_used; i++) {
      tg_arch_add_statement(b->out, in->stmts[i]);
      tg_data_uses_statement(b->out, in, i);
   }
   tg_running_on_valgrind_end(b->out);
}

/* Instruments a block, with what notes calls and the program's allocator. */
static void instrument(Block* b, const IRSB* in, const VexGuestLayout* layout)
{
   const Addr entry = b->extents->base[0];
   Int i = 0;
   tg_data_uses_block(entry);
   /* Statements before the first instruction are Vex's own, such as the check for self-modifying
      code. */
   while (i < in->stmts_used && in->stmts[i]->tag != Ist_IMark)
      addStmtToIRSB(b->out, in->stmts[i++]);
   if (tg_data_objects_on)
      tg_blocks_begin(b->out, entry, layout);

   if (tg_instrumented)
      tg_collection_code_enter(b->out, entry);
   tg_touches_code_enter(b->out, entry);
   const Int first = i;
   for (; i < in->stmts_used; i++) {
      const IRStmt* st = in->stmts[i];
      statement(b, st);
      if (i == first) {
         tg_call_code_begin(b->out, b->site);
         tg_collection_code_leave(b->out, entry, layout);
         tg_touches_code_leave(b->out, entry, layout);
      }
      const Bool noted = st->tag == Ist_Exit
                         && tg_call_code_leave(b->out, b->site, IRExpr_Const(st->Ist.Exit.dst),
                                               st->Ist.Exit.jk);
      tg_arch_add_statement(b->out, in->stmts[i]);
      tg_data_uses_statement(b->out, in, i);
      if (prefetches && tg_instrumented && st->tag == Ist_IMark)
         prefetch(b, st);
      if (noted)
         tg_call_code_stay(b->out);
   }
   leave(b, in->next);
   tg_call_code_leave(b->out, b->site, in->next, in->jumpkind);
   tg_running_on_valgrind_end(b->out);
   if (tg_data_objects_on)
      tg_blocks_end(b->out, layout);
}

/* Code that has been rewritten is other code, and so is the rest of its block. */
static void forget_rewritten(const IRSB* in, const VexGuestExtents* vge)
{
   for (Int i = 0; tg_has_made_code && i < in->stmts_used; i++) {
      const IRStmt* st = in->stmts[i];
      if (st->tag != Ist_IMark
          || !tg_sites_is_rewritten(st->Ist.IMark.addr, (UChar)st->Ist.IMark.len))
         continue;
      for (UInt j = 0; j < vge->n_used; j++)
         tg_sites_unmapped(vge->base[j], vge->len[j]);
      return;
   }
}

IRSB* tg_instrument(VgCallbackClosure* closure, IRSB* in,
                    const VexGuestLayout* layout, const VexGuestExtents* vge,
                    const VexArchInfo* archinfo_host, IRType guest_word,
                    IRType host_word)
{
   (void)archinfo_host;
   const Addr entry = vge->base[0];
   Block b = { .out = deepCopyIRSBExceptStmts(in), .extents = vge,
               .ip_offset = layout->offset_IP, .fetched_page = TLB_NO_PAGE };
   if (guest_word != host_word)
      VG_(tool_panic)("tlbgrind: guest and host have different word sizes");

   tg_call_stacks_sp(layout->offset_SP);
   tg_collection_sp(layout->offset_SP);
   tg_touches_sp(layout->offset_SP);
   tl_assert(layout->total_sizeB == TG_SHADOW_OFFSET);
   VG_(dropTailXA)(segment_args, VG_(sizeXA)(segment_args));
   tg_addresses_forget(in->tyenv->types_used);
   tg_unmatched_block(entry);
   tg_code_entries_block(closure->nraddr, closure->nraddr == entry ? vge->len[0] : 0);
   if (tg_instrumented || faults) {
      forget_rewritten(in, vge);
      tg_sites_begin_block();
      tg_superblock_begin();
      instrument(&b, in, layout);
      tg_sites_end_block();
      fill_in_segments(tg_superblock_finish(entry, closure->nraddr), b.n_segments);
      return b.out;
   }
   if (tg_data_objects_on)
      tg_blocks_begin(b.out, entry, layout);
   copy_uninstrumented(&b, in);
   if (tg_data_objects_on)
      tg_blocks_end(b.out, layout);
   return b.out;
}
