/* A machine from a user's file or from the processor at hand.

   A file can be a machine file, a dump of CPUID, or /proc/cpuinfo, which names a machine file.

   Part of the simulator: plain C11, no libc, no Valgrind. */

#ifndef TLB_MACHINE_INPUT_H
#define TLB_MACHINE_INPUT_H

#include "sim/base/api.h"
#include "sim/machine/cpuid_answers.h"
#include "sim/machine/machine.h"

TLB_API_BEGIN

/* No file that is read is larger, in bytes: the dump of a computer with 4096
   processors has 50 MB. */
enum { TLB_MACHINE_INPUT_SIZE = 64 << 20 };

/* A dump, or /proc/cpuinfo, has several machines if its processors differ. "FILE:N" names the one
   with that number, from 0 on; "FILE" is the first. */
typedef struct {
   size_t length;  /* of FILE */
   int numbered;   /* there is a number */
   unsigned which; /* else 0 */
} tlb_machine_file_name;

/* Takes the number off a name. Where the whole name is that of a file, the
   caller need not ask. */
tlb_machine_file_name tlb_machine_split_name(const char *name);

/* Reads the text of a file, whichever of the three it is.
   `name` says which of a dump's machines is meant; a machine of a dump or of
   /proc/cpuinfo is called after `file`, a path. Returns 1, or 0 with the line to blame (from 1)
   and the reason. Notes of the machine say that a dump has more than one, and
   what is used instead where CPUID does not describe enough. */
int tlb_machine_read(const char *text, size_t size, const char *file,
                     tlb_machine_file_name name, tlb_machine *out,
                     uint64_t *line, tlb_reason *why);

/* The machine that CPUID describes. If it does not describe enough, the machine
   file of that family and model stands in, or the default machine, and the
   notes say what is missing and what is used instead; then returns 0, else 1.
   The machine can be used either way. */
int tlb_machine_from_cpuid(tlb_cpuid_ask *ask, void *opaque, tlb_machine *out);

/* The documented default, for base pages of 2^page_shift bytes and no others:
   128 entries, 8-way, for instructions and 64 entries, 4-way, for data, over
   1536 entries, 6-way, for both; LRU. The sizes that Intel's Skylake reports by
   the descriptors B6, 03 and C3 of CPUID leaf 2. */
void tlb_machine_default(unsigned page_shift, tlb_machine *out);

TLB_API_END

#endif
