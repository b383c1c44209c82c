/* mmudrive: random cases through sim/mmu and the naive model.
   Part of tlbgrind.  GPL-2.0-or-later; see COPYING.

   mmudrive [--seed=N] [--cases=N] [--flushes] [--others] [--cores] [--prefetches]
            [--spaces] [--siblings] [--print|--spoil]
                            cases of the seeds from N on (0), as many as told (1000): plays each;
                            --flushes: with flushes of translations; --others: with
                            others on the core; --cores: of several cores; --prefetches:
                            with prefetches; --spaces: with several address spaces;
                            --siblings: of cores with several hardware threads;
                            --print: prints it with what the naive model counts; --spoil: gives
                            the naive model other machines, so that cases go wrong
   mmudrive FILE...         plays the cases of files; those of tests/mmu/cases have been wrong

   A case that is played wrong, or ends the program, is made smaller as long as it stays wrong,
   and printed as it is played by `mmudrive FILE`. Then the exit status is 1. */

#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "mmu_case.h"
#include "random_case.h"

/* How many events may pass before counts are compared. */
enum { EVERY = 16, SECONDS = 20 };

/* What a child tells of the case that it plays, though a sanitizer may end it. */
typedef struct {
   uint64_t seed;
   unsigned at;
   case_wrong wrong;
} news;

/* Ends the program if one case takes that long, of the processor's time. */
static void begin_case(void)
{
   const struct itimerval limit = { .it_value = { .tv_sec = SECONDS } };
   setitimer(ITIMER_PROF, &limit, NULL);
}

static news *of_child;
static mmu_case the_case;

static void play_quietly(const mmu_case *c, unsigned every)
{
   strcpy(of_child->wrong.text, "it ended the program");
   if (!case_play(c, every, &of_child->wrong, &of_child->at))
      _exit(1);
}

/* Plays the case in a child. Returns whether all was right. */
static bool is_right(const mmu_case *c)
{
   int status = 0;
   const pid_t child = fork();
   if (child == 0) {
      begin_case();
      if (freopen("/dev/null", "w", stderr) == NULL)
         _exit(2);
      play_quietly(c, 1);
      _exit(0);
   }
   return child > 0 && waitpid(child, &status, 0) == child && status == 0;
}

/* --- Making it smaller --- */

static mmu_case smaller;

/* Without the events from `first` on, so many. */
static bool without_events(mmu_case *c, unsigned first, unsigned n)
{
   smaller = *c;
   memmove(&smaller.event[first], &c->event[first + n],
           (c->n_events - first - n) * sizeof *c->event);
   smaller.n_events -= n;
   if (is_right(&smaller))
      return false;
   *c = smaller;
   return true;
}

static bool drop_events(mmu_case *c)
{
   bool dropped = false;
   for (unsigned n = (c->n_events + 1) / 2; n > 0; n /= 2) {
      for (unsigned first = 0; first + n <= c->n_events;) {
         if (without_events(c, first, n))
            dropped = true;
         else
            first += n;
      }
   }
   return dropped;
}

static bool drop_machines(mmu_case *c)
{
   bool dropped = false;
   for (unsigned i = 0; i < c->n_machines && c->n_machines > 1;) {
      smaller = *c;
      memmove(&smaller.machine[i], &c->machine[i + 1],
              (c->n_machines - i - 1) * sizeof *c->machine);
      smaller.n_machines--;
      if (is_right(&smaller)) {
         i++;
      } else {
         *c = smaller;
         dropped = true;
      }
   }
   return dropped;
}

static void simplify(mmu_case *c)
{
   smaller = *c;
   smaller.lines = 0;
   smaller.nested = false;
   if (!is_right(&smaller))
      *c = smaller;
   for (unsigned i = 0; i < c->n_machines; i++) {
      smaller = *c;
      smaller.machine[i].m.n_walk_steps = 0;
      smaller.machine[i].m.host_page_shift = 0;
      smaller.machine[i].m.software_walk = 0;
      smaller.machine[i].m.n_caches = 0;
      smaller.machine[i].m.memory = (tlb_table_cache){ .cycles = 0 };
      if (!is_right(&smaller))
         *c = smaller;
   }
}

static void report(mmu_case *c, const char *where)
{
   const case_wrong first = of_child->wrong;
   if (!is_right(c)) {
      while (drop_machines(c) | drop_events(c)) {
      }
      simplify(c);
      is_right(c);
   }
   printf("# %s: %s\n", where, first.text);
   printf("# made smaller, at event %u: %s\n", of_child->at, of_child->wrong.text);
   case_print(c, stdout);
}

/* --- Seeds --- */

static bool with_flushes, with_others, with_cores, with_prefetches, with_spaces, with_siblings;

static void make_case(uint64_t seed)
{
   dice d = dice_of_seed(seed);
   random_case(&d, &the_case);
   if (with_flushes)
      add_flushes(&d, &the_case);
   if (with_others)
      add_others(&d, &the_case);
   if (with_spaces)
      add_spaces(&d, &the_case);
   if (with_cores)
      add_cores(&d, &the_case);
   if (with_siblings)
      add_siblings(&d, &the_case);
   if (with_prefetches)
      add_prefetches(&d, &the_case);
}

static void play_seeds(uint64_t seed, uint64_t cases)
{
   for (; cases > 0; cases--, seed++) {
      of_child->seed = seed;
      make_case(seed);
      begin_case();
      play_quietly(&the_case, EVERY);
   }
   exit(0);
}

static int check_seeds(uint64_t seed, uint64_t cases)
{
   int status = 0;
   char where[60];
   const pid_t child = fork();
   if (child == 0)
      play_seeds(seed, cases);
   if (child < 0 || waitpid(child, &status, 0) != child)
      return 2;
   if (status == 0) {
      printf("%" PRIu64 " cases are right\n", cases);
      return 0;
   }
   make_case(of_child->seed);
   snprintf(where, sizeof where, "seed %" PRIu64, of_child->seed);
   report(&the_case, where);
   return 1;
}

static int print_seeds(uint64_t seed, uint64_t cases)
{
   for (; cases > 0; cases--, seed++) {
      make_case(seed);
      case_print(&the_case, stdout);
      case_print_counts(&the_case, stdout);
   }
   return 0;
}

/* --- Files --- */

static int check_file(const char *name)
{
   FILE *const in = fopen(name, "r");
   if (in == NULL) {
      perror(name);
      return 2;
   }
   int result = 0;
   while (result == 0 && case_read(&the_case, in)) {
      if (is_right(&the_case))
         continue;
      report(&the_case, name);
      result = 1;
   }
   fclose(in);
   return result;
}

int main(int argc, char **argv)
{
   uint64_t seed = 0, cases = 1000;
   bool print = false, files = false;
   int result = 0;
   of_child = mmap(NULL, sizeof *of_child, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
                   0);
   if (of_child == MAP_FAILED)
      return 2;
   for (int i = 1; i < argc; i++) {
      if (strncmp(argv[i], "--seed=", 7) == 0)
         seed = strtoull(argv[i] + 7, NULL, 10);
      else if (strncmp(argv[i], "--cases=", 8) == 0)
         cases = strtoull(argv[i] + 8, NULL, 10);
      else if (strcmp(argv[i], "--print") == 0)
         print = true;
      else if (strcmp(argv[i], "--flushes") == 0)
         with_flushes = true;
      else if (strcmp(argv[i], "--others") == 0)
         with_others = true;
      else if (strcmp(argv[i], "--cores") == 0)
         with_cores = true;
      else if (strcmp(argv[i], "--siblings") == 0)
         with_cores = with_siblings = true;
      else if (strcmp(argv[i], "--spaces") == 0)
         with_spaces = true;
      else if (strcmp(argv[i], "--prefetches") == 0)
         with_prefetches = true;
      else if (strcmp(argv[i], "--spoil") == 0)
         case_spoilt = true;
      else {
         files = true;
         result |= check_file(argv[i]);
      }
   }
   if (files)
      return result;
   return print ? print_seeds(seed, cases) : check_seeds(seed, cases);
}
