/* The address space as the kernel would have it: follows what the program does
   to its own by system calls, lays it out again at native addresses, and tells
   the fault model (sim/faultmodel.h). */

#ifndef TG_FAULT_SPACE_H
#define TG_FAULT_SPACE_H

#include "pub_tool_basics.h"

#include "sim/faultmodel.h"
#include "sim/layout.h"

/* Memory that one call mapped: what the log calls a map. */
typedef struct {
   ULong start, end;   /* here */
   ULong native;       /* where `start` would lie */
   ULong offset;       /* in the file */
   const HChar* name;  /* of the file or object, NULL: none */
   const HChar* what;  /* "heap" and so on, see docs/fault-log.md */
   UChar prot;         /* TLB_MAY_READ and so on */
   Bool shared;
   Bool hidden;        /* Valgrind's doing */
} TgMap;

/* Listens to tg_aspace.h from now on; `forked` is called after a fork. */
void tg_space_init(const tlb_fault_settings* settings,
                   void (*forked)(Bool is_child));

/* The program is about to run its first instruction. */
void tg_space_start(ThreadId tid);

/* A system call begins, has returned. */
void tg_space_pre_syscall(UInt number, const UWord* args);
void tg_space_post_syscall(UInt number, const UWord* args, SysRes result);

/* The map that has the byte, or NULL; its number, and where it lies natively. */
const TgMap* tg_space_find(Addr a, UInt* number, ULong* native);
const TgMap* tg_space_map(UInt number);

/* The other way round: the address here of what lies natively there, and its
   map; 0: nothing does. Slow. */
Addr tg_space_here(ULong native, UInt* number);

/* Where mmap() would place so many bytes natively, 0: nowhere. */
ULong tg_space_place(SizeT len, Bool is_file, ULong offset);

/* The kernel's pages in every process; 0: there are none. */
Addr tg_space_vdso(void);
Addr tg_space_vvar(void);

/* What the kernel touches while it starts the program: calls `each` in order,
   with addresses here. */
void tg_space_exec_touches(void (*each)(Addr a, tlb_touch touch));

tlb_fault_model* tg_space_model(void);

#endif
