/* Traces of other programs. See simulate/trace.h.
   Part of tlbgrind.  GPL-2.0-or-later; see COPYING. */

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "simulate/trace.h"

void tg_trace_begin(TgTrace *t, const TgTraceFormat *format, TgTraceGet *get, void *opaque)
{
   memset(t, 0, offsetof(TgTrace, bytes));
   t->format = format;
   t->get = get;
   t->opaque = opaque;
}

TgTraceFound tg_trace_next(TgTrace *t)
{
   t->n = 0;
   return t->format->next(t);
}

/* --- Bytes --- */

/* Moves what is left to the front, and gets what there is room for. */
static void get_more(TgTrace *t)
{
   memmove(t->bytes, t->bytes + t->at, t->end - t->at);
   t->end -= t->at;
   t->at = 0;
   t->end += t->get(t->opaque, t->bytes + t->end, sizeof t->bytes - t->end);
}

const uint8_t *tg_trace_bytes(TgTrace *t, size_t n, size_t *left)
{
   if (t->end - t->at < n)
      get_more(t);
   *left = t->end - t->at;
   if (*left < n)
      return NULL;
   t->at += n;
   return t->bytes + t->at - n;
}

const char *tg_trace_line(TgTrace *t, size_t *n)
{
   const uint8_t *end = memchr(t->bytes + t->at, '\n', t->end - t->at);
   if (end == NULL) {
      get_more(t);
      end = memchr(t->bytes, '\n', t->end);
   }
   if (end == NULL) {
      *n = t->end - t->at;
      return NULL;
   }
   const uint8_t *const line = t->bytes + t->at;
   *n = (size_t)(end - line);
   t->at += *n + 1;
   return (const char *)line;
}

uint64_t tg_trace_number(const uint8_t *bytes, unsigned n)
{
   uint64_t number = 0;
   while (n-- > 0)
      number = number << 8 | bytes[n];
   return number;
}

/* --- References --- */

TgTraceFound tg_trace_damaged(TgTrace *t, const char *format, ...)
{
   va_list args;
   va_start(args, format);
   vsnprintf(t->why, sizeof t->why, format, args);
   va_end(args);
   return TG_TRACE_DAMAGED;
}

bool tg_trace_add(TgTrace *t, tlb_user user, uint64_t address, uint64_t size)
{
   if (size == 0 || address + (size - 1) < address) {
      tg_trace_damaged(t, "%llu bytes at address 0x%llx can not be", (unsigned long long)size,
                       (unsigned long long)address);
      return false;
   }
   t->ref[t->n++] = (TgTraceRef){ .user = (uint8_t)user, .address = address,
                                  .size = (uint32_t)size };
   return true;
}
