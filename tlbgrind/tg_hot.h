/* What translated code and the tool hand each other, in the memory behind the
   running thread's guest registers (the first shadow area, which Valgrind
   leaves to tools): reached with one instruction and no address. */

#ifndef TG_HOT_H
#define TG_HOT_H

#include "pub_tool_basics.h"

/* What the addresses of a segment's data references are relative to. Base
   TG_NO_BASE is always 0, for addresses that are known when the code is
   translated. */
enum { TG_MAX_BASES = 16, TG_NO_BASE = TG_MAX_BASES };

/* The clock's steps per reference. One that straddles two pages takes both: with
   equal times nobody knew which of the pages was referenced last. */
enum { TG_TICKS = 2 };

typedef struct {
   ULong clock;     /* the time of the last reference of the segment that was
                       left last, or is being replayed */
   UWord segment;   /* the number of the segment that is being run; 0: surely
                       none */
   UWord base[TG_MAX_BASES + 1];
} TgHot;

#endif
