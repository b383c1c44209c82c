/* Traces that other programs have written: references with their addresses, in order.

   Each format has a file of its own, input_NAME.c, which makes references of the trace's bytes.
   Nothing has been left out of a trace, so it needs no strength: any machine can be simulated.
   Part of tlbgrind.  GPL-2.0-or-later; see COPYING. */

#ifndef TG_SIMULATE_TRACE_H
#define TG_SIMULATE_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/tlb/hierarchy.h"

enum {
   TG_TRACE_REFS = 8,          /* that one record makes, at most */
   TG_TRACE_BUFFER = 1 << 18   /* bytes; a line is no longer */
};

typedef struct {
   uint8_t user;     /* a tlb_user */
   bool modifies;    /* a load that is a store, too */
   uint32_t size;    /* in bytes, at least 1 */
   uint64_t address; /* with the size, no address is beyond the last */
} TgTraceRef;

typedef enum {
   TG_TRACE_MORE,   /* `n` of `ref`, perhaps none */
   TG_TRACE_END,    /* all has been read */
   TG_TRACE_CUT,    /* the trace ends in the middle */
   TG_TRACE_DAMAGED /* with `why` */
} TgTraceFound;

/* Stores up to n bytes. Returns how many; fewer than n: there are no more. */
typedef size_t TgTraceGet(void *opaque, uint8_t *bytes, size_t n);

typedef struct TgTrace TgTrace;

typedef struct {
   const char *name;
   const char *unit;  /* what is counted in messages */
   const char *lacks; /* what such a trace does not have */
   TgTraceFound (*next)(TgTrace *t);
} TgTraceFormat;

struct TgTrace {
   const TgTraceFormat *format;
   TgTraceGet *get;
   void *opaque;
   unsigned n;
   TgTraceRef ref[TG_TRACE_REFS];
   uint64_t at_unit;    /* the line or record that was read last, from 1 */
   unsigned page_shift; /* of its pages, where the trace has told; else 0 */
   char why[160];
   /* Of drmemtrace. */
   uint64_t pid;     /* 0: not told yet */
   uint64_t last_pc, next_pc; /* of the instruction before */
   uint64_t n_prefetches, n_not_fetched;
   bool no_data;
   uint64_t time;    /* of the last timestamp; 0: there was none yet */
   /* Bytes that were got and not yet read. */
   size_t at, end;
   uint8_t bytes[TG_TRACE_BUFFER];
};

void tg_trace_begin(TgTrace *t, const TgTraceFormat *format, TgTraceGet *get, void *opaque);

/* Reads the next record or line. After anything but TG_TRACE_MORE there is none. */
TgTraceFound tg_trace_next(TgTrace *t);

/* --- For the formats --- */

extern const TgTraceFormat tg_input_champsim, tg_input_drmemtrace, tg_input_lackey;

/* The next n bytes, which have been read then; NULL: there are fewer, *left. */
const uint8_t *tg_trace_bytes(TgTrace *t, size_t n, size_t *left);

/* The next line, without its end. NULL: there is none; then *n bytes without an end are left,
   TG_TRACE_BUFFER if the line is too long. */
const char *tg_trace_line(TgTrace *t, size_t *n);

/* Adds a reference. Returns false, with the reason, if it can not be. */
bool tg_trace_add(TgTrace *t, tlb_user user, uint64_t address, uint64_t size);

TgTraceFound tg_trace_damaged(TgTrace *t, const char *format, ...)
   __attribute__((format(printf, 2, 3)));

/* Numbers with the lowest byte first. */
uint64_t tg_trace_number(const uint8_t *bytes, unsigned n);

#endif
