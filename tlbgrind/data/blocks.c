/* Heap blocks. See data/blocks.h. */

#include "pub_tool_basics.h"

#include "pub_tool_debuginfo.h"
#include "pub_tool_guest.h"
#include "pub_tool_machine.h"
#include "pub_tool_libcbase.h"
#include "pub_tool_mallocfree.h"
#include "pub_tool_threadstate.h"

#include "arch/arch.h"
#include "arch/state_call.h"
#include "data/blocks.h"
#include "data/objects.h"
#include "data/records.h"
#include "data/words.h"
#include "trace/shadow_area.h"

typedef enum {
   NO_CALL,
   MALLOC,         /* (size) */
   CALLOC,         /* (n, size) */
   REALLOC,        /* (block, size) */
   REALLOCARRAY,   /* (block, n, size) */
   ALIGNED,        /* (alignment, size) */
   POSIX_MEMALIGN, /* (&block, alignment, size); returns 0 or an error */
   FREE,           /* (block) */
   THROW           /* leaves the call by an exception */
} Call;

static const struct {
   const HChar* name;
   Bool is_prefix; /* of a name with the types of the parameters */
   Call call;
} functions[] = {
   { "malloc", False, MALLOC }, { "valloc", False, MALLOC }, { "pvalloc", False, MALLOC },
   { "operator new", True, MALLOC }, { "_Znw", True, MALLOC }, { "_Zna", True, MALLOC },
   { "calloc", False, CALLOC },
   { "realloc", False, REALLOC }, { "reallocarray", False, REALLOCARRAY },
   { "memalign", False, ALIGNED }, { "aligned_alloc", False, ALIGNED },
   { "posix_memalign", False, POSIX_MEMALIGN },
   { "free", False, FREE }, { "cfree", False, FREE },
   { "operator delete", True, FREE }, { "_Zdl", True, FREE }, { "_Zda", True, FREE },
   { "__cxa_throw", False, THROW },
};

static Bool begins_with(const HChar* name, const HChar* prefix)
{
   return VG_(strncmp)(name, prefix, VG_(strlen)(prefix)) == 0;
}

/* Whether operator new or delete, with the types of its parameters behind `name`, has only such
   parameters as the allocating forms of the standard: sizes, blocks to delete, alignments and
   std::nothrow. A placement form, (unsigned long, void*), is at most a function of the
   program's. */
static Bool allocates(const HChar* name, SizeT length)
{
   static const HChar* const written[] = { "unsigned", "std::align_val_t", "std::nothrow_t" };
   static const HChar* const mangled[] = { "m", "j", "St11align_val_t", "RKSt9nothrow_t" };
   const HChar* at = name + length;
   const HChar* next = VG_(strchr)(at, ',');
   if (name[0] == '_') {
      at += begins_with(at, "Pv") ? 2 : 0;
      for (UInt i = 0; i < sizeof mangled / sizeof mangled[0]; i++)
         at += begins_with(at, mangled[i]) ? VG_(strlen)(mangled[i]) : 0;
      return *at == '\0' || *at == '@';
   }
   for (; next != NULL; next = VG_(strchr)(next + 1, ',')) {
      Bool known = False;
      for (UInt i = 0; i < sizeof written / sizeof written[0]; i++)
         known |= begins_with(next + 2, written[i]);
      if (!known)
         return False;
   }
   return True;
}

/* The C library has other names for the same function. */
static Call call_of(const HChar* name)
{
   static const HChar* const before[] = { "__GI_", "__libc_" };
   for (UInt i = 0; i < sizeof before / sizeof before[0]; i++) {
      if (begins_with(name, before[i]))
         name += VG_(strlen)(before[i]);
   }
   for (UInt i = 0; i < sizeof functions / sizeof functions[0]; i++) {
      const SizeT n = VG_(strlen)(functions[i].name);
      if (begins_with(name, functions[i].name)
          && (functions[i].is_prefix ? allocates(name, n) : name[n] == '\0' || name[n] == '@'))
         return functions[i].call;
   }
   return NO_CALL;
}

/* --- Calls under way --- */

typedef struct {
   Call call; /* NO_CALL: none */
   TgEntered at;
   SizeT bytes;
   SizeT element; /* of an array; 0: unknown, or one */
   Addr old;  /* the block that is to be replaced; 0: none */
   const TgDataStack* stack;
} Pending;

static Pending* pending; /* by thread */
static ThreadId last_thread; /* the largest number of one that has allocated */
static const HChar* heap_name;

void tg_blocks_init(void)
{
   pending = VG_(calloc)("tg.data.pending", VG_N_THREADS, sizeof *pending);
   heap_name = tg_intern("");
}

Bool tg_blocks_is_in_allocator(ThreadId tid)
{
   return pending[tid].call != NO_CALL;
}

void tg_blocks_thread(ThreadId tid)
{
   pending[tid].call = NO_CALL;
}

static void await(UChar* guest_state, Addr sp)
{
   tg_thread_area(guest_state)->awaited = sp;
}

static SizeT product(UWord a, UWord b)
{
   SizeT bytes;
   return __builtin_mul_overflow(a, b, &bytes) ? 0 : bytes;
}

static void begin(Pending* p, Call call, const TgEntered* at, ThreadId tid)
{
   const UWord* arg = at->arg;
   *p = (Pending){ .call = call, .at = *at };
   last_thread = tid > last_thread ? tid : last_thread;
   switch (call) {
   case CALLOC:
      p->bytes = product(arg[0], arg[1]);
      p->element = arg[0] > 1 ? arg[1] : 0;
      break;
   case REALLOC: p->old = arg[0]; p->bytes = arg[1]; break;
   case REALLOCARRAY:
      p->old = arg[0];
      p->bytes = product(arg[1], arg[2]);
      p->element = arg[1] > 1 ? arg[2] : 0;
      break;
   case ALIGNED: p->bytes = arg[1]; break;
   case POSIX_MEMALIGN: p->bytes = arg[2]; break;
   default: p->bytes = arg[0]; break;
   }
   p->stack = tg_data_stack(tid);
}

/* A call that begins at or above the stack pointer of the one under way has left that one behind:
   it was ended by longjmp() or an exception. */
static VG_REGPARM(0) void call_entered(UChar* guest_state, UWord call)
{
   const ThreadId tid = VG_(get_running_tid)();
   const TgEntered at = tg_arch_entered((const VexGuestArchState*)(void*)guest_state);
   Pending* p = &pending[tid];
   if (p->call != NO_CALL && (call == THROW || at.sp > p->at.sp))
      p->call = NO_CALL;
   if (call == THROW)
      return;
   if (call == FREE) {
      if (p->call == NO_CALL || p->old != at.arg[0])
         tg_words_remove_block(at.arg[0]);
      return;
   }
   if (p->call != NO_CALL)
      return;
   begin(p, (Call)call, &at, tid);
   await(guest_state, at.sp);
}

/* Another thread can have got the old block's memory before this one comes to return. */
static void no_longer_old(Addr a, SizeT bytes)
{
   for (ThreadId i = 1; i <= last_thread; i++) {
      if (pending[i].call != NO_CALL && pending[i].old - a < bytes)
         pending[i].old = 0;
   }
}

static void end(const Pending* p, UWord result)
{
   const Bool has_failed = p->call == POSIX_MEMALIGN ? result != 0 : result == 0;
   if (p->old != 0 && (!has_failed || p->bytes == 0))
      tg_words_remove_block(p->old);
   if (has_failed)
      return;
   const Addr a = p->call == POSIX_MEMALIGN ? *(const Addr*)p->at.arg[0] : result;
   const TgDataObject key = { .kind = TG_DATA_HEAP, .name = heap_name, .stack = p->stack };
   TgDataObject* o = tg_data_object(&key);
   o->blocks++;
   o->bytes += p->bytes;
   no_longer_old(a, p->bytes);
   tg_words_add_block(a, p->bytes, o->number);
   tg_record_block(o, a, p->bytes, p->element);
}

static UWord register_of(const UChar* guest_state, PtrdiffT at)
{
   UWord value;
   VG_(memcpy)(&value, guest_state + at, sizeof value);
   return value;
}

static VG_REGPARM(0) void call_left(UChar* guest_state, Addr to)
{
   Pending* p = &pending[VG_(get_running_tid)()];
   const Pending ended = *p;
   p->call = NO_CALL;
   await(guest_state, ~(Addr)0);
   if (ended.call != NO_CALL && ended.at.to == to
       && ended.at.sp == register_of(guest_state, tg_arch.registers.sp))
      end(&ended, register_of(guest_state, tg_arch.registers.result));
}

/* --- Instrumentation --- */

#if VEX_HOST_WORDSIZE == 8
#define WORD_TYPE Ity_I64
#define WORD_CONST(w) IRConst_U64(w)
#define NOT_ABOVE Iop_CmpLE64U
#else
#define WORD_TYPE Ity_I32
#define WORD_CONST(w) IRConst_U32(w)
#define NOT_ABOVE Iop_CmpLE32U
#endif

/* A call of a function that reads the guest's registers and sets what is awaited. */
static void add_call(IRSB* out, const HChar* name, void* function, IRExpr* arg, IRExpr* guard)
{
   IRDirty* d = tg_state_call(name, function, mkIRExprVec_2(NULL, arg));
   if (guard != NULL)
      d->guard = guard;
   d->nFxState = 2;
   VG_(memset)(d->fxState, 0, sizeof d->fxState);
   d->fxState[0].fx = Ifx_Read;
   d->fxState[0].offset = 0;
   d->fxState[0].size = TG_SHADOW_OFFSET;
   d->fxState[1].fx = Ifx_Write;
   d->fxState[1].offset = TG_THREAD_OFFSET(awaited);
   d->fxState[1].size = sizeof(UWord);
   addStmtToIRSB(out, IRStmt_Dirty(d));
}

void tg_blocks_begin(IRSB* out, Addr entry, const VexGuestLayout* layout)
{
   const HChar* name;
   if (!VG_(get_fnname_if_entry)(VG_(current_DiEpoch)(), tg_arch_global_entry(entry), &name))
      return;
   const Call call = call_of(name);
   if (call == NO_CALL)
      return;
   /* The call stack begins at the instruction pointer. */
   addStmtToIRSB(out, IRStmt_Put(layout->offset_IP, IRExpr_Const(WORD_CONST(entry))));
   add_call(out, "call_entered", call_entered, IRExpr_Const(WORD_CONST((UWord)call)), NULL);
}

static IRExpr* temporary(IRSB* out, IRType type, IRExpr* e)
{
   const IRTemp t = newIRTemp(out->tyenv, type);
   addStmtToIRSB(out, IRStmt_WrTmp(t, e));
   return IRExpr_RdTmp(t);
}

void tg_blocks_end(IRSB* out, const VexGuestLayout* layout)
{
   if (out->jumpkind != Ijk_Ret)
      return;
   IRExpr* awaited = temporary(out, WORD_TYPE, IRExpr_Get(TG_THREAD_OFFSET(awaited), WORD_TYPE));
   IRExpr* sp = temporary(out, WORD_TYPE, IRExpr_Get(layout->offset_SP, WORD_TYPE));
   IRExpr* is_left = temporary(out, Ity_I1, IRExpr_Binop(NOT_ABOVE, awaited, sp));
   add_call(out, "call_left", call_left, out->next, is_left);
}
