/* The list of the machines that are built in, in columns.

   Part of the simulator: plain C11, no libc, no Valgrind. */

#ifndef TLB_MACHINE_LIST_H
#define TLB_MACHINE_LIST_H

#include "sim/base/api.h"
#include "sim/machine/geometry.h"

TLB_API_BEGIN

enum { TLB_LIST_COLUMNS = 8, TLB_LIST_LINE_SIZE = 400 };

typedef struct {
   const char *pattern;
   unsigned n;     /* machines in it */
   unsigned next;  /* built-in machine, from 0; the line above them all comes first */
   int begun;
   unsigned width[TLB_LIST_COLUMNS];
} tlb_machine_list;

/* Begins the list of those with the pattern in their name, title or instruction set, or in that of
   a product with it. Capitals, blanks and separators do not count; a * stands for any text. NULL:
   all machines. */
tlb_machine_list tlb_machine_list_begin(const char *pattern);

/* Writes the next line without its end: first what the columns are, then a machine each. Longer
   text is cut; TLB_LIST_LINE_SIZE is enough. Returns 0, and writes nothing, behind the last. */
int tlb_machine_list_next(tlb_machine_list *list, char *out, size_t size);

/* Why a list with that pattern has no machine. */
void tlb_machine_list_refuse(const char *pattern, tlb_reason *why);

TLB_API_END

#endif
