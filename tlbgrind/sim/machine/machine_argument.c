/* What --machine= takes. See sim/machine/machine_argument.h. */

#include "sim/machine/machine_argument.h"

#include "sim/base/text.h"

static int is_key_char(char c)
{
   return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-'
          || c == '_' || c == '.';
}

int tlb_argument_is_override(const char *text)
{
   const char *s = text;
   while (is_key_char(*s))
      s++;
   return s > text && *s == '=';
}

/* The end of an item: a comma, or the end of the text. */
static const char *end_of_item(const char *s)
{
   while (*s != '\0' && *s != ',')
      s++;
   return s;
}

/* The end of an override: rules end it, too. */
static const char *end_of_override(const char *s)
{
   while (*s != '\0' && *s != ',' && *s != '@')
      s++;
   return s;
}

tlb_argument_overrides tlb_argument_split(const char *machine)
{
   const char *s = machine;
   /* A colon may be part of the name: FILE:NUMBER selects a processor of a dump. */
   while (*s != '\0' && *s != ',' && *s != '@' && !(*s == ':' && tlb_argument_is_override(s + 1)))
      s++;
   tlb_argument_overrides o = { .name = (size_t)(s - machine), .from = (size_t)(s - machine) };
   if (*s != ':')
      return o;
   const char *const from = s + 1;
   o.from = (size_t)(from - machine);
   for (s = end_of_override(from); *s == ',' && tlb_argument_is_override(s + 1);)
      s = end_of_override(s + 1);
   o.length = (size_t)(s - from);
   return o;
}

size_t tlb_argument_length(const char *list)
{
   const tlb_argument_overrides o = tlb_argument_split(list);
   return (size_t)(end_of_item(list + o.from + o.length) - list);
}

/* --- Ranges --- */

typedef struct {
   uint64_t from;
   uint64_t to;
   uint64_t step; /* 0: by doubling */
   const char *begin;
   const char *end; /* of its text */
} range;

static int refuse(const range *r, const char *what, tlb_reason *why)
{
   tlb_text t = tlb_text_in(why->text, sizeof why->text);
   tlb_text_add_refusal(&t, r->begin, (size_t)(r->end - r->begin), what);
   return 0;
}

/* Whether the value of an override, which ends at `end`, is a range: two numbers with two dots
   between them. Whatever follows the numbers is in *rest. */
static int is_range(const char *value, const char *end, range *r, const char **rest)
{
   const char *s = value;
   *r = (range){ .begin = value, .end = end };
   if (!tlb_text_number(&s, end, &r->from) || end - s < 2 || s[0] != '.' || s[1] != '.')
      return 0;
   s += 2;
   if (!tlb_text_number(&s, end, &r->to))
      r->to = UINT64_MAX; /* which is refused */
   *rest = s;
   return 1;
}

/* The next range at *s or behind it; *s is then behind it. 0: there is none, and *s is where
   overrides end. */
static int next_range(const char **s, range *r, const char **rest)
{
   while (tlb_argument_is_override(*s)) {
      const char *value = *s;
      while (*value++ != '=')
         continue;
      const char *const end = end_of_override(value);
      const int found = is_range(value, end, r, rest);
      *s = *end == ',' ? end + 1 : end;
      if (found)
         return 1;
      if (*end != ',')
         break;
   }
   return 0;
}

static uint64_t n_values(const range *r)
{
   uint64_t n = 1;
   if (r->step > 0)
      return (r->to - r->from) / r->step + 1;
   for (uint64_t v = r->from; v <= r->to / 2; v *= 2)
      n++;
   return n;
}

static uint64_t value_of(const range *r, uint64_t i)
{
   return r->step > 0 ? r->from + i * r->step : r->from << i;
}

static void take_step(range *r, const char *rest)
{
   const char *s = rest + 1;
   uint64_t step;
   if (rest < r->end && *rest == '/' && tlb_text_number(&s, r->end, &step) && s == r->end)
      r->step = step;
}

static int check_range(range *r, const char *rest, tlb_reason *why)
{
   take_step(r, rest);
   if ((rest < r->end && r->step == 0) || r->to > UINT32_MAX)
      return refuse(r, "is no range; it is FROM..TO, by doubling, or FROM..TO/STEP, all of them "
                       "numbers", why);
   if (r->from > r->to)
      return refuse(r, "goes down; the smaller number comes first", why);
   if (r->from == 0 && r->step == 0)
      return refuse(r, "begins at 0, which doubled is 0; give a step, FROM..TO/STEP", why);
   const uint64_t last = value_of(r, n_values(r) - 1);
   if (last == r->to)
      return 1;
   char words[120];
   tlb_text t = tlb_text_in(words, sizeof words);
   tlb_text_add(&t, r->step == 0 ? "does not come to its end by doubling; the last is "
                                 : "does not come to its end in such steps; the last is ");
   tlb_text_add_number(&t, last);
   tlb_text_add(&t, r->step == 0 ? ", or give a step, FROM..TO/STEP" : "");
   return refuse(r, words, why);
}

static const char *overrides_of(const char *machine)
{
   const tlb_argument_overrides o = tlb_argument_split(machine);
   return o.length == 0 ? "" : machine + o.from;
}

unsigned tlb_argument_count(const char *machine, tlb_reason *why)
{
   const char *s = overrides_of(machine), *rest;
   uint64_t n = 1;
   range r;
   while (next_range(&s, &r, &rest)) {
      if (!check_range(&r, rest, why))
         return 0;
      n *= n_values(&r);
      n = n < TLB_ARGUMENT_MOST ? n : TLB_ARGUMENT_MOST;
   }
   return (unsigned)n;
}

/* How many combinations the ranges at s and behind it make. */
static uint64_t combinations(const char *s)
{
   const char *rest;
   uint64_t n = 1;
   range r;
   while (next_range(&s, &r, &rest)) {
      take_step(&r, rest);
      n *= n_values(&r);
   }
   return n;
}

void tlb_argument_write(const char *machine, unsigned i, char *out, size_t size)
{
   tlb_text t = { out, out + size - 1 };
   const char *at = machine, *s = overrides_of(machine), *rest;
   uint64_t number = i;
   range r;
   *out = '\0';
   while (next_range(&s, &r, &rest)) {
      const uint64_t each = combinations(s);
      take_step(&r, rest);
      for (; at < r.begin && t.at < t.end; at++)
         *t.at++ = *at;
      tlb_text_add_number(&t, value_of(&r, number / each));
      number %= each;
      at = r.end;
   }
   for (; *at != '\0' && t.at < t.end; at++)
      *t.at++ = *at;
   *t.at = '\0';
}
