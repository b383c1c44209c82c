/* A recording as a file: opened, through zstd where it is compressed, with its head read.
   Part of tlbgrind.  GPL-2.0-or-later; see COPYING. */

#ifndef TG_SIMULATE_RECORDING_H
#define TG_SIMULATE_RECORDING_H

#include "sim/pages/code_blocks.h"
#include "sim/pages/mappings.h"
#include "sim/record/strength.h"
#include "sim/record/stream.h"
#include "sim/tlb/base_pages.h"

typedef struct TgRecording TgRecording;

/* Opens the file and reads its head. What is wrong ends the program. */
TgRecording *tg_recording_open(const char *name);

/* The same of a run that goes on: reads a head from there, a pipe, which it closes in the end. What
   is read is handed to `copy`, too, if that is not NULL. */
typedef void tg_recording_copy(void *opaque, const uint8_t *bytes, size_t n);
TgRecording *tg_recording_of_run(int fd, tg_recording_copy *copy, void *opaque);

const tlb_strength *tg_recording_strength(const TgRecording *r);

/* How the run's kernel has transparent huge pages. */
tlb_thp_mode tg_recording_thp(const TgRecording *r);

/* Which base pages the run's machines have beside their own. */
const tlb_base_pages *tg_recording_base_pages(const TgRecording *r);

/* How it maps code. */
const tlb_code_blocks *tg_recording_code(const TgRecording *r);

/* Whether misses are counted by object of data, which stand at the end. */
bool tg_recording_has_data(const TgRecording *r);

/* Whether it has moves of the call stacks, and calls at the end. */
bool tg_recording_has_calls(const TgRecording *r);

/* Reads the next block, as tlb_stream_read(): first those of the recording that this one goes on
   from, up to there. */
tlb_stream_found tg_recording_read(TgRecording *r);

/* How much of its files has been read, 0.0 to 1.0; -1.0: that is not known. */
double tg_recording_done(const TgRecording *r);

/* What has been read. */
tlb_stream_reader *tg_recording_stream(TgRecording *r);

void tg_recording_close(TgRecording *r);

/* Where others use the core between references, of what a recording tells. */
typedef struct {
   uint64_t switches; /* each so many instructions a context switch; 0: it tells of none */
   bool flushes;
   bool prefetches;
   bool syscalls;     /* system calls, and */
   bool touches;      /* what the kernel refers to for them */
} TgRecordedPoints;

const TgRecordedPoints *tg_recording_points(const TgRecording *r);

typedef struct {
   tlb_strength strength;
   TgRecordedPoints points;
   tlb_thp_mode thp;
   tlb_base_pages base;
   tlb_code_blocks code;
   bool data; /* misses are counted by object of data */
   bool calls;
   const char *after; /* the name of the recording that it goes on from, not ended by a zero;
                         NULL: none */
   size_t after_length;
   uint64_t after_exec; /* if its process has execed since, that number stands behind its name;
                           0: not told */
   uint64_t after_records, after_sum; /* where that is: so many records, and the sum by then */
} TgRecordingHead;

/* Reads a head, which ends with an empty line, from a text of n bytes. Returns how many bytes it
   has; 0: it is none, with the reason. */
size_t tg_recording_head(const char *text, size_t n, TgRecordingHead *out, const char **why);

#endif
