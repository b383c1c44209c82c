/* The fault log: stores page faults in order and writes the file (docs/internals/formats.md). */

#ifndef TG_LOG_H
#define TG_LOG_H

#include "pub_tool_basics.h"

#include "sim/faults/faultmodel.h"

#include "options/fault_options.h"
#include "attribution/sites.h"
#include "calls/arcs.h"

/* The origin of a touch: a system call, by its number, or one of these. TG_BY_PROGRAM: an
   instruction of the program. */
enum { TG_BY_PROGRAM = -1, TG_BY_EXEC = -2, TG_BY_SIGNAL = -3 };

typedef struct {
   Addr page;
   UInt map;            /* number in native/maps.h */
   ULong instructions;  /* since the start */
   ThreadId thread;
   Int by;
   TgSite* site;        /* NULL: none */
   TgCallSite* const* callers; /* the innermost first */
   UInt n_callers;
} TgFaultWhere;

/* Parts of the program's work, for --faults-touches=yes: what the dynamic linker does, what loads a
   locale, and all else. */
typedef enum { TG_WORK_PROGRAM, TG_WORK_LINKER, TG_WORK_LOCALE, TG_N_WORKS } TgWork;

typedef struct {
   Addr page;
   UInt map;            /* number in native/maps.h */
   ULong instructions;  /* since the start */
   tlb_touch touch;
   TgWork work;
} TgTouch;

void tg_log_init(void);

/* Counts the faults of the last touch in the model's trials. */
void tg_log_trials(const tlb_fault_model* m);

/* Adds a fault; `in`: its kind and pages in each view. */
void tg_log_add(const TgFaultWhere* where, const tlb_fault in[TLB_N_VIEWS]);

/* Counts a fault that the log does not list: one of Valgrind's own memory. */
void tg_log_hide(const tlb_fault in[TLB_N_VIEWS]);

/* The faults and major faults of a view so far, without hidden ones. */
const tlb_fault_counts* tg_log_counts(tlb_fault_view view);

/* Adds a mark: the faults that follow are those of a phase with that name. */
void tg_log_mark(const HChar* phase, ULong instructions);

/* Adds the first touch of a page, or the first write to it, by a part of the work. */
void tg_log_touch(const TgTouch* touch);

/* Removes all faults, and all marks but the last: a forked child has a log of its own. */
void tg_log_clear(void);

/* Writes the log. False: that failed, and a message has been printed. */
Bool tg_log_write(const HChar* name, const TgFaultOptions* options,
                  Int forked_from);

#endif
