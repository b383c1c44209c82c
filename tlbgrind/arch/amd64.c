/* amd64. See arch/arch.h. */

#include "pub_tool_basics.h"

#include "pub_tool_guest.h"
#include "pub_tool_libcbase.h"
#include "pub_tool_tooliface.h"
#include "pub_tool_vkiscnums.h"

#include "sim/machine/cpuid_here.h"
#include "arch/arch.h"

enum { EM_X86_64_ = 62 };
enum { ARCH_SET_FS_ = 0x1002 };

/* ssize_t __vdso_getrandom(void* buffer, size_t length, unsigned flags, void* state,
                            size_t state_bytes)
   (arch/x86/entry/vdso and lib/vdso/getrandom.c of Linux). For a request of the
   parameters of a state (state_bytes -1) it returns those of Linux 6.11 to 6.18. Otherwise it
   reads and clears the state's "in use" byte, as the kernel's function does, and makes the system
   call. */
static const UChar getrandom_code[] = {
   0x49, 0x83, 0xf8, 0xff,                   /* cmp $-1,%r8 */
   0x75, 0x22,                               /* jne no_request */
   0xc7, 0x01, 0x90, 0x00, 0x00, 0x00,       /* movl $144,(%rcx): bytes of a state */
   0xc7, 0x41, 0x04, 0x03, 0x00, 0x00, 0x00, /* movl $(PROT_READ|PROT_WRITE),4(%rcx) */
   0xc7, 0x41, 0x08, 0x28, 0x00, 0x00, 0x00, /* movl $(MAP_DROPPABLE|MAP_ANONYMOUS),8(%rcx) */
   0x48, 0x8d, 0x79, 0x0c,                   /* lea 12(%rcx),%rdi: reserved */
   0xb9, 0x0d, 0x00, 0x00, 0x00,             /* mov $13,%ecx */
   0x31, 0xc0,                               /* xor %eax,%eax */
   0xf3, 0xab,                               /* rep stosl */
   0xc3,                                     /* ret */
   /* no_request: */
   0x49, 0x81, 0xf8, 0x90, 0x00, 0x00, 0x00, /* cmp $144,%r8 */
   0x75, 0x10,                               /* jne call */
   0x80, 0xb9, 0x89, 0x00, 0x00, 0x00, 0x00, /* cmpb $0,137(%rcx) */
   0x75, 0x07,                               /* jne call */
   0xc6, 0x81, 0x89, 0x00, 0x00, 0x00, 0x00, /* movb $0,137(%rcx) */
   /* call: */
   0xb8, 0x3e, 0x01, 0x00, 0x00,             /* mov $__NR_getrandom,%eax */
   0x0f, 0x05,                               /* syscall */
   0xc3,                                     /* ret */
};

const TgArch tg_arch = {
   .registers = {
      .sp = TG_GUEST(RSP), .result = TG_GUEST(RAX), .request = TG_GUEST(RAX),
      .first = TG_GUEST(RAX),
      .segment_base = { [TG_SEGMENT_FS] = TG_GUEST(FS_CONST),
                        [TG_SEGMENT_GS] = TG_GUEST(GS_CONST) },
      .syscall_number = TG_GUEST(RAX),
      .syscall_argument = { TG_GUEST(RDI), TG_GUEST(RSI), TG_GUEST(RDX), TG_GUEST(R10),
                            TG_GUEST(R8), TG_GUEST(R9) },
   },
   .syscalls = {
      .mmap = __NR_mmap, .ipc = TG_NO_SYSCALL, .time = __NR_time, .vfork = __NR_vfork,
      .seccomp = __NR_seccomp,
      .getrlimit = __NR_getrlimit,
      .shmget = __NR_shmget, .shmat = __NR_shmat,
      .clone_child_number = 3,
      .bytes = 2, .code = { 0x0f, 0x05 }, /* syscall */
      .red_zone = 128,
      .arguments_change = True,
      .map_32bit = 0x40, .map_locked = 0x2000, .mcl_current = 1,
   },
   /* arch/x86/mm/mmap.c, arch/x86/include/asm/elf.h */
   .layout = {
      .stack_top = 0x7ffffffff000, .task_size = 0x7ffffffff000,
      .pie_base = 0x555555554000, .static_pie_break = 0x555555555000,
   },
   .places = {
      /* Below 64 GiB, where Valgrind's own memory begins. */
      .mask = (1ULL << 36) - 1,
      /* Programs that are not position-independent begin low, and Valgrind maps the dynamic linker
         and its own program not far above them. Their break is moved by whole gigabytes, so that
         offsets in pages of all usual sizes, and sets of TLBs, are the native ones. */
      .room = 4ULL << 30, .low_break_up = 21ULL << 30,
   },
   .vdso = { .elf_machine = EM_X86_64_, .getrandom = getrandom_code,
             .getrandom_bytes = sizeof getrandom_code },
   .prefetches = TG_CODE_AMD64,
};

TgEntered tg_arch_entered(const VexGuestArchState* guest)
{
   return (TgEntered){ guest->guest_RSP + 8, *(const Addr*)guest->guest_RSP,
                       { guest->guest_RDI, guest->guest_RSI, guest->guest_RDX } };
}

Addr tg_arch_global_entry(Addr a)
{
   return a;
}

Bool tg_arch_only_jumps(Addr a)
{
   (void)a;
   return False;
}

Bool tg_arch_is_mmap(UInt number, const UWord* args, UWord* flags)
{
   *flags = args[3];
   return number == __NR_mmap;
}

Addr tg_arch_thread_area(UInt number, const UWord* args)
{
   return number == __NR_arch_prctl && args[0] == ARCH_SET_FS_ ? args[1] : 0;
}

/* --- The size of the register file in CPUID ---

   The processor that Valgrind emulates has no AVX-512, so its register file is smaller. The
   dynamic linker saves the register file on the stack whenever it resolves a function at its
   first call, and reserves the size that CPUID reports (leaf 0DH). Under Valgrind that is less
   than natively, and some stacks (of each thread, after each fork) reach one page less far.

   So CPUID reports a size with which the C library reserves as much stack as natively. Only
   Valgrind's registers are saved there. The rest is not touched, as natively while the program
   does not use those registers. */

/* The size in bytes that CPUID reports to the program; 0: Valgrind's own. */
static UInt shown_size;

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

void tg_arch_show_native_cpuid(void)
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

/* Before a statement: whether it is Vex's helper for CPUID, and asks for the size. */
static IRTemp is_size_asked(IRSB* out, const IRStmt* st)
{
   static const HChar helper[] = "amd64g_dirtyhelper_CPUID_";
   if (shown_size == 0 || st->tag != Ist_Dirty
       || VG_(strncmp)(st->Ist.Dirty.details->cee->name, helper,
                       sizeof helper - 1) != 0)
      return IRTemp_INVALID;
   IRExpr* const leaf = low(out, TG_GUEST(RAX));
   IRExpr* const sub = low(out, TG_GUEST(RCX));
   const IRTemp other = assign(out, Ity_I32,
                               IRExpr_Binop(Iop_Xor32, leaf,
                                            IRExpr_Const(IRConst_U32(SIZE_LEAF))));
   const IRTemp any = assign(out, Ity_I32,
                             IRExpr_Binop(Iop_Or32, IRExpr_RdTmp(other), sub));
   return assign(out, Ity_I1,
                 IRExpr_Binop(Iop_CmpEQ32, IRExpr_RdTmp(any),
                              IRExpr_Const(IRConst_U32(0))));
}

/* After it. */
static void set_size(IRSB* out, IRTemp is_size)
{
   const Int ebx = TG_GUEST(RBX);
   if (is_size == IRTemp_INVALID)
      return;
   const IRTemp reported = assign(out, Ity_I64, IRExpr_Get(ebx, Ity_I64));
   const IRTemp now = assign(out, Ity_I64,
                             IRExpr_ITE(IRExpr_RdTmp(is_size),
                                        IRExpr_Const(IRConst_U64(shown_size)),
                                        IRExpr_RdTmp(reported)));
   addStmtToIRSB(out, IRStmt_Put(ebx, IRExpr_RdTmp(now)));
}

void tg_arch_add_statement(IRSB* out, IRStmt* st)
{
   const IRTemp is_size = is_size_asked(out, st);
   addStmtToIRSB(out, st);
   set_size(out, is_size);
}
