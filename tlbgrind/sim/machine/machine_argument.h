/* What --machine= takes: machines, joined by commas, some of them with overrides and ranges.

   A machine is NAME[:OVERRIDE,OVERRIDE...][@RULES], and an override [PART.]LINE=VALUE: the
   machine file's line of this key, in this array, walk step or `walk`, has another value. Commas
   join overrides, too: behind a machine with overrides, what begins as an override is one of them,
   and the first item that does not is the next machine.

   Part of the simulator: plain C11, no libc, no Valgrind. */

#ifndef TLB_MACHINE_ARGUMENT_H
#define TLB_MACHINE_ARGUMENT_H

#include "sim/machine/geometry.h"

/* Bytes of the first machine of a list, without the comma behind it. */
size_t tlb_argument_length(const char *list);

/* Where a machine's overrides are, in bytes: length 0 if there are none. */
typedef struct {
   size_t name;   /* the length of NAME */
   size_t from;   /* behind the ':' */
   size_t length;
} tlb_argument_overrides;

tlb_argument_overrides tlb_argument_split(const char *machine);

/* Whether the text begins as an override does: [PART.]LINE= */
int tlb_argument_is_override(const char *text);

/* A value FROM..TO is a range: each value is twice the one before it. FROM..TO/STEP: each is larger
   by STEP. Several ranges of a machine make each combination, those of the last range first.
   Returns how many machines that is, 1 without a range, TLB_ARGUMENT_MOST if they are that many or
   more; or 0, with the reason, if a range is wrong. */
unsigned tlb_argument_count(const char *machine, tlb_reason *why);

enum { TLB_ARGUMENT_MOST = 1000 };

/* Writes number i of them: the text with a value in place of each range. It is no longer than the
   machine, which has one `size`, with its NUL, or more. */
void tlb_argument_write(const char *machine, unsigned i, char *out, size_t size);

#endif
