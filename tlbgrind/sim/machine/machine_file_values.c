/* The values of lines of machine files: what several keys take, and why others are refused. */

#include "sim/machine/machine_file.h"
#include "sim/machine/machine_file_parts.h"

enum { MAX_CYCLES = 1000000 };

int tlb_refuse(tlb_machine_reader *r, const char *what)
{
   tlb_text t = tlb_text_in(r->why->text, sizeof r->why->text);
   tlb_text_add(&t, r->key);
   tlb_text_add(&t, " ");
   tlb_machine_quote(&t, r->value, 40);
   tlb_text_add(&t, " ");
   tlb_text_add(&t, what);
   return 0;
}

int tlb_refuse_line(tlb_machine_reader *r, const char *what)
{
   tlb_text t = tlb_text_in(r->why->text, sizeof r->why->text);
   tlb_text_add(&t, what);
   return 0;
}

int tlb_value_is(const tlb_machine_reader *r, const char *word)
{
   return tlb_text_is(r->value, tlb_text_length(r->value), word);
}

/* Cuts "unknown, assume " off the value; *unknown: whether it was there. */
int tlb_value_cut_unknown(tlb_machine_reader *r, int *unknown)
{
   static const char words[] = "unknown, assume ";
   *unknown = tlb_text_begins(r->value, words);
   if (!*unknown && tlb_text_begins(r->value, "unknown"))
      return tlb_refuse(r, "is not allowed; it is a value, or 'unknown, assume "
                           "VALUE'");
   if (!*unknown)
      return 1;
   size_t from = sizeof words - 1, to = 0;
   while (r->value[from] == ' ')
      from++;
   while (r->value[from] != '\0')
      r->value[to++] = r->value[from++];
   r->value[to] = '\0';
   return 1;
}

/* A number, where a word is allowed as well: ", or full". */
int tlb_value_number_or(tlb_machine_reader *r, uint32_t least, uint32_t most,
                     const char *or_else, uint32_t *out)
{
   const char *s = r->value;
   const char *const end = s + tlb_text_length(s);
   uint64_t n;
   if (tlb_text_number(&s, end, &n) && s == end && n >= least && n <= most) {
      *out = (uint32_t)n;
      return 1;
   }
   char words[120];
   tlb_text t = tlb_text_in(words, sizeof words);
   tlb_text_add(&t, "is not allowed; it is ");
   if (least < most) {
      tlb_text_add(&t, "a number from ");
      tlb_text_add_number(&t, least);
      tlb_text_add(&t, " to ");
   }
   tlb_text_add_number(&t, most);
   tlb_text_add(&t, or_else);
   return tlb_refuse(r, words);
}

int tlb_machine_number(tlb_machine_reader *r, uint32_t least, uint32_t most,
                       uint32_t *out)
{
   return tlb_value_number_or(r, least, most, "", out);
}

/* "20..35". Returns 0 if the value is no range of cycles. */
static int cycle_range(const char *s, uint64_t *least, uint64_t *most)
{
   const char *const end = s + tlb_text_length(s);
   if (!tlb_text_number(&s, end, least) || !tlb_text_begins(s, ".."))
      return 0;
   s += 2;
   return tlb_text_number(&s, end, most) && s == end && *least <= *most && *most <= MAX_CYCLES;
}

int tlb_value_cycles(tlb_machine_reader *r, uint32_t *out, uint32_t *spread, int *unknown)
{
   uint64_t least, most;
   *spread = 0;
   *unknown = 0;
   if (tlb_value_is(r, "unknown")) {
      *out = TLB_UNKNOWN;
      return 1;
   }
   if (!tlb_value_cut_unknown(r, unknown))
      return 0;
   if (!cycle_range(r->value, &least, &most))
      return tlb_value_number_or(r, 0, MAX_CYCLES, ", a range such as 20..35, or unknown", out);
   *out = (uint32_t)most;
   *spread = (uint32_t)(most - least);
   return 1;
}

/* "2.4", in tenths: at most one decimal. */
static int tenths(const char *s, uint64_t *out)
{
   const char *const end = s + tlb_text_length(s);
   uint64_t whole, part = 0;
   if (!tlb_text_number(&s, end, &whole) || whole > TLB_MOST_OVERLAP / 10)
      return 0;
   if (s < end && *s == '.') {
      s++;
      if (end - s != 1 || !tlb_text_number(&s, end, &part))
         return 0;
   }
   *out = 10 * whole + part;
   return s == end && *out >= TLB_NO_OVERLAP && *out <= TLB_MOST_OVERLAP;
}

int tlb_value_overlap(tlb_machine_reader *r, uint32_t *out, int *unknown)
{
   uint64_t n;
   *out = 0;
   *unknown = 0;
   if (tlb_value_is(r, "unknown"))
      return 1;
   if (!tlb_value_cut_unknown(r, unknown))
      return 0;
   if (!tenths(r->value, &n))
      return tlb_refuse(r, "is not allowed; it is a number from 1.0 to 64.0 with one decimal, or "
                           "unknown");
   *out = (uint32_t)n;
   return 1;
}

/* A number of bytes that is a power of two. */
int tlb_value_power_of_two(tlb_machine_reader *r, uint32_t least, uint32_t most, uint32_t *out)
{
   const char *s = r->value;
   const char *const end = s + tlb_text_length(s);
   uint64_t n;
   if (tlb_text_number(&s, end, &n) && s == end && n >= least && n <= most && (n & (n - 1)) == 0) {
      *out = (uint32_t)n;
      return 1;
   }
   char words[80];
   tlb_text t = tlb_text_in(words, sizeof words);
   tlb_text_add(&t, "is not allowed; it is a power of two from ");
   tlb_text_add_number(&t, least);
   tlb_text_add(&t, " to ");
   tlb_text_add_number(&t, most);
   return tlb_refuse(r, words);
}

int tlb_value_text(tlb_machine_reader *r, char *out, size_t size)
{
   if (tlb_text_length(r->value) >= size) {
      char words[80];
      tlb_text t = tlb_text_in(words, sizeof words);
      tlb_text_add(&t, "is too long; allowed are ");
      tlb_text_add_number(&t, size - 1);
      tlb_text_add(&t, " bytes");
      return tlb_refuse(r, words);
   }
   tlb_text t = tlb_text_in(out, size);
   tlb_text_add(&t, r->value);
   return 1;
}

/* A second line of the same key is put behind the first. */
int tlb_value_more_text(tlb_machine_reader *r, char *out, size_t size)
{
   tlb_text t = { out + tlb_text_length(out), out + size - 1 };
   const size_t room = (size_t)(t.end - t.at);
   if (tlb_text_length(r->value) + (*out != '\0' ? 2 : 0) > room)
      return tlb_refuse(r, "is too long, together with the lines before it");
   if (*out != '\0')
      tlb_text_add(&t, "; ");
   tlb_text_add(&t, r->value);
   return 1;
}

/* A word that may stand in an option, between commas, and in a file's name. */
int tlb_value_name(tlb_machine_reader *r, char *out, size_t size)
{
   for (const char *s = r->value; *s != '\0'; s++) {
      if (!((*s >= 'a' && *s <= 'z') || (*s >= 'A' && *s <= 'Z')
            || (*s >= '0' && *s <= '9')
            || ((*s == '-' || *s == '_' || *s == '.') && s != r->value)))
         return tlb_refuse(r, "is no name; allowed are letters, digits and, "
                              "behind the first, - _ .");
   }
   return tlb_value_text(r, out, size);
}

int tlb_value_confidence(tlb_machine_reader *r, char *out)
{
   static const char known[] = { 'A', 'B', 'C', TLB_MEASURED };
   for (unsigned i = 0; i < sizeof known; i++) {
      if (tlb_value_is(r, tlb_confidence_word(known[i]))) {
         *out = known[i];
         return 1;
      }
   }
   return tlb_refuse(r, "is not allowed; it is A, B, C or measured");
}

int tlb_value_ways(tlb_machine_reader *r, tlb_geometry *g, int *unknown)
{
   if (!tlb_value_cut_unknown(r, unknown))
      return 0;
   if (tlb_value_is(r, "full")) {
      r->full = 1;
      return 1;
   }
   return tlb_value_number_or(r, 1, TLB_MAX_ENTRIES, ", or full", &g->ways);
}

int tlb_value_policy(tlb_machine_reader *r, tlb_geometry *g, int *unknown)
{
   return tlb_value_cut_unknown(r, unknown)
          && tlb_policy_parse(r->value, g, r->why);
}
