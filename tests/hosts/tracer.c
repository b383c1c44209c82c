/* A Valgrind tool that writes down each reference of a program, for hosts where lackey can not.
   Part of tlbgrind.  GPL-2.0-or-later; see COPYING.

   Lackey writes a line at each reference. On ppc64le the kernel takes the reservation away at each
   system call, so with a line between the two, no store-conditional ever stores. This tool keeps
   all in memory until the end. It knows what programs of ppc64le consist of, and stops at all else.

   The file has 16 bytes for each reference: address, size, and the letter that lackey writes. */

#include "pub_tool_basics.h"
#include "pub_tool_libcassert.h"
#include "pub_tool_libcbase.h"
#include "pub_tool_libcfile.h"
#include "pub_tool_machine.h"
#include "pub_tool_mallocfree.h"
#include "pub_tool_options.h"
#include "pub_tool_tooliface.h"
#include "pub_tool_vki.h"

typedef struct {
   ULong address;
   UInt size;
   UInt letter;
} Reference;

enum { MOST = 12 << 20 };
static Reference* reference; /* all at once, since to get more memory is a system call, too */
static UInt n;
static const HChar* file;

static void note(Addr address, UWord size, UWord letter)
{
   tl_assert(n < MOST);
   reference[n++] = (Reference){ address, (UInt)size, (UInt)letter };
}

static void add(IRSB* out, IRExpr* address, UInt size, HChar letter)
{
   IRExpr** const args = mkIRExprVec_3(address, mkIRExpr_HWord(size),
                                       mkIRExpr_HWord((HWord)letter));
   addStmtToIRSB(out,
                 IRStmt_Dirty(unsafeIRDirty_0_N(0, "note", VG_(fnptr_to_fnentry)(note), args)));
}

static void add_loads(IRSB* out, const IRTypeEnv* types, const IRExpr* e)
{
   if (e->tag == Iex_Load)
      add(out, e->Iex.Load.addr, (UInt)sizeofIRType(typeOfIRExpr(types, e)), 'L');
}

static IRSB* instrument(VgCallbackClosure* closure, IRSB* in, const VexGuestLayout* layout,
                        const VexGuestExtents* extents, const VexArchInfo* host, IRType guest_word,
                        IRType host_word)
{
   IRSB* const out = deepCopyIRSBExceptStmts(in);
   (void)closure, (void)layout, (void)extents, (void)host, (void)guest_word, (void)host_word;
   Int i = 0;
   while (i < in->stmts_used && in->stmts[i]->tag != Ist_IMark)
      addStmtToIRSB(out, in->stmts[i++]);
   for (; i < in->stmts_used; i++) {
      const IRStmt* const st = in->stmts[i];
      switch (st->tag) {
      case Ist_IMark: add(out, mkIRExpr_HWord(st->Ist.IMark.addr), st->Ist.IMark.len, 'I'); break;
      case Ist_WrTmp: add_loads(out, in->tyenv, st->Ist.WrTmp.data); break;
      case Ist_Store:
         add(out, st->Ist.Store.addr,
             (UInt)sizeofIRType(typeOfIRExpr(in->tyenv, st->Ist.Store.data)), 'S');
         break;
      case Ist_LLSC: {
         const IRExpr* const stored = st->Ist.LLSC.storedata;
         const IRType type = stored == NULL ? typeOfIRTemp(in->tyenv, st->Ist.LLSC.result)
                                            : typeOfIRExpr(in->tyenv, stored);
         add(out, st->Ist.LLSC.addr, (UInt)sizeofIRType(type), stored == NULL ? 'L' : 'S');
         break;
      }
      case Ist_Dirty: tl_assert(st->Ist.Dirty.details->mFx == Ifx_None); break;
      case Ist_CAS:
      case Ist_LoadG:
      case Ist_StoreG: VG_(tool_panic)("tracer: no statement of ppc64le");
      default: break;
      }
      addStmtToIRSB(out, in->stmts[i]);
   }
   return out;
}

static void fini(Int status)
{
   (void)status;
   const SysRes opened = VG_(open)(file, VKI_O_CREAT | VKI_O_TRUNC | VKI_O_WRONLY, 0600);
   tl_assert(!sr_isError(opened));
   const SizeT bytes = n * sizeof *reference;
   for (SizeT written = 0; written < bytes;) {
      const Int now = VG_(write)((Int)sr_Res(opened), (const HChar*)reference + written,
                                 (Int)(bytes - written));
      tl_assert(now > 0);
      written += (SizeT)now;
   }
}

static Bool take_option(const HChar* option)
{
   return VG_STR_CLO(option, "--trace-file", file);
}

static void post_clo_init(void)
{
   tl_assert(file != NULL);
   reference = VG_(malloc)("trace", MOST * sizeof *reference);
}

static void nothing(void)
{
}

static void pre_clo_init(void)
{
   VG_(details_name)("tracer");
   VG_(details_description)("keeps a trace in memory");
   VG_(details_copyright_author)("part of tlbgrind");
   VG_(details_bug_reports_to)("tlbgrind");
   VG_(basic_tool_funcs)(post_clo_init, instrument, fini);
   VG_(needs_command_line_options)(take_option, nothing, nothing);
}

VG_DETERMINE_INTERFACE_VERSION(pre_clo_init)
