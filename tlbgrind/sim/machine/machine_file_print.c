/* Machine files: the printer. */

#include "sim/machine/machine_file.h"

#include "sim/machine/machine_file_parts.h"

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

static void cycles_line(tlb_text *t, const char *key, uint32_t most, uint32_t spread, int unknown)
{
   if (most == TLB_UNKNOWN) {
      text_line(t, 1, key, "unknown");
      return;
   }
   begin_line(t, 1, key);
   if (unknown)
      tlb_text_add(t, "unknown, assume ");
   tlb_text_add_number(t, most - spread);
   if (spread != 0) {
      tlb_text_add(t, "..");
      tlb_text_add_number(t, most);
   }
   end_line(t);
}

static void overlap_line(tlb_text *t, uint32_t overlap, int unknown)
{
   if (overlap == 0)
      return;
   begin_line(t, 1, "overlap");
   if (unknown)
      tlb_text_add(t, "unknown, assume ");
   tlb_text_add_tenths(t, overlap);
   end_line(t);
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

static void confidence_line(tlb_text *t, char confidence)
{
   text_line(t, 1, "confidence", tlb_confidence_word(confidence));
}

static void print_users(tlb_text *t, unsigned users)
{
   int first = 1;
   begin_line(t, 1, "users");
   for (unsigned i = 0; i < TLB_N_USER_WORDS && users != 0; i++) {
      if ((users & tlb_user_words[i].bits) != tlb_user_words[i].bits)
         continue;
      if (!first)
         tlb_text_add(t, "+");
      tlb_text_add(t, tlb_user_words[i].word);
      users &= ~tlb_user_words[i].bits;
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
      tlb_text_add(t, tlb_sharing_words[a->sharing]);
   }
   end_line(t);
}

static void print_blocks(tlb_text *t, const tlb_machine_array *a)
{
   const char *before = "";
   if (tlb_array_largest_block(a) == 0)
      return;
   begin_line(t, 1, "coalesces");
   if (a->coalesce_shift != 0)
      tlb_text_add_page_size(t, a->coalesce_shift);
   for (unsigned page = 0; page <= TLB_MAX_PAGE_SHIFT; page++) {
      if (a->block_shift[page] == 0)
         continue;
      tlb_text_add(t, before);
      tlb_text_add_page_size(t, page);
      tlb_text_add(t, ":");
      tlb_text_add_page_size(t, a->block_shift[page]);
      before = "+";
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
   number_line(t, "entries", a->entries_unknown, a->g.entries + a->wired);
   ways_line(t, &a->g, a->ways_unknown);
   if (a->g.index_xor != 0) {
      begin_line(t, 1, "index");
      tlb_text_add(t, "xor ");
      tlb_text_add_number(t, a->g.index_xor);
      end_line(t);
   }
   unknown_line(t, "pages", a->sizes_unknown, sizes);
   unknown_line(t, "larger-pages", a->splits_unknown,
                a->splits ? "split" : "bypass");
   policy_line(t, &a->g, a->policy_unknown);
   print_blocks(t, a);
   if (a->g.paired)
      text_line(t, 1, "paired", "yes");
   if (a->wired != 0)
      number_line(t, "wired", 0, a->wired);
   if (a->inclusion != TLB_NEITHER)
      text_line(t, 1, "inclusion", tlb_inclusion_words[a->inclusion]);
   if (a->level > 1 || a->hit_cycles != 0)
      cycles_line(t, "hit-cycles", a->hit_cycles, a->hit_spread, a->hit_cycles_unknown);
   overlap_line(t, a->overlap, a->overlap_unknown);
   print_threads(t, a);
   confidence_line(t, a->confidence);
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
   if (tlb_step_has_own_cache(s)) {
      number_line(t, "entries", 0, s->g.entries);
      ways_line(t, &s->g, s->ways_unknown);
      policy_line(t, &s->g, s->policy_unknown);
   }
   if (s->cycles != 0)
      number_line(t, "cycles", 0, s->cycles);
   text_line(t, 1, "source", s->source);
}

static void print_cache(tlb_text *t, const tlb_table_cache *c, int is_first)
{
   const unsigned unit = c->size % (1 << 20) == 0 ? 20 : c->size % (1 << 10) == 0 ? 10 : 0;
   end_line(t);
   text_line(t, 0, "cache", c->name);
   begin_line(t, 1, "size");
   if (c->size_unknown)
      tlb_text_add(t, "unknown, assume ");
   tlb_text_add_number(t, c->size >> unit);
   tlb_text_add(t, unit == 20 ? "M" : unit == 10 ? "K" : "");
   end_line(t);
   number_line(t, "line", 0, c->line);
   number_line(t, "ways", c->ways_unknown, c->ways);
   begin_line(t, 1, "share");
   if (c->share_unknown)
      tlb_text_add(t, "unknown, assume ");
   tlb_text_add_number(t, c->share);
   tlb_text_add(t, "%");
   end_line(t);
   if (!is_first)
      cycles_line(t, "cycles", c->cycles, c->spread, c->cycles_unknown);
   confidence_line(t, c->confidence);
   text_line(t, 1, "source", c->source);
}

static void print_caches(tlb_text *t, const tlb_machine *m)
{
   for (unsigned i = 0; i < m->n_caches; i++)
      print_cache(t, &m->cache[i], i == 0);
   if (m->n_caches == 0)
      return;
   end_line(t);
   tlb_text_add(t, "memory");
   end_line(t);
   cycles_line(t, "cycles", m->memory.cycles, m->memory.spread, m->memory.cycles_unknown);
   confidence_line(t, m->memory.confidence);
   text_line(t, 1, "source", m->memory.source);
}

static void print_head(tlb_text *t, const tlb_machine *m)
{
   text_line(t, 0, "tlbgrind-machine", "1");
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
   text_line(t, 0, "confidence", tlb_confidence_word(m->confidence));
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
   cycles_line(t, "cycles", m->walk_cycles, m->walk_spread, m->walk_cycles_unknown);
   overlap_line(t, m->walk_overlap, m->walk_overlap_unknown);
   if (m->window != 0)
      number_line(t, "window", m->window_unknown, m->window);
   if (m->entry_bytes != 0)
      number_line(t, "entry-bytes", 0, m->entry_bytes);
   if (m->host_page_shift != 0) {
      begin_line(t, 1, "nested");
      tlb_text_add_page_size(t, m->host_page_shift);
      end_line(t);
   }
   text_line(t, 1, "source", m->walk_source);
   for (unsigned i = 0; i < m->n_walk_steps; i++)
      print_step(t, &m->walk[i]);
   print_caches(t, m);
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
