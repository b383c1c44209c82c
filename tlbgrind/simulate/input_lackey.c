/* The text of Valgrind's lackey with --trace-mem=yes: a line for each reference.

   "I  ADDRESS,SIZE" is an instruction; " L ", " S " and " M " in its place are a load, a store, and
   a load and store of the same bytes. Addresses are hexadecimal, sizes decimal. Valgrind's own
   lines begin with "==", "--" or "**".
   Part of tlbgrind.  GPL-2.0-or-later; see COPYING. */

#include <string.h>

#include "simulate/trace.h"

enum { MOST_SIZE = 65535 };

static bool is_valgrinds(const char *line, size_t n)
{
   return n >= 2 && line[0] == line[1] && strchr("=-*", line[0]) != NULL && line[0] != '\0';
}

static int digit_of(char c)
{
   return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* From *at up to `end`: 1 to 16 digits of an address. */
static bool take_address(const char **at, const char *end, uint64_t *out)
{
   const char *const from = *at;
   uint64_t n = 0;
   for (int digit; *at < end && (digit = digit_of(**at)) >= 0; ++*at)
      n = n << 4 | (uint64_t)digit;
   *out = n;
   return *at > from && *at - from <= 16;
}

static bool take_size(const char **at, const char *end, uint64_t *out)
{
   uint64_t n = 0;
   for (; *at < end && **at >= '0' && **at <= '9' && n <= MOST_SIZE; ++*at)
      n = n * 10 + (uint64_t)(**at - '0');
   *out = n;
   return n >= 1 && n <= MOST_SIZE;
}

static bool take_user(const char *line, size_t n, tlb_user *user, bool *modifies)
{
   if (n < 3 || line[2] != ' ')
      return false;
   *modifies = line[1] == 'M';
   *user = line[0] == 'I' ? TLB_FETCH : line[1] == 'S' ? TLB_STORE : TLB_LOAD;
   if (line[0] == 'I')
      return line[1] == ' ';
   return line[0] == ' ' && (line[1] == 'L' || line[1] == 'S' || line[1] == 'M');
}

static TgTraceFound next(TgTrace *t)
{
   size_t n;
   const char *const line = tg_trace_line(t, &n);
   if (line == NULL && n == 0)
      return TG_TRACE_END;
   t->at_unit++;
   if (line == NULL)
      return n == TG_TRACE_BUFFER ? tg_trace_damaged(t, "it is too long") : TG_TRACE_CUT;
   const char *at = line + 3, *const end = line + n;
   tlb_user user;
   bool modifies;
   uint64_t address, size;
   if (take_user(line, n, &user, &modifies) && take_address(&at, end, &address) && at < end
       && *at++ == ',' && take_size(&at, end, &size) && at == end) {
      if (!tg_trace_add(t, user, address, size))
         return TG_TRACE_DAMAGED;
      t->ref[0].modifies = modifies;
      return TG_TRACE_MORE;
   }
   if (is_valgrinds(line, n))
      return TG_TRACE_MORE;
   return tg_trace_damaged(t, "it is no line of lackey's; with --log-file=FILE it keeps apart from "
                              "what the program prints");
}

const TgTraceFormat tg_input_lackey = {
   .name = "lackey",
   .unit = "line",
   .lacks = "no names, no lines of source, no mappings, no page sizes, no threads",
   .next = next
};
