/* Machine files: the parser's lines and blocks.

   A file is read line by line: a key, blanks, a value. The key `array`, `walk`
   or `step` begins a block; the lines in front of the first block are about
   the machine as a whole. What the keys take is in machine_file_keys.c. */

#include "sim/machine/machine_file.h"

#include "sim/machine/machine_file_parts.h"

enum { FORMAT_VERSION = 1 };

/* --- Blocks --- */

static int key_seen(const tlb_machine_reader *r, const char *key)
{
   const tlb_machine_key *const keys = tlb_machine_blocks[r->block].keys;
   for (unsigned i = 0; keys[i].key != NULL; i++) {
      if (tlb_text_is(key, tlb_text_length(key), keys[i].key))
         return (int)(r->seen >> i & 1);
   }
   return 0;
}

static uint32_t block_line(const tlb_machine_reader *r)
{
   switch (r->block) {
   case TLB_ARRAY_BLOCK:
      return r->array_line[r->m->n_arrays - 1];
   case TLB_WALK_BLOCK:
      return r->walk_line;
   case TLB_STEP_BLOCK:
      return r->step_line[r->m->n_walk_steps - 1];
   case TLB_HEAD_BLOCK:
   case TLB_N_BLOCKS:
      break;
   }
   return r->head_line;
}

static int refuse_missing(tlb_machine_reader *r, const char *key)
{
   tlb_text t = tlb_text_in(r->why->text, sizeof r->why->text);
   r->line = block_line(r);
   tlb_text_add(&t, tlb_machine_blocks[r->block].name);
   tlb_text_add(&t, " has no line '");
   tlb_text_add(&t, key);
   tlb_text_add(&t, "'");
   return 0;
}

/* Whether all is there that must be. */
static int finish_block(tlb_machine_reader *r)
{
   const tlb_machine_key *const keys = tlb_machine_blocks[r->block].keys;
   for (unsigned i = 0; keys[i].key != NULL; i++) {
      if (keys[i].kind == TLB_REQUIRED && (r->seen >> i & 1) == 0)
         return refuse_missing(r, keys[i].key);
   }
   if (r->block == TLB_ARRAY_BLOCK) {
      const tlb_machine_array *const a = &r->m->array[r->m->n_arrays - 1];
      /* The yardstick itself is 0; of any other level it must be said. */
      if (a->level > 1 && !key_seen(r, "hit-cycles"))
         return refuse_missing(r, "hit-cycles");
   }
   if (r->block == TLB_STEP_BLOCK
       && tlb_step_has_own_cache(&r->m->walk[r->m->n_walk_steps - 1])) {
      static const char *const own[] = { "entries", "ways", "policy" };
      for (unsigned i = 0; i < sizeof own / sizeof own[0]; i++) {
         if (!key_seen(r, own[i]))
            return refuse_missing(r, own[i]);
      }
   }
   return 1;
}

/* --- Lines --- */

static int is_blank(char c)
{
   return c == ' ' || c == '\t';
}

static int refuse_byte(tlb_machine_reader *r, unsigned char c)
{
   if (c == '\r')
      return tlb_refuse_line(r, "a carriage return; lines end in a line feed "
                                "alone, as Unix writes them");
   tlb_text t = tlb_text_in(r->why->text, sizeof r->why->text);
   tlb_text_add(&t, "byte ");
   tlb_text_add_number(&t, c);
   tlb_text_add(&t, " is not allowed; a machine file is plain ASCII text");
   return 0;
}

/* Takes the next line that says something apart into r->key and r->value.
   Returns 1, 0 with the reason, or -1 at the end of the text. */
static int next_line(tlb_machine_reader *r)
{
   while (r->at < r->end) {
      const char *s = r->at;
      const char *end = s;
      r->line++;
      while (end < r->end && *end != '\n') {
         const unsigned char c = (unsigned char)*end;
         if ((c < ' ' && c != '\t') || c >= 0x7f)
            return refuse_byte(r, c);
         if (end - s == TLB_MACHINE_LINE)
            return tlb_refuse_line(r, "the line is longer than 400 bytes");
         end++;
      }
      if (end == r->end)
         return tlb_refuse_line(r, "the file ends in the middle of a line");
      r->at = end + 1;
      while (s < end && is_blank(*s))
         s++;
      while (end > s && is_blank(end[-1]))
         end--;
      if (s == end || *s == '#')
         continue;
      tlb_text key = tlb_text_in(r->key, sizeof r->key);
      while (s < end && !is_blank(*s))
         tlb_text_add_n(&key, s++, 1);
      while (s < end && is_blank(*s))
         s++;
      tlb_text value = tlb_text_in(r->value, sizeof r->value);
      for (; s < end; s++)
         tlb_text_add_n(&value, *s == '\t' ? " " : s, 1);
      return 1;
   }
   return -1;
}

static int has_value(tlb_machine_reader *r)
{
   if (r->value[0] != '\0')
      return 1;
   tlb_text t = tlb_text_in(r->why->text, sizeof r->why->text);
   tlb_machine_quote(&t, r->key, 40);
   tlb_text_add(&t, " has no value");
   return 0;
}

static int has_capitals(const char *s)
{
   while (*s != '\0' && (*s < 'A' || *s > 'Z'))
      s++;
   return *s != '\0';
}

static int take_line(tlb_machine_reader *r)
{
   for (unsigned i = 0; i < TLB_N_BLOCKS; i++) {
      const tlb_machine_block *const b = &tlb_machine_blocks[i];
      if (b->key == NULL
          || !tlb_text_is(r->key, tlb_text_length(r->key), b->key))
         continue;
      if (!has_value(r) || !finish_block(r) || !b->begin(r))
         return 0;
      r->block = (tlb_machine_block_kind)i;
      r->begun[i] = 1;
      r->seen = 0;
      return 1;
   }
   const tlb_machine_key *const keys = tlb_machine_blocks[r->block].keys;
   for (unsigned i = 0; keys[i].key != NULL; i++) {
      if (!tlb_text_is(r->key, tlb_text_length(r->key), keys[i].key))
         continue;
      if (!has_value(r))
         return 0;
      if ((r->seen >> i & 1) != 0 && keys[i].kind != TLB_REPEATABLE)
         return tlb_refuse(r, "is a second line of this key");
      r->seen |= 1u << i;
      return keys[i].take(r);
   }
   tlb_text t = tlb_text_in(r->why->text, sizeof r->why->text);
   tlb_machine_quote(&t, r->key, 12);
   if (has_capitals(r->key)) {
      tlb_text_add(&t, " is no key; keys are in lower case");
      return 0;
   }
   tlb_text_add(&t, " is no key of ");
   tlb_text_add(&t, tlb_machine_blocks[r->block].name);
   tlb_text_add(&t, "; allowed are");
   for (unsigned i = 0; keys[i].key != NULL; i++) {
      tlb_text_add(&t, " ");
      tlb_text_add(&t, keys[i].key);
   }
   return 0;
}

static const char first_word[] = "tlbgrind-machine";

static int take_version(tlb_machine_reader *r)
{
   uint32_t version;
   const int found = next_line(r);
   if (found == 0)
      return 0;
   r->head_line = r->line;
   if (found < 0
       || !tlb_text_is(r->key, tlb_text_length(r->key), first_word)) {
      if (found < 0)
         r->line = 1;
      return tlb_refuse_line(r, "no machine file: it does not begin with "
                                "'tlbgrind-machine 1'");
   }
   return tlb_machine_number(r, FORMAT_VERSION, FORMAT_VERSION, &version);
}

/* Notes that follow from the figures stand behind those that do not, so that
   a machine is the same whether its file repeats them or not. */
static void order_notes(tlb_machine *m)
{
   unsigned kept = 0;
   for (unsigned i = 0; i < m->n_notes; i++) {
      if (!tlb_machine_note_follows(m, m->note[i].text))
         m->note[kept++] = m->note[i];
   }
   for (unsigned i = kept; i < m->n_notes; i++)
      m->note[i] = (tlb_reason){ "" };
   m->n_notes = kept;
   tlb_machine_note_unknowns(m);
}

static int check(tlb_machine_reader *r)
{
   uint32_t where;
   const uint32_t n_arrays = r->m->n_arrays;
   if (tlb_machine_check_where(r->m, &where, r->why))
      return 1;
   r->line = where < n_arrays       ? r->array_line[where]
             : where != UINT32_MAX ? r->step_line[where - n_arrays]
                                   : r->head_line;
   return 0;
}

static int parse(tlb_machine_reader *r)
{
   if (r->end - r->at > TLB_MACHINE_FILE_SIZE) {
      r->line = 1;
      return tlb_refuse_line(r, "the file is larger than 1048576 bytes");
   }
   if (!take_version(r))
      return 0;
   for (;;) {
      const int found = next_line(r);
      if (found < 0)
         return tlb_refuse_line(r, "the file ends without the line 'end'; is "
                                   "it cut short?");
      if (found == 0)
         return 0;
      if (tlb_text_is(r->key, tlb_text_length(r->key), "end"))
         break;
      if (!take_line(r))
         return 0;
   }
   if (r->value[0] != '\0')
      return tlb_refuse(r, "is too much; 'end' stands alone");
   if (!finish_block(r))
      return 0;
   const int more = next_line(r);
   if (more == 1)
      return tlb_refuse_line(r, "nothing may follow the line 'end'");
   return more == -1 && check(r);
}

int tlb_machine_parse(const char *text, size_t length, tlb_machine *out,
                      uint32_t *line, tlb_reason *why)
{
   tlb_machine_reader r = { .at = text, .end = text + length, .m = out,
                            .why = why };
   *out = (tlb_machine){ .walk_cycles = TLB_UNKNOWN };
   const int good = parse(&r);
   *line = r.line;
   if (good)
      order_notes(out);
   return good;
}

int tlb_machine_text(const char *text, size_t length)
{
   size_t i = 0;
   for (;;) {
      while (i < length && (is_blank(text[i]) || text[i] == '\n'))
         i++;
      if (i == length || text[i] != '#')
         break;
      while (i < length && text[i] != '\n')
         i++;
   }
   return length - i >= sizeof first_word - 1
          && tlb_text_is(text + i, sizeof first_word - 1, first_word);
}
