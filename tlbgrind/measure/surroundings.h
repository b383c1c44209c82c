/* What the program runs on and in: emulation, a virtual machine, a busy machine.
   Part of tlbgrind.  GPL-2.0-or-later; see COPYING. */

#ifndef TG_MEASURE_SURROUNDINGS_H
#define TG_MEASURE_SURROUNDINGS_H

#include <stdbool.h>
#include <stddef.h>

enum { TG_SURROUNDINGS_TEXT = 128 };

typedef struct {
   bool virtual_machine;
   char processor[TG_SURROUNDINGS_TEXT]; /* its name; "" if unknown */
   const char *isa;                      /* as machine files call it */
} TgSurroundings;

void tg_surroundings(TgSurroundings *out);

/* Whether /proc/cpuinfo is of another architecture than this program: an emulator that shows the
   host's. */
bool tg_other_cpuinfo(void);

/* How busy the machine was between two looks: the time of all processors but this program's own,
   and what the hypervisor took, as processors. Negative: unknown. */
typedef struct {
   double seconds, all, own;
} TgBusyLook;
void tg_busy_look(TgBusyLook *out);
double tg_busy_between(const TgBusyLook *before, const TgBusyLook *after);

#endif
