/* Machine files: the parser and, at the end, the printer.

   A file is read line by line: a key, blanks, a value. The key `array`, `walk`
   or `step` begins a block; the lines in front of the first block are about
   the machine as a whole. What must be there and what may be there twice
   stands in one table for each kind of block. */

#include "machine_file.h"

#include "text.h"

enum {
   LINE_SIZE = 400, /* bytes of a line, without its end */
   FORMAT_VERSION = 1,
   MAX_CYCLES = 1000000,
   MAX_THREADS = 1024,
   MAX_STEP_SHIFT = 63
};

typedef enum { HEAD, ARRAY, WALK, STEP, N_BLOCKS } block;

typedef struct {
   const char *at;
   const char *end;
   uint32_t line; /* the one being read, from 1 */
   tlb_machine *m;
   tlb_reason *why;
   char key[LINE_SIZE + 1];
   char value[LINE_SIZE + 1];
   block block;
   uint32_t seen; /* keys of this block, as bits of the index in its table */
   int begun[N_BLOCKS];
   uint32_t head_line;
   uint32_t walk_line;
   uint32_t array_line[TLB_MAX_ARRAYS];
   uint32_t step_line[TLB_MAX_WALK_LEVELS];
} reader;

/* One key of a block. The handler reads r->value; it returns 1, or 0 with the
   reason. */
typedef struct {
   const char *key;
   int (*take)(reader *r);
   enum { OPTIONAL, REQUIRED, REPEATABLE } kind;
} entry;

/* --- Refusals --- */

/* 'WORDS', not more of them than leaves room for the rest of the sentence. */
static void quote(tlb_text *t, const char *words, size_t most)
{
   const size_t n = tlb_text_length(words);
   tlb_text_add(t, "'");
   tlb_text_add_n(t, words, n < most ? n : most);
   tlb_text_add(t, "'");
}

/* "KEY 'VALUE' <what>" */
static int refuse(reader *r, const char *what)
{
   tlb_text t = tlb_text_in(r->why->text, sizeof r->why->text);
   tlb_text_add(&t, r->key);
   tlb_text_add(&t, " ");
   quote(&t, r->value, 40);
   tlb_text_add(&t, " ");
   tlb_text_add(&t, what);
   return 0;
}

static int refuse_line(reader *r, const char *what)
{
   tlb_text t = tlb_text_in(r->why->text, sizeof r->why->text);
   tlb_text_add(&t, what);
   return 0;
}

/* --- Values --- */

static tlb_machine_array *this_array(reader *r)
{
   return &r->m->array[r->m->n_arrays - 1];
}

static tlb_walk_step *this_step(reader *r)
{
   return &r->m->walk[r->m->n_walk_steps - 1];
}

static int is(const reader *r, const char *word)
{
   return tlb_text_is(r->value, tlb_text_length(r->value), word);
}

static int begins(const char *s, const char *with)
{
   while (*with != '\0' && *s == *with) {
      s++;
      with++;
   }
   return *with == '\0';
}

/* Cuts "unknown, assume " off the value. Returns whether it was there. */
static int cut_unknown(reader *r)
{
   static const char words[] = "unknown, assume ";
   if (!begins(r->value, words))
      return 0;
   size_t from = sizeof words - 1, to = 0;
   while (r->value[from] == ' ')
      from++;
   while (r->value[from] != '\0')
      r->value[to++] = r->value[from++];
   r->value[to] = '\0';
   return 1;
}

static int number(reader *r, uint32_t least, uint32_t most, uint32_t *out)
{
   const char *s = r->value;
   const char *const end = s + tlb_text_length(s);
   uint64_t n;
   if (tlb_text_number(&s, end, &n) && s == end && n >= least && n <= most) {
      *out = (uint32_t)n;
      return 1;
   }
   char words[80];
   tlb_text t = tlb_text_in(words, sizeof words);
   tlb_text_add(&t, "is not allowed; it is a number from ");
   tlb_text_add_number(&t, least);
   tlb_text_add(&t, " to ");
   tlb_text_add_number(&t, most);
   return refuse(r, words);
}

static int cycles(reader *r, uint32_t *out)
{
   if (is(r, "unknown")) {
      *out = TLB_UNKNOWN;
      return 1;
   }
   return number(r, 0, MAX_CYCLES, out);
}

static int text(reader *r, char *out, size_t size)
{
   if (tlb_text_length(r->value) >= size)
      return refuse(r, "is too long");
   tlb_text t = tlb_text_in(out, size);
   tlb_text_add(&t, r->value);
   return 1;
}

/* A second line of the same key is put behind the first. */
static int more_text(reader *r, char *out, size_t size)
{
   tlb_text t = { out + tlb_text_length(out), out + size - 1 };
   const size_t room = (size_t)(t.end - t.at);
   if (tlb_text_length(r->value) + (*out != '\0' ? 2 : 0) > room)
      return refuse(r, "is too long, together with the lines before it");
   if (*out != '\0')
      tlb_text_add(&t, "; ");
   tlb_text_add(&t, r->value);
   return 1;
}

/* A word that may stand in an option, between commas, and in a file's name. */
static int name(reader *r, char *out, size_t size)
{
   for (const char *s = r->value; *s != '\0'; s++) {
      if (!((*s >= 'a' && *s <= 'z') || (*s >= 'A' && *s <= 'Z')
            || (*s >= '0' && *s <= '9')
            || ((*s == '-' || *s == '_' || *s == '.') && s != r->value)))
         return refuse(r, "is no name; allowed are letters, digits and, behind "
                          "the first, - _ .");
   }
   return text(r, out, size);
}

static int confidence(reader *r, char *out)
{
   if (!is(r, "A") && !is(r, "B") && !is(r, "C"))
      return refuse(r, "is not allowed; it is A, B or C");
   *out = r->value[0];
   return 1;
}

static int ways(reader *r, tlb_geometry *g, int *unknown)
{
   *unknown = cut_unknown(r);
   if (is(r, "full")) {
      g->ways = g->entries;
      return 1;
   }
   return number(r, 1, TLB_MAX_ENTRIES, &g->ways);
}

static int policy(reader *r, tlb_geometry *g, int *unknown)
{
   *unknown = cut_unknown(r);
   return tlb_policy_parse(r->value, g, r->why);
}

/* --- The head --- */

static int take_name(reader *r)
{
   return name(r, r->m->name, sizeof r->m->name);
}

static int take_title(reader *r)
{
   return text(r, r->m->title, sizeof r->m->title);
}

static int take_isa(reader *r)
{
   return name(r, r->m->isa, sizeof r->m->isa);
}

static int take_year(reader *r)
{
   uint32_t year = 0;
   if (!is(r, "unknown") && !number(r, 1960, 2100, &year))
      return 0;
   r->m->year = year;
   return 1;
}

static int take_confidence(reader *r)
{
   return confidence(r, &r->m->confidence);
}

static int take_base_page(reader *r)
{
   r->m->base_page_shift = tlb_page_size_parse(r->value, r->why);
   return r->m->base_page_shift != 0;
}

static int take_source(reader *r)
{
   return more_text(r, r->m->source, sizeof r->m->source);
}

static int take_note(reader *r)
{
   if (r->m->n_notes == TLB_MACHINE_NOTES)
      return refuse(r, "is one too many; 16 are allowed");
   if (!text(r, r->m->note[r->m->n_notes].text, sizeof r->m->note[0].text))
      return 0;
   r->m->n_notes++;
   return 1;
}

/* --- An array --- */

static int take_level(reader *r)
{
   uint32_t level;
   if (!number(r, 1, TLB_MAX_LEVELS, &level))
      return 0;
   this_array(r)->level = level;
   return 1;
}

static const struct {
   const char *word;
   unsigned bits;
} user_words[] = {
   { "all", TLB_FETCHES | TLB_LOADS | TLB_STORES },
   { "fetches", TLB_FETCHES },
   { "loads", TLB_LOADS },
   { "stores", TLB_STORES },
};

enum { N_USER_WORDS = sizeof user_words / sizeof user_words[0] };

static int take_users(reader *r)
{
   unsigned users = 0;
   const char *word = r->value;
   for (;;) {
      size_t n = 0;
      while (word[n] != '\0' && word[n] != '+')
         n++;
      unsigned bits = 0;
      for (unsigned i = 0; i < N_USER_WORDS; i++) {
         if (tlb_text_is(word, n, user_words[i].word))
            bits = user_words[i].bits;
      }
      if (bits == 0 || (users & bits) != 0)
         return refuse(r, "is not allowed; it is all, or some of fetches, "
                          "loads and stores, joined by +");
      users |= bits;
      if (word[n] == '\0')
         break;
      word += n + 1;
   }
   this_array(r)->users = users;
   return 1;
}

static int take_entries(reader *r)
{
   tlb_machine_array *const a = this_array(r);
   a->entries_unknown = cut_unknown(r);
   return number(r, 1, TLB_MAX_ENTRIES, &a->g.entries);
}

static int take_ways(reader *r)
{
   tlb_machine_array *const a = this_array(r);
   if (a->g.entries == 0)
      return refuse_line(r, "ways stand before entries; entries come first");
   return ways(r, &a->g, &a->ways_unknown);
}

static int take_pages(reader *r)
{
   tlb_machine_array *const a = this_array(r);
   a->sizes_unknown = cut_unknown(r);
   return tlb_page_sizes_parse(r->value, &a->g.page_sizes, r->why);
}

static int take_larger_pages(reader *r)
{
   tlb_machine_array *const a = this_array(r);
   a->splits_unknown = cut_unknown(r);
   a->splits = is(r, "split");
   if (!a->splits && !is(r, "bypass"))
      return refuse(r, "is not allowed; they split or bypass");
   return 1;
}

static int take_policy(reader *r)
{
   tlb_machine_array *const a = this_array(r);
   return policy(r, &a->g, &a->policy_unknown);
}

static int take_coalesces(reader *r)
{
   tlb_machine_array *const a = this_array(r);
   a->coalesce_shift = 0;
   if (is(r, "no"))
      return 1;
   a->coalesce_shift = tlb_page_size_parse(r->value, r->why);
   return a->coalesce_shift != 0;
}

static int take_hit_cycles(reader *r)
{
   return cycles(r, &this_array(r)->hit_cycles);
}

static const char *const sharing_words[] = {
   [TLB_SHARING_UNKNOWN] = "unknown",
   [TLB_SHARED] = "shared",
   [TLB_PARTITIONED] = "partitioned",
   [TLB_COPIED] = "copied",
};

enum { N_SHARING_WORDS = sizeof sharing_words / sizeof sharing_words[0] };

static int take_threads(reader *r)
{
   tlb_machine_array *const a = this_array(r);
   const char *s = r->value;
   const char *const end = s + tlb_text_length(s);
   uint64_t n;
   if (is(r, "unknown")) {
      a->threads = 0;
      return 1;
   }
   if (tlb_text_number(&s, end, &n) && n >= 1 && n <= MAX_THREADS) {
      a->threads = (uint32_t)n;
      if (n == 1 && s == end)
         return 1;
      const int apart = *s == ' ';
      while (*s == ' ')
         s++;
      for (int i = 0; n > 1 && apart && i < N_SHARING_WORDS; i++) {
         if (tlb_text_is(s, (size_t)(end - s), sharing_words[i])) {
            a->sharing = (tlb_sharing)i;
            return 1;
         }
      }
   }
   return refuse(r, "is not allowed; it is unknown, 1, or a number up to 1024 "
                    "and shared, partitioned, copied or unknown");
}

static int take_array_confidence(reader *r)
{
   return confidence(r, &this_array(r)->confidence);
}

static int take_array_source(reader *r)
{
   return more_text(r, this_array(r)->source, sizeof this_array(r)->source);
}

/* --- The walk --- */

static int take_walk_cycles(reader *r)
{
   return cycles(r, &r->m->walk_cycles);
}

static int take_walk_source(reader *r)
{
   return more_text(r, r->m->walk_source, sizeof r->m->walk_source);
}

static int take_cache(reader *r)
{
   tlb_walk_step *const s = this_step(r);
   s->cache_unknown = cut_unknown(r);
   if (is(r, "none"))
      return 1;
   s->cached = 1;
   s->joined = is(r, "joined");
   s->in_last_level = is(r, "in-last-level");
   if (s->cache_unknown)
      return refuse(r, "is not allowed; what is unknown is assumed to be none");
   if (is(r, "own")) {
      s->g.page_sizes = UINT64_C(1) << s->shift;
      return 1;
   }
   if (!s->joined && !s->in_last_level)
      return refuse(r, "is not allowed; it is none, own, joined, in-last-level "
                       "or unknown, assume none");
   return 1;
}

static int has_own_cache(const tlb_walk_step *s)
{
   return s->cached && !s->joined && !s->in_last_level;
}

static int take_step_entries(reader *r)
{
   if (!has_own_cache(this_step(r)))
      return refuse_line(r, "only behind 'cache own' a step has entries");
   return number(r, 1, TLB_MAX_ENTRIES, &this_step(r)->g.entries);
}

static int take_step_ways(reader *r)
{
   tlb_walk_step *const s = this_step(r);
   if (s->g.entries == 0)
      return refuse_line(r, "ways stand before entries; entries come first");
   return ways(r, &s->g, &s->ways_unknown);
}

static int take_step_policy(reader *r)
{
   tlb_walk_step *const s = this_step(r);
   if (s->g.entries == 0)
      return refuse_line(r, "a policy stands before entries; entries come "
                            "first");
   return policy(r, &s->g, &s->policy_unknown);
}

static int take_step_source(reader *r)
{
   return more_text(r, this_step(r)->source, sizeof this_step(r)->source);
}

/* --- Which keys there are --- */

enum { MAX_KEYS = 14 };

static const struct {
   const char *name; /* as errors call it */
   entry keys[MAX_KEYS + 1];
} blocks[N_BLOCKS] = {
   [HEAD] = { "the machine",
              { { "name", take_name, REQUIRED },
                { "title", take_title, REQUIRED },
                { "isa", take_isa, REQUIRED },
                { "year", take_year, REQUIRED },
                { "confidence", take_confidence, REQUIRED },
                { "base-page", take_base_page, REQUIRED },
                { "source", take_source, REPEATABLE },
                { "note", take_note, REPEATABLE } } },
   [ARRAY] = { "the array",
               { { "level", take_level, REQUIRED },
                 { "users", take_users, REQUIRED },
                 { "entries", take_entries, REQUIRED },
                 { "ways", take_ways, REQUIRED },
                 { "pages", take_pages, REQUIRED },
                 { "larger-pages", take_larger_pages, REQUIRED },
                 { "policy", take_policy, REQUIRED },
                 { "threads", take_threads, REQUIRED },
                 { "hit-cycles", take_hit_cycles, OPTIONAL },
                 { "coalesces", take_coalesces, OPTIONAL },
                 { "confidence", take_array_confidence, OPTIONAL },
                 { "source", take_array_source, REPEATABLE } } },
   [WALK] = { "the walk",
              { { "cycles", take_walk_cycles, REQUIRED },
                { "source", take_walk_source, REPEATABLE } } },
   [STEP] = { "the step",
              { { "cache", take_cache, REQUIRED },
                { "entries", take_step_entries, OPTIONAL },
                { "ways", take_step_ways, OPTIONAL },
                { "policy", take_step_policy, OPTIONAL },
                { "source", take_step_source, REPEATABLE } } },
};

static int key_seen(const reader *r, const char *key)
{
   const entry *const keys = blocks[r->block].keys;
   for (unsigned i = 0; keys[i].key != NULL; i++) {
      if (tlb_text_is(key, tlb_text_length(key), keys[i].key))
         return (int)(r->seen >> i & 1);
   }
   return 0;
}

/* --- Blocks --- */

static uint32_t block_line(const reader *r)
{
   switch (r->block) {
   case ARRAY:
      return r->array_line[r->m->n_arrays - 1];
   case WALK:
      return r->walk_line;
   case STEP:
      return r->step_line[r->m->n_walk_steps - 1];
   case HEAD:
   case N_BLOCKS:
      break;
   }
   return r->head_line;
}

static int refuse_missing(reader *r, const char *key)
{
   tlb_text t = tlb_text_in(r->why->text, sizeof r->why->text);
   r->line = block_line(r);
   tlb_text_add(&t, blocks[r->block].name);
   tlb_text_add(&t, " has no line '");
   tlb_text_add(&t, key);
   tlb_text_add(&t, "'");
   return 0;
}

/* Whether all is there that must be. */
static int finish_block(reader *r)
{
   const entry *const keys = blocks[r->block].keys;
   for (unsigned i = 0; keys[i].key != NULL; i++) {
      if (keys[i].kind == REQUIRED && (r->seen >> i & 1) == 0)
         return refuse_missing(r, keys[i].key);
   }
   if (r->block == ARRAY) {
      tlb_machine_array *const a = this_array(r);
      /* The yardstick itself is 0; of any other level it must be said. */
      if (a->level > 1 && !key_seen(r, "hit-cycles"))
         return refuse_missing(r, "hit-cycles");
   }
   if (r->block == STEP && has_own_cache(this_step(r))) {
      static const char *const own[] = { "entries", "ways", "policy" };
      for (unsigned i = 0; i < sizeof own / sizeof own[0]; i++) {
         if (!key_seen(r, own[i]))
            return refuse_missing(r, own[i]);
      }
   }
   return 1;
}

static int begin_array(reader *r)
{
   tlb_machine *const m = r->m;
   if (r->begun[WALK])
      return refuse(r, "stands behind the walk; arrays come first");
   if (m->n_arrays == TLB_MAX_ARRAYS)
      return refuse(r, "is one too many; 16 arrays are allowed");
   r->array_line[m->n_arrays++] = r->line;
   return name(r, this_array(r)->name, sizeof this_array(r)->name);
}

static int begin_walk(reader *r)
{
   if (r->begun[WALK])
      return refuse(r, "is a second walk; a machine has one");
   r->walk_line = r->line;
   r->m->software_walk = is(r, "software");
   if (!r->m->software_walk && !is(r, "hardware"))
      return refuse(r, "is not allowed; it is hardware or software");
   return 1;
}

/* "512G": what an entry of the table covers. Steps are larger than pages, so
   tlb_page_size_parse() does not know them. */
static int begin_step(reader *r)
{
   static const char units[] = "KMGTPE";
   const char *s = r->value;
   const char *const end = s + tlb_text_length(s);
   uint64_t n;
   if (!r->begun[WALK])
      return refuse(r, "stands before the walk that it is a step of");
   if (r->m->n_walk_steps == TLB_MAX_WALK_LEVELS)
      return refuse(r, "is one too many; 6 steps are allowed");
   if (tlb_text_number(&s, end, &n) && n != 0 && (n & (n - 1)) == 0
       && s + 1 == end) {
      unsigned shift = (unsigned)__builtin_ctzll(n);
      for (unsigned i = 0; units[i] != '\0'; i++) {
         if (units[i] != *s)
            continue;
         shift += 10 * (i + 1);
         if (shift < TLB_MIN_PAGE_SHIFT || shift > MAX_STEP_SHIFT)
            break;
         r->step_line[r->m->n_walk_steps++] = r->line;
         this_step(r)->shift = shift;
         return 1;
      }
   }
   return refuse(r, "is not allowed; it is a power of two from 4K to 8E, such "
                    "as 4K, 2M, 1G or 512G");
}

static const struct {
   const char *key;
   block block;
   int (*begin)(reader *r);
} beginnings[] = {
   { "array", ARRAY, begin_array },
   { "walk", WALK, begin_walk },
   { "step", STEP, begin_step },
};

enum { N_BEGINNINGS = sizeof beginnings / sizeof beginnings[0] };

/* --- Lines --- */

static int is_blank(char c)
{
   return c == ' ' || c == '\t';
}

static int refuse_byte(reader *r, unsigned char c)
{
   if (c == '\r')
      return refuse_line(r, "a carriage return; lines end in a line feed "
                            "alone, as Unix writes them");
   tlb_text t = tlb_text_in(r->why->text, sizeof r->why->text);
   tlb_text_add(&t, "byte ");
   tlb_text_add_number(&t, c);
   tlb_text_add(&t, " is not allowed; a machine file is plain ASCII text");
   return 0;
}

/* Takes the next line that says something apart into r->key and r->value.
   Returns 1, 0 with the reason, or -1 at the end of the text. */
static int next_line(reader *r)
{
   while (r->at < r->end) {
      const char *s = r->at;
      const char *end = s;
      r->line++;
      while (end < r->end && *end != '\n') {
         const unsigned char c = (unsigned char)*end;
         if ((c < ' ' && c != '\t') || c >= 0x7f)
            return refuse_byte(r, c);
         if (end - s == LINE_SIZE)
            return refuse_line(r, "the line is longer than 400 bytes");
         end++;
      }
      if (end == r->end)
         return refuse_line(r, "the file ends in the middle of a line");
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

static int take_line(reader *r)
{
   if (r->value[0] == '\0') {
      tlb_text t = tlb_text_in(r->why->text, sizeof r->why->text);
      quote(&t, r->key, 40);
      tlb_text_add(&t, " has no value");
      return 0;
   }
   for (unsigned i = 0; i < N_BEGINNINGS; i++) {
      if (!tlb_text_is(r->key, tlb_text_length(r->key), beginnings[i].key))
         continue;
      if (!finish_block(r) || !beginnings[i].begin(r))
         return 0;
      r->block = beginnings[i].block;
      r->begun[r->block] = 1;
      r->seen = 0;
      return 1;
   }
   const entry *const keys = blocks[r->block].keys;
   for (unsigned i = 0; keys[i].key != NULL; i++) {
      if (!tlb_text_is(r->key, tlb_text_length(r->key), keys[i].key))
         continue;
      if ((r->seen >> i & 1) != 0 && keys[i].kind != REPEATABLE)
         return refuse(r, "is a second line of this key");
      r->seen |= 1u << i;
      return keys[i].take(r);
   }
   tlb_text t = tlb_text_in(r->why->text, sizeof r->why->text);
   quote(&t, r->key, 12);
   tlb_text_add(&t, " is no key of ");
   tlb_text_add(&t, blocks[r->block].name);
   tlb_text_add(&t, "; allowed are");
   for (unsigned i = 0; keys[i].key != NULL; i++) {
      tlb_text_add(&t, " ");
      tlb_text_add(&t, keys[i].key);
   }
   return 0;
}

static const char first_word[] = "tlbgrind-machine";

static int take_version(reader *r)
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
      return refuse_line(r, "no machine file: it does not begin with "
                            "'tlbgrind-machine 1'");
   }
   return number(r, FORMAT_VERSION, FORMAT_VERSION, &version);
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

static int check(reader *r)
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

static int parse(reader *r)
{
   if (r->end - r->at > TLB_MACHINE_FILE_SIZE) {
      r->line = 1;
      return refuse_line(r, "the file is larger than 1048576 bytes");
   }
   if (!take_version(r))
      return 0;
   for (;;) {
      const int found = next_line(r);
      if (found < 0)
         return refuse_line(r, "the file ends without the line 'end'; is it "
                               "cut short?");
      if (found == 0)
         return 0;
      if (tlb_text_is(r->key, tlb_text_length(r->key), "end"))
         break;
      if (!take_line(r))
         return 0;
   }
   if (r->value[0] != '\0')
      return refuse(r, "is too much; 'end' stands alone");
   if (!finish_block(r))
      return 0;
   const int more = next_line(r);
   if (more == 1)
      return refuse_line(r, "nothing may follow the line 'end'");
   return more == -1 && check(r);
}

int tlb_machine_parse(const char *text, size_t length, tlb_machine *out,
                      uint32_t *line, tlb_reason *why)
{
   reader r = { .at = text, .end = text + length, .m = out, .why = why };
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

/* --- The printer --- */

/* What tlb_text_add() would make a question mark of. */
static void end_line(tlb_text *t)
{
   if (t->at < t->end)
      *t->at++ = '\n';
   *t->at = '\0';
}

static void begin_line(tlb_text *t, int indent, const char *key)
{
   enum { COLUMN = 16 };
   if (indent)
      tlb_text_add(t, "   ");
   tlb_text_add(t, key);
   tlb_text_add(t, " ");
   for (size_t n = tlb_text_length(key) + (indent ? 4 : 1); n < COLUMN; n++)
      tlb_text_add(t, " ");
}

static void add_ascii(tlb_text *t, const char *s)
{
   for (; *s != '\0'; s++)
      tlb_text_add_n(t, (unsigned char)*s < 0x7f ? s : "?", 1);
}

static void text_line(tlb_text *t, int indent, const char *key,
                      const char *value)
{
   if (*value == '\0')
      return;
   begin_line(t, indent, key);
   add_ascii(t, value);
   end_line(t);
}

static void number_line(tlb_text *t, const char *key, int unknown, uint64_t n)
{
   begin_line(t, 1, key);
   if (unknown)
      tlb_text_add(t, "unknown, assume ");
   tlb_text_add_number(t, n);
   end_line(t);
}

static void cycles_line(tlb_text *t, const char *key, uint32_t n)
{
   if (n == TLB_UNKNOWN)
      text_line(t, 1, key, "unknown");
   else
      number_line(t, key, 0, n);
}

static void unknown_line(tlb_text *t, const char *key, int unknown,
                         const char *value)
{
   begin_line(t, 1, key);
   if (unknown)
      tlb_text_add(t, "unknown, assume ");
   tlb_text_add(t, value);
   end_line(t);
}

static void ways_line(tlb_text *t, const tlb_geometry *g, int unknown)
{
   if (g->ways == g->entries)
      unknown_line(t, "ways", unknown, "full");
   else
      number_line(t, "ways", unknown, g->ways);
}

static void policy_line(tlb_text *t, const tlb_geometry *g, int unknown)
{
   char words[40];
   tlb_policy_print(g, words, sizeof words);
   unknown_line(t, "policy", unknown, words);
}

static void print_users(tlb_text *t, unsigned users)
{
   int first = 1;
   begin_line(t, 1, "users");
   for (unsigned i = 0; i < N_USER_WORDS && users != 0; i++) {
      if ((users & user_words[i].bits) != user_words[i].bits)
         continue;
      if (!first)
         tlb_text_add(t, "+");
      tlb_text_add(t, user_words[i].word);
      users &= ~user_words[i].bits;
      first = 0;
   }
   end_line(t);
}

static void print_threads(tlb_text *t, const tlb_machine_array *a)
{
   if (a->threads == 0) {
      text_line(t, 1, "threads", "unknown");
      return;
   }
   begin_line(t, 1, "threads");
   tlb_text_add_number(t, a->threads);
   if (a->threads > 1) {
      tlb_text_add(t, " ");
      tlb_text_add(t, sharing_words[a->sharing]);
   }
   end_line(t);
}

static void print_array(tlb_text *t, const tlb_machine_array *a)
{
   char sizes[TLB_REASON_SIZE];
   tlb_page_sizes_print(a->g.page_sizes, sizes, sizeof sizes);
   end_line(t);
   text_line(t, 0, "array", a->name);
   number_line(t, "level", 0, a->level);
   print_users(t, a->users);
   number_line(t, "entries", a->entries_unknown, a->g.entries);
   ways_line(t, &a->g, a->ways_unknown);
   unknown_line(t, "pages", a->sizes_unknown, sizes);
   unknown_line(t, "larger-pages", a->splits_unknown,
                a->splits ? "split" : "bypass");
   policy_line(t, &a->g, a->policy_unknown);
   if (a->coalesce_shift != 0) {
      begin_line(t, 1, "coalesces");
      tlb_text_add_page_size(t, a->coalesce_shift);
      end_line(t);
   }
   if (a->level > 1 || a->hit_cycles != 0)
      cycles_line(t, "hit-cycles", a->hit_cycles);
   print_threads(t, a);
   if (a->confidence != 0) {
      const char word[2] = { a->confidence, '\0' };
      text_line(t, 1, "confidence", word);
   }
   text_line(t, 1, "source", a->source);
}

static void print_step(tlb_text *t, const tlb_walk_step *s)
{
   begin_line(t, 0, "step");
   tlb_text_add_page_size(t, s->shift);
   end_line(t);
   unknown_line(t, "cache", s->cache_unknown,
                !s->cached         ? "none"
                : s->joined        ? "joined"
                : s->in_last_level ? "in-last-level"
                                   : "own");
   if (has_own_cache(s)) {
      number_line(t, "entries", 0, s->g.entries);
      ways_line(t, &s->g, s->ways_unknown);
      policy_line(t, &s->g, s->policy_unknown);
   }
   text_line(t, 1, "source", s->source);
}

static void print_head(tlb_text *t, const tlb_machine *m)
{
   const char confidence_word[2] = { m->confidence, '\0' };
   text_line(t, 0, first_word, "1");
   text_line(t, 0, "name", m->name);
   text_line(t, 0, "title", m->title[0] != '\0' ? m->title : m->name);
   text_line(t, 0, "isa", m->isa);
   if (m->year == 0) {
      text_line(t, 0, "year", "unknown");
   } else {
      begin_line(t, 0, "year");
      tlb_text_add_number(t, m->year);
      end_line(t);
   }
   text_line(t, 0, "confidence", confidence_word);
   begin_line(t, 0, "base-page");
   tlb_text_add_page_size(t, m->base_page_shift);
   end_line(t);
   text_line(t, 0, "source", m->source);
   for (unsigned i = 0; i < m->n_notes; i++) {
      if (!tlb_machine_note_follows(m, m->note[i].text))
         text_line(t, 0, "note", m->note[i].text);
   }
}

static void print_walk(tlb_text *t, const tlb_machine *m)
{
   end_line(t);
   text_line(t, 0, "walk", m->software_walk ? "software" : "hardware");
   cycles_line(t, "cycles", m->walk_cycles);
   text_line(t, 1, "source", m->walk_source);
   for (unsigned i = 0; i < m->n_walk_steps; i++)
      print_step(t, &m->walk[i]);
}

void tlb_machine_print(const tlb_machine *m, char *out, size_t size)
{
   tlb_text t = tlb_text_in(out, size);
   print_head(&t, m);
   for (unsigned i = 0; i < m->n_arrays; i++)
      print_array(&t, &m->array[i]);
   print_walk(&t, m);
   end_line(&t);
   tlb_text_add(&t, "end");
   end_line(&t);
}
