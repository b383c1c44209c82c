/* Perf maps, /tmp/perf-PID.map: the names of code that a program makes at run time.

   Such a file is text. A line has the address of the code's first byte, the number of its bytes,
   both hexadecimal, and its name, which takes the rest of the line.

   Plain C11 without Valgrind and libc, so that tests and a fuzzer can use it. The program may be
   writing the file while it is read, so it is taken in pieces that end anywhere. */

#ifndef TG_PERF_MAP_H
#define TG_PERF_MAP_H

#include <stdbool.h>
#include <stdint.h>

enum { TG_PERF_MAP_NAME = 1000 }; /* bytes of a name; what is behind them is left out */

typedef struct {
   uint64_t first, last; /* the addresses of its bytes */
   const char* name;     /* not empty; '?' for each control character */
} TgPerfSymbol;

/* A line as far as it has been read. */
typedef struct {
   enum { TG_PERF_MAP_START, TG_PERF_MAP_SIZE, TG_PERF_MAP_TEXT, TG_PERF_MAP_SKIP } part;
   unsigned digits; /* of the number at hand */
   uint64_t start, size;
   unsigned length; /* of the name */
   char name[TG_PERF_MAP_NAME + 1];
} TgPerfMap;

/* Before the first byte of a file. */
void tg_perf_map_begin(TgPerfMap* p);

/* Reads on from *at, at most to `end`, and moves *at on. True: *out is a symbol, whose name is good
   until the next call. False: all bytes are read. Lines of another form are left out. */
bool tg_perf_map_next(TgPerfMap* p, const char** at, const char* end, TgPerfSymbol* out);

/* Takes the line that has no end yet as a whole one; whether it has a symbol. */
bool tg_perf_map_last(TgPerfMap* p, TgPerfSymbol* out);

#endif
