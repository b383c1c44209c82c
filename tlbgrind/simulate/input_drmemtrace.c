/* DynamoRIO's drmemtrace: offline traces behind raw2trace, of 64-bit programs.

   A record has 12 bytes, the lowest of a number first: two of its type, two of a size, eight of an
   address or another value. docs/internals/formats.md lists the types.
   Part of tlbgrind.  GPL-2.0-or-later; see COPYING. */

#include "simulate/trace.h"

enum { RECORD = 12, MOST_VERSION = 255, MOST_BUNDLE = 8 };

/* Types of records. */
enum {
   LOADED = 0,
   STORED = 1,
   FIRST_PREFETCH = 2,
   LAST_PREFETCH = 9,
   FIRST_FETCH = 10,
   LAST_FETCH = 16,
   BUNDLE = 17,       /* `size` instructions behind the one before, their lengths in the value */
   FIRST_FLUSH = 18,  /* of caches, and no TLB's */
   LAST_FLUSH = 21,
   THREAD = 22,
   THREAD_ENDS = 23,
   PROCESS = 24,
   BEGIN = 25,        /* first of all; its version */
   END = 26,          /* last of all */
   HARDWARE_PREFETCH = 27,
   MARKER = 28,       /* of the kind `size` */
   NOT_FETCHED = 29,  /* one more round of a string instruction */
   MAYBE_FETCHED = 30, /* so if it is the one before */
   FETCH_OF_SYSENTER = 31,
   FIRST_LATER_PREFETCH = 32,
   LAST_LATER_PREFETCH = 46,
   ENCODING = 47,
   JUMP_TAKEN = 48,
   JUMP_NOT_TAKEN = 49
};

/* Kinds of markers that matter here. */
enum { MARKS_TIME = 2, MARKS_FILE_TYPE = 9, MARKS_PAGE_SIZE = 18 };

/* Bits of the file's type. */
enum { FILTERED = 0x001 | 0x080 | 0x100 | 0x2000, NO_DATA = 0x004, OF_32_BITS = 0x010 | 0x020 };

static TgTraceFound mark(TgTrace *t, unsigned kind, uint64_t value)
{
   unsigned shift = 0;
   if (kind == MARKS_TIME)
      t->time = value;
   if (kind == MARKS_FILE_TYPE) {
      if ((value & FILTERED) != 0)
         return tg_trace_damaged(t, "the trace was filtered through a cache when it was recorded, "
                                    "and lacks references that a TLB sees");
      if ((value & OF_32_BITS) != 0)
         return tg_trace_damaged(t, "the trace is that of a 32-bit program, which is not read");
      t->no_data |= (value & NO_DATA) != 0;
   }
   if (kind != MARKS_PAGE_SIZE)
      return TG_TRACE_MORE;
   while (shift < TLB_MAX_PAGE_SHIFT && value >> shift > 1)
      shift++;
   if (value != 1ULL << shift || shift < TLB_MIN_PAGE_SHIFT)
      return tg_trace_damaged(t, "pages have %llu bytes, which can not be",
                              (unsigned long long)value);
   if (t->page_shift != 0 && t->page_shift != shift)
      return tg_trace_damaged(t, "pages have another size than before");
   t->page_shift = shift;
   return TG_TRACE_MORE;
}

/* A size of 0 tells where the next reference comes from, and is no fetch. */
static TgTraceFound fetch(TgTrace *t, uint64_t address, unsigned size)
{
   t->last_pc = address;
   t->next_pc = address + size;
   return size == 0 || tg_trace_add(t, TLB_FETCH, address, size) ? TG_TRACE_MORE
                                                                 : TG_TRACE_DAMAGED;
}

static TgTraceFound fetch_bundle(TgTrace *t, const uint8_t *length, unsigned n)
{
   if (n == 0 || n > MOST_BUNDLE)
      return tg_trace_damaged(t, "a bundle of %u instructions can not be; allowed are 1 to %d", n,
                              MOST_BUNDLE);
   for (unsigned i = 0; i < n; i++) {
      if (fetch(t, t->next_pc, length[i]) != TG_TRACE_MORE)
         return TG_TRACE_DAMAGED;
   }
   return TG_TRACE_MORE;
}

/* One address space is simulated. */
static TgTraceFound process(TgTrace *t, uint64_t pid)
{
   if (t->pid != 0 && t->pid != pid)
      return tg_trace_damaged(t, "another process follows (%llu behind %llu); a trace of one "
                                 "process is read", (unsigned long long)pid,
                              (unsigned long long)t->pid);
   t->pid = pid;
   return TG_TRACE_MORE;
}

static TgTraceFound begin(TgTrace *t, uint64_t version)
{
   if (version > MOST_VERSION)
      return tg_trace_damaged(t, "version %llu can not be; a 32-bit program's trace is not read",
                              (unsigned long long)version);
   return TG_TRACE_MORE;
}

static TgTraceFound reach_end(TgTrace *t)
{
   size_t left;
   tg_trace_bytes(t, 1, &left);
   return left == 0 ? TG_TRACE_END
                    : tg_trace_damaged(t, "it is the end, and something stands behind it");
}

static bool is_in(unsigned type, unsigned first, unsigned last)
{
   return type >= first && type <= last;
}

static bool is_fetch(unsigned type)
{
   return is_in(type, FIRST_FETCH, LAST_FETCH) || type == FETCH_OF_SYSENTER || type == JUMP_TAKEN
          || type == JUMP_NOT_TAKEN;
}

static bool is_prefetch(unsigned type)
{
   return is_in(type, FIRST_PREFETCH, LAST_PREFETCH) || type == HARDWARE_PREFETCH
          || is_in(type, FIRST_LATER_PREFETCH, LAST_LATER_PREFETCH);
}

static TgTraceFound take(TgTrace *t, unsigned type, unsigned size, const uint8_t *bytes)
{
   const uint64_t value = tg_trace_number(bytes, 8);
   if (type == LOADED || type == STORED)
      return tg_trace_add(t, type == LOADED ? TLB_LOAD : TLB_STORE, value, size)
                ? TG_TRACE_MORE : TG_TRACE_DAMAGED;
   if (is_fetch(type))
      return fetch(t, value, size);
   if (type == NOT_FETCHED || (type == MAYBE_FETCHED && value == t->last_pc)) {
      t->n_not_fetched++;
      return TG_TRACE_MORE;
   }
   if (is_prefetch(type)) {
      t->n_prefetches++;
      return TG_TRACE_MORE;
   }
   switch (type) {
   case MAYBE_FETCHED: return fetch(t, value, size);
   case BUNDLE: return fetch_bundle(t, bytes, size);
   case PROCESS: return process(t, value);
   case BEGIN: return begin(t, value);
   case END: return reach_end(t);
   case MARKER: return mark(t, size, value);
   case THREAD:
   case THREAD_ENDS:
   case ENCODING: return TG_TRACE_MORE;
   }
   if (is_in(type, FIRST_FLUSH, LAST_FLUSH))
      return TG_TRACE_MORE;
   return tg_trace_damaged(t, "it has type %u, and no type is known beyond %d", type,
                           JUMP_NOT_TAKEN);
}

static TgTraceFound next(TgTrace *t)
{
   size_t left;
   const uint8_t *const record = tg_trace_bytes(t, RECORD, &left);
   if (record == NULL)
      return TG_TRACE_CUT;
   const unsigned type = (unsigned)tg_trace_number(record, 2);
   if (t->at_unit++ == 0 && type != BEGIN)
      return tg_trace_damaged(t, "it is not what a drmemtrace trace begins with; raw files become "
                                 "traces by drraw2trace");
   return take(t, type, (unsigned)tg_trace_number(record + 2, 2), record + 4);
}

const TgTraceFormat tg_input_drmemtrace = {
   .name = "drmemtrace",
   .unit = "record",
   .lacks = "no names, no lines of source, no mappings",
   .next = next
};
