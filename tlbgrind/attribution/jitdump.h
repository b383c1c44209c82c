/* Jitdump files, jit-PID.dump: code that a program makes at run time, with names and lines.

   The file begins with a header, and goes on with records. A record says of which kind it is, how
   long, and when it was written: a piece of code was made, was moved, or has these lines. Numbers
   are in the byte order of the computer that wrote them; here that is little-endian only.

   Plain C11 without Valgrind and libc, so that tests and a fuzzer can use it. All sizes are
   checked, because the file may be damaged, and the program may be writing it while it is read. */

#ifndef TG_JITDUMP_H
#define TG_JITDUMP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { TG_JITDUMP_NAME = 1000 }; /* bytes of a name; what is behind them is left out */

typedef struct {
   /* Reads `n` bytes of the file at `at`; false: it has fewer. */
   bool (*read)(void* opaque, uint64_t at, void* to, size_t n);
   void* opaque;
   uint64_t size; /* of the file by now */
   uint64_t at;   /* where to read on; 0: before the header */
   uint64_t late; /* by how much the addresses of lines are too high */
} TgJitdump;

typedef enum { TG_JITDUMP_LOAD, TG_JITDUMP_MOVE, TG_JITDUMP_LINES } TgJitdumpKind;

typedef struct {
   TgJitdumpKind kind;
   uint64_t first, last; /* the addresses of the code; of LINES only `first` */
   uint64_t from;        /* MOVE: the first address before */
   uint64_t at, end, n;  /* LINES: where in the file they are, how many are left */
   char name[TG_JITDUMP_NAME + 1]; /* LOAD: '?' for each control character */
} TgJitdumpRecord;

/* The code from `start` to that of the next line comes from this line of the file. */
typedef struct {
   uint64_t start;
   uint32_t line;
   char file[TG_JITDUMP_NAME + 1];
} TgJitdumpLine;

/* The next record of these kinds. False: there is none that is complete yet, or what follows cannot
   be read. */
bool tg_jitdump_next(TgJitdump* d, TgJitdumpRecord* out);

/* The next line of a record of lines. *line: the one before it, whose file may be this one's, too;
   `file` is empty before the first. False: there are no more. */
bool tg_jitdump_line(const TgJitdump* d, TgJitdumpRecord* r, TgJitdumpLine* line);

#endif
