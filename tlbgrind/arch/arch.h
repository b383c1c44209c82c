/* What differs between the architectures of programs: the guest's registers, the bytes of
   instructions, the numbers of system calls, and where Linux and Valgrind place memory.

   Each architecture has one file, arch/NAME.c, which defines all of this; of them the build takes
   the one of the tool. All other code is the same for all architectures. What they have in common
   is not here: most numbers of system calls have one name in pub_tool_vkiscnums.h. */

#ifndef TG_ARCH_H
#define TG_ARCH_H

#include "pub_tool_basics.h"
#include "pub_tool_guest.h"
#include "pub_tool_tooliface.h"

#include "arch/prefetch_bytes.h"

/* --- Registers, as offsets in the guest's state: tg_register() of base/registers.h --- */

enum { TG_SYSCALL_ARGUMENTS = 6 };

typedef struct {
   PtrdiffT sp;              /* the stack pointer */
   PtrdiffT result;          /* what a function returns */
   Bool links;               /* a call leaves the return address in a register, not on the stack */
   PtrdiffT request;         /* points to the number of a client request: valgrind.h */
   PtrdiffT first;           /* register 0 in the processor's own numbering; the others follow */
   PtrdiffT segment_base[3]; /* by tg_prefetch_segment; 0: the base is 0, or in no register */
   PtrdiffT syscall_number;
   PtrdiffT syscall_argument[TG_SYSCALL_ARGUMENTS];
} TgArchRegisters;

#define TG_GUEST(field) ((PtrdiffT)offsetof(VexGuestArchState, guest_##field))

/* --- System calls --- */

/* The number of a system call that the architecture does not have: one that no program passes. */
#define TG_NO_SYSCALL (1u << 31)

typedef struct {
   UInt mmap;                /* the mmap() that gets its six arguments in registers */
   UInt ipc;                 /* shmget(), shmat() and others in one: (which, ...) */
   UInt shmget, shmat;       /* those with a number of their own */
   UInt time;
   UInt vfork;
   UInt seccomp;
   UInt getrlimit;           /* the one whose limits have no sign */
   UInt clone_child_number;  /* which argument of clone() is child_tid, from 0 */
   UInt bytes;               /* of the instruction that makes a system call, up to 4 */
   UChar code[4];            /* that instruction */
   UChar other_code[4];      /* another that makes one; its first byte is 0: there is none */
   UInt red_zone;            /* bytes below the stack pointer that the program may use */
   Bool arguments_change;    /* native/mmap_wishes.c and native/self_exec.c change arguments */
   UInt map_32bit;           /* of mmap()'s flags, MAP_32BIT; 0: the architecture has none */
   UInt map_locked;          /* MAP_LOCKED */
   UInt mcl_current;         /* MCL_CURRENT; MCL_FUTURE is twice that, MCL_ONFAULT four times */
} TgArchSyscalls;

/* --- Memory --- */

/* Where Linux begins the layout of a program, without randomisation. */
typedef struct {
   ULong stack_top;
   ULong task_size;          /* the end of the address space */
   ULong pie_base;           /* of position-independent programs: two thirds of the address space,
                                rounded down to pages; load_elf_binary() */
   ULong static_pie_break;   /* the break of static ones: the same, rounded up */
} TgArchLayout;

/* Where native/placement.c puts what Linux has at a native address: at the same address without
   its highest bits, which are beyond Valgrind's address range. */
typedef struct {
   ULong mask;               /* the bits that stay; 0: Valgrind's core places memory */
   ULong room;               /* from here on addresses are kept free of Valgrind's own memory */
   ULong low_break_up;       /* a break below `room` is moved up by so much */
} TgArchPlaces;

/* The stand-in for the vDSO: native/vdso_stub.h. */
typedef struct {
   UShort elf_machine;       /* in an ELF file's header; 0: there is no stand-in */
   const UChar* getrandom;   /* the code of __vdso_getrandom(); NULL: it is left out */
   SizeT getrandom_bytes;
   UInt large_from[2];       /* the Linux version since which its code takes more than 4K */
} TgArchVdso;

/* --- The architecture of this tool --- */

typedef struct {
   const HChar* isa;            /* in machine files, if its kernels can have several base pages;
                                   else NULL */
   TgArchRegisters registers;
   TgArchSyscalls syscalls;
   TgArchLayout layout;
   TgArchLayout large_layout;   /* of kernels whose page tables have more levels, which put their
                                   stacks beyond `layout`; its task_size is 0: there is none */
   UInt code_folio_shift;       /* of the folios in which Linux reads code: exec_folio_order();
                                   0: base pages */
   TgArchPlaces places;
   TgArchVdso vdso;
   tg_prefetch_code prefetches; /* how its prefetch instructions are encoded */
   void (*state_passer)(void);  /* for arch/state_call.c: called by translated code with a function
                                   as the first argument, it calls that with the guest's state in
                                   its place; NULL: Vex passes the state itself */
} TgArch;

extern const TgArch tg_arch;

/* A function that has been entered, before its first instruction. */
typedef struct {
   Addr sp;      /* after the return */
   Addr to;      /* where it returns to */
   UWord arg[3]; /* the first arguments; as many of them are defined as the function has */
} TgEntered;

TgEntered tg_arch_entered(const VexGuestArchState* guest);

/* At a function's first instruction: where it returns to, if a call leaves that in a register; else
   0. */
static inline Addr tg_arch_link(UChar* guest_state)
{
   return tg_arch.registers.links
             ? tg_arch_entered((const VexGuestArchState*)(void*)guest_state).to
             : 0;
}

/* Where the function begins whose local entry this may be; any other address: itself. */
Addr tg_arch_global_entry(Addr a);

/* Whether the instruction at this address, which Vex leaves as a call, only jumps. */
Bool tg_arch_only_jumps(Addr a);

/* Whether the system call is an mmap(), of those with arguments in memory, too; then *flags are its
   flags, 0 if they cannot be read. */
Bool tg_arch_is_mmap(UInt number, const UWord* args, UWord* flags);

/* The thread's area that the system call has set; 0: it is not a call that sets it. */
Addr tg_arch_thread_area(UInt number, const UWord* args);

/* From now on the program gets the native answers of CPUID where it sees Valgrind's processor and
   reserves other memory. To be called before the program runs. */
void tg_arch_show_native_cpuid(void);

/* Adds a statement of the program's code to a block, and what these answers need. */
void tg_arch_add_statement(IRSB* out, IRStmt* st);

#endif
