/* Native start and layout: the program runs as without Valgrind, in every run.

   Which pages a program touches, and which of them can be huge, depends on where its
   mappings lie, on how far its heap can grow, and on what is loaded before it starts.
   Valgrind differs from the kernel in all three. So in every run, unless
   --native-start=no says otherwise, the start is set right (native/start.h) and mappings
   are placed as the kernel places them (native/mmap_wishes.h), which the maps keep account of
   (native/maps.h). Page faults are predicted from the same maps. */

#ifndef TG_NATIVE_H
#define TG_NATIVE_H

#include "pub_tool_basics.h"

#include "options/options.h"

void tg_native_init(const TgOptions* options);

/* The core's events. Without --native-start=yes and --faults=yes they do nothing. */
void tg_native_started(ThreadId tid);
void tg_native_stopped(ThreadId tid);
void tg_native_pre_syscall(UInt number, const UWord* args);
void tg_native_post_syscall(ThreadId tid, UInt number, const UWord* args, SysRes result);

#endif
