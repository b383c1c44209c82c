/* Gives the program the initial stack, mappings and heap that it has without Valgrind.

   Which pages a program touches, and which of them can be huge, depends on the addresses of its
   mappings, on the room for its heap, and on the objects that are loaded before its start.
   Valgrind differs from the kernel in all three. So, except with --native-start=no, the process
   image is corrected at the start (native/start.h), and mappings get the addresses that the
   kernel would choose (native/mmap_wishes.h), which the maps record (native/maps.h). Page faults
   are predicted from the same maps. */

#ifndef TG_NATIVE_H
#define TG_NATIVE_H

#include "pub_tool_basics.h"

#include "options/options.h"

void tg_native_init(const TgOptions* options);

/* The core's events, passed on by tool/main.c. They do nothing if both --native-start and --faults
   are `no`. */
void tg_native_started(ThreadId tid);
void tg_native_stopped(ThreadId tid);
void tg_native_pre_syscall(UInt number, const UWord* args);
void tg_native_post_syscall(ThreadId tid, UInt number, const UWord* args, SysRes result);

#endif
