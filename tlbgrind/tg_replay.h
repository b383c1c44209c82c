/* Replay: the references of a segment, simulated in the program's order. */

#ifndef TG_REPLAY_H
#define TG_REPLAY_H

#include "pub_tool_basics.h"

#include "tg_blocks.h"
#include "tg_hot.h"
#include "tg_options.h"

/* `hot_offset`: of TgHot within the guest state. */
void tg_replay_init(const TgOptions* options, Int hot_offset);

/* Called by translated code at the end of a segment if a probe does not hold,
   or always without fast path; guest_state is the running thread's, whose
   TgHot says which segment. */
void tg_replay(UChar* guest_state);

/* Called by translated code where a guarded reference happens. */
void tg_replay_guarded(UChar* guest_state);

/* The core's events: a thread starts or stops running client code. */
void tg_replay_start(ThreadId tid, ULong blocks);
void tg_replay_stop(ThreadId tid, ULong blocks);

/* The same: a signal is about to be delivered. */
void tg_replay_signal(ThreadId tid, Int signal, Bool alternate_stack);

/* References that crossed a page: each is one reference and two translations.
   Both halves may miss; `extra` counts the misses beyond the first. */
typedef struct {
   ULong straddles[TG_N_KINDS]; /* of reads and writes */
   ULong extra[TG_N_KINDS][TLB_MAX_LEVELS];
} TgReplayTotals;

TgReplayTotals* tg_replay_totals(void);

/* For --stats=yes: how often the probes did not hold. */
void tg_replay_print_stats(void);

#endif
