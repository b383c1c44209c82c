/* The fault log: keeps the page faults in order and writes them (docs/fault-log.md). */

#ifndef TG_LOG_H
#define TG_LOG_H

#include "pub_tool_basics.h"

#include "sim/faults/faultmodel.h"

#include "options/fault_options.h"
#include "attribution/sites.h"

/* What touched the page, if it was not the program itself: a system call by its
   number, or one of these. */
enum { TG_BY_PROGRAM = -1, TG_BY_EXEC = -2, TG_BY_SIGNAL = -3 };

typedef struct {
   Addr page;
   UInt map;            /* number in native/maps.h */
   ULong instructions;  /* since the start */
   ThreadId thread;
   Int by;
   TgSite* site;        /* NULL: none */
} TgFaultWhere;

void tg_log_init(void);

/* A fault, of which `in` says what it is in each view. */
void tg_log_add(const TgFaultWhere* where, const tlb_fault in[TLB_N_VIEWS]);

/* The same, but it is only counted. */
void tg_log_hide(const tlb_fault in[TLB_N_VIEWS]);

/* Faults and major faults in a view so far, hidden ones left out. */
const tlb_fault_counts* tg_log_counts(tlb_fault_view view);

/* Forgets all: the life of a forked child begins. */
void tg_log_clear(void);

/* Writes the log. False: that failed, and a message has been printed. */
Bool tg_log_write(const HChar* name, const TgFaultOptions* options,
                  Int forked_from);

#endif
