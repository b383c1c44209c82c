/* Machine files: the text form of a machine. docs/machines.md has the format.

   Part of the simulator: plain C11, no libc, no Valgrind. */

#ifndef TLB_MACHINE_FILE_H
#define TLB_MACHINE_FILE_H

#include "sim/base/api.h"
#include "sim/machine/machine.h"

TLB_API_BEGIN

enum {
   TLB_MACHINE_FILE_SIZE = 1 << 20, /* no machine file is larger, in bytes */
   TLB_MACHINE_TEXT_SIZE = 1 << 15, /* no printed machine is longer */
   TLB_MACHINE_NOTES = 16,          /* `note` lines of a file */
   TLB_MACHINE_ERRORS = 20          /* more are not told of one file */
};

/* Whether the text is meant as a machine file, not as something else: whether
   its first word outside comments is "tlbgrind-machine". */
int tlb_machine_text(const char *text, size_t length);

/* Reads the `length` bytes at `text`, which need no NUL behind them. Returns 1;
   or 0 with the first line to blame (from 1) and the reason, and *out is then not to
   be used. A machine that is read passes tlb_machine_check(), and its notes
   name every assumption. */
int tlb_machine_parse(const char *text, size_t length, tlb_machine *out,
                      uint32_t *line, tlb_reason *why);

/* A line of a file that is refused, and why. */
typedef struct {
   uint32_t line;
   tlb_reason why;
} tlb_machine_error;

/* The same, with all that is wrong, in the order of the lines; `error` has room for
   TLB_MACHINE_ERRORS, and of more the first are kept. Returns how many there are; 0: the
   machine is read. */
unsigned tlb_machine_parse_all(const char *text, size_t length, tlb_machine *out,
                               tlb_machine_error *error);

/* The same of a machine of a run, as tlb_machine_print() has written it: it may have base pages
   that no machine file can give it (sim/tlb/base_pages.h), so tlb_machine_check() is not asked. */
int tlb_machine_parse_of_run(const char *text, size_t length, tlb_machine *out, tlb_reason *why);

/* Writes the machine as tlb_machine_parse() reads it, and a NUL, into at most
   `size` bytes of `out`; TLB_MACHINE_TEXT_SIZE is enough for every machine. */
void tlb_machine_print(const tlb_machine *m, char *out, size_t size);

TLB_API_END

#endif
