/* Keeps and writes the timeline. See output/timeline.h. */

#include "pub_tool_basics.h"

#include "pub_tool_libcbase.h"
#include "pub_tool_libcproc.h"
#include "pub_tool_mallocfree.h"
#include "pub_tool_xarray.h"

#include "config.h"

#include "sim/mmu/known_hits.h"

#include "attribution/lines.h"
#include "base/file.h"
#include "base/shown.h"
#include "output/timeline.h"
#include "trace/run_mmus.h"
#include "trace/segment_run.h"

/* How many samples fit: 2^SPANS - 2^SPANS/2 to 2^SPANS of them. FIRST: the first distance, in
   instructions. */
enum { SPANS = 8, MOST = 1 << SPANS, FIRST = 20000, MOST_MARKS = 1000 };

typedef struct {
   ULong clock;
   ULong instructions;
   ULong faults;
   ULong* misses; /* L1 misses and walks of each machine */
   /* Pages since the sample before, since the second before, the fourth and so on: those of the
      samples that this one can become a part of. */
   UInt pages[TLB_N_TABLES][SPANS + 1];
} Sample;

typedef struct {
   ULong instructions;
   HChar* phase;
} Mark;

static const TgResults* run;
static Sample sample[MOST];
static UInt n_samples;
static Sample start; /* what the first one is compared with: no misses, no faults */
static ULong distance;
static XArray* marks; /* Mark */
static TgLine total;  /* of all lines */

static SizeT bytes_of_misses(void)
{
   return 2 * run->options->n_machines * sizeof(ULong);
}

/* Without the instructions of all lines, which are added up at the end of the run only: those of
   segments that have come to their end, and of others. */
static ULong instructions(void)
{
   return tg_instructions() + tg_booked.refs[TLB_FETCH];
}

static TgSampler sampler;

static void begin(void)
{
   n_samples = 0;
   distance = FIRST;
   start.clock = tg_clock;
   start.instructions = instructions();
   tg_sampler_set(&sampler, start.clock + (distance << TG_INSTR_SHIFT));
}

void tg_timeline_init(const TgResults* results, TgSample* take)
{
   run = results;
   tg_sampler_add(&sampler, take);
   start.misses = VG_(calloc)("tg.timeline", 1, bytes_of_misses());
   for (UInt i = 0; i < MOST; i++)
      sample[i].misses = VG_(malloc)("tg.timeline", bytes_of_misses());
   marks = VG_(newXA)(VG_(malloc), "tg.timeline.marks", VG_(free), sizeof(Mark));
   begin();
}

void tg_timeline_zero(void)
{
   for (Word i = 0; i < VG_(sizeXA)(marks); i++)
      VG_(free)(((Mark*)VG_(indexXA)(marks, i))->phase);
   VG_(dropTailXA)(marks, VG_(sizeXA)(marks));
   begin();
}

/* --- Counts --- */

/* Stores the counts so far, without the pages. */
static void count(Sample* s)
{
   for (UInt kind = 0; kind < TLB_N_USERS; kind++) {
      total.faults[kind] = 0;
      if (total.misses[kind] != NULL)
         VG_(memset)(total.misses[kind], 0, tg_lines_n_counts() * sizeof(uint64_t));
   }
   tg_lines_total(&total);
   s->clock = tg_clock;
   s->instructions = instructions();
   s->faults = 0;
   VG_(memset)(s->misses, 0, bytes_of_misses());
   for (UInt kind = 0; kind < TLB_N_USERS; kind++) {
      s->faults += total.faults[kind];
      for (UInt i = 0; i < run->options->n_machines && total.misses[kind] != NULL; i++) {
         const uint64_t* own = total.misses[kind] + run->result[i].number * TG_N_OF_A_MISS;
         s->misses[2 * i] += own[0];
         s->misses[2 * i + 1] += own[TG_WALKS - TG_MISS_1];
      }
   }
}

/* --- Pages --- */

/* Times of samples before, from the last one on, and how many pages were referred to after each of
   them but not after those before it in the list. */
typedef struct {
   UInt n;
   ULong since[SPANS + 1];
   UInt pages[SPANS + 1];
} Search;

static void find_page(tlb_mmus* all, tlb_page* p, void* opaque)
{
   Search* search = opaque;
   const ULong time = p->time > tlb_writes(p)->time ? p->time : tlb_writes(p)->time;
   (void)all;
   for (UInt i = 0; i < search->n; i++) {
      if (time > search->since[i]) {
         search->pages[i]++;
         return;
      }
   }
}

/* Counts pages for a sample that is number `n`, from 1: every 2^i-th one is the last of 2^i that
   can become one. */
static void count_pages(Sample* s, UInt n)
{
   Search search = { .n = 0 };
   while (n % (1u << search.n) == 0 && search.n <= SPANS) {
      const UInt before = n - (1u << search.n);
      search.since[search.n++] = before == 0 ? start.clock : sample[before - 1].clock;
   }
   for (UInt table = 0; table < TLB_N_TABLES; table++) {
      VG_(memset)(search.pages, 0, sizeof search.pages);
      tlb_pages_each(&tg_mmus, table, find_page, &search);
      UInt sum = 0;
      for (UInt i = 0; i < search.n; i++)
         s->pages[table][i] = sum += search.pages[i];
   }
}

/* --- Samples --- */

/* Makes one of each two. */
static void halve(void)
{
   for (UInt i = 0; i < MOST / 2; i++) {
      ULong* misses = sample[i].misses;
      sample[i] = sample[2 * i + 1];
      sample[2 * i + 1].misses = misses;
      for (UInt table = 0; table < TLB_N_TABLES; table++) {
         for (UInt span = 0; span < SPANS; span++)
            sample[i].pages[table][span] = sample[i].pages[table][span + 1];
      }
   }
   n_samples = MOST / 2;
   distance *= 2;
}

void tg_timeline_add(void)
{
   count(&sample[n_samples]);
   count_pages(&sample[n_samples], n_samples + 1);
   n_samples++;
   if (n_samples == MOST)
      halve();
   tg_sampler_set(&sampler, start.clock + ((n_samples + 1) * distance << TG_INSTR_SHIFT));
}

void tg_timeline_mark(const HChar* phase)
{
   if (VG_(sizeXA)(marks) == MOST_MARKS)
      return;
   const Mark m = { instructions() - start.instructions, VG_(strdup)("tg.timeline.phase", phase) };
   VG_(addToXA)(marks, &m);
}

/* --- The file --- */

static void print_head(TgFile* f, const TgResults* results)
{
   const UInt n = results->options->n_machines;
   tg_file_print(f, "# tlbgrind timeline\n# version: 1\n"
                    "# creator: tlbgrind-" TG_VERSION
                    " (Valgrind " VERSION ")\n# pid: %d\n# cmd: ", VG_(getpid)());
   tg_file_command(f);
   tg_file_print(f, "\n");
   if (results->forked_from != 0)
      tg_file_print(f, "# forked: counts since the fork from pid %d\n",
                    results->forked_from);
   tg_file_print(f, "# page size: %llu\n# distance: %llu\n",
                 1ULL << results->options->page_shift, distance);
   for (UInt i = 0; i < n; i++)
      tg_file_print(f, "# machine %u: %s\n", i + 1, tg_shown(results->result[i].machine->name));
   tg_file_print(f, "Ir\tcode pages\tdata pages");
   if (results->options->faults.on)
      tg_file_print(f, "\tPF");
   for (UInt i = 0; i < n; i++)
      tg_file_print(f, "\tL1tm %u\twalks %u", i + 1, i + 1);
   tg_file_print(f, "\n");
}

/* Prints what came between two samples. */
static void print_row(TgFile* f, const TgResults* results, const Sample* s, const Sample* before)
{
   tg_file_print(f, "%llu\t%u\t%u", s->instructions - before->instructions,
                 s->pages[TLB_CODE][0], s->pages[TLB_DATA][0]);
   if (results->options->faults.on)
      tg_file_print(f, "\t%llu", s->faults - before->faults);
   for (UInt i = 0; i < 2 * results->options->n_machines; i++)
      tg_file_print(f, "\t%llu", s->misses[i] - before->misses[i]);
   tg_file_print(f, "\n");
}

static void print_rows(TgFile* f, const TgResults* results)
{
   const Sample* before = &start;
   for (UInt i = 0; i < n_samples; i++) {
      print_row(f, results, &sample[i], before);
      before = &sample[i];
   }
   Sample last = { .misses = VG_(malloc)("tg.timeline.last", bytes_of_misses()) };
   Search search = { .n = 1, .since = { before->clock } };
   count(&last);
   for (UInt table = 0; table < TLB_N_TABLES; table++) {
      search.pages[0] = 0;
      tlb_pages_each(&tg_mmus, table, find_page, &search);
      last.pages[table][0] = search.pages[0];
   }
   print_row(f, results, &last, before);
   VG_(free)(last.misses);
}

Bool tg_timeline_write(const TgResults* results, const HChar* name)
{
   const HChar* failure;
   TgFile* f = tg_file_open(name, &failure);
   if (f != NULL) {
      print_head(f, results);
      print_rows(f, results);
      for (Word i = 0; i < VG_(sizeXA)(marks); i++) {
         const Mark* m = VG_(indexXA)(marks, i);
         tg_file_print(f, "mark\t%llu\t%s\n", m->instructions, tg_shown(m->phase));
      }
      tg_file_print(f, "end\n");
      failure = tg_file_close(f);
   }
   if (failure != NULL)
      tg_shown_unwritten("timeline", name, failure, "misses over the run's instructions");
   return failure == NULL;
}
