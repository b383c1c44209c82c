/* Changes lines of a machine. See sim/machine/override.h. */

#include "sim/machine/override.h"

#include "sim/base/closeness.h"
#include "sim/base/text.h"
#include "sim/machine/machine_file_parts.h"

/* Room for the name of any part. */
enum { PART_NAME = TLB_NAME_SIZE + 8 };

/* Where a line stands: a block, and which of several of its kind. */
typedef struct {
   tlb_machine_block_kind block;
   unsigned number;
} place;

typedef struct {
   const char *text; /* PART.LINE=VALUE */
   size_t length;
   const char *value;
   place at;
   const char *key;
   int done;         /* the text has it */
   uint32_t line;    /* in the changed text, */
   uint32_t first;   /* and those of its block */
   uint32_t last;
} override;

typedef struct {
   const tlb_machine *m;
   override o[TLB_OVERRIDES];
   unsigned n;
   tlb_text out;
   uint32_t line;  /* of out, the last one that is whole */
   place at;
   uint32_t first; /* line of the block at hand */
} changes;

/* --- Words --- */

static int same_but_capitals(const char *s, size_t n, const char *word)
{
   size_t i = 0;
   while (i < n && word[i] != '\0' && tlb_text_small(s[i]) == tlb_text_small(word[i]))
      i++;
   return i == n && word[i] == '\0';
}

static void add_override(tlb_text *t, const override *o)
{
   tlb_text_add_n(t, o->text, o->length);
}

/* --- Which line is meant --- */

static void step_name(const tlb_machine *m, unsigned step, char *out, size_t size)
{
   tlb_text t = tlb_text_in(out, size);
   tlb_text_add_page_size(&t, m->walk[step].shift);
}

/* "cache-L2": behind the word, for an array can be called so, too. */
static void cache_name(const tlb_machine *m, unsigned cache, char *out, size_t size)
{
   tlb_text t = tlb_text_in(out, size);
   tlb_text_add(&t, "cache-");
   tlb_text_add(&t, m->cache[cache].name);
}

/* Part number i of the machine, or NULL behind the last. */
static const char *part(const tlb_machine *m, unsigned i, char *room, size_t size, place *at)
{
   if (i < m->n_arrays) {
      *at = (place){ TLB_ARRAY_BLOCK, i };
      return m->array[i].name;
   }
   i -= m->n_arrays;
   *at = (place){ TLB_WALK_BLOCK, 0 };
   if (i == 0)
      return "walk";
   if (--i < m->n_walk_steps) {
      *at = (place){ TLB_STEP_BLOCK, i };
      step_name(m, i, room, size);
      return room;
   }
   i -= m->n_walk_steps;
   if (i < m->n_caches) {
      *at = (place){ TLB_CACHE_BLOCK, i };
      cache_name(m, i, room, size);
      return room;
   }
   *at = (place){ TLB_MEMORY_BLOCK, 0 };
   return i == m->n_caches && i > 0 ? "memory" : NULL;
}

/* Adds the word to a list, if that leaves room for "and N more". */
static int add_word(tlb_text *t, const char *before, const char *word)
{
   enum { MORE = 16 };
   if ((size_t)(t->end - t->at) < tlb_text_length(before) + tlb_text_length(word) + MORE)
      return 0;
   tlb_text_add(t, before);
   tlb_text_add(t, word);
   return 1;
}

/* "'dtlb' is no part of skylake; did you mean DTLB-4K, DTLB-2M?" */
static int refuse_part(const tlb_machine *m, const char *name, size_t length, tlb_reason *why)
{
   char room[PART_NAME], word[TLB_FAR + 1];
   const char *known;
   unsigned near = 0, listed = 0, left = 0;
   place at;
   tlb_text t = tlb_text_in(word, sizeof word);
   tlb_text_add_n(&t, name, length);
   for (unsigned i = 0; (known = part(m, i, room, sizeof room, &at)) != NULL; i++)
      near += tlb_distance(word, known) < TLB_FAR;
   t = tlb_text_in(why->text, sizeof why->text);
   tlb_text_add_refusal(&t, name, length, "is no part of ");
   tlb_text_add(&t, m->name);
   for (unsigned i = 0; (known = part(m, i, room, sizeof room, &at)) != NULL; i++) {
      if (near > 0 && tlb_distance(word, known) == TLB_FAR)
         continue;
      const char *const first = near > 0 ? "; did you mean " : "; it has ";
      if (left == 0 && add_word(&t, listed == 0 ? first : ", ", known))
         listed++;
      else
         left++;
   }
   if (left > 0) {
      tlb_text_add(&t, " and ");
      tlb_text_add_number(&t, left);
      tlb_text_add(&t, " more");
   }
   tlb_text_add(&t, near > 0 ? "?" : "");
   return 0;
}

static int refuse_key(tlb_machine_block_kind block, const char *key, size_t length,
                      tlb_reason *why)
{
   const tlb_machine_key *const keys = tlb_machine_blocks[block].keys;
   tlb_text t = tlb_text_in(why->text, sizeof why->text);
   char word[TLB_FAR + 1];
   const char *closest = NULL;
   unsigned least = TLB_FAR;
   tlb_text w = tlb_text_in(word, sizeof word);
   tlb_text_add_n(&w, key, length);
   for (unsigned i = 0; keys[i].key != NULL; i++) {
      const unsigned d = tlb_distance(word, keys[i].key);
      closest = d < least ? keys[i].key : closest;
      least = d < least ? d : least;
   }
   tlb_text_add_refusal(&t, key, length, "is no line of ");
   tlb_text_add(&t, tlb_machine_blocks[block].name);
   if (closest != NULL) {
      tlb_text_add(&t, "; did you mean ");
      tlb_text_add(&t, closest);
      tlb_text_add(&t, "?");
      return 0;
   }
   for (unsigned i = 0; keys[i].key != NULL; i++)
      add_word(&t, i == 0 ? "; it has " : ", ", keys[i].key);
   return 0;
}

static int refuse(tlb_reason *why, const char *what)
{
   tlb_text t = tlb_text_in(why->text, sizeof why->text);
   tlb_text_add(&t, what);
   return 0;
}

static int find_part(changes *c, override *o, const char *name, size_t length, tlb_reason *why)
{
   char room[PART_NAME];
   const char *known;
   for (unsigned i = 0; (known = part(c->m, i, room, sizeof room, &o->at)) != NULL; i++) {
      if (same_but_capitals(name, length, known))
         return 1;
   }
   return refuse_part(c->m, name, length, why);
}

/* Finds out which line [PART.]LINE is. */
static int find_line(changes *c, override *o, const char *equals, tlb_reason *why)
{
   const char *key = equals;
   while (key > o->text && key[-1] != '.')
      key--;
   o->at = (place){ TLB_HEAD_BLOCK, 0 };
   if (key > o->text && !find_part(c, o, o->text, (size_t)(key - 1 - o->text), why))
      return 0;
   const tlb_machine_key *const keys = tlb_machine_blocks[o->at.block].keys;
   const size_t length = (size_t)(equals - key);
   for (unsigned i = 0; keys[i].key != NULL && o->key == NULL; i++) {
      if (same_but_capitals(key, length, keys[i].key))
         o->key = keys[i].key;
   }
   return o->key != NULL || refuse_key(o->at.block, key, length, why);
}

static int is_same_place(const place *a, const place *b)
{
   return a->block == b->block && a->number == b->number;
}

/* The override of the line; NULL: it stays as it is. */
static override *find(changes *c, const place *at, const char *key, size_t n)
{
   for (unsigned i = 0; i < c->n; i++) {
      if (is_same_place(&c->o[i].at, at) && tlb_text_is(key, n, c->o[i].key))
         return &c->o[i];
   }
   return NULL;
}

static int take(changes *c, override *o, tlb_reason *why)
{
   const char *equals = o->text;
   const char *const end = o->text + o->length;
   while (equals < end && *equals != '=')
      equals++;
   if (equals == o->text || equals == end)
      return refuse(why, "an override is PART.LINE=VALUE, such as stlb.entries=2048");
   o->value = equals + 1;
   if (!find_line(c, o, equals, why))
      return 0;
   if (o->value == end)
      return refuse(why, "the value is missing");
   if (find(c, &o->at, o->key, tlb_text_length(o->key)) != NULL)
      return refuse(why, "the line is given twice");
   return 1;
}

/* Whether all overrides are understood. */
static int take_all(changes *c, const char *text, tlb_reason *blame, tlb_reason *why)
{
   for (;;) {
      override o = { .text = text };
      while (text[o.length] != '\0' && text[o.length] != ',')
         o.length++;
      if (c->n == TLB_OVERRIDES)
         return refuse(why, "a machine has at most 32 overrides");
      if (!take(c, &o, why)) {
         tlb_text t = tlb_text_in(blame->text, sizeof blame->text);
         add_override(&t, &o);
         return 0;
      }
      c->o[c->n++] = o;
      if (text[o.length] == '\0')
         return 1;
      text += o.length + 1;
   }
}

/* --- The changed text --- */

static void add_byte(changes *c, char byte)
{
   if (c->out.at < c->out.end)
      *c->out.at++ = byte;
   *c->out.at = '\0';
   c->line += byte == '\n';
}

static void add_bytes(changes *c, const char *s, size_t n)
{
   for (size_t i = 0; i < n; i++)
      add_byte(c, s[i]);
}

static void add_changed(changes *c, override *o)
{
   add_bytes(c, o->key, tlb_text_length(o->key));
   add_byte(c, ' ');
   add_bytes(c, o->value, (size_t)(o->text + o->length - o->value));
   add_byte(c, '\n');
   o->line = c->line;
   o->done = 1;
}

/* Ends a block with the lines that it had not, in the order of the block's keys: some depend on
   others before them. */
static void end_block(changes *c)
{
   const tlb_machine_key *const keys = tlb_machine_blocks[c->at.block].keys;
   for (unsigned i = 0; keys[i].key != NULL; i++) {
      override *const o = find(c, &c->at, keys[i].key, tlb_text_length(keys[i].key));
      if (o != NULL && !o->done)
         add_changed(c, o);
   }
   for (unsigned i = 0; i < c->n; i++) {
      if (is_same_place(&c->o[i].at, &c->at)) {
         c->o[i].first = c->first;
         c->o[i].last = c->line;
      }
   }
}

static void begin_block(changes *c, tlb_machine_block_kind block)
{
   end_block(c);
   c->at.number = block == c->at.block ? c->at.number + 1 : 0;
   c->at.block = block;
   c->first = c->line + 1;
}

/* Whether the line goes, as it is about the step's own cache, which it has no longer. */
static int is_void(changes *c, const char *key, size_t n)
{
   const override *const o = find(c, &c->at, "cache", 5);
   return c->at.block == TLB_STEP_BLOCK && o != NULL
          && (tlb_text_is(key, n, "entries") || tlb_text_is(key, n, "ways")
              || tlb_text_is(key, n, "policy"))
          && !tlb_text_is(o->value, (size_t)(o->text + o->length - o->value), "own");
}

static int is_number(const override *o, uint64_t *n)
{
   const char *s = o->value;
   const char *const end = o->text + o->length;
   return tlb_text_number(&s, end, n) && s == end;
}

/* The ways of an array that gets other entries, and no ways: those that it has, or, where they do
   not divide the entries, so many that the sets stay; 0: these do not divide them either. */
static uint64_t ways_for(const tlb_machine_array *a, uint64_t entries)
{
   const uint64_t sets = a->g.entries / a->g.ways;
   if (a->g.ways == a->g.entries)
      return entries;
   if (entries % a->g.ways == 0)
      return a->g.ways;
   return entries % sets == 0 ? entries / sets : 0;
}

/* Whether the line has the ways of an array whose sets stay. */
static int changes_ways(changes *c, const char *key, size_t n, uint64_t *ways)
{
   uint64_t entries;
   const override *const o = find(c, &c->at, "entries", 7);
   if (c->at.block != TLB_ARRAY_BLOCK || !tlb_text_is(key, n, "ways") || o == NULL
       || !is_number(o, &entries))
      return 0;
   const tlb_machine_array *const a = &c->m->array[c->at.number];
   *ways = ways_for(a, entries);
   return a->g.ways != a->g.entries && *ways != a->g.ways;
}

static void change_line(changes *c, const char *line, size_t n)
{
   uint64_t ways;
   const char *key = line, *const end = line + n;
   size_t length = 0;
   while (key < end && *key == ' ')
      key++;
   while (key + length < end && key[length] != ' ')
      length++;
   if (key == line && tlb_text_is(key, length, "end")) {
      end_block(c);
   } else if (key == line) {
      for (unsigned i = 0; i < TLB_N_BLOCKS; i++) {
         const char *const begins = tlb_machine_blocks[i].key;
         if (begins != NULL && tlb_text_is(key, length, begins))
            begin_block(c, (tlb_machine_block_kind)i);
      }
   }
   override *const o = find(c, &c->at, key, length);
   if (o != NULL && !o->done) {
      add_changed(c, o);
   } else if (o == NULL && changes_ways(c, key, length, &ways)) {
      add_bytes(c, line, (size_t)(key + length - line));
      add_byte(c, ' ');
      tlb_text_add_number(&c->out, ways);
      add_byte(c, '\n');
   } else if (o == NULL && !is_void(c, key, length)) {
      add_bytes(c, line, n);
      add_byte(c, '\n');
   }
}

static void change_text(changes *c, const char *text)
{
   c->at = (place){ TLB_HEAD_BLOCK, 0 };
   c->first = 1;
   while (*text != '\0') {
      size_t n = 0;
      while (text[n] != '\n' && text[n] != '\0')
         n++;
      change_line(c, text, n);
      text += n + (text[n] == '\n');
   }
}

/* --- What is wrong with it --- */

/* How near an override is to the line: 0 its own, 1 one of its block, 2 one of another block. */
static unsigned farness(const override *o, uint32_t line)
{
   return o->line == line ? 0 : o->first <= line && line <= o->last ? 1 : 2;
}

/* Blames the nearest overrides for what is wrong in a line. */
static void blame_line(const changes *c, uint32_t line, tlb_reason *blame)
{
   unsigned least = 2, named = 0;
   tlb_text t = tlb_text_in(blame->text, sizeof blame->text);
   for (unsigned i = 0; i < c->n; i++)
      least = farness(&c->o[i], line) < least ? farness(&c->o[i], line) : least;
   for (unsigned i = 0; i < c->n; i++) {
      if (farness(&c->o[i], line) > least)
         continue;
      tlb_text_add(&t, named++ == 0 ? "" : ",");
      add_override(&t, &c->o[i]);
   }
}

/* "the 6 ways of STLB do not divide 512 entries; give the ways, too, such as STLB.ways=8" */
static int refuse_ways(const tlb_machine_array *a, uint64_t entries, tlb_reason *why)
{
   uint64_t ways = a->g.ways;
   tlb_text t = tlb_text_in(why->text, sizeof why->text);
   while (ways < entries && entries % ways != 0)
      ways++;
   tlb_text_add(&t, "the ");
   tlb_text_add_number(&t, a->g.ways);
   tlb_text_add(&t, " ways of ");
   tlb_text_add(&t, a->name);
   tlb_text_add(&t, " do not divide ");
   tlb_text_add_number(&t, entries);
   tlb_text_add(&t, " entries; give the ways, too, such as ");
   tlb_text_add(&t, a->name);
   tlb_text_add(&t, ".ways=");
   if (ways >= entries)
      tlb_text_add(&t, "full");
   else
      tlb_text_add_number(&t, ways);
   return 0;
}

/* Blames both of two overrides that do not go together. */
static int refuse_both(const override *entries, const override *ways, tlb_reason *blame,
                       tlb_reason *why)
{
   tlb_geometry g = { .page_sizes = 1 };
   uint64_t e, w;
   if (!is_number(entries, &e) || !is_number(ways, &w) || e > TLB_MAX_ENTRIES
       || w > TLB_MAX_ENTRIES || e == 0 || w == 0)
      return 1; /* the line itself is wrong, or has no number */
   g.entries = (uint32_t)e;
   g.ways = (uint32_t)w;
   tlb_text t = tlb_text_in(blame->text, sizeof blame->text);
   add_override(&t, entries < ways ? entries : ways);
   tlb_text_add(&t, ",");
   add_override(&t, entries < ways ? ways : entries);
   return tlb_geometry_check(&g, why);
}

/* Whether the ways of each array divide the entries that it gets. */
static int are_divided(changes *c, tlb_reason *blame, tlb_reason *why)
{
   for (unsigned i = 0; i < c->n; i++) {
      const override *const o = &c->o[i];
      uint64_t entries;
      if (o->at.block != TLB_ARRAY_BLOCK || !tlb_text_same(o->key, "entries"))
         continue;
      const override *const w = find(c, &o->at, "ways", 4);
      if (w != NULL) {
         if (!refuse_both(o, w, blame, why))
            return 0;
         continue;
      }
      if (!is_number(o, &entries) || entries == 0 || entries > TLB_MAX_ENTRIES)
         continue;
      const tlb_machine_array *const a = &c->m->array[o->at.number];
      if (ways_for(a, entries) != 0)
         continue;
      tlb_text t = tlb_text_in(blame->text, sizeof blame->text);
      add_override(&t, o);
      return refuse_ways(a, entries, why);
   }
   return 1;
}

/* --- The machine --- */

/* "skylake-stlb.entries-2048", in letters that a name may have. */
static void name_after(const changes *c, const char *old, tlb_machine *m)
{
   tlb_text t = tlb_text_in(m->name, sizeof m->name);
   tlb_text_add(&t, old);
   for (unsigned i = 0; i < c->n; i++) {
      tlb_text_add(&t, "-");
      for (size_t j = 0; j < c->o[i].length; j++) {
         const char s = tlb_text_small(c->o[i].text[j]);
         const int plain = (s >= 'a' && s <= 'z') || (s >= '0' && s <= '9') || s == '.' || s == '_';
         tlb_text_add_n(&t, plain ? &s : "-", 1);
      }
   }
}

/* Puts a note with the changes before those that the machine has. */
static void note_changes(const char *overrides, tlb_machine *m)
{
   unsigned own = 0;
   tlb_text t;
   for (unsigned i = 0; i < m->n_notes; i++)
      own += !tlb_machine_note_follows(m, m->note[i].text);
   if (own >= TLB_MACHINE_NOTES || m->n_notes == TLB_MAX_NOTES)
      return;
   for (unsigned i = m->n_notes++; i > 0; i--)
      m->note[i] = m->note[i - 1];
   m->note[0] = (tlb_reason){ "" };
   t = tlb_text_in(m->note[0].text, sizeof m->note[0].text);
   tlb_text_add(&t, "changed by the user: ");
   tlb_text_add(&t, overrides);
   tlb_text_trim(&t, m->note[0].text);
}

int tlb_override(tlb_machine *m, const char *overrides, char *room, tlb_reason *blame,
                 tlb_reason *why)
{
   changes c = { .m = m };
   char name[TLB_NAME_SIZE];
   uint32_t line;
   char *const changed = room + TLB_MACHINE_TEXT_SIZE;
   tlb_text t = tlb_text_in(name, sizeof name);
   *blame = (tlb_reason){ "" };
   if (!take_all(&c, overrides, blame, why) || !are_divided(&c, blame, why))
      return 0;
   *blame = (tlb_reason){ "" };
   tlb_machine_print(m, room, TLB_MACHINE_TEXT_SIZE);
   c.out = tlb_text_in(changed, TLB_OVERRIDE_ROOM - TLB_MACHINE_TEXT_SIZE);
   change_text(&c, room);
   tlb_text_add(&t, m->name);
   if (!tlb_machine_parse(changed, (size_t)(c.out.at - changed), m, &line, why)) {
      blame_line(&c, line, blame);
      return 0;
   }
   const place head = { TLB_HEAD_BLOCK, 0 };
   if (find(&c, &head, "name", 4) == NULL)
      name_after(&c, name, m);
   note_changes(overrides, m);
   return 1;
}
