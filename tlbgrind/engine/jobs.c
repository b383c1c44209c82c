/* The processes that simulate. See engine/jobs.h; docs/internals/formats.md has what they are sent,
   and what they answer. */

#include "pub_tool_basics.h"

#include "pub_tool_libcbase.h"
#include "pub_tool_libcfile.h"
#include "pub_tool_libcprint.h"
#include "pub_tool_libcproc.h"
#include "pub_tool_mallocfree.h"

#include "sim/machine/machine_file.h"
#include "sim/mmu/miss_counts.h"

#include "base/fed_process.h"
#include "base/file.h"
#include "base/search_path.h"
#include "engine/jobs.h"
#include "options/refuse.h"
#include "trace/run_mmus.h"
#include "trace/segment_run.h"

/* The core's, without a header for tools. */
extern const HChar* VG_(libdir);

Bool tg_jobs_on;

static TgFedProcess* process; /* NULL: there is none any more */
static const HChar* lost;
static UInt n_machines;

static const HChar ended[] = "a process of --jobs= has ended";

/* --- Start --- */

/* It is beside the tool, as a link; or, where a plain valgrind has the tool, in PATH. NULL: it is
   in neither. */
static HChar* simulator(void)
{
   static const HChar name[] = "/tg_simulate";
   HChar* file = VG_(malloc)("tg.jobs", VG_(strlen)(VG_(libdir)) + sizeof name);
   struct vg_stat st;
   VG_(sprintf)(file, "%s%s", VG_(libdir), name);
   if (!sr_isError(VG_(stat)(file, &st)))
      return file;
   VG_(free)(file);
   return tg_search_path(name + 1);
}

static void put_text(void* opaque, const HChar* text, SizeT n)
{
   (void)opaque;
   tg_jobs_write((const UChar*)text, n);
}

/* The machine of --itlb=, --dtlb= and --stlb= has neither name nor isa, which a machine file
   needs. */
static void print_machine(const tlb_machine* m, HChar* text)
{
   tlb_machine* copy = VG_(malloc)("tg.jobs.machine", sizeof *copy);
   *copy = *m;
   if (copy->name[0] == '\0')
      VG_(strcpy)(copy->name, "custom");
   if (copy->isa[0] == '\0')
      VG_(strcpy)(copy->isa, "any");
   tlb_machine_print(copy, text, TLB_MACHINE_TEXT_SIZE);
   VG_(free)(copy);
}

static void write_machines(const TgOptions* o)
{
   HChar* text = VG_(malloc)("tg.jobs", TLB_MACHINE_TEXT_SIZE);
   TgFile* f = tg_file_to(put_text, NULL);
   tg_file_print(f, "# tlbgrind run of " TG_VERSION "\njobs: %lld\nnested: %d\nmachines: %u\n",
                 o->jobs, o->nested ? 1 : 0, o->n_machines);
   for (UInt i = 0; i < o->n_machines; i++) {
      print_machine(&o->machine[i].m, text);
      tg_file_print(f, "%lu\n%s", (UWord)VG_(strlen)(text), text);
   }
   tg_file_close(f);
   for (UInt i = 0; i < o->n_machines; i++) {
      tg_jobs_write((const UChar*)&o->machine[i].pages, sizeof o->machine[i].pages);
      tg_jobs_write((const UChar*)&o->machine[i].kernel.syscalls,
                    sizeof o->machine[i].kernel.syscalls);
      tg_jobs_write((const UChar*)&o->machine[i].kernel.flush,
                    sizeof o->machine[i].kernel.flush);
      tg_jobs_write((const UChar*)&o->machine[i].kernel.prefetch,
                    sizeof o->machine[i].kernel.prefetch);
   }
   tg_jobs_write((const UChar*)&o->kernel.switches, sizeof o->kernel.switches);
   VG_(free)(text);
}

/* What it says first: that it has read the machines, and made its processes. */
static Bool is_ready(void)
{
   static const HChar ready[] = "ready\n\n"; /* eight bytes with its NUL */
   HChar said[sizeof ready];
   return process != NULL && tg_fed_read(process, said, sizeof said)
          && VG_(memcmp)(said, ready, sizeof ready) == 0;
}

void tg_jobs_begin(const TgOptions* o)
{
   HChar arg[32];
   HChar* file = simulator();
   const HChar* argv[] = { file, "--of-a-run", NULL };
   VG_(sprintf)(arg, "--jobs=%lld", o->jobs);
   tg_jobs_on = True;
   n_machines = o->n_machines;
   if (file == NULL)
      tg_refuse(arg, "tg_simulate, which simulates, is neither in %s nor in PATH; install tlbgrind "
                     "again", VG_(libdir));
   process = tg_fed_start(file, argv);
   if (process == NULL)
      tg_refuse(arg, "%s can not be started", file);
   write_machines(o);
   if (!is_ready())
      tg_refuse(arg, "%s does not run, or is of another version than " TG_VERSION
                     "; install tlbgrind again", file);
   VG_(free)(file);
}

/* --- The run --- */

void tg_jobs_stop(const HChar* why)
{
   if (process == NULL)
      return;
   tg_fed_close(process);
   process = NULL;
   lost = VG_(strdup)("tg.jobs.lost", why); /* the caller's text may be on its stack */
   VG_(umsg)("warning: --jobs: the simulation ends after %llu instructions: %s; the program goes "
             "on, and there will be no counts of TLBs\n", tg_instructions(), why);
}

void tg_jobs_write(const UChar* bytes, SizeT n)
{
   if (process != NULL && !tg_fed_write(process, bytes, n))
      tg_jobs_stop(ended);
}

void tg_jobs_forked(void)
{
   if (process != NULL)
      tg_fed_close(process);
   process = NULL;
   if (tg_jobs_on)
      lost = "a forked child is not simulated with --jobs=";
}

const HChar* tg_jobs_lost(void)
{
   return lost;
}

/* --- Answers --- */

/* How the counts of some machines begin. */
typedef struct {
   uint64_t first, step, n; /* machines number first, first + step and so on, from 0 */
   uint64_t n_entries;      /* places that have changed */
   uint64_t n_arcs;         /* likewise */
} Head;

static Bool take_extra(const Head* h)
{
   for (UInt i = 0; i < h->n; i++) {
      uint64_t (*extra)[TLB_N_COSTS]
         = tlb_missed_extra(&tg_mmus, (UInt)(h->first + i * h->step));
      if (!tg_fed_read(process, extra, TLB_N_USERS * sizeof *extra))
         return False;
   }
   return True;
}

/* What is counted at a line: references of a kind, or these. */
enum { OF_FLUSHES = TLB_N_USERS, OF_PREFETCHES, N_COUNTED };

/* Where such counts of the machine begin; *n: how many numbers they are. */
static size_t counts_at(UInt what, UInt machine, SizeT* n)
{
   switch (what) {
   case OF_FLUSHES:
      *n = TLB_N_FLUSH_COSTS;
      return tlb_mmus_flushes_at(&tg_mmus, machine);
   case OF_PREFETCHES:
      *n = TLB_N_PREFETCH_COSTS;
      return tlb_mmus_prefetches_at(&tg_mmus, machine);
   default:
      *n = TLB_N_COSTS;
      return tlb_mmus_cost_of(&tg_mmus, machine);
   }
}

/* The counts of one place: a line and one of these. */
static Bool take_entry(const Head* h, TgLine* (*line_of)(UInt number))
{
   uint64_t place;
   if (!tg_fed_read(process, &place, sizeof place) || place / N_COUNTED > 0xffffffff)
      return False;
   const UInt what = (UInt)(place % N_COUNTED);
   TgLine* line = line_of((UInt)(place / N_COUNTED));
   if (line == NULL || (what == OF_FLUSHES && !tg_mmus.flushes)
       || (what == OF_PREFETCHES && !tg_mmus.prefetches))
      return False;
   uint64_t* counts = tg_line_misses(line, what < TLB_N_USERS ? (tlb_user)what : TLB_LOAD);
   for (UInt i = 0; i < h->n; i++) {
      SizeT n;
      const size_t at = counts_at(what, (UInt)(h->first + i * h->step), &n);
      if (!tg_fed_read(process, counts + at, n * sizeof *counts))
         return False;
   }
   return True;
}

/* The inclusive costs of one arc, of all kinds of reference. */
static Bool take_arc(const Head* h, TgArc* (*arc_of)(UInt number))
{
   uint64_t number;
   if (!tg_fed_read(process, &number, sizeof number) || number > 0xffffffff)
      return False;
   TgArc* arc = arc_of((UInt)number);
   if (arc == NULL)
      return False;
   uint64_t* misses = tg_costs_misses(&arc->inclusive);
   for (UInt i = 0; i < h->n; i++) {
      const size_t at = tlb_mmus_cost_of(&tg_mmus, (UInt)(h->first + i * h->step));
      for (UInt kind = 0; kind < TLB_N_USERS; kind++) {
         if (!tg_fed_read(process, misses + kind * tg_lines_n_counts() + at,
                          TLB_N_COSTS * sizeof *misses))
            return False;
      }
   }
   return True;
}

static Bool take_all(TgLine* (*line_of)(UInt number), TgArc* (*arc_of)(UInt number))
{
   Head h;
   for (UInt taken = 0; taken < n_machines; taken += (UInt)h.n) {
      if (!tg_fed_read(process, &h, sizeof h) || h.n == 0 || h.n > n_machines - taken
          || h.first >= n_machines || h.step > n_machines
          || h.first + (h.n - 1) * h.step >= n_machines || !take_extra(&h))
         return False;
      for (uint64_t i = 0; i < h.n_entries; i++) {
         if (!take_entry(&h, line_of))
            return False;
      }
      for (uint64_t i = 0; i < h.n_arcs; i++) {
         if (!take_arc(&h, arc_of))
            return False;
      }
   }
   return True;
}

void tg_jobs_take(TgLine* (*line_of)(UInt number), TgArc* (*arc_of)(UInt number))
{
   if (process != NULL && !take_all(line_of, arc_of))
      tg_jobs_stop(ended);
}
