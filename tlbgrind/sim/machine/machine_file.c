/* Machine files: the parser's lines and blocks.

   A file is read line by line: a key, blanks, a value. The key `array`, `walk`, `step`, `cache`
   or `memory` begins a block (but the first `cache` behind a `step` is a line of it); the lines in
   front of the first block are about the machine as a whole. What the keys take is in
   machine_file_keys.c. */

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
   case TLB_CACHE_BLOCK:
      return r->cache_line[r->m->n_caches - 1];
   case TLB_MEMORY_BLOCK:
      return r->memory_line;
   case TLB_HEAD_BLOCK:
   case TLB_N_BLOCKS:
      break;
   }
   return r->head_line;
}

/* --- Errors --- */

/* Arrays, then steps and caches; -1: the block is none of them. */
static int this_part(const tlb_machine_reader *r)
{
   return r->block == TLB_ARRAY_BLOCK   ? (int)r->m->n_arrays - 1
          : r->block == TLB_STEP_BLOCK  ? (int)(TLB_PART_STEPS + r->m->n_walk_steps) - 1
          : r->block == TLB_CACHE_BLOCK ? (int)(TLB_PART_CACHES + r->m->n_caches) - 1
                                        : -1;
}

/* Keeps r->why, behind those of the same line. */
static void add_error(tlb_machine_reader *r, uint32_t line)
{
   unsigned at = r->n_errors < TLB_MACHINE_ERRORS ? r->n_errors : TLB_MACHINE_ERRORS;
   while (at > 0 && r->error[at - 1].line > line) {
      if (at < TLB_MACHINE_ERRORS)
         r->error[at] = r->error[at - 1];
      at--;
   }
   if (at < TLB_MACHINE_ERRORS)
      r->error[at] = (tlb_machine_error){ line, *r->why };
   r->n_errors++;
}

/* The line or the block that was just refused. */
static void add_refusal(tlb_machine_reader *r, uint32_t line)
{
   const int part = this_part(r);
   if (part >= 0 && part < TLB_PART_CACHES)
      r->wrong |= UINT32_C(1) << part;
   add_error(r, line);
}

/* "array 'ITLB' has no line 'pages'" */
static void refuse_missing(tlb_machine_reader *r, const char *key)
{
   tlb_text t = tlb_text_in(r->why->text, sizeof r->why->text);
   if (r->block == TLB_ARRAY_BLOCK) {
      tlb_text_add(&t, "array ");
      tlb_machine_quote(&t, r->m->array[r->m->n_arrays - 1].name, TLB_NAME_SIZE);
   } else if (r->block == TLB_STEP_BLOCK) {
      tlb_text_add(&t, "step ");
      tlb_text_add_page_size(&t, r->m->walk[r->m->n_walk_steps - 1].shift);
   } else if (r->block == TLB_CACHE_BLOCK) {
      tlb_text_add(&t, "cache ");
      tlb_machine_quote(&t, r->m->cache[r->m->n_caches - 1].name, TLB_NAME_SIZE);
   } else {
      tlb_text_add(&t, tlb_machine_blocks[r->block].name);
   }
   tlb_text_add(&t, " has no line '");
   tlb_text_add(&t, key);
   tlb_text_add(&t, "'");
   add_refusal(r, block_line(r));
}

/* --- The end of a block --- */

/* Reads the key as if its line were there. */
static void assume(tlb_machine_reader *r, unsigned i)
{
   const tlb_machine_key *const k = &tlb_machine_blocks[r->block].keys[i];
   tlb_text key = tlb_text_in(r->key, sizeof r->key);
   tlb_text value = tlb_text_in(r->value, sizeof r->value);
   tlb_text_add(&key, k->key);
   tlb_text_add(&value, k->assumed);
   k->take(r);
   r->left_out[r->block] |= UINT32_C(1) << i;
}

/* Level 1, the yardstick of hit-cycles, costs 0. */
static int has_default(const tlb_machine_reader *r, const tlb_machine_key *k)
{
   return k->assumed != NULL
          && (!tlb_text_same(k->key, "hit-cycles")
              || r->m->array[r->m->n_arrays - 1].level > 1);
}

static void finish_step(tlb_machine_reader *r)
{
   static const char *const own[] = { "entries", "ways", "policy" };
   if (!tlb_step_has_own_cache(&r->m->walk[r->m->n_walk_steps - 1]))
      return;
   for (unsigned i = 0; i < sizeof own / sizeof own[0]; i++) {
      if (!key_seen(r, own[i]))
         refuse_missing(r, own[i]);
   }
}

/* Only the first is the yardstick of the others. */
static void finish_cache(tlb_machine_reader *r)
{
   if (r->m->n_caches > 1 && !key_seen(r, "cycles"))
      refuse_missing(r, "cycles");
}

/* Whether the array can be used with the machine's own pages. */
static void refuse_small_pages(tlb_machine_reader *r)
{
   const tlb_machine_array *const a = &r->m->array[r->m->n_arrays - 1];
   if (r->of_run || a->g.page_sizes == 0 || a->g.page_sizes >> r->m->base_page_shift != 0)
      return;
   tlb_text t = tlb_text_in(r->why->text, sizeof r->why->text);
   tlb_text_add(&t, "all pages of array ");
   tlb_machine_quote(&t, a->name, TLB_NAME_SIZE);
   tlb_text_add(&t, " are smaller than the base page of ");
   tlb_text_add_page_size(&t, r->m->base_page_shift);
   add_refusal(r, block_line(r));
}

/* The line of that key of a part of the block's kind, or else `begin`. */
static uint32_t key_line(const tlb_machine_reader *r, tlb_machine_block_kind block, unsigned part,
                         const char *key, uint32_t begin)
{
   const tlb_machine_key *const keys = tlb_machine_blocks[block].keys;
   for (unsigned i = 0; key != NULL && keys[i].key != NULL; i++) {
      if (tlb_text_same(keys[i].key, key) && r->key_line[part][i] != 0)
         return r->key_line[part][i];
   }
   return begin;
}

static uint32_t array_key_line(const tlb_machine_reader *r, unsigned array, const char *key)
{
   return key_line(r, TLB_ARRAY_BLOCK, array, key, r->array_line[array]);
}

/* The program has the entries that the kernel does not keep. */
static void take_wired_off(tlb_machine_reader *r)
{
   tlb_machine_array *const a = &r->m->array[r->m->n_arrays - 1];
   if (a->wired == 0 || a->g.entries == 0 || a->g.ways != a->g.entries)
      return; /* of sets it is refused when all is read */
   if (a->wired < a->g.entries) {
      a->g.entries -= a->wired;
      a->g.ways = a->g.entries;
      return;
   }
   tlb_text t = tlb_text_in(r->why->text, sizeof r->why->text);
   tlb_text_add_number(&t, a->wired);
   tlb_text_add(&t, " wired entries leave none of ");
   tlb_text_add_number(&t, a->g.entries);
   add_refusal(r, array_key_line(r, r->m->n_arrays - 1, "wired"));
}

/* Fills in what is left out, and refuses what must be there. */
static void finish_block(tlb_machine_reader *r)
{
   const tlb_machine_key *const keys = tlb_machine_blocks[r->block].keys;
   if (r->skips)
      return;
   for (unsigned i = 0; keys[i].key != NULL; i++) {
      if ((r->seen >> i & 1) != 0)
         continue;
      if (keys[i].kind == TLB_REQUIRED)
         refuse_missing(r, keys[i].key);
      else if (has_default(r, &keys[i]))
         assume(r, i);
   }
   tlb_geometry *const g
      = r->block == TLB_ARRAY_BLOCK  ? &r->m->array[r->m->n_arrays - 1].g
        : r->block == TLB_STEP_BLOCK ? &r->m->walk[r->m->n_walk_steps - 1].g
                                     : NULL;
   if (g != NULL && r->full)
      g->ways = g->entries;
   if (r->block == TLB_STEP_BLOCK)
      finish_step(r);
   if (r->block == TLB_CACHE_BLOCK)
      finish_cache(r);
   if (r->block == TLB_ARRAY_BLOCK) {
      take_wired_off(r);
      refuse_small_pages(r);
   }
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

/* Ends the block before it, too. What stands in a block that cannot begin is skipped. */
static int begin_block(tlb_machine_reader *r, tlb_machine_block_kind kind)
{
   const tlb_machine_reader now = *r;
   finish_block(r);
   tlb_text key = tlb_text_in(r->key, sizeof r->key);
   tlb_text value = tlb_text_in(r->value, sizeof r->value);
   tlb_text_add(&key, now.key);
   tlb_text_add(&value, now.value);
   r->seen = 0;
   r->full = 0;
   r->skips = 1;
   r->block = kind;
   if ((!tlb_machine_blocks[kind].bare && !has_value(r)) || !tlb_machine_blocks[kind].begin(r))
      return 0;
   r->skips = 0;
   r->begun[kind] = 1;
   return 1;
}

/* Whether the line is a step's own: its only `cache`, or one more that means the step, too. */
static int is_of_step(const tlb_machine_reader *r)
{
   return r->block == TLB_STEP_BLOCK && tlb_text_same(r->key, "cache")
          && (!key_seen(r, "cache") || tlb_is_step_cache_word(r->value));
}

static int take_line(tlb_machine_reader *r)
{
   for (unsigned i = 0; i < TLB_N_BLOCKS && !is_of_step(r); i++) {
      const tlb_machine_block *const b = &tlb_machine_blocks[i];
      if (b->key == NULL
          || !tlb_text_is(r->key, tlb_text_length(r->key), b->key))
         continue;
      return begin_block(r, (tlb_machine_block_kind)i);
   }
   const tlb_machine_key *const keys = tlb_machine_blocks[r->block].keys;
   for (unsigned i = 0; keys[i].key != NULL; i++) {
      if (!tlb_text_is(r->key, tlb_text_length(r->key), keys[i].key))
         continue;
      const int again = (int)(r->seen >> i & 1);
      r->seen |= 1u << i;
      if (r->skips)
         return 1;
      if (!has_value(r))
         return 0;
      if (again && keys[i].kind != TLB_REPEATABLE)
         return tlb_refuse(r, "is a second line of this key");
      if (this_part(r) >= 0)
         r->key_line[this_part(r)][i] = r->line;
      return keys[i].take(r);
   }
   if (r->skips)
      return 1;
   tlb_text t = tlb_text_in(r->why->text, sizeof r->why->text);
   tlb_machine_quote(&t, r->key, 8);
   if (has_capitals(r->key)) {
      tlb_text_add(&t, " is no key; keys are in lower case");
      return 0;
   }
   tlb_text_add(&t, " is no key of ");
   tlb_text_add(&t, tlb_machine_blocks[r->block].name);
   tlb_text_add(&t, ":");
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

/* Says in a note which lines were left out. A file has no room for one note more than
   its most; what is assumed is noted all the same. */
static void note_left_out(tlb_machine_reader *r)
{
   int n = 0;
   if (r->m->n_notes == TLB_MACHINE_NOTES)
      return;
   tlb_text t = tlb_text_in(r->m->note[r->m->n_notes].text, sizeof r->m->note[0].text);
   for (unsigned b = 0; b < TLB_N_BLOCKS; b++) {
      for (uint32_t left = r->left_out[b]; left != 0; left &= left - 1) {
         const tlb_machine_key *const k
            = &tlb_machine_blocks[b].keys[__builtin_ctz(left)];
         tlb_text_add(&t, n++ == 0 ? "left out of the machine file: " : ", ");
         tlb_text_add(&t, k->key);
         if (tlb_text_same(k->assumed, "C"))
            tlb_text_add(&t, " (taken for C)");
      }
   }
   r->m->n_notes += n > 0;
}

static uint32_t cache_key_line(const tlb_machine_reader *r, unsigned cache, const char *key)
{
   return key_line(r, TLB_CACHE_BLOCK, TLB_PART_CACHES + cache, key, r->cache_line[cache]);
}

/* Whatever no cache has is in the memory. */
static void refuse_half_of_caches(tlb_machine_reader *r)
{
   if (r->m->n_caches > 0 && !r->begun[TLB_MEMORY_BLOCK]) {
      tlb_refuse_line(r, "no block 'memory' says what a table entry costs that no cache has");
      add_error(r, r->cache_line[r->m->n_caches - 1]);
   } else if (r->m->n_caches == 0 && r->begun[TLB_MEMORY_BLOCK] && r->n_errors == 0) {
      tlb_refuse_line(r, "the memory stands behind caches of tables, and there is none");
      add_error(r, r->memory_line);
   }
}

/* What only the whole machine shows. */
static void check(tlb_machine_reader *r)
{
   tlb_machine_fault fault[TLB_MAX_FAULTS];
   const uint32_t n_arrays = r->m->n_arrays;
   const uint32_t caches = n_arrays + r->m->n_walk_steps;
   const uint32_t arrays = (UINT32_C(1) << TLB_MAX_ARRAYS) - 1;
   uint32_t skip = (r->wrong & arrays) | (r->wrong >> TLB_PART_STEPS << n_arrays);
   /* Of a machine whose lines are wrong only each array can be judged. */
   if (r->n_errors > 0)
      skip |= UINT32_C(1) << (n_arrays % 32);
   const int judges = r->n_errors == 0
                      || (n_arrays > 0 && r->m->base_page_shift != 0);
   const unsigned n = judges
                         ? tlb_machine_faults(r->m, skip, fault) : 0;
   for (unsigned i = 0; i < n; i++) {
      const uint32_t where = fault[i].part;
      const uint32_t line = where == UINT32_MAX ? r->head_line
                            : where < n_arrays  ? array_key_line(r, where, fault[i].key)
                            : where < caches    ? r->step_line[where - n_arrays]
                                                : cache_key_line(r, where - caches, fault[i].key);
      *r->why = fault[i].why;
      add_error(r, line);
   }
}

/* The lines up to `end`. Returns 0 where nothing that follows can be relied on. */
static int read_lines(tlb_machine_reader *r)
{
   for (;;) {
      const int found = next_line(r);
      if (found < 0)
         return tlb_refuse_line(r, "the file ends without the line 'end'; is "
                                   "it cut short?");
      if (found == 0)
         return 0;
      if (tlb_text_is(r->key, tlb_text_length(r->key), "end"))
         return 1;
      if (!take_line(r))
         add_refusal(r, r->line);
   }
}

static int parse_lines(tlb_machine_reader *r)
{
   if (r->end - r->at > TLB_MACHINE_FILE_SIZE) {
      r->line = 1;
      return tlb_refuse_line(r, "the file is larger than 1048576 bytes");
   }
   if (!take_version(r) || !read_lines(r))
      return 0;
   if (r->value[0] != '\0') {
      tlb_refuse(r, "is too much; 'end' stands alone");
      add_error(r, r->line);
   }
   finish_block(r);
   const int more = next_line(r);
   if (more == 1)
      return tlb_refuse_line(r, "nothing may follow the line 'end'");
   return more != 0;
}

static int parse(tlb_machine_reader *r)
{
   if (!parse_lines(r))
      return 0;
   refuse_half_of_caches(r);
   check(r);
   return 1;
}

unsigned tlb_machine_parse_all(const char *text, size_t length, tlb_machine *out,
                               tlb_machine_error *error)
{
   tlb_reason why;
   tlb_machine_reader r = { .at = text, .end = text + length, .m = out,
                            .why = &why, .error = error };
   *out = (tlb_machine){ .walk_cycles = TLB_UNKNOWN };
   if (!parse(&r))
      add_error(&r, r.line);
   if (r.n_errors == 0) {
      note_left_out(&r);
      order_notes(out);
   }
   return r.n_errors;
}

int tlb_machine_parse(const char *text, size_t length, tlb_machine *out,
                      uint32_t *line, tlb_reason *why)
{
   tlb_machine_error error[TLB_MACHINE_ERRORS];
   if (tlb_machine_parse_all(text, length, out, error) == 0)
      return 1;
   *line = error[0].line;
   *why = error[0].why;
   return 0;
}

int tlb_machine_parse_of_run(const char *text, size_t length, tlb_machine *out, tlb_reason *why)
{
   tlb_machine_error error[TLB_MACHINE_ERRORS];
   tlb_machine_reader r = { .at = text, .end = text + length, .m = out, .why = why, .error = error,
                            .of_run = 1 };
   *out = (tlb_machine){ .walk_cycles = TLB_UNKNOWN };
   if (!parse_lines(&r))
      return 0;
   if (r.n_errors > 0)
      *why = error[0].why;
   return r.n_errors == 0;
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
