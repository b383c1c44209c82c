/* The stream of a recording: references and uses of pages, in blocks of bytes.

   A reference is one that the recording has not left out: its kind, page and line. A prefetch has
   these, too, and none is left out. A use is the last of those references to a page, since what
   stands before it in the stream, that were left out: it hits, and tells the order of last use.

   Between blocks of these stand changes of the page map, where the recording has large pages.

   Where calls are recorded, blocks have moves of the call stacks, too: sim/record/moves.h.

   In a block the kinds stand together, then the pages, then the lines, and each page and line is a
   difference: so what compresses the file finds repetitions. docs/internals/formats.md has the
   bytes.

   Part of the simulator: plain C11, no libc, no Valgrind. */

#ifndef TLB_STREAM_H
#define TLB_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/pages/pagemap.h"
#include "sim/record/moves.h"
#include "sim/record/numbers.h"

/* Bits of `what`. */
enum {
   TLB_RECORD_USER = 3,      /* these: which tlb_user, or */
   TLB_RECORD_PREFETCH = 3,  /* these: a prefetch of the program; then this is set: */
   TLB_RECORD_PRESENT = 4,   /* the page tables map the page, else the record has none */
   TLB_RECORD_MODIFIES = 4,  /* a load that is a store, too */
   TLB_RECORD_IN_PARTS = 8,  /* a part of the same reference can follow */
   TLB_RECORD_GOES_ON = 16,  /* is such a part: the reference before it goes on */
   TLB_RECORD_USE = 32,      /* a use; then the three bits below say of pages of which size: */
   TLB_RECORD_SIZE = 28,     /* these, and */
   TLB_RECORD_MORE_SIZE = 64, /* this: see tlb_record_size() */
   TLB_RECORD_UNCOUNTED = 64, /* of no use: its misses are counted nowhere: --toggle-collect= */
   TLB_RECORD_BITS = 127
};

/* Of which of the recording's sizes a use is: 0 is the base page, others are the recording's larger
   ones in their order. */
enum { TLB_RECORD_SIZES = 15 };

static inline unsigned tlb_record_size(uint8_t what)
{
   return (unsigned)(what & TLB_RECORD_SIZE) >> 2 | (unsigned)(what & TLB_RECORD_MORE_SIZE) >> 3;
}

static inline uint8_t tlb_record_use(unsigned user, unsigned size)
{
   return (uint8_t)(TLB_RECORD_USE | (size & 7) << 2 | (size & 8) << 3 | user);
}

typedef struct {
   uint8_t what;
   uint32_t line; /* from 1; 0 of a use */
   uint64_t page; /* its number */
} tlb_record;

enum {
   TLB_BLOCK_RECORDS = 8192,  /* at most, of one block */
   TLB_LINE_BYTES = 5, /* of one record, at most */
   TLB_BLOCK_TEXT = 65536,    /* bytes of a piece of text, at most */
   TLB_MARK_TEXT = 256,       /* bytes of a mark's text, at most */
   TLB_RECORD_MAX_LINES = 1 << 26, /* lines of a recording: a larger number is damage */
   TLB_BLOCK_MOVES = 1 << 16, /* bytes of a block's moves, at most, but for what ends those before
                                 each reference */
   /* bytes of a block, at most */
   TLB_BLOCK_BYTES = 1 + 4 * 10 + TLB_BLOCK_RECORDS * (1 + 10 + TLB_LINE_BYTES)
};

/* What stands at the beginning of each block, one byte. */
enum {
   TLB_BLOCK_OF_RECORDS = 'R',
   TLB_BLOCK_OF_CALLS = 'C', /* records, and moves of the call stacks */
   TLB_BLOCK_OF_TEXT = 'T',
   TLB_BLOCK_MARK = 'M',
   TLB_BLOCK_OF_EVENT = 'P', /* of the page map */
   TLB_BLOCK_POINT = 'K',    /* where others use the core: the kernel, or another process */
   TLB_BLOCK_END = 'E'
};

/* What a mark says, between two references. */
typedef enum {
   TLB_MARK_ZERO,   /* all counts are set to zero, and parts of the run but that at hand are gone */
   TLB_MARK_REPORT, /* whoever simulates tells what it has counted: of a run with --jobs= alone */
   TLB_MARK_PHASE,  /* a phase begins or goes on, whose label is the text */
   TLB_MARK_THREAD, /* so does a thread */
   TLB_N_MARKS
} tlb_mark;

/* Where others come between two references. */
typedef enum {
   TLB_POINT_SWITCH, /* a context switch */
   TLB_POINT_CALL,   /* a system call begins */
   TLB_POINT_RETURN, /* and ends */
   TLB_POINT_READ,   /* the kernel reads from pages of the program */
   TLB_POINT_WRITE,  /* it writes to them */
   TLB_POINT_FLUSH,  /* it flushes translations: see tlb_flush_point */
   TLB_N_POINTS
} tlb_point;

/* A flush, as tlb_mmus_flush() has it. */
typedef struct {
   uint32_t line; /* that it is counted at; 0: at none */
   uint64_t start, end, bytes;
} tlb_flush_point;

enum { TLB_POINT_PAGES = 4096 }; /* of one block, at most */

/* --- Writing --- */

typedef void tlb_stream_put(void *opaque, const uint8_t *bytes, size_t n);

typedef struct {
   tlb_stream_put *put;
   void *opaque;
   uint64_t sum;      /* of all bytes so far */
   uint64_t n_records;
   unsigned n;        /* in the block */
   bool has_moves;    /* of call stacks: to be set before the first record */
   size_t n_moves;    /* bytes */
   size_t n_page, n_line; /* bytes of the block's pages and lines */
   uint64_t page_before[2]; /* what differences are taken from: code and data have pages
                               of their own */
   uint32_t line_before;
   /* The kinds, and then pages, as if the block were full; a number is written with what stands
      behind it. */
   uint8_t bytes[TLB_BLOCK_BYTES];
   uint8_t line[TLB_BLOCK_RECORDS * TLB_LINE_BYTES + TLB_NUMBER_SLACK];
   uint8_t move[TLB_BLOCK_MOVES + TLB_BLOCK_RECORDS];
} tlb_stream_writer;

void tlb_stream_begin(tlb_stream_writer *w, tlb_stream_put *put, void *opaque);

/* Puts a block of what has been added; `instructions` have been executed by then. */
void tlb_stream_flush(tlb_stream_writer *w, uint64_t instructions);

/* A difference: even numbers go up, odd ones down. */
static inline uint64_t tlb_folded(uint64_t from, uint64_t to)
{
   const uint64_t d = to - from;
   return d << 1 ^ (0 - (d >> 63));
}

/* Adds a record. False: the block is full now, and has to be flushed. */
static inline bool tlb_stream_add(tlb_stream_writer *w, tlb_record r)
{
   uint64_t *const before = &w->page_before[(r.what & TLB_RECORD_USER) != 0];
   uint8_t *const pages = w->bytes + TLB_BLOCK_RECORDS;
   uint8_t *end = tlb_put_number_wide(pages + w->n_page, tlb_folded(*before, r.page));
   w->bytes[w->n++] = r.what;
   w->n_page = (size_t)(end - pages);
   *before = r.page;
   if ((r.what & TLB_RECORD_USE) == 0) {
      end = tlb_put_number_wide(w->line + w->n_line, tlb_folded(w->line_before, r.line));
      w->n_line = (size_t)(end - w->line);
      w->line_before = r.line;
   }
   return w->n < TLB_BLOCK_RECORDS;
}

/* Adds uses of pages with these numbers, up to `n`, until the block is full. Returns how many. */
static inline unsigned tlb_stream_add_uses(tlb_stream_writer *w, uint8_t what, const uint64_t *page,
                                           unsigned n)
{
   const unsigned room = TLB_BLOCK_RECORDS - w->n, n_added = n < room ? n : room;
   uint64_t *const before = &w->page_before[(what & TLB_RECORD_USER) != 0];
   uint8_t *const pages = w->bytes + TLB_BLOCK_RECORDS;
   uint8_t *end = pages + w->n_page;
   uint64_t from = *before;
   for (unsigned i = 0; i < n_added; i++) {
      w->bytes[w->n + i] = what;
      end = tlb_put_number_wide(end, tlb_folded(from, page[i]));
      from = page[i];
   }
   *before = from;
   w->n_page = (size_t)(end - pages);
   w->n += n_added;
   return n_added;
}

/* Adds a move of a call stack, before the reference that is added next. False: the block is full
   and has to be flushed first. */
bool tlb_stream_move(tlb_stream_writer *w, tlb_move move, uint64_t n);

/* The reference that is added next follows the moves so far. */
static inline void tlb_stream_end_moves(tlb_stream_writer *w)
{
   w->move[w->n_moves++] = 0;
}

/* Puts a piece of text, of at most TLB_BLOCK_TEXT bytes. */
void tlb_stream_text(tlb_stream_writer *w, const char *text, size_t n);

/* Puts a mark, behind what has been flushed; its text has at most TLB_MARK_TEXT bytes. */
void tlb_stream_mark(tlb_stream_writer *w, tlb_mark mark, uint64_t instructions, const char *text,
                     size_t n);

/* Puts a change of the page map, behind what has been flushed. */
void tlb_stream_event(tlb_stream_writer *w, const tlb_map_event *e);

/* Puts a point, behind what has been flushed; `first`, `last`: the pages that it is about, if it is
   about pages, else 0. */
void tlb_stream_point(tlb_stream_writer *w, tlb_point point, uint64_t first, uint64_t last);

/* The same of a flush. */
void tlb_stream_flush_point(tlb_stream_writer *w, const tlb_flush_point *f);

/* Puts the end. */
void tlb_stream_end(tlb_stream_writer *w);

/* --- Reading --- */

/* Stores up to n bytes. Returns how many; fewer than n: there are no more. */
typedef size_t tlb_stream_get(void *opaque, uint8_t *bytes, size_t n);

typedef enum {
   TLB_READ_RECORDS, /* of a block: `n` of `record`, until `instructions`; and `n_moves` bytes of
                        `move`, if it has calls */
   TLB_READ_TEXT,    /* `n` bytes of `text` */
   TLB_READ_MARK,    /* `mark`, at `instructions`, with `n` bytes of `text` */
   TLB_READ_EVENT,   /* `event`; its mapping's name is in `text`, NULL if it has none */
   TLB_READ_POINT,   /* `point`, of pages `first` to `last`; or it is a flush: `flush` */
   TLB_READ_END,     /* all has been read, and is whole */
   TLB_READ_CUT,     /* the file ends in the middle */
   TLB_READ_DAMAGED  /* with `damage` */
} tlb_stream_found;

typedef struct {
   tlb_stream_get *get;
   void *opaque;
   uint64_t sum;
   uint64_t n_records, instructions;
   unsigned n;
   tlb_mark mark;
   tlb_point point;
   uint64_t first, last;
   tlb_flush_point flush;
   tlb_record record[TLB_BLOCK_RECORDS];
   char text[TLB_BLOCK_TEXT];
   uint8_t bytes[TLB_BLOCK_BYTES + 4]; /* a number at the end is read with what stands behind it */
   unsigned n_referred;
   uint16_t referred[TLB_BLOCK_RECORDS + 1]; /* which records of a block are references */
   size_t n_moves; /* 0: it has no calls */
   uint8_t move[TLB_BLOCK_MOVES + TLB_BLOCK_RECORDS]; /* numbers: see sim/record/moves.h */
   const char *damage;
   tlb_map_event event;
   tlb_mapping mapping;
} tlb_stream_reader;

void tlb_stream_open(tlb_stream_reader *r, tlb_stream_get *get, void *opaque);

/* Reads the next block. After TLB_READ_END, TLB_READ_CUT and TLB_READ_DAMAGED there is none. */
tlb_stream_found tlb_stream_read(tlb_stream_reader *r);

/* Takes the move at *at, at first r->move, as a number, and moves *at behind it. False: there are
   no more in the block. */
bool tlb_stream_take_move(const tlb_stream_reader *r, const uint8_t **at, uint64_t *number);

#endif
