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

/* The block that is being instrumented. */
static IRSB* out;
static XArray* segment_args;  /* SegmentArg: set when the block is finished */
static UInt n_segments;       /* begun so far */
static Int ip_offset;         /* of the guest's instruction pointer */
static const VexGuestExtents* extents;
static UWord fetched_page;    /* of the last fetch; TLB_NO_PAGE at the begin */
static Bool data_since_fetch; /* a data reference has been made since */
static TgSite* site;          /* of the current instruction */
static IRExpr* last_atom;     /* the address of the last reference */
static Bool segment_open;
static UInt n_refs[TLB_N_USERS]; /* of the segment that is open */

/* The roots of the segment's bases. */
static IRTemp base_root[TG_MAX_BASES];
static UInt n_bases;

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

static void put_shadow(SizeT offset, IRExpr* atom)
{
   addStmtToIRSB(out, IRStmt_Put(TG_THREAD_OFFSET(segment) + (Int)offset, atom));
}

/* Stores the number of the current segment in the shadow area; 0: none. */
static void put_segment(UInt number)
{
   put_shadow(offsetof(TgShadowArea, segment), IRExpr_Const(WORD_CONST(number)));
}

static void begin_segment(void)
{
   put_segment(tg_segment_begin());
   n_segments++;
   n_bases = 0;
   n_refs[TLB_LOAD] = n_refs[TLB_STORE] = 0;
   last_atom = NULL;
}

/* Adds a call of a function like those of engine/check.h for the current segment. */
static void call_check(const HChar* name, void* function, IRExpr* happens)
{
   const SegmentArg arg = { WORD_CONST(0), n_segments - 1 };
   IRExpr* s = IRExpr_Const(arg.address);
   VG_(addToXA)(segment_args, &arg);
   /* No register parameters: Vex can not put the guest state's address into
      one on x86. */
   IRDirty* d = unsafeIRDirty_0_N(
      0, name, VG_(fnptr_to_fnentry)(function),
      happens == NULL ? mkIRExprVec_2(IRExpr_GSPTR(), s)
                      : mkIRExprVec_3(IRExpr_GSPTR(), s, happens));
   /* It reads TgShadowArea and nothing else of the guest state. */
   d->nFxState = 1;
   VG_(memset)(&d->fxState[0], 0, sizeof d->fxState[0]);
   d->fxState[0].fx = Ifx_Read;
   d->fxState[0].offset = TG_THREAD_OFFSET(segment);
   d->fxState[0].size = sizeof(TgShadowArea);
   addStmtToIRSB(out, IRStmt_Dirty(d));
}

static Bool has_data(const TgSegment* s)
{
   return s->n_refs > s->n_fetches;
}

static void end_segment(void)
{
   if (segment_open) {
      tg_call_code_count(out, n_refs[TLB_LOAD], n_refs[TLB_STORE], NULL);
      if (tg_data_on && tg_instrumented && has_data(tg_segment_at_hand()))
         call_check("tg_data_check", tg_data_check, NULL);
      if (tg_instrumented && tg_segment_at_hand()->n_fetches > 0)
         tg_sample_code(out);
      call_check("tg_check", tg_check_for(tg_segment_at_hand()), NULL);
   }
   segment_open = False;
}

static void need_segment(void)
{
   if (!segment_open)
      begin_segment();
   segment_open = True;
}

/* Stores the addresses of the segments as arguments of the calls. */
static void fill_in_segments(TgSuperblock* b)
{
   tl_assert(n_segments == b->n_segments);
   for (Word i = 0; i < VG_(sizeXA)(segment_args); i++) {
      const SegmentArg* arg = VG_(indexXA)(segment_args, i);
      if (VEX_HOST_WORDSIZE == 8)
         arg->address->Ico.U64 = (Addr)b->segment[arg->segment];
      else
         arg->address->Ico.U32 = (UInt)(Addr)b->segment[arg->segment];
   }
}

/* The number of the address's base in the segment. Begins a new segment if this one has no room for
   another base. */
static UInt base_of(TgAddress a)
{
   if (a.root == IRTemp_INVALID)
      return TG_NO_BASE;
   for (UInt i = 0; i < n_bases; i++) {
      if (base_root[i] == a.root)
         return i;
   }
   if (n_bases == TG_MAX_BASES) {
      end_segment();
      need_segment();
   }
   base_root[n_bases] = a.root;
   put_shadow(offsetof(TgShadowArea, base[0]) + n_bases * sizeof(UWord),
           IRExpr_RdTmp(a.root));
   return n_bases++;
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
static void fetch_page(Addr a, Bool crossing)
{
   const UWord page = tg_merged_code_address(a) >> page_shift;
   if (page == fetched_page && !(tg_mmus.traits.mixed && data_since_fetch))
      return;
   fetched_page = page;
   data_since_fetch = False;
   tg_segment_add_ref((TgRef){ .site = site, .at.page = tlb_record_of(&tg_mmus, TLB_CODE, page),
                               .size = crossing, .kind = TLB_FETCH });
   last_atom = NULL;
}

static void fetch(Addr a, UInt size)
{
   need_segment();
   site = tg_site_use(a);
   tg_site_set_length(site, (UChar)size);
   tg_segment_add_instr(site);
   fetch_page(a, False);
   fetch_page(a + size - 1, True);
   last_atom = NULL;
}

/* The instruction is a prefetch: what the program has done before is simulated first. */
static void prefetch(const IRStmt* mark)
{
   tg_prefetch p;
   if (!tg_prefetch_code_finds(mark->Ist.IMark.addr, mark->Ist.IMark.len, &p))
      return;
   end_segment();
   tg_prefetch_code_add(out, site, mark->Ist.IMark.addr, &p);
   data_since_fetch = True;
}

static void data(tlb_user kind, IRExpr* atom, UInt size)
{
   need_segment();
   /* Room for two references: see data_write(). */
   const TgSegment* s = tg_segment_at_hand();
   if (s->n_groups + 2u > TG_MAX_GROUPS
       || s->n_refs + 2u > tg_max_refs(tg_n_instrs(s))) {
      end_segment();
      need_segment();
   }
   const TgAddress a = tg_address_of(atom);
   const UInt base = base_of(a);
   const UShort ref = tg_segment_add_ref(
      (TgRef){ .site = site, .at.offset = a.offset, .size = (UShort)size,
               .base = (UChar)base, .kind = (UChar)kind });
   join_group(base, a.offset, size, ref, kind);
   n_refs[kind]++;
   last_atom = atom;
   data_since_fetch = True;
}

static void data_read(IRExpr* atom, UInt size)
{
   data(TLB_LOAD, atom, size);
}

/* A write of what the instruction has just read makes the read a modify. */
static void data_write(IRExpr* atom, UInt size)
{
   TgRef* last = segment_open ? tg_segment_last_ref() : NULL;
   if (last != NULL && last_atom != NULL && last->kind == TLB_LOAD
       && last->site == site && last->size == size
       && eqIRAtom(last_atom, atom)) {
      last->modifies = True;
      join_group(last->base, last->at.offset, size,
                 (UShort)(tg_segment_at_hand()->n_refs - 1), TLB_STORE);
      last_atom = NULL;
      return;
   }
   data(TLB_STORE, atom, size);
}

/* For a locked instruction Vex has a load and a compare-and-swap. Both are counted, as by
   cachegrind; the processor makes one touch, a write. */
static void is_locked(const IRExpr* atom)
{
   TgRef* last = segment_open ? tg_segment_last_ref() : NULL;
   if (last != NULL && last_atom != NULL && last->kind == TLB_LOAD
       && last->site == site && eqIRAtom(last_atom, atom))
      last->locked = True;
}

/* A reference that is made only if the guard holds, in a segment of its own.
   `helper`: of a helper function, see TgSuperblockTotals. */
static void data_guarded(tlb_user kind, IRExpr* atom, UInt size, IRExpr* guard,
                         Bool helper)
{
   end_segment();
   begin_segment();
   tg_segment_at_hand()->guarded = True;
   tg_segment_at_hand()->helper = helper != 0;
   const TgAddress a = tg_address_of(atom);
   const UInt base = base_of(a);
   tg_segment_add_ref((TgRef){ .site = site, .at.offset = a.offset,
                               .size = (UShort)size, .base = (UChar)base,
                               .kind = (UChar)kind });
   data_since_fetch = True;
   tg_call_code_count(out, kind == TLB_LOAD, kind == TLB_STORE, guard);
   const IRTemp happens = newIRTemp(out->tyenv, WORD_TYPE);
   addStmtToIRSB(out, IRStmt_WrTmp(happens, IRExpr_Unop(WIDEN, guard)));
   call_check("tg_check_guarded", tg_check_for_guarded(), IRExpr_RdTmp(happens));
}

static Bool always(const IRExpr* guard)
{
   return guard == NULL
          || (guard->tag == Iex_Const && guard->Iex.Const.con->tag == Ico_U1
              && guard->Iex.Const.con->Ico.U1);
}

/* Calls of Vex's helpers, which implement fxsave, xsave, fnstenv, cpuid. */
static void helper(const IRDirty* d)
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
         data_read(d->mAddr, size);
      if (writes)
         data_write(d->mAddr, size);
   } else {
      /* A modify is one read, guarded or not. */
      data_guarded(reads ? TLB_LOAD : TLB_STORE, d->mAddr, size, d->guard, True);
   }
}

/* Whether a jump to `to` may lead into this block. */
static Bool may_return(const IRExpr* to)
{
   UWord a;
   if (!tg_constant_of(to, &a))
      return True;
   for (Int i = 0; i < extents->n_used; i++) {
      if (a - extents->base[i] < extents->len[i])
         return True;
   }
   return False;
}

/* Before an exit to an address in this block, stores that there is no current segment: a signal
   that is delivered at that address would otherwise look like a fault of the segment. */
static void leave(const IRExpr* to)
{
   end_segment();
   if (may_return(to))
      put_segment(0);
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

static void update_ip(void)
{
   addStmtToIRSB(out, IRStmt_Put(ip_offset,
                                 IRExpr_Const(WORD_CONST(site->address))));
}

static void statement(const IRStmt* st)
{
   const IRTypeEnv* types = out->tyenv;
   switch (st->tag) {
   case Ist_NoOp:
   case Ist_AbiHint:
   case Ist_Put:
   case Ist_PutI:
   case Ist_MBE:
      break;

   case Ist_IMark:
      /* Length 0: Vex cannot decode the instruction. */
      fetch(st->Ist.IMark.addr,
            st->Ist.IMark.len == 0 ? VG_MIN_INSTR_SZB : st->Ist.IMark.len);
      break;

   case Ist_WrTmp: {
      const IRExpr* e = st->Ist.WrTmp.data;
      if (e->tag == Iex_Load)
         data_read(e->Iex.Load.addr, (UInt)sizeofIRType(e->Iex.Load.ty));
      else
         tg_addresses_derive(st->Ist.WrTmp.tmp, e);
      if (may_fault(e))
         update_ip();
      break;
   }

   case Ist_Store:
      data_write(st->Ist.Store.addr,
                 (UInt)sizeofIRType(typeOfIRExpr(types, st->Ist.Store.data)));
      break;

   case Ist_LoadG: {
      const IRLoadG* lg = st->Ist.LoadG.details;
      IRType loaded, widened;
      typeOfIRLoadGOp(lg->cvt, &widened, &loaded);
      data_guarded(TLB_LOAD, lg->addr, (UInt)sizeofIRType(loaded), lg->guard,
                   False);
      break;
   }

   case Ist_StoreG: {
      const IRStoreG* sg = st->Ist.StoreG.details;
      data_guarded(TLB_STORE, sg->addr,
                   (UInt)sizeofIRType(typeOfIRExpr(types, sg->data)),
                   sg->guard, False);
      break;
   }

   case Ist_CAS: {
      /* A read and a write, whether it succeeds or not; the halves of a double one are adjacent. */
      const IRCAS* cas = st->Ist.CAS.details;
      const UInt size = (UInt)sizeofIRType(typeOfIRExpr(types, cas->dataLo))
                        * (cas->dataHi != NULL ? 2 : 1);
      is_locked(cas->addr);
      data_read(cas->addr, size);
      data_write(cas->addr, size);
      break;
   }

   case Ist_LLSC: {
      const IRExpr* stored = st->Ist.LLSC.storedata;
      if (stored == NULL) {
         data_read(st->Ist.LLSC.addr,
                   (UInt)sizeofIRType(typeOfIRTemp(types,
                                                   st->Ist.LLSC.result)));
         /* Calls between load-linked and store-conditional could make the latter fail. */
         end_segment();
      } else {
         data_write(st->Ist.LLSC.addr,
                    (UInt)sizeofIRType(typeOfIRExpr(types, stored)));
      }
      break;
   }

   case Ist_Dirty:
      helper(st->Ist.Dirty.details);
      break;

   case Ist_Exit:
      leave(IRExpr_Const(st->Ist.Exit.dst));
      break;

   default:
      ppIRStmt(st);
      VG_(tool_panic)("tlbgrind: unknown kind of IR statement");
   }
}

/* A block while instrumentation is off: as it is, but for what changes the program's view of the
   processor and of Valgrind. */
static void copy_uninstrumented(const IRSB* in)
{
   for (Int i = 0; i < in->stmts_used; i++) {
      tg_arch_add_statement(out, in->stmts[i]);
      tg_data_uses_statement(out, in, i);
   }
   tg_running_on_valgrind_end(out);
}

IRSB* tg_instrument(VgCallbackClosure* closure, IRSB* in,
                    const VexGuestLayout* layout, const VexGuestExtents* vge,
                    const VexArchInfo* archinfo_host, IRType guest_word,
                    IRType host_word)
{
   (void)archinfo_host;
   if (guest_word != host_word)
      VG_(tool_panic)("tlbgrind: guest and host have different word sizes");

   out = deepCopyIRSBExceptStmts(in);
   extents = vge;
   ip_offset = layout->offset_IP;
   tg_call_stacks_sp(layout->offset_SP);
   tg_collection_sp(layout->offset_SP);
   tl_assert(layout->total_sizeB == TG_SHADOW_OFFSET);
   VG_(dropTailXA)(segment_args, VG_(sizeXA)(segment_args));
   fetched_page = TLB_NO_PAGE;
   segment_open = False;
   n_segments = 0;
   tg_addresses_forget(in->tyenv->types_used);
   tg_unmatched_block(vge->base[0]);
   tg_code_entries_block(closure->nraddr,
                    closure->nraddr == vge->base[0] ? vge->len[0] : 0);
   if (!tg_instrumented && !faults) {
      if (tg_data_objects_on)
         tg_blocks_begin(out, vge->base[0], layout);
      copy_uninstrumented(in);
      if (tg_data_objects_on)
         tg_blocks_end(out, layout);
      return out;
   }
   tg_superblock_begin();

   /* Statements before the first instruction are Vex's own, such as the check for self-modifying
      code. */
   Int i = 0;
   while (i < in->stmts_used && in->stmts[i]->tag != Ist_IMark)
      addStmtToIRSB(out, in->stmts[i++]);
   if (tg_data_objects_on)
      tg_blocks_begin(out, vge->base[0], layout);

   if (tg_instrumented)
      tg_collection_code_enter(out, vge->base[0]);
   const Int first = i;
   for (; i < in->stmts_used; i++) {
      statement(in->stmts[i]);
      if (i == first) {
         tg_call_code_begin(out, site);
         tg_collection_code_leave(out, layout);
      }
      const Bool noted = in->stmts[i]->tag == Ist_Exit
                         && tg_call_code_leave(out, site, IRExpr_Const(in->stmts[i]->Ist.Exit.dst),
                                               in->stmts[i]->Ist.Exit.jk);
      tg_arch_add_statement(out, in->stmts[i]);
      tg_data_uses_statement(out, in, i);
      if (prefetches && tg_instrumented && in->stmts[i]->tag == Ist_IMark)
         prefetch(in->stmts[i]);
      if (noted)
         tg_call_code_stay(out);
   }
   leave(in->next);
   tg_call_code_leave(out, site, in->next, in->jumpkind);
   tg_running_on_valgrind_end(out);
   if (tg_data_objects_on)
      tg_blocks_end(out, layout);
   fill_in_segments(tg_superblock_finish(vge->base[0], closure->nraddr));
   return out;
}
