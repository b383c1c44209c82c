/* The lines of machine files: what each key takes. */

#include "sim/machine/machine_file.h"
#include "sim/machine/machine_file_parts.h"

enum { MAX_THREADS = 1024, MAX_STEP_SHIFT = 63, MOST_STEP_CYCLES = 1000000 };

/* As --page-size has it. */
enum { MAX_BASE_PAGE_SHIFT = 30 };

const tlb_user_word tlb_user_words[TLB_N_USER_WORDS] = {
   { "all", TLB_FETCHES | TLB_LOADS | TLB_STORES },
   { "fetches", TLB_FETCHES },
   { "loads", TLB_LOADS },
   { "stores", TLB_STORES },
};

const char *const tlb_inclusion_words[TLB_N_INCLUSION_WORDS] = {
   [TLB_NEITHER] = "neither", [TLB_INCLUSIVE] = "inclusive", [TLB_EXCLUSIVE] = "exclusive"
};

const char *const tlb_sharing_words[TLB_N_SHARING_WORDS] = {
   [TLB_SHARING_UNKNOWN] = "unknown",
   [TLB_SHARED] = "shared",
   [TLB_PARTITIONED] = "partitioned",
   [TLB_COPIED] = "copied",
};

static tlb_machine_array *this_array(tlb_machine_reader *r)
{
   return &r->m->array[r->m->n_arrays - 1];
}

static tlb_walk_step *this_step(tlb_machine_reader *r)
{
   return &r->m->walk[r->m->n_walk_steps - 1];
}

static tlb_table_cache *this_cache(tlb_machine_reader *r)
{
   return r->block == TLB_MEMORY_BLOCK ? &r->m->memory : &r->m->cache[r->m->n_caches - 1];
}

/* Whether no size of "4K+2M" is a bare number: who writes 16384 may mean bytes or
   entries. */
static int has_units(const tlb_machine_reader *r)
{
   for (const char *s = r->value; *s != '\0'; s++) {
      if (*s >= '0' && *s <= '9' && (s[1] == '\0' || s[1] == '+'))
         return 0;
   }
   return 1;
}

/* --- The head --- */

static int take_name(tlb_machine_reader *r)
{
   return tlb_value_name(r, r->m->name, sizeof r->m->name);
}

static int take_title(tlb_machine_reader *r)
{
   return tlb_value_text(r, r->m->title, sizeof r->m->title);
}

static int take_isa(tlb_machine_reader *r)
{
   return tlb_value_name(r, r->m->isa, sizeof r->m->isa);
}

static int take_year(tlb_machine_reader *r)
{
   uint32_t year = 0;
   if (!tlb_value_is(r, "unknown")
       && !tlb_value_number_or(r, 1960, 2100, ", or unknown", &year))
      return 0;
   r->m->year = year;
   return 1;
}

static int take_confidence(tlb_machine_reader *r)
{
   return tlb_value_confidence(r, &r->m->confidence);
}

static int take_base_page(tlb_machine_reader *r)
{
   const unsigned shift = has_units(r) ? tlb_page_size_parse(r->value, r->why) : 0;
   if (shift == 0 || shift > MAX_BASE_PAGE_SHIFT)
      return tlb_refuse(r, "is not allowed; it is a power of two from 4K to 1G");
   r->m->base_page_shift = shift;
   return 1;
}

static int take_source(tlb_machine_reader *r)
{
   return tlb_value_more_text(r, r->m->source, sizeof r->m->source);
}

static int take_note(tlb_machine_reader *r)
{
   if (r->m->n_notes == TLB_MACHINE_NOTES)
      return tlb_refuse(r, "is one too many; 16 are allowed");
   if (!tlb_value_text(r, r->m->note[r->m->n_notes].text, sizeof r->m->note[0].text))
      return 0;
   r->m->n_notes++;
   return 1;
}

/* --- An array --- */

static int take_level(tlb_machine_reader *r)
{
   uint32_t level;
   if (!tlb_machine_number(r, 1, TLB_MAX_LEVELS, &level))
      return 0;
   this_array(r)->level = level;
   return 1;
}

static int take_users(tlb_machine_reader *r)
{
   unsigned users = 0;
   const char *word = r->value;
   for (;;) {
      size_t n = 0;
      while (word[n] != '\0' && word[n] != '+')
         n++;
      unsigned bits = 0;
      for (unsigned i = 0; i < TLB_N_USER_WORDS; i++) {
         if (tlb_text_is(word, n, tlb_user_words[i].word))
            bits = tlb_user_words[i].bits;
      }
      if (bits == 0 || (users & bits) != 0)
         return tlb_refuse(r, "is not allowed; it is all, or some of fetches, "
                              "loads and stores, joined by +");
      users |= bits;
      if (word[n] == '\0')
         break;
      word += n + 1;
   }
   this_array(r)->users = users;
   return 1;
}

static int take_entries(tlb_machine_reader *r)
{
   tlb_machine_array *const a = this_array(r);
   return tlb_value_cut_unknown(r, &a->entries_unknown)
          && tlb_machine_number(r, 1, TLB_MAX_ENTRIES, &a->g.entries);
}

static int take_ways(tlb_machine_reader *r)
{
   tlb_machine_array *const a = this_array(r);
   return tlb_value_ways(r, &a->g, &a->ways_unknown);
}

static int take_pages(tlb_machine_reader *r)
{
   tlb_machine_array *const a = this_array(r);
   if (!tlb_value_cut_unknown(r, &a->sizes_unknown))
      return 0;
   if (!has_units(r))
      return tlb_refuse(r, "has no unit; sizes are 4K, 64K, 2M, 1G and so on");
   return tlb_page_sizes_parse(r->value, &a->g.page_sizes, r->why);
}

static int take_larger_pages(tlb_machine_reader *r)
{
   tlb_machine_array *const a = this_array(r);
   if (!tlb_value_cut_unknown(r, &a->splits_unknown))
      return 0;
   a->splits = tlb_value_is(r, "split");
   if (!a->splits && !tlb_value_is(r, "bypass"))
      return tlb_refuse(r, "is not allowed; they split or bypass");
   return 1;
}

static int take_policy(tlb_machine_reader *r)
{
   tlb_machine_array *const a = this_array(r);
   return tlb_value_policy(r, &a->g, &a->policy_unknown);
}

static int take_index(tlb_machine_reader *r)
{
   tlb_geometry *const g = &this_array(r)->g;
   const char *s = r->value;
   const char *const end = s + tlb_text_length(s);
   uint64_t n;
   g->index_xor = 0;
   if (tlb_value_is(r, "modulo"))
      return 1;
   if (tlb_text_begins(s, "xor ")) {
      s += 4;
      while (*s == ' ')
         s++;
      if (tlb_text_number(&s, end, &n) && s == end && n >= 1 && n <= TLB_MAX_INDEX_XOR) {
         g->index_xor = (uint32_t)n;
         return 1;
      }
   }
   return tlb_refuse(r, "is not allowed; it is modulo, or xor and a number from 1 to 20, "
                        "such as xor 7");
}

/* "2M" of so many letters; 0: it is no size. */
static unsigned size_of(tlb_machine_reader *r, const char *at, size_t n)
{
   char word[16];
   tlb_text t = tlb_text_in(word, sizeof word);
   tlb_text_add_n(&t, at, n);
   const int has_unit = n > 0 && n < sizeof word && (at[n - 1] < '0' || at[n - 1] > '9');
   return has_unit ? tlb_page_size_parse(word, r->why) : 0;
}

/* "4K:64K", up to the end or a +. */
static int take_block(tlb_machine_reader *r, const char **at)
{
   tlb_machine_array *const a = this_array(r);
   size_t n = 0, colon = 0;
   for (; (*at)[n] != '\0' && (*at)[n] != '+'; n++)
      colon = (*at)[n] == ':' ? n : colon;
   const unsigned page = size_of(r, *at, colon);
   const unsigned block = colon == 0 ? 0 : size_of(r, *at + colon + 1, n - colon - 1);
   *at += n;
   if (page == 0 || block <= page || block - page > TLB_MAX_BLOCK_BITS
       || a->block_shift[page] != 0)
      return 0;
   a->block_shift[page] = (uint8_t)block;
   return 1;
}

/* Of base pages, or by the size of the pages. */
static int take_coalesces(tlb_machine_reader *r)
{
   static const char allowed[] = "is not allowed; it is no, 8K and up for base pages, or by page "
                                 "size, such as 4K:64K+2M:32M; a block has 2 to 128 pages";
   tlb_machine_array *const a = this_array(r);
   const char *at = r->value;
   if (tlb_value_is(r, "no"))
      return 1;
   a->coalesce_shift = size_of(r, at, tlb_text_length(at));
   if (a->coalesce_shift > TLB_MIN_PAGE_SHIFT)
      return 1;
   a->coalesce_shift = 0;
   while (take_block(r, &at)) {
      if (*at == '\0')
         return 1;
      at++;
   }
   return tlb_refuse(r, allowed);
}

static int take_paired(tlb_machine_reader *r)
{
   tlb_geometry *const g = &this_array(r)->g;
   g->paired = tlb_value_is(r, "yes");
   return g->paired || tlb_value_is(r, "no") || tlb_refuse(r, "is not allowed; it is yes or no");
}

static int take_inclusion(tlb_machine_reader *r)
{
   for (int i = 0; i < TLB_N_INCLUSION_WORDS; i++) {
      if (!tlb_value_is(r, tlb_inclusion_words[i]))
         continue;
      this_array(r)->inclusion = (tlb_inclusion)i;
      return 1;
   }
   return tlb_refuse(r, "is not allowed; it is neither, inclusive or exclusive");
}

static int take_wired(tlb_machine_reader *r)
{
   return tlb_machine_number(r, 0, TLB_MAX_ENTRIES - 1, &this_array(r)->wired);
}

static int take_hit_cycles(tlb_machine_reader *r)
{
   tlb_machine_array *const a = this_array(r);
   return tlb_value_cycles(r, &a->hit_cycles, &a->hit_spread, &a->hit_cycles_unknown);
}

static int take_hit_overlap(tlb_machine_reader *r)
{
   tlb_machine_array *const a = this_array(r);
   return tlb_value_overlap(r, &a->overlap, &a->overlap_unknown);
}

static int take_threads(tlb_machine_reader *r)
{
   tlb_machine_array *const a = this_array(r);
   const char *s = r->value;
   const char *const end = s + tlb_text_length(s);
   uint64_t n;
   if (tlb_value_is(r, "unknown")) {
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
      for (int i = 0; n > 1 && apart && i < TLB_N_SHARING_WORDS; i++) {
         if (tlb_text_is(s, (size_t)(end - s), tlb_sharing_words[i])) {
            a->sharing = (tlb_sharing)i;
            return 1;
         }
      }
   }
   return tlb_refuse(r, "is not allowed; it is unknown, 1, or a number up to "
                        "1024 and shared, partitioned, copied or unknown");
}

static int take_array_confidence(tlb_machine_reader *r)
{
   return tlb_value_confidence(r, &this_array(r)->confidence);
}

static int take_array_source(tlb_machine_reader *r)
{
   return tlb_value_more_text(r, this_array(r)->source, sizeof this_array(r)->source);
}

/* --- The walk --- */

static int take_walk_cycles(tlb_machine_reader *r)
{
   return tlb_value_cycles(r, &r->m->walk_cycles, &r->m->walk_spread, &r->m->walk_cycles_unknown);
}

static int take_walk_overlap(tlb_machine_reader *r)
{
   return tlb_value_overlap(r, &r->m->walk_overlap, &r->m->walk_overlap_unknown);
}

static int take_window(tlb_machine_reader *r)
{
   return tlb_value_cut_unknown(r, &r->m->window_unknown)
          && tlb_machine_number(r, 1, TLB_MOST_WINDOW, &r->m->window);
}

static int take_nested(tlb_machine_reader *r)
{
   r->m->host_page_shift = has_units(r) ? tlb_page_size_parse(r->value, r->why) : 0;
   return r->m->host_page_shift != 0
          || tlb_refuse(r, "is not allowed; it is the size of the hypervisor's pages, such as 4K");
}

static int take_entry_bytes(tlb_machine_reader *r)
{
   return tlb_value_power_of_two(r, TLB_LEAST_ENTRY_BYTES, TLB_MOST_ENTRY_BYTES,
                                 &r->m->entry_bytes);
}

static int take_walk_source(tlb_machine_reader *r)
{
   return tlb_value_more_text(r, r->m->walk_source, sizeof r->m->walk_source);
}

static int take_cache(tlb_machine_reader *r)
{
   tlb_walk_step *const s = this_step(r);
   if (!tlb_value_cut_unknown(r, &s->cache_unknown))
      return 0;
   if (tlb_value_is(r, "none"))
      return 1;
   s->cached = 1;
   s->joined = tlb_value_is(r, "joined");
   s->in_last_level = tlb_value_is(r, "in-last-level");
   if (s->cache_unknown)
      return tlb_refuse(r, "is not allowed; what is unknown is assumed to be "
                           "none");
   if (tlb_value_is(r, "own")) {
      s->g.page_sizes = UINT64_C(1) << s->shift;
      return 1;
   }
   if (!s->joined && !s->in_last_level)
      return tlb_refuse(r, "is not allowed; it is none, own, joined, "
                           "in-last-level or unknown, assume none");
   return 1;
}

static int take_step_entries(tlb_machine_reader *r)
{
   if (!tlb_step_has_own_cache(this_step(r)))
      return tlb_refuse_line(r, "only behind 'cache own' a step has entries");
   return tlb_machine_number(r, 1, TLB_MAX_ENTRIES, &this_step(r)->g.entries);
}

static int take_step_ways(tlb_machine_reader *r)
{
   tlb_walk_step *const s = this_step(r);
   if (!tlb_step_has_own_cache(s))
      return tlb_refuse_line(r, "only behind 'cache own' a step has ways");
   return tlb_value_ways(r, &s->g, &s->ways_unknown);
}

static int take_step_policy(tlb_machine_reader *r)
{
   tlb_walk_step *const s = this_step(r);
   if (!tlb_step_has_own_cache(s))
      return tlb_refuse_line(r, "only behind 'cache own' a step has a policy");
   return tlb_value_policy(r, &s->g, &s->policy_unknown);
}

static int take_step_cycles(tlb_machine_reader *r)
{
   return tlb_machine_number(r, 0, MOST_STEP_CYCLES, &this_step(r)->cycles);
}

static int take_step_source(tlb_machine_reader *r)
{
   return tlb_value_more_text(r, this_step(r)->source, sizeof this_step(r)->source);
}

/* --- The caches that its references go through, and the memory --- */

/* "32K", "1M", or bytes. */
static int take_cache_size(tlb_machine_reader *r)
{
   tlb_table_cache *const c = this_cache(r);
   if (!tlb_value_cut_unknown(r, &c->size_unknown))
      return 0;
   const char *s = r->value;
   const char *const end = s + tlb_text_length(s);
   uint64_t n;
   if (tlb_text_number(&s, end, &n) && n > 0 && n <= TLB_MOST_CACHE_SIZE) {
      if (s + 1 == end && (*s == 'K' || *s == 'M'))
         n <<= *s++ == 'K' ? 10 : 20;
      if (s == end && n <= TLB_MOST_CACHE_SIZE) {
         c->size = (uint32_t)n;
         return 1;
      }
   }
   return tlb_refuse(r, "is not allowed; it is a size up to 1024M, such as 32K or 1M, or bytes");
}

static int take_cache_line(tlb_machine_reader *r)
{
   return tlb_value_power_of_two(r, TLB_LEAST_LINE, TLB_MOST_LINE, &this_cache(r)->line);
}

static int take_cache_ways(tlb_machine_reader *r)
{
   tlb_table_cache *const c = this_cache(r);
   return tlb_value_cut_unknown(r, &c->ways_unknown)
          && tlb_machine_number(r, 1, TLB_MOST_CACHE_WAYS, &c->ways);
}

static int take_cache_share(tlb_machine_reader *r)
{
   tlb_table_cache *const c = this_cache(r);
   if (!tlb_value_cut_unknown(r, &c->share_unknown))
      return 0;
   const char *s = r->value;
   const char *const end = s + tlb_text_length(s);
   uint64_t n;
   if (!tlb_text_number(&s, end, &n) || n < 1 || n > 100 || end - s != 1 || *s != '%')
      return tlb_refuse(r, "is not allowed; it is 1% to 100%");
   c->share = (uint32_t)n;
   return 1;
}

/* Something is always assumed: there is no plain `unknown`. */
static int take_cache_cycles(tlb_machine_reader *r)
{
   tlb_table_cache *const c = this_cache(r);
   if (r->block == TLB_CACHE_BLOCK && r->m->n_caches == 1)
      return tlb_refuse_line(r, "the first cache has no cycles: it is the yardstick of the others");
   if (tlb_value_is(r, "unknown"))
      return tlb_value_cut_unknown(r, &c->cycles_unknown);
   return tlb_value_cycles(r, &c->cycles, &c->spread, &c->cycles_unknown);
}

static int take_cache_confidence(tlb_machine_reader *r)
{
   return tlb_value_confidence(r, &this_cache(r)->confidence);
}

static int take_cache_source(tlb_machine_reader *r)
{
   return tlb_value_more_text(r, this_cache(r)->source, sizeof this_cache(r)->source);
}

/* --- What begins a block --- */

static int begin_array(tlb_machine_reader *r)
{
   tlb_machine *const m = r->m;
   if (r->begun[TLB_WALK_BLOCK])
      return tlb_refuse(r, "stands behind the walk; arrays come first");
   if (m->n_arrays == TLB_MAX_ARRAYS)
      return tlb_refuse(r, "is one too many; 16 arrays are allowed");
   r->array_line[m->n_arrays++] = r->line;
   return tlb_value_name(r, this_array(r)->name, sizeof this_array(r)->name);
}

static int begin_walk(tlb_machine_reader *r)
{
   if (r->begun[TLB_WALK_BLOCK])
      return tlb_refuse(r, "is a second walk; a machine has one");
   r->walk_line = r->line;
   r->m->software_walk = tlb_value_is(r, "software");
   if (!r->m->software_walk && !tlb_value_is(r, "hardware"))
      return tlb_refuse(r, "is not allowed; it is hardware or software");
   return 1;
}

/* "512G": what an entry of the table covers. Steps are larger than pages, so
   tlb_page_size_parse() does not know them. */
static int begin_step(tlb_machine_reader *r)
{
   static const char units[] = "KMGTPE";
   const char *s = r->value;
   const char *const end = s + tlb_text_length(s);
   uint64_t n;
   if (!r->begun[TLB_WALK_BLOCK])
      return tlb_refuse(r, "stands before the walk that it is a step of");
   if (r->m->n_walk_steps == TLB_MAX_WALK_LEVELS)
      return tlb_refuse(r, "is one too many; 6 steps are allowed");
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
   return tlb_refuse(r, "is not allowed; it is a power of two from 4K to 8E, "
                        "such as 4K, 2M, 1G or 512G");
}

int tlb_is_step_cache_word(const char *word)
{
   static const char *const words[] = { "none", "own", "joined", "in-last-level", "unknown" };
   for (unsigned i = 0; i < sizeof words / sizeof words[0]; i++) {
      if (tlb_text_same(word, words[i]))
         return 1;
   }
   return 0;
}

static int begin_cache(tlb_machine_reader *r)
{
   if (!r->begun[TLB_WALK_BLOCK])
      return tlb_refuse(r, "stands before the walk whose tables it has");
   if (tlb_is_step_cache_word(r->value))
      return tlb_refuse(r, "is no name of a cache; it is what a step says of its own, behind the "
                           "line 'step'");
   if (r->m->n_caches == TLB_MAX_TABLE_CACHES)
      return tlb_refuse(r, "is one too many; 4 caches are allowed");
   if (r->begun[TLB_MEMORY_BLOCK])
      return tlb_refuse(r, "stands behind the memory; the nearest cache comes first");
   r->cache_line[r->m->n_caches++] = r->line;
   tlb_table_cache *const c = this_cache(r);
   c->line = TLB_USUAL_LINE;
   return tlb_value_name(r, c->name, sizeof c->name);
}

static int begin_memory(tlb_machine_reader *r)
{
   if (r->value[0] != '\0')
      return tlb_refuse(r, "is too much; 'memory' stands alone");
   if (!r->begun[TLB_WALK_BLOCK])
      return tlb_refuse_line(r, "the memory stands before the walk whose tables it has");
   if (r->begun[TLB_MEMORY_BLOCK])
      return tlb_refuse_line(r, "a second memory; a machine has one");
   r->memory_line = r->line;
   return 1;
}

/* --- Which keys there are --- */

const tlb_machine_block tlb_machine_blocks[TLB_N_BLOCKS] = {
   [TLB_HEAD_BLOCK] = {
      "the machine", NULL, NULL, 0,
      { { "name", take_name, TLB_REQUIRED, NULL },
        { "title", take_title, TLB_REQUIRED, NULL },
        { "isa", take_isa, TLB_REQUIRED, NULL },
        { "year", take_year, TLB_OPTIONAL, "unknown" },
        { "confidence", take_confidence, TLB_OPTIONAL, "C" },
        { "base-page", take_base_page, TLB_REQUIRED, NULL },
        { "source", take_source, TLB_REPEATABLE, NULL },
        { "note", take_note, TLB_REPEATABLE, NULL } } },
   [TLB_ARRAY_BLOCK] = {
      "the array", "array", begin_array, 0,
      { { "level", take_level, TLB_REQUIRED, NULL },
        { "users", take_users, TLB_REQUIRED, NULL },
        { "entries", take_entries, TLB_REQUIRED, NULL },
        { "ways", take_ways, TLB_REQUIRED, NULL },
        { "index", take_index, TLB_OPTIONAL, NULL },
        { "pages", take_pages, TLB_REQUIRED, NULL },
        { "larger-pages", take_larger_pages, TLB_OPTIONAL,
          "unknown, assume split" },
        { "policy", take_policy, TLB_OPTIONAL, "unknown, assume lru" },
        { "threads", take_threads, TLB_OPTIONAL, "unknown" },
        { "hit-cycles", take_hit_cycles, TLB_OPTIONAL, "unknown" },
        { "overlap", take_hit_overlap, TLB_OPTIONAL, NULL },
        { "coalesces", take_coalesces, TLB_OPTIONAL, NULL },
        { "paired", take_paired, TLB_OPTIONAL, NULL },
        { "wired", take_wired, TLB_OPTIONAL, NULL },
        { "inclusion", take_inclusion, TLB_OPTIONAL, NULL },
        { "confidence", take_array_confidence, TLB_OPTIONAL, NULL },
        { "source", take_array_source, TLB_REPEATABLE, NULL } } },
   [TLB_WALK_BLOCK] = {
      "the walk", "walk", begin_walk, 0,
      { { "cycles", take_walk_cycles, TLB_OPTIONAL, "unknown" },
        { "overlap", take_walk_overlap, TLB_OPTIONAL, NULL },
        { "window", take_window, TLB_OPTIONAL, NULL },
        { "entry-bytes", take_entry_bytes, TLB_OPTIONAL, NULL },
        { "nested", take_nested, TLB_OPTIONAL, NULL },
        { "source", take_walk_source, TLB_REPEATABLE, NULL } } },
   [TLB_STEP_BLOCK] = {
      "the step", "step", begin_step, 0,
      { { "cache", take_cache, TLB_REQUIRED, NULL },
        { "entries", take_step_entries, TLB_OPTIONAL, NULL },
        { "ways", take_step_ways, TLB_OPTIONAL, NULL },
        { "policy", take_step_policy, TLB_OPTIONAL, NULL },
        { "cycles", take_step_cycles, TLB_OPTIONAL, NULL },
        { "source", take_step_source, TLB_REPEATABLE, NULL } } },
   [TLB_CACHE_BLOCK] = {
      "the cache", "cache", begin_cache, 0,
      { { "size", take_cache_size, TLB_REQUIRED, NULL },
        { "line", take_cache_line, TLB_OPTIONAL, NULL },
        { "ways", take_cache_ways, TLB_OPTIONAL, "unknown, assume 16" },
        { "share", take_cache_share, TLB_OPTIONAL, "unknown, assume 50%" },
        { "cycles", take_cache_cycles, TLB_OPTIONAL, NULL },
        { "confidence", take_cache_confidence, TLB_OPTIONAL, NULL },
        { "source", take_cache_source, TLB_REPEATABLE, NULL } } },
   [TLB_MEMORY_BLOCK] = {
      "the memory", "memory", begin_memory, 1,
      { { "cycles", take_cache_cycles, TLB_REQUIRED, NULL },
        { "confidence", take_cache_confidence, TLB_OPTIONAL, NULL },
        { "source", take_cache_source, TLB_REPEATABLE, NULL } } },
};
