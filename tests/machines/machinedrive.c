/* machinedrive FILE...: prints machine files as the simulator reads them.
   tests/machines/test_machines.py compares the lines with its own reading. Figures that are
   assumed have a ? in front. A file that is refused ends it with status 1 and FILE:LINE: the
   reason.
   Part of tlbgrind.  GPL-2.0-or-later; see COPYING. */

#define DRIVER "machinedrive"
#include "../drive.h"

static const char *guess(int unknown)
{
   return unknown ? "?" : "";
}

static void print_cycles(uint32_t most, uint32_t spread, int unknown)
{
   if (most == TLB_UNKNOWN)
      printf(" -");
   else if (spread == 0)
      printf(" %s%" PRIu32, guess(unknown), most);
   else
      printf(" %s%" PRIu32 "..%" PRIu32, guess(unknown), most - spread, most);
}

static void print_ways(const tlb_geometry *g, int unknown)
{
   if (g->ways == g->entries)
      printf(" %sfull", guess(unknown));
   else
      printf(" %s%" PRIu32, guess(unknown), g->ways);
}

static void print_policy(const tlb_geometry *g, int unknown)
{
   char words[40];
   tlb_policy_print(g, words, sizeof words);
   printf(" %s%s", guess(unknown), words);
}

/* 0, or PAGE:BLOCK joined by +; page 0: base pages. */
static void print_blocks(const tlb_machine_array *a)
{
   char before = ' ';
   if (tlb_array_largest_block(a) == 0)
      printf(" 0");
   if (a->coalesce_shift != 0)
      printf(" 0:%u", a->coalesce_shift);
   for (unsigned page = 0; page <= TLB_MAX_PAGE_SHIFT; page++) {
      if (a->block_shift[page] != 0) {
         printf("%c%u:%u", before, page, a->block_shift[page]);
         before = '+';
      }
   }
}

/* An overlap in words of its own. */
static void print_overlap(uint32_t overlap, int unknown)
{
   if (overlap != 0)
      printf(" overlap %s%" PRIu32 ".%" PRIu32, guess(unknown), overlap / 10, overlap % 10);
}

static void print_array(const tlb_machine_array *a)
{
   static const char *const users[] = {
      "", "fetches", "loads", "fetches+loads", "stores", "fetches+stores",
      "loads+stores", "all"
   };
   static const char *const sharing[] = { "unknown", "shared", "partitioned",
                                          "copied" };
   char sizes[200];
   tlb_page_sizes_print(a->g.page_sizes, sizes, sizeof sizes);
   printf("array %s %u %s %s%" PRIu32, a->name, a->level, users[a->users],
          guess(a->entries_unknown), a->g.entries + a->wired);
   print_ways(&a->g, a->ways_unknown);
   printf(" %s%s", guess(a->sizes_unknown), sizes);
   print_policy(&a->g, a->policy_unknown);
   print_cycles(a->hit_cycles, a->hit_spread, a->hit_cycles_unknown);
   printf(" %s%s", guess(a->splits_unknown), a->splits ? "split" : "bypass");
   print_blocks(a);
   printf(" %" PRIu32 " %s %c", a->threads, sharing[a->sharing],
          a->confidence ? a->confidence : '-');
   if (a->g.index_xor != 0)
      printf(" xor %" PRIu32, a->g.index_xor);
   if (a->g.paired)
      printf(" paired");
   if (a->wired != 0)
      printf(" wired %" PRIu32, a->wired);
   if (a->inclusion != TLB_NEITHER)
      printf(" inclusion %s", a->inclusion == TLB_INCLUSIVE ? "inclusive" : "exclusive");
   print_overlap(a->overlap, a->overlap_unknown);
   printf("\n");
   printf("source %s\n", a->source);
}

static void print_cache(const tlb_table_cache *c, int is_first)
{
   printf("cache %s %s%" PRIu32 " %" PRIu32 " %s%" PRIu32 " %s%" PRIu32 "%%", c->name,
          guess(c->size_unknown), c->size, c->line, guess(c->ways_unknown), c->ways,
          guess(c->share_unknown), c->share);
   if (!is_first)
      print_cycles(c->cycles, c->spread, c->cycles_unknown);
   printf(" %c\nsource %s\n", c->confidence ? c->confidence : '-', c->source);
}

static void print_caches(const tlb_machine *m)
{
   for (unsigned i = 0; i < m->n_caches; i++)
      print_cache(&m->cache[i], i == 0);
   if (m->n_caches == 0)
      return;
   printf("memory");
   print_cycles(m->memory.cycles, m->memory.spread, m->memory.cycles_unknown);
   printf(" %c\nsource %s\n", m->memory.confidence ? m->memory.confidence : '-',
          m->memory.source);
}

static void print_step(const tlb_walk_step *s)
{
   printf("step %u ", s->shift);
   if (!s->cached)
      printf("%snone", guess(s->cache_unknown));
   else if (s->joined || s->in_last_level)
      printf("%s", s->joined ? "joined" : "in-last-level");
   else {
      printf("own %" PRIu32, s->g.entries);
      print_ways(&s->g, s->ways_unknown);
      print_policy(&s->g, s->policy_unknown);
   }
   if (s->cycles != 0)
      printf(" cycles %" PRIu32, s->cycles);
   printf("\nsource %s\n", s->source);
}

static void print_machine(const tlb_machine *m)
{
   printf("machine %s %s %u %c %u %u\n", m->name, m->isa, m->year,
          m->confidence, m->base_page_shift, tlb_machine_levels(m));
   printf("title %s\nsource %s\n", m->title, m->source);
   for (unsigned i = 0; i < m->n_arrays; i++)
      print_array(&m->array[i]);
   printf("walk %s", m->software_walk ? "software" : "hardware");
   print_cycles(m->walk_cycles, m->walk_spread, m->walk_cycles_unknown);
   printf("\nsource %s\n", m->walk_source);
   if (m->walk_overlap != 0 || m->entry_bytes != 0) {
      printf("walks");
      print_overlap(m->walk_overlap, m->walk_overlap_unknown);
      printf(" %" PRIu32 "\n", tlb_entry_bytes(m));
   }
   if (m->window != 0)
      printf("window %s%" PRIu32 "\n", guess(m->window_unknown), m->window);
   if (m->host_page_shift != 0)
      printf("nested %u\n", m->host_page_shift);
   for (unsigned i = 0; i < m->n_walk_steps; i++)
      print_step(&m->walk[i]);
   print_caches(m);
   for (unsigned i = 0; i < m->n_notes; i++)
      printf("note %s\n", m->note[i].text);
}

int main(int argc, char **argv)
{
   static tlb_machine machine;
   for (int i = 1; i < argc; i++) {
      read_machine(argv[i], &machine);
      print_machine(&machine);
   }
   return 0;
}
