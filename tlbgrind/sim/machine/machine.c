/* What a machine cannot be. */

#include "sim/machine/machine.h"

#include "sim/base/text.h"

unsigned tlb_machine_levels(const tlb_machine *m)
{
   unsigned levels = 0;
   for (unsigned i = 0; i < m->n_arrays; i++) {
      if (m->array[i].level > levels)
         levels = m->array[i].level;
   }
   return levels;
}

/* Each returns 1, or 0 with the reason. */

/* Blocks of pages of one size. */
static int check_block(const tlb_machine_array *a, unsigned page, tlb_reason *why)
{
   const unsigned block = a->block_shift[page];
   tlb_text t = tlb_text_in(why->text, sizeof why->text);
   unsigned others = 0;
   for (unsigned other = 0; other < page; other++)
      others += a->block_shift[other] == block;
   if ((a->g.page_sizes >> page & 1) != 0 && block > page && block <= TLB_MAX_PAGE_SHIFT
       && block - page <= TLB_MAX_BLOCK_BITS && others == 0)
      return 1;
   tlb_text_add(&t, "array '");
   tlb_text_add(&t, a->name);
   if ((a->g.page_sizes >> page & 1) == 0) {
      tlb_text_add(&t, "' does not hold the pages of ");
      tlb_text_add_page_size(&t, page);
      tlb_text_add(&t, " that it coalesces");
   } else if (others > 0) {
      tlb_text_add(&t, "' coalesces pages of two sizes to blocks of ");
      tlb_text_add_page_size(&t, block);
   } else {
      tlb_text_add(&t, "' has blocks that are not of 2 to 128 pages");
   }
   return 0;
}

/* Whether there are more of the machine's base pages in a block than an entry can have. */
static int check_base_blocks(const tlb_machine *m, const tlb_machine_array *a, tlb_reason *why)
{
   if (a->coalesce_shift <= m->base_page_shift + TLB_MAX_BLOCK_BITS)
      return 1;
   tlb_text t = tlb_text_in(why->text, sizeof why->text);
   tlb_text_add(&t, "blocks of array '");
   tlb_text_add(&t, a->name);
   tlb_text_add(&t, "' have more than 128 base pages");
   return 0;
}

static int check_blocks(const tlb_machine *m, const tlb_machine_array *a, const char **key,
                        tlb_reason *why)
{
   tlb_text t = tlb_text_in(why->text, sizeof why->text);
   *key = "coalesces";
   for (unsigned page = 0; page <= TLB_MAX_PAGE_SHIFT; page++) {
      if (a->block_shift[page] != 0 && !check_block(a, page, why))
         return 0;
   }
   if (a->coalesce_shift == 0)
      return 1;
   if (!check_base_blocks(m, a, why))
      return 0;
   /* A block is made of smaller pages that the array holds. */
   if ((a->g.page_sizes & ((UINT64_C(1) << a->coalesce_shift) - 1)) != 0)
      return 1;
   tlb_text_add(&t, "array '");
   tlb_text_add(&t, a->name);
   tlb_text_add(&t, "' holds no pages smaller than the blocks of ");
   tlb_text_add_page_size(&t, a->coalesce_shift);
   tlb_text_add(&t, " that it coalesces");
   return 0;
}

/* Of the entries of a set some would be the kernel's, and of another set none. */
static int check_wired(const tlb_machine_array *a, const char **key, tlb_reason *why)
{
   tlb_text t = tlb_text_in(why->text, sizeof why->text);
   *key = "wired";
   if (a->wired == 0 || (a->g.ways == a->g.entries && a->wired + a->g.entries <= TLB_MAX_ENTRIES))
      return 1;
   tlb_text_add(&t, "array '");
   tlb_text_add(&t, a->name);
   tlb_text_add(&t, "' has sets; only an array with ways full has wired entries");
   return 0;
}

static int check_array(const tlb_machine *m, unsigned i, const char **key, tlb_reason *why)
{
   const tlb_machine_array *const a = &m->array[i];
   const uint64_t possible = (UINT64_C(2) << TLB_MAX_PAGE_SHIFT)
                             - (UINT64_C(1) << TLB_MIN_PAGE_SHIFT);
   tlb_text t = tlb_text_in(why->text, sizeof why->text);

   *key = NULL;
   for (unsigned j = 0; j < i; j++) {
      if (tlb_text_same(m->array[j].name, a->name)) {
         tlb_text_add(&t, "two arrays are called '");
         tlb_text_add(&t, a->name);
         tlb_text_add(&t, "'; each needs a name of its own");
         return 0;
      }
   }
   *key = "level";
   if (a->level == 0 || a->level > TLB_MAX_LEVELS) {
      tlb_text_add(&t, "level ");
      tlb_text_add_number(&t, a->level);
      tlb_text_add(&t, " is no level; allowed are 1 to 3");
      return 0;
   }
   *key = "users";
   if (a->users == 0 || a->users > (TLB_FETCHES | TLB_LOADS | TLB_STORES)) {
      tlb_text_add(&t, "nobody uses array '");
      tlb_text_add(&t, a->name);
      tlb_text_add(&t, "'; allowed are fetches, loads, stores and all");
      return 0;
   }
   *key = "pages";
   if ((a->g.page_sizes & ~possible) != 0) {
      tlb_text_add(&t, "pages of array '");
      tlb_text_add(&t, a->name);
      tlb_text_add(&t, "' must be from 4K to 16G");
      return 0;
   }
   *key = tlb_geometry_blames(&a->g);
   return tlb_geometry_check(&a->g, why) && check_blocks(m, a, key, why)
          && check_wired(a, key, why);
}

/* Whole: no page is cut to pieces smaller than the base page. */
static int takes_base_pages(const tlb_machine *m, const tlb_machine_array *a)
{
   return (a->g.page_sizes >> m->base_page_shift & 1) != 0;
}

/* The arrays that a kind asks first are not always of level 1: Core 2 has one
   for loads only in front, and stores begin with the one behind it. */
static int check_first_arrays(const tlb_machine *m, tlb_reason *why)
{
   static const char *const kinds[] = { "fetches", "loads", "stores" };
   for (unsigned kind = 0; kind < 3; kind++) {
      unsigned first = TLB_MAX_LEVELS + 1;
      int taken = 0;
      for (unsigned i = 0; i < m->n_arrays; i++) {
         const tlb_machine_array *const a = &m->array[i];
         if ((a->users >> kind & 1) == 0 || a->level > first)
            continue;
         if (a->level < first)
            taken = 0;
         first = a->level;
         taken |= takes_base_pages(m, a);
      }
      if (taken)
         continue;
      tlb_text t = tlb_text_in(why->text, sizeof why->text);
      tlb_text_add(&t, "no array is asked by ");
      tlb_text_add(&t, kinds[kind]);
      if (first <= TLB_MAX_LEVELS) {
         tlb_text_add(&t, " first (level ");
         tlb_text_add_number(&t, first);
         tlb_text_add(&t, ") that takes the base page of ");
         tlb_text_add_page_size(&t, m->base_page_shift);
      }
      return 0;
   }
   return 1;
}

static int check_side_by_side(const tlb_machine *m, uint32_t *where,
                              tlb_reason *why)
{
   for (unsigned i = 0; i < m->n_arrays; i++) {
      const tlb_machine_array *const a = &m->array[i];
      for (unsigned shift = TLB_MIN_PAGE_SHIFT; shift <= TLB_MAX_PAGE_SHIFT;
           shift++) {
         for (unsigned kind = 0; kind < 3; kind++) {
            unsigned n = 0;
            for (unsigned j = 0; j <= i; j++) {
               const tlb_machine_array *const b = &m->array[j];
               n += b->level == a->level && (b->users >> kind & 1) != 0
                    && (b->g.page_sizes >> shift & 1) != 0;
            }
            if (n <= TLB_MAX_SIDE_BY_SIDE)
               continue;
            tlb_text t = tlb_text_in(why->text, sizeof why->text);
            *where = i;
            tlb_text_add(&t, "more than two arrays of level ");
            tlb_text_add_number(&t, a->level);
            tlb_text_add(&t, " take pages of ");
            tlb_text_add_page_size(&t, shift);
            tlb_text_add(&t, " for the same kind of reference");
            return 0;
         }
      }
   }
   return 1;
}

static int check_levels(const tlb_machine *m, uint32_t *where, tlb_reason *why)
{
   unsigned present = 0;
   for (unsigned i = 0; i < m->n_arrays; i++)
      present |= 1u << m->array[i].level;
   for (unsigned i = 0; i < m->n_arrays; i++) {
      const unsigned level = m->array[i].level;
      if (level == 1 || (present >> (level - 1) & 1) != 0)
         continue;
      tlb_text t = tlb_text_in(why->text, sizeof why->text);
      *where = i;
      tlb_text_add(&t, "array '");
      tlb_text_add(&t, m->array[i].name);
      tlb_text_add(&t, "' has level ");
      tlb_text_add_number(&t, level);
      tlb_text_add(&t, ", but no array has level ");
      tlb_text_add_number(&t, level - 1);
      tlb_text_add(&t, "; levels follow each other from 1 on");
      return 0;
   }
   return 1;
}

/* The first array of the level in front of number i that serves some of its references; NULL:
   there is none. */
static const tlb_machine_array *in_front_of(const tlb_machine *m, unsigned i)
{
   for (unsigned j = 0; j < m->n_arrays; j++) {
      if (m->array[j].level + 1 == m->array[i].level
          && (m->array[j].users & m->array[i].users) != 0)
         return &m->array[j];
   }
   return NULL;
}

static int is_asked_first(const tlb_machine *m, const tlb_machine_array *a);

/* Why the array cannot be exclusive; NULL: it can. */
static const char *not_exclusive(const tlb_machine *m, const tlb_machine_array *a)
{
   if (is_asked_first(m, a))
      return "' is asked before all others by some reference, and cannot be exclusive";
   if (a->g.paired)
      return "' holds pairs of pages, and cannot be exclusive";
   for (unsigned j = 0; j < m->n_arrays; j++) {
      const tlb_machine_array *const b = &m->array[j];
      if (b->level + 1 == a->level && (b->users & a->users) != 0 && b->g.paired)
         return "' has pairs of pages in front of it, and cannot be exclusive";
   }
   return NULL;
}

/* Why the inclusion of array number i cannot be; NULL: it can. */
static const char *wrong_inclusion(const tlb_machine *m, unsigned i)
{
   const tlb_machine_array *const a = &m->array[i];
   for (unsigned j = 0; j < i; j++) {
      const tlb_machine_array *const b = &m->array[j];
      if (b->level == a->level && (b->users & a->users) != 0 && b->inclusion != a->inclusion
          && (b->g.page_sizes & a->g.page_sizes) != 0)
         return "' has another inclusion than one beside it for the same pages and references";
   }
   if (a->inclusion == TLB_NEITHER)
      return NULL;
   if (in_front_of(m, i) == NULL)
      return "' has no level in front of it that it could include or exclude";
   return a->inclusion == TLB_EXCLUSIVE ? not_exclusive(m, a) : NULL;
}

static int check_inclusion(const tlb_machine *m, uint32_t *where, tlb_reason *why)
{
   for (unsigned i = 0; i < m->n_arrays; i++) {
      const char *const wrong = wrong_inclusion(m, i);
      if (wrong == NULL)
         continue;
      tlb_text t = tlb_text_in(why->text, sizeof why->text);
      *where = i;
      tlb_text_add(&t, "array '");
      tlb_text_add(&t, m->array[i].name);
      tlb_text_add(&t, wrong);
      return 0;
   }
   return 1;
}

/* The smallest page that an array holds. */
static unsigned smallest(const tlb_machine_array *a)
{
   unsigned shift = 0;
   while ((a->g.page_sizes >> shift & 1) == 0)
      shift++;
   return shift;
}

int tlb_walk_array(const tlb_machine *m)
{
   const unsigned last = tlb_machine_levels(m);
   int asked = 0, found = -1;
   for (unsigned i = 0; i < m->n_walk_steps; i++)
      asked |= m->walk[i].cached && m->walk[i].in_last_level;
   if (!asked)
      return -1;
   for (unsigned i = 0; i < m->n_arrays; i++) {
      const tlb_machine_array *const a = &m->array[i];
      if (a->level == last && (a->users & TLB_LOADS) != 0
          && (found < 0 || smallest(a) < smallest(&m->array[found])))
         found = (int)i;
   }
   return found;
}

/* Whether some kind of reference asks the array before all others. */
static int is_asked_first(const tlb_machine *m, const tlb_machine_array *a)
{
   for (unsigned kind = 0; kind < 3; kind++) {
      unsigned first = a->level;
      for (unsigned i = 0; i < m->n_arrays; i++) {
         if ((m->array[i].users >> kind & 1) != 0 && m->array[i].level < first)
            first = m->array[i].level;
      }
      if ((a->users >> kind & 1) != 0 && first == a->level)
         return 1;
   }
   return 0;
}

/* A walk comes between the miss of the last level and its fill. */
static int check_in_last_level(const tlb_machine *m, tlb_reason *why)
{
   const int where = tlb_walk_array(m);
   tlb_text t = tlb_text_in(why->text, sizeof why->text);
   if (where >= 0 && !is_asked_first(m, &m->array[where]) && !m->array[where].g.paired)
      return 1;
   tlb_text_add(&t, "the last level can not hold entries of the walk: ");
   if (where < 0) {
      tlb_text_add(&t, "no array there is for loads");
   } else {
      tlb_text_add(&t, "array '");
      tlb_text_add(&t, m->array[where].name);
      tlb_text_add(&t, m->array[where].g.paired ? "' holds pairs of pages"
                                                : "' is asked before all others");
   }
   return 0;
}

/* Which tables x86 has is fixed: an entry covers what the architecture says. Those of 32 and of
   64 bits are not told apart, for CPUID can name a processor whose file is about the other. Of
   other processors all steps are taken, for their granules and levels differ. */
static int check_table(const tlb_machine *m, unsigned shift, tlb_reason *why)
{
   static const uint64_t shifts = UINT64_C(1) << 48 | UINT64_C(1) << 39 | UINT64_C(1) << 30
                                  | 1 << 22 | 1 << 21 | 1 << 12;
   if ((!tlb_text_same(m->isa, "x86-64") && !tlb_text_same(m->isa, "x86-32"))
       || (shifts >> shift & 1) != 0)
      return 1;
   tlb_text t = tlb_text_in(why->text, sizeof why->text);
   tlb_text_add(&t, "no page table of x86 has entries of ");
   tlb_text_add_page_size(&t, shift);
   tlb_text_add(&t, "; allowed are 256T, 512G, 1G, 4M, 2M and 4K");
   return 0;
}

static int check_step(const tlb_machine *m, unsigned i, tlb_reason *why)
{
   const tlb_walk_step *const s = &m->walk[i];
   tlb_text t = tlb_text_in(why->text, sizeof why->text);
   if (s->shift < TLB_MIN_PAGE_SHIFT || s->shift > 63
       || (i > 0 && s->shift >= m->walk[i - 1].shift)) {
      tlb_text_add(&t, "steps of a walk go down from at most 8E to at least "
                       "4K, each smaller than the one above");
      return 0;
   }
   if (!check_table(m, s->shift, why))
      return 0;
   if (!s->cached)
      return 1;
   if (i + 1 == m->n_walk_steps) {
      tlb_text_add(&t, "the last step has no page-walk cache: its entries are "
                       "the translations themselves");
      return 0;
   }
   if (s->in_last_level && s->joined) {
      tlb_text_add(&t, "a step is cached in the last level or joined to the "
                       "step above, not both");
      return 0;
   }
   if (s->in_last_level)
      return check_in_last_level(m, why);
   if (s->joined) {
      for (unsigned j = 0; j < i; j++) {
         if (m->walk[j].cached && !m->walk[j].in_last_level
             && !m->walk[j].joined)
            return 1;
      }
      tlb_text_add(&t, "no step above has a cache that this one can join");
      return 0;
   }
   if (s->g.page_sizes != UINT64_C(1) << s->shift) {
      tlb_text_add(&t, "a page-walk cache holds what its step covers");
      return 0;
   }
   return tlb_geometry_check(&s->g, why);
}

/* Of the cycles that are known of a walk each belongs to one step at most. */
static int check_step_cycles(const tlb_machine *m, unsigned i, tlb_reason *why)
{
   uint64_t all = 0;
   for (unsigned j = 0; j <= i; j++)
      all += m->walk[j].cycles;
   if (m->walk[i].cycles == 0 || all <= tlb_known_cycles(m->walk_cycles))
      return 1;
   tlb_text t = tlb_text_in(why->text, sizeof why->text);
   tlb_text_add(&t, "the steps up to ");
   tlb_text_add_page_size(&t, m->walk[i].shift);
   tlb_text_add(&t, " cost ");
   tlb_text_add_number(&t, all);
   tlb_text_add(&t, " cycles, and the whole walk ");
   if (m->walk_cycles == TLB_UNKNOWN)
      tlb_text_add(&t, "an unknown number");
   else
      tlb_text_add_number(&t, m->walk_cycles);
   return 0;
}

/* The hypervisor's tables have the form of the guest's, and are walked to the end. */
static int check_nested(const tlb_machine *m, tlb_reason *why)
{
   const unsigned n = m->n_walk_steps;
   tlb_text t = tlb_text_in(why->text, sizeof why->text);
   if (m->host_page_shift == 0)
      return 1;
   if (m->software_walk || n == 0) {
      tlb_text_add(&t, "only a hardware walk with steps can be nested");
      return 0;
   }
   if (m->host_page_shift == m->walk[n - 1].shift)
      return 1;
   tlb_text_add(&t, "the walk is nested in pages of ");
   tlb_text_add_page_size(&t, m->host_page_shift);
   tlb_text_add(&t, "; only those of the last step are known, ");
   tlb_text_add_page_size(&t, m->walk[n - 1].shift);
   return 0;
}

static int reaches_base(const tlb_machine *m, tlb_reason *why)
{
   for (unsigned i = 0; i < m->n_walk_steps; i++) {
      if (m->walk[i].shift == m->base_page_shift)
         return 1;
   }
   tlb_text t = tlb_text_in(why->text, sizeof why->text);
   tlb_text_add(&t, "no step of the walk is the base page of ");
   tlb_text_add_page_size(&t, m->base_page_shift);
   return m->n_walk_steps == 0;
}

/* Lines, ways and sets of a cache of tables. */
static int check_cache_shape(const tlb_machine *m, const tlb_table_cache *c, const char **key,
                             tlb_reason *why)
{
   tlb_text t = tlb_text_in(why->text, sizeof why->text);
   *key = "line";
   if (c->line < TLB_LEAST_LINE || c->line > TLB_MOST_LINE || (c->line & (c->line - 1)) != 0
       || c->line < tlb_entry_bytes(m)) {
      tlb_text_add(&t, "lines of ");
      tlb_text_add_number(&t, c->line);
      tlb_text_add(&t,
                   " bytes are not a power of two from 16 to 4096, or smaller than an entry of ");
      tlb_text_add_number(&t, tlb_entry_bytes(m));
      return 0;
   }
   *key = "ways";
   if (c->ways == 0 || c->ways > TLB_MOST_CACHE_WAYS) {
      tlb_text_add_number(&t, c->ways);
      tlb_text_add(&t, " ways; allowed are 1 to 1024");
      return 0;
   }
   *key = "share";
   if (c->share == 0 || c->share > 100) {
      tlb_text_add_number(&t, c->share);
      tlb_text_add(&t, " per cent; allowed are 1 to 100");
      return 0;
   }
   *key = "size";
   if (c->size > TLB_MOST_CACHE_SIZE || c->size / c->line < c->ways) {
      tlb_text_add_number(&t, c->size);
      tlb_text_add(&t, " bytes have no set of ");
      tlb_text_add_number(&t, c->ways);
      tlb_text_add(&t, " ways with lines of ");
      tlb_text_add_number(&t, c->line);
      tlb_text_add(&t, ", or are more than 1024M");
      return 0;
   }
   return 1;
}

static int check_cache(const tlb_machine *m, unsigned i, const char **key, tlb_reason *why)
{
   const tlb_table_cache *const c = &m->cache[i];
   tlb_text t = tlb_text_in(why->text, sizeof why->text);
   *key = NULL;
   if (m->software_walk || m->n_walk_steps == 0) {
      tlb_text_add(&t, m->software_walk ? "a software walk reads no tables through caches"
                                        : "without steps a walk has no references for caches");
      return 0;
   }
   for (unsigned j = 0; j < i; j++) {
      if (tlb_text_same(m->cache[j].name, c->name)) {
         tlb_text_add(&t, "two caches are called '");
         tlb_text_add(&t, c->name);
         tlb_text_add(&t, "'; each needs a name of its own");
         return 0;
      }
   }
   *key = "cycles";
   if (i == 0 && (c->cycles != 0 || c->spread != 0)) {
      tlb_text_add(&t, "the first cache has no cycles: it is the yardstick of the others");
      return 0;
   }
   if (c->cycles == TLB_UNKNOWN || c->spread > c->cycles) {
      tlb_text_add(&t, "cache '");
      tlb_text_add(&t, c->name);
      tlb_text_add(&t, "' needs cycles, known or assumed");
      return 0;
   }
   return check_cache_shape(m, c, key, why);
}

/* Only with caches there are references to the memory. */
static int check_memory(const tlb_machine *m, tlb_reason *why)
{
   tlb_text t = tlb_text_in(why->text, sizeof why->text);
   if (m->memory.cycles != TLB_UNKNOWN && m->memory.spread <= m->memory.cycles
       && (m->n_caches > 0 || m->memory.cycles == 0))
      return 1;
   tlb_text_add(&t, m->n_caches > 0 ? "the memory needs cycles, known or assumed"
                                    : "the memory stands behind caches of tables, and there is "
                                      "none");
   return 0;
}

/* --- All of them --- */

typedef struct {
   tlb_machine_fault *out;
   unsigned n;
} collector;

/* The next fault to be filled in; it counts if it is not good. */
static tlb_machine_fault *next(collector *c, uint32_t part)
{
   tlb_machine_fault *const f = &c->out[c->n];
   f->part = part;
   f->key = NULL;
   return f;
}

static void add_unless(collector *c, int good)
{
   c->n += !good;
}

static void find_between_arrays(const tlb_machine *m, collector *c)
{
   tlb_machine_fault *f = next(c, UINT32_MAX);
   add_unless(c, check_first_arrays(m, &f->why));
   f = next(c, UINT32_MAX);
   f->key = "level";
   add_unless(c, check_levels(m, &f->part, &f->why));
   f = next(c, UINT32_MAX);
   f->key = "pages";
   add_unless(c, check_side_by_side(m, &f->part, &f->why));
   f = next(c, UINT32_MAX);
   f->key = "inclusion";
   add_unless(c, check_inclusion(m, &f->part, &f->why));
}

unsigned tlb_machine_faults(const tlb_machine *m, uint32_t skip, tlb_machine_fault *out)
{
   collector c = { out, 0 };
   tlb_machine_fault *f = next(&c, UINT32_MAX);
   tlb_text t = tlb_text_in(f->why.text, sizeof f->why.text);
   if (m->base_page_shift < TLB_MIN_PAGE_SHIFT
       || m->base_page_shift > TLB_MAX_PAGE_SHIFT) {
      tlb_text_add(&t, "the base page must be from 4K to 16G");
      return 1;
   }
   if (m->n_arrays == 0 || m->n_arrays > TLB_MAX_ARRAYS
       || m->n_walk_steps > TLB_MAX_WALK_LEVELS || m->n_caches > TLB_MAX_TABLE_CACHES) {
      tlb_text_add(&t, "a machine has 1 to 16 arrays, at most 6 steps of a walk and at most 4 "
                       "caches of tables");
      return 1;
   }
   for (unsigned i = 0; i < m->n_arrays; i++) {
      f = next(&c, i);
      if ((skip >> i & 1) == 0)
         add_unless(&c, check_array(m, i, &f->key, &f->why));
   }
   if (c.n > 0 || skip != 0)
      return c.n;
   find_between_arrays(m, &c);
   /* Of a step that is left out, the ones above would be blamed. */
   f = next(&c, m->n_arrays + m->n_walk_steps - 1);
   if (!reaches_base(m, &f->why)) {
      c.n++;
      return c.n;
   }
   for (unsigned i = 0; i < m->n_walk_steps; i++) {
      f = next(&c, m->n_arrays + i);
      add_unless(&c, check_step(m, i, &f->why) && check_step_cycles(m, i, &f->why));
   }
   for (unsigned i = 0; i < m->n_caches; i++) {
      f = next(&c, m->n_arrays + m->n_walk_steps + i);
      add_unless(&c, check_cache(m, i, &f->key, &f->why));
   }
   f = next(&c, UINT32_MAX);
   add_unless(&c, check_memory(m, &f->why));
   f = next(&c, UINT32_MAX);
   add_unless(&c, check_nested(m, &f->why));
   return c.n;
}

int tlb_machine_check(const tlb_machine *m, tlb_reason *why)
{
   tlb_machine_fault fault[TLB_MAX_FAULTS];
   if (tlb_machine_faults(m, 0, fault) == 0)
      return 1;
   *why = fault[0].why;
   return 0;
}

unsigned tlb_array_largest_block(const tlb_machine_array *a)
{
   unsigned largest = a->coalesce_shift;
   for (unsigned page = 0; page <= TLB_MAX_PAGE_SHIFT; page++)
      largest = a->block_shift[page] > largest ? a->block_shift[page] : largest;
   return largest;
}

unsigned tlb_machine_largest_block(const tlb_machine *m)
{
   unsigned largest = 0;
   for (unsigned i = 0; i < m->n_arrays; i++) {
      const unsigned block = tlb_array_largest_block(&m->array[i]);
      largest = block > largest ? block : largest;
   }
   return largest;
}

int tlb_arrays_coalesce_alike(const tlb_machine_array *a, const tlb_machine_array *b)
{
   int alike = a->coalesce_shift == b->coalesce_shift;
   for (unsigned page = 0; page <= TLB_MAX_PAGE_SHIFT; page++)
      alike &= a->block_shift[page] == b->block_shift[page];
   return alike;
}

uint32_t tlb_machine_walk_cycles(const tlb_machine *m, unsigned page_shift)
{
   uint32_t cycles = tlb_known_cycles(m->walk_cycles);
   for (unsigned i = m->n_walk_steps; i > 1 && m->walk[i - 2].shift <= page_shift; i--)
      cycles -= m->walk[i - 1].cycles;
   return cycles;
}

void tlb_machine_cut_to_pieces(tlb_machine *m, unsigned page_shift)
{
   const uint64_t size = UINT64_C(1) << page_shift;
   unsigned n = 0;
   for (unsigned i = 0; i < m->n_arrays; i++) {
      tlb_machine_array a = m->array[i];
      if ((a.g.page_sizes & size) == 0)
         continue;
      a.g.page_sizes = size;
      a.sizes_unknown = a.splits_unknown = 0;
      a.splits = 1;
      for (unsigned page = 0; page <= TLB_MAX_PAGE_SHIFT; page++)
         a.block_shift[page] = 0;
      m->array[n++] = a;
   }
   for (unsigned i = n; i < m->n_arrays; i++)
      m->array[i] = (tlb_machine_array){ .level = 0 };
   m->n_arrays = n;
}

tlb_holding tlb_machine_holds_large(const tlb_machine *m, unsigned shift)
{
   tlb_holding answer = TLB_HOLDS_NO;
   for (unsigned i = 0; i < m->n_arrays; i++) {
      const tlb_machine_array *const a = &m->array[i];
      if (a->g.page_sizes >> shift & 1)
         return TLB_HOLDS_YES;
      if (a->sizes_unknown || a->splits_unknown)
         answer = TLB_HOLDS_UNKNOWN;
   }
   return answer;
}

unsigned tlb_machine_largest_page(const tlb_machine *m)
{
   unsigned largest = m->base_page_shift;
   for (unsigned i = 0; i < m->n_arrays; i++) {
      while (m->array[i].g.page_sizes >> (largest + 1) != 0)
         largest++;
   }
   return largest;
}

unsigned tlb_machine_thp_shift(const tlb_machine *m, const char *isa)
{
   enum { SHIFT_64K = 16, SHIFT_2M = 21, SHIFT_16M = 24 };
   const unsigned usual = 2 * m->base_page_shift - 3;
   if (!tlb_text_same(isa, "ppc64") || m->base_page_shift != SHIFT_64K)
      return usual;
   int has_16m = 0;
   for (unsigned i = 0; i < m->n_arrays; i++) {
      if (m->array[i].g.page_sizes >> SHIFT_2M & 1)
         return SHIFT_2M;
      has_16m |= (int)(m->array[i].g.page_sizes >> SHIFT_16M & 1);
   }
   return has_16m ? SHIFT_16M : SHIFT_2M;
}
