/* Records the first uses of objects' data. See order/data_uses.h. */

#include "pub_tool_basics.h"

#include "pub_tool_aspacemgr.h"
#include "pub_tool_libcassert.h"
#include "pub_tool_libcbase.h"
#include "pub_tool_machine.h"
#include "pub_tool_mallocfree.h"
#include "pub_tool_oset.h"

#include "base/program.h"
#include "native/start.h"
#include "order/code_entries.h"
#include "order/data_uses.h"
#include "space/aspace.h"

/* Uses are recorded byte by byte: several variables may share a word, and an order of those that
   are not written would move those that are. */
enum { PAGE = 4096, WORD = 64, N_WORDS = PAGE / WORD };

/* A page of an object's data. */
typedef struct {
   UWord number; /* address / PAGE */
   UInt object;
   ULong offset; /* of the page in the object, see find_data() */
   Bool is_writable;
   ULong written[N_WORDS]; /* one bit for each byte */
   ULong used[N_WORDS];    /* read or written */
   ULong linked[N_WORDS];  /* written by the dynamic linker alone */
} DataPage;

static OSet* pages; /* DataPage by number */

/* A cache entry: a page, and its data or NULL if it has no object's data. Most references go to the
   stack or the heap, so these pages are cached, too. */
typedef struct {
   UWord number;
   DataPage* page;
} Remembered;

enum { N_REMEMBERED = 1024 };
static Remembered remembered[N_REMEMBERED];

static void forget(void)
{
   for (UInt i = 0; i < N_REMEMBERED; i++)
      remembered[i] = (Remembered){ ~(UWord)0, NULL };
}

void tg_data_uses_init(void)
{
   pages = VG_(OSetGen_Create)(offsetof(DataPage, number), NULL, VG_(malloc),
                               "tg.data_uses.pages", VG_(free));
   forget();
}

/* --- The object of a page --- */

/* Whether the mapping's file is an object file. Its code need not be adjacent: lld may leave a page
   unmapped behind what becomes read-only after relocation. */
static Bool is_object(const NSegment* data)
{
   const tlb_mapping* m = tg_aspace_find(data->start);
   return m != NULL && m->kind == TLB_IMAGE;
}

/* The mapping of an object's data to which the page belongs, or NULL. Anonymous memory adjacent
   above it, or in a segment of the program's ELF headers, is .bss: its offset continues that of
   the file. That includes memory after the object's end (a program's heap), which tg_order
   removes, because it has the object's size. */
static const NSegment* find_data(Addr page)
{
   const NSegment* seg = VG_(am_find_nsegment)(page);
   if (seg != NULL && seg->kind == SkAnonC && seg->start > 0)
      seg = VG_(am_find_nsegment)(tg_program_is_bss(seg->start) ? tg_program()->data
                                                               : seg->start - 1);
   return seg != NULL && seg->kind == SkFileC && is_object(seg) ? seg : NULL;
}

static DataPage* data_page(UWord number)
{
   DataPage* p = VG_(OSetGen_Lookup)(pages, &number);
   if (p != NULL)
      return p;
   const Addr a = number * PAGE;
   const NSegment* seg = find_data(a);
   if (seg == NULL)
      return NULL;
   p = VG_(OSetGen_AllocNode)(pages, sizeof *p);
   *p = (DataPage){ .number = number, .object = tg_code_entries_object(seg),
                    .offset = a - seg->start + (ULong)seg->offset,
                    .is_writable = VG_(am_find_nsegment)(a)->hasW };
   VG_(OSetGen_Insert)(pages, p);
   return p;
}

void tg_data_uses_changed(Addr a, SizeT len)
{
   if (pages == NULL || len == 0)
      return;
   forget();
   const UWord first = a / PAGE, last = (a + len - 1) / PAGE;
   for (;;) {
      VG_(OSetGen_ResetIterAt)(pages, &first);
      const DataPage* p = VG_(OSetGen_Next)(pages);
      if (p == NULL || p->number > last)
         break;
      const UWord number = p->number;
      VG_(OSetGen_FreeNode)(pages, VG_(OSetGen_Remove)(pages, &number));
   }
}

/* --- The uses --- */

typedef enum { BY_READ, BY_WRITE, BY_LINKER } How;

/* Reports the bytes, given as bits from `at` on, run by run. */
static void report(const DataPage* p, UInt at, ULong bits, TgDataUse use)
{
   while (bits != 0) {
      const UInt first = (UInt)__builtin_ctzll(bits);
      const ULong rest = ~(bits >> first);
      const UInt n = rest == 0 ? WORD : (UInt)__builtin_ctzll(rest);
      tg_code_entries_used(p->object, p->offset + at + first, n, use);
      bits &= ~((n == WORD ? ~0ULL : (1ULL << n) - 1) << first);
   }
}

/* The bytes from `from` up to `to` of the page. */
static void use_in_page(DataPage* p, UInt from, UInt to, How how)
{
   for (UInt word = from / WORD; word <= to / WORD; word++) {
      const UInt at = word * WORD;
      ULong bits = ~0ULL;
      if (from > at)
         bits &= ~0ULL << (from - at);
      if (to < at + WORD - 1)
         bits &= ~0ULL >> (at + WORD - 1 - to);
      const ULong again = how == BY_WRITE ? bits & p->linked[word] : 0;
      bits &= how == BY_READ ? ~p->used[word] : ~p->written[word];
      if (LIKELY((bits | again) == 0))
         continue;
      p->used[word] |= bits;
      if (how != BY_READ)
         p->written[word] |= bits;
      if (how == BY_LINKER)
         p->linked[word] |= bits;
      p->linked[word] &= ~again;
      report(p, at, bits, how == BY_READ ? TG_READ : TG_WRITTEN);
      report(p, at, again, TG_WRITTEN_AGAIN);
   }
}

/* What can only be read, constants and the tables of the dynamic linker, is no data: no order of
   variables moves it. */
static inline void used(Addr a, UWord size, How how)
{
   for (Addr at = a; at - a < size;) {
      const UWord number = at / PAGE;
      const UWord rest = size - (at - a);
      const UWord room = PAGE - at % PAGE;
      const UWord n = rest < room ? rest : room;
      Remembered* r = &remembered[number % N_REMEMBERED];
      if (r->number != number)
         *r = (Remembered){ number, data_page(number) };
      if (r->page != NULL && (how != BY_READ || r->page->is_writable))
         use_in_page(r->page, (UInt)(at % PAGE), (UInt)(at % PAGE + n - 1), how);
      at += n;
   }
}

void tg_data_uses_kernel_reads(Addr a, SizeT len)
{
   if (pages != NULL)
      used(a, len, BY_READ);
}

void tg_data_uses_kernel_wrote(Addr a, SizeT len)
{
   if (pages != NULL)
      used(a, len, BY_WRITE);
}

/* Called by translated code after each store and load. */
static void written(Addr a, UWord size)
{
   used(a, size, BY_WRITE);
}

static void linked(Addr a, UWord size)
{
   used(a, size, BY_LINKER);
}

static void read(Addr a, UWord size)
{
   used(a, size, BY_READ);
}

static void written_if(Addr a, UWord size, UWord happens)
{
   if (happens != 0)
      used(a, size, BY_WRITE);
}

static void linked_if(Addr a, UWord size, UWord happens)
{
   if (happens != 0)
      used(a, size, BY_LINKER);
}

static void read_if(Addr a, UWord size, UWord happens)
{
   if (happens != 0)
      used(a, size, BY_READ);
}

/* --- Instrumentation --- */

#if VEX_HOST_WORDSIZE == 8
#define WIDEN Iop_1Uto64
#define WORD_TYPE Ity_I64
#else
#define WIDEN Iop_1Uto32
#define WORD_TYPE Ity_I32
#endif

typedef struct {
   const HChar* name;
   void* always;
   const HChar* name_if;
   void* if_it_happens;
} Calls;

static const Calls calls[] = {
   [BY_READ] = { "read", read, "read_if", read_if },
   [BY_WRITE] = { "written", written, "written_if", written_if },
   [BY_LINKER] = { "linked", linked, "linked_if", linked_if },
};

static Bool in_linker; /* the block that is being instrumented is the dynamic linker's */

void tg_data_uses_block(Addr entry)
{
   if (pages == NULL)
      return;
   const NSegment* code = VG_(am_find_nsegment)(entry);
   const NSegment* linker = VG_(am_find_nsegment)(tg_start_image()->interpreter);
   in_linker = code != NULL && linker != NULL && code->kind == SkFileC && linker->kind == SkFileC
               && code->dev == linker->dev && code->ino == linker->ino;
}

static void note(IRSB* out, Bool is_write, IRExpr* address, Int size, IRExpr* guard)
{
   /* No register parameters: on x86 the function would have to be declared with them. */
   IRExpr* n = mkIRExpr_HWord((HWord)size);
   const Calls* c = &calls[!is_write ? BY_READ : in_linker ? BY_LINKER : BY_WRITE];
   IRDirty* d;
   if (guard == NULL) {
      d = unsafeIRDirty_0_N(0, c->name, VG_(fnptr_to_fnentry)(c->always),
                            mkIRExprVec_2(address, n));
   } else {
      const IRTemp happens = newIRTemp(out->tyenv, WORD_TYPE);
      addStmtToIRSB(out, IRStmt_WrTmp(happens, IRExpr_Unop(WIDEN, guard)));
      d = unsafeIRDirty_0_N(0, c->name_if, VG_(fnptr_to_fnentry)(c->if_it_happens),
                            mkIRExprVec_3(address, n, IRExpr_RdTmp(happens)));
   }
   addStmtToIRSB(out, IRStmt_Dirty(d));
}

static Int size_of(const IRSB* out, const IRExpr* e)
{
   return sizeofIRType(typeOfIRExpr(out->tyenv, e));
}

/* Whether the instruction of statement number i writes behind it what it reads there. Its page
   fault is a write's. */
static Bool is_modify(const IRSB* in, Int i, const IRExpr* address)
{
   for (i++; i < in->stmts_used && in->stmts[i]->tag != Ist_IMark; i++) {
      const IRStmt* st = in->stmts[i];
      const IRExpr* to = st->tag == Ist_Store    ? st->Ist.Store.addr
                         : st->tag == Ist_StoreG ? st->Ist.StoreG.details->addr
                                                 : NULL;
      if (to != NULL && eqIRAtom(to, address))
         return True;
   }
   return False;
}

static void note_load(IRSB* out, const IRSB* in, Int i, IRExpr* address, IRType type, IRExpr* guard)
{
   if (!is_modify(in, i, address))
      note(out, False, address, sizeofIRType(type), guard);
}

void tg_data_uses_statement(IRSB* out, const IRSB* in, Int i)
{
   if (pages == NULL)
      return;
   const IRStmt* st = in->stmts[i];
   switch (st->tag) {
   case Ist_Store:
      note(out, True, st->Ist.Store.addr, size_of(out, st->Ist.Store.data), NULL);
      break;
   case Ist_StoreG: {
      const IRStoreG* sg = st->Ist.StoreG.details;
      note(out, True, sg->addr, size_of(out, sg->data), sg->guard);
      break;
   }
   case Ist_WrTmp: {
      const IRExpr* e = st->Ist.WrTmp.data;
      if (e->tag == Iex_Load)
         note_load(out, in, i, e->Iex.Load.addr, e->Iex.Load.ty, NULL);
      break;
   }
   case Ist_LoadG: {
      const IRLoadG* lg = st->Ist.LoadG.details;
      IRType to, from;
      typeOfIRLoadGOp(lg->cvt, &to, &from);
      note_load(out, in, i, lg->addr, from, lg->guard);
      break;
   }
   case Ist_CAS: {
      /* The page becomes writable even if the comparison fails. */
      const IRCAS* cas = st->Ist.CAS.details;
      note(out, True, cas->addr,
           size_of(out, cas->dataLo) * (cas->dataHi != NULL ? 2 : 1), NULL);
      break;
   }
   case Ist_LLSC:
      if (st->Ist.LLSC.storedata != NULL)
         note(out, True, st->Ist.LLSC.addr, size_of(out, st->Ist.LLSC.storedata), NULL);
      else
         note(out, False, st->Ist.LLSC.addr,
              sizeofIRType(typeOfIRTemp(out->tyenv, st->Ist.LLSC.result)), NULL);
      break;
   case Ist_Dirty: {
      const IRDirty* d = st->Ist.Dirty.details;
      if (d->mFx != Ifx_None)
         note(out, d->mFx != Ifx_Read, d->mAddr, d->mSize, d->guard);
      break;
   }
   default:
      break;
   }
}
