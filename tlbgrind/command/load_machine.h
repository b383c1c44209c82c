/* Loads machines by name or from files, for programs without Valgrind.

   What is wrong is said in one line, and ends the program with status 1.
   Part of tlbgrind.  GPL-2.0-or-later; see COPYING. */

#ifndef TG_LOAD_MACHINE_H
#define TG_LOAD_MACHINE_H

#include <stdbool.h>

#include "sim/base/memory.h"
#include "sim/machine/machine.h"

/* Whose messages begin with the program's name, and blame that option. */
void tg_load_for(const char *program, const char *option);

/* The base page of the default machine, 2^shift bytes; 4K if nothing is said. */
void tg_load_default_page(unsigned shift);

/* Prints an error in one line, without control characters, and ends the program. */
_Noreturn void tg_load_refuse(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* What malloc() and the like return; ends the program where that is NULL. */
void *tg_load_need(void *memory);

/* The same for the simulator, which takes memory from its caller. */
extern const tlb_memory tg_load_memory;

/* Loads NAME[:OVERRIDE,...]. Returns whether it is from a file; own_name: what it is called without
   overrides. */
bool tg_load_machine(const char *argument, tlb_machine *m, char own_name[TLB_NAME_SIZE]);

#endif
