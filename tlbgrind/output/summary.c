/* Prints the summary. See output/summary.h. */

#include "pub_tool_basics.h"

#include "pub_tool_libcbase.h"
#include "pub_tool_libcprint.h"
#include "pub_tool_mallocfree.h"
#include "pub_tool_options.h"

#include "sim/machine/cost.h"
#include "sim/machine/description.h"
#include "sim/pages/backing_report.h"
#include "sim/tlb/walk.h"

#include "space/aspace.h"
#include "native/break_room.h"
#include "trace/run_mmus.h"
#include "options/kernel_policy.h"
#include "base/number_format.h"
#include "base/shell_name.h"
#include "output/advice_same.h"
#include "output/copy_table.h"
#include "output/machine_table.h"
#include "output/miss_cost.h"
#include "faults/interruptions.h"
#include "faults/log.h"
#include "native/maps.h"
#include "base/shown.h"
#include "output/summary.h"
#include "output/threads.h"
#include "options/thp.h"

static void print_array(const HChar* description, void* opaque)
{
   (void)opaque;
   VG_(umsg)("  %s\n", description);
}

/* From that number on. */
static void print_assumptions(const TgMachine* m, Word first)
{
   for (Word i = first; i < VG_(sizeXA)(m->assumptions); i++)
      VG_(umsg)("  assumed: %s\n", *(HChar**)VG_(indexXA)(m->assumptions, i));
}

/* All of a machine. */
static void print_machine(const TgMachine* m)
{
   VG_(umsg)("Machine: %s, base page %llu bytes\n", m->name,
             1ULL << m->m.base_page_shift);
   if (m->file != NULL)
      VG_(umsg)("  file %s\n", tg_shown(m->file));
   tlb_describe_arrays(&m->m, print_array, NULL);
   if (m->kernel.flush.how != TLB_FLUSH_NONE)
      VG_(umsg)("  flushes: %s\n", tg_kernel_policy_flush_words(&m->kernel).text);
   if (m->kernel.syscalls.how != TLB_SYSCALLS_NONE)
      VG_(umsg)("  system calls %s\n", tg_kernel_policy_syscall_words(&m->kernel).text);
   print_assumptions(m, 0);
}

/* How many entries the level has for base pages: of all arrays that the same kinds of references
   ask, joined by "+". Empty if it has none. */
static TgNumber entries_of(const tlb_machine* m, UInt level)
{
   TgNumber text = { "" };
   UInt length = 0;
   for (UInt users = 1; users < 1u << TLB_N_USERS; users++) {
      UInt entries = 0;
      for (UInt i = 0; i < m->n_arrays; i++) {
         const tlb_machine_array* a = &m->array[i];
         if (a->level == level && a->users == users
             && (a->g.page_sizes >> m->base_page_shift & 1) != 0)
            entries += a->g.entries;
      }
      if (entries > 0)
         length += VG_(snprintf)(text.text + length, (Int)(sizeof text.text - length), "%s%u",
                                 length > 0 ? "+" : "", entries);
   }
   return text;
}

/* One line, and what options ask for in vain. */
static void print_machine_line(const TgMachine* m)
{
   VG_(umsg)("Machine: %s", m->name);
   if (m->file != NULL)
      VG_(umsg)(" (%s)", tg_shown(m->file));
   VG_(umsg)(", base page %s; entries:", tg_page_size(m->m.base_page_shift).text);
   for (UInt level = 1; level <= TLB_MAX_LEVELS; level++) {
      const TgNumber entries = entries_of(&m->m, level);
      if (entries.text[0] != '\0')
         VG_(umsg)("%s L%u %s", level > 1 ? "," : "", level, entries.text);
   }
   if (VG_(sizeXA)(m->assumptions) > 0)
      VG_(umsg)("; assumptions: %ld", VG_(sizeXA)(m->assumptions));
   VG_(umsg)("\n");
   if (m->measured != NULL)
      VG_(umsg)("Note: %s\n", m->measured);
   print_assumptions(m, m->n_own);
}

static Bool any_ignores_prefetches(const TgOptions* o)
{
   UInt i = 0;
   while (i < o->n_machines && o->machine[i].kernel.prefetch != TLB_PREFETCH_IGNORE)
      i++;
   return o->kernel.prefetches && i < o->n_machines;
}

void tg_summary_machines(const TgResults* results)
{
   const TgPageOptions* pages = &results->options->pages;
   const Bool is_long = VG_(clo_verbosity) > 1;
   if (VG_(clo_verbosity) < 1)
      return;
   const UInt group = results->options->advice_group;
   const UInt step = group > 0 && !is_long ? group : 1;
   for (UInt i = 0; i < results->options->n_machines; i += step)
      (is_long ? print_machine : print_machine_line)(&results->options->machine[i]);
   if (step > 1)
      VG_(umsg)("Advice: the same again with each kind of memory in larger pages\n");
   VG_(umsg)("Transparent huge pages: %s (%s)\n", tg_thp_name(pages->policy.thp),
             pages->thp_arg == NULL ? "as the host has them" : pages->thp_arg);
   if (results->options->fast_path && !tg_mmus.fast_path)
      VG_(umsg)("Fast path: none, for %s; every reference is simulated\n",
                any_ignores_prefetches(results->options)
                   ? "some machines ignore prefetches and others do not"
                : results->options->kernel.copies > 1 && results->options->kernel.shared_context
                   ? "copies share translations"
                   : "code and data share a first level");
   if (!is_long)
      VG_(umsg)("All arrays and assumptions: with -v, and in the out-file\n");
   VG_(umsg)("\n");
}

/* --- Numbers in columns --- */

enum { WIDTH = 18 };

static TgNumber number(ULong n)
{
   return tg_number(WIDTH, n);
}

static TgNumber per_cent(ULong part, ULong whole)
{
   return tg_ratio(part, whole, 100, 3, "%");
}

static ULong total(const TgResult* result, tlb_user kind, UInt what)
{
   return result->total[tg_cost(kind, what)];
}

static ULong data(const TgResult* result, UInt what)
{
   return total(result, TLB_LOAD, what) + total(result, TLB_STORE, what);
}

static void print_counts(const TgResult* result, const HChar* label, UInt what)
{
   VG_(umsg)("%-18s %s  (%s rd + %s wr)\n", label,
             number(data(result, what)).text,
             number(total(result, TLB_LOAD, what)).text,
             number(total(result, TLB_STORE, what)).text);
}

static TgNumber rate(const TgResult* result, tlb_user kind, UInt what)
{
   return per_cent(total(result, kind, what), total(result, kind, TG_REFS));
}

static void print_rates(const TgResult* result, const HChar* label, UInt what)
{
   VG_(umsg)("%-18s %*s  (%*s    + %*s   )\n", label, WIDTH,
             per_cent(data(result, what), data(result, TG_REFS)).text, WIDTH,
             rate(result, TLB_LOAD, what).text, WIDTH,
             rate(result, TLB_STORE, what).text);
}

static void print_fetches(const TgResult* result, const HChar* label, UInt what)
{
   VG_(umsg)("%-18s %s\n", label, number(total(result, TLB_FETCH, what)).text);
}

static void print_fetch_rate(const TgResult* result, const HChar* label, UInt what)
{
   VG_(umsg)("%-18s %*s\n", label, WIDTH, rate(result, TLB_FETCH, what).text);
}

static void print_counts_of_one(const TgResult* result)
{
   const UInt levels = result->levels;

   print_fetches(result, "I   refs:", TG_REFS);
   print_fetches(result, "I1  TLB misses:", TG_MISS_1);
   if (levels > 2)
      print_fetches(result, "I2  TLB misses:", TG_MISS_2);
   print_fetches(result, "IL  TLB misses:", TG_WALKS);
   print_fetch_rate(result, "I1  TLB miss rate:", TG_MISS_1);
   print_fetch_rate(result, "IL  TLB miss rate:", TG_WALKS);
   VG_(umsg)("\n");

   print_counts(result, "D   refs:", TG_REFS);
   print_counts(result, "D1  TLB misses:", TG_MISS_1);
   if (levels > 2)
      print_counts(result, "D2  TLB misses:", TG_MISS_2);
   print_counts(result, "DL  TLB misses:", TG_WALKS);
   print_rates(result, "D1  TLB miss rate:", TG_MISS_1);
   print_rates(result, "DL  TLB miss rate:", TG_WALKS);
   VG_(umsg)("\n");
}

/* With -q, the rates alone, and where there is a share of the time, not even these. */
static void print_one_machine(const TgResult* result)
{
   const ULong instructions = total(result, TLB_FETCH, TG_REFS);
   const ULong misses = total(result, TLB_FETCH, TG_MISS_1) + data(result, TG_MISS_1);
   const ULong walks = total(result, TLB_FETCH, TG_WALKS) + data(result, TG_WALKS);
   if (VG_(clo_verbosity) == 0 && tg_miss_cost(result).is_known)
      return;
   if (VG_(clo_verbosity) > 0) {
      print_counts_of_one(result);
      VG_(umsg)("%-18s %s\n", "page walks:", number(walks).text);
   }
   VG_(umsg)("%-18s %*s  per 1000 instructions\n", "L1  TLB misses:", WIDTH,
             tg_ratio(misses, instructions, 1000, 3, "").text);
   VG_(umsg)("%-18s %*s  per 1000 instructions\n", "page walks:", WIDTH,
             tg_ratio(walks, instructions, 1000, 3, "").text);
}

/* Valgrind's printf cuts off what is longer than the width. */
static Int width_for(const HChar* text)
{
   const Int length = (Int)VG_(strlen)(text);
   return length > WIDTH ? length : WIDTH;
}

/* Prints the cost of misses, as far as the machine or an option defines it. */
static void print_cost(const TgResults* results, const TgResult* r)
{
   const tlb_machine* m = &r->machine->m;
   if (tlb_walks_described(m))
      VG_(umsg)("%-18s %s  to page tables%s\n", "walk refs:",
                number(r->total[TG_ALL_WALK_REFS]).text,
                results->options->nested ? ", guest's and host's" : "");
   else if (results->options->nested)
      VG_(umsg)("%-18s %*s  the machine does not tell how it walks\n",
                "walk refs:", WIDTH, "unknown");
   const TgMissCost c = tg_miss_cost(r);
   if (!c.is_known)
      return;
   const TgNumber range = tg_miss_cost_cycles(&c);
   VG_(umsg)("%-18s %*s  estimated (%s)\n", "miss cycles:",
             width_for(range.text), range.text, tg_miss_cost_of_walk(m).text);
}

/* --- Memory --- */

static void print_backed(const HChar* text, void* opaque)
{
   (void)opaque;
   VG_(umsg)("  %s\n", text);
}

/* Prints the page sizes of the memory, for each machine that has others than base pages. */
static void print_memory(const TgResults* results)
{
   if (results->options->advice_group > 0 && VG_(clo_verbosity) < 2)
      return;
   for (UInt i = 0; i < results->options->n_machines; i++) {
      const TgMachine* m = results->result[i].machine;
      if (!tlb_backing_is_of_interest(tg_aspace_map(), tg_mmus.mmu[i].view))
         continue;
      VG_(umsg)("\n");
      VG_(umsg)("Pages of %s:\n", m->name);
      tlb_backing_describe(tg_aspace_map(), tg_mmus.mmu[i].view, print_backed, NULL);
   }
}

/* Prints that the heap could not grow under Valgrind where the kernel would have had room. */
static void print_overflow(void)
{
   ULong heap;
   if (tg_break_room_overflowed(&heap))
      VG_(umsg)("\nThe heap found no room to grow beyond %lluK, which natively it would have: "
                "malloc() went on with small mappings, so fewer of its pages can be huge, and "
                "more of them are touched than natively.\n", heap >> 10);
}

/* How often others used the TLBs. */
static void print_interruptions(const TgOptions* o)
{
   const HChar* said
      = o->kernel.syscalls           ? ""
        : o->kernel.switches.every > 0 ? "  drive out nothing (--syscall-tlb)"
        : "  drive out nothing: a lower bound (both: --syscall-tlb=none,flush)";
   const Bool asked = o->kernel.syscalls || o->kernel.switches.every > 0;
   if (!asked && VG_(clo_verbosity) == 0)
      return;
   if (asked || o->n_machines > 1)
      VG_(umsg)("\n");
   VG_(umsg)("%-18s %s%s\n", "system calls:", number(tg_interruptions.system_calls).text, said);
   if (o->kernel.switches.every > 0)
      VG_(umsg)("%-18s %s\n", "context switches:", number(tg_interruptions.switches).text);
}

void tg_summary_results(const TgResults* results, const HChar* out_file)
{
   (void)out_file; /* the answer, which is printed last, names it */
   if (results->options->n_machines == 1) {
      print_one_machine(&results->result[0]);
      if (VG_(clo_verbosity) > 0)
         print_cost(results, &results->result[0]);
   } else {
      print_fetches(&results->result[0], "I   refs:", TG_REFS);
      print_counts(&results->result[0], "D   refs:", TG_REFS);
      VG_(umsg)("\n");
      tg_machine_table_print(results);
      if (VG_(clo_verbosity) > 0)
         tg_advice_same_print(results);
   }
   print_interruptions(results->options);
   if (results->options->kernel.flushes) {
      VG_(umsg)("\n");
      tg_machine_table_print_flushes(results);
   }
   if (results->options->kernel.prefetches) {
      VG_(umsg)("\n");
      tg_machine_table_print_prefetches(results);
   }
   tg_threads_print();
   tg_copies_print(results);
   print_memory(results);
   print_overflow();
}

static void print_faults(const HChar* label, ULong n, const HChar* what)
{
   VG_(umsg)("%-18s %s  %s\n", label, number(n).text, what);
}

/* Whether a machine has rules for pages, other than one equivalent to --thp=always. */
static Bool any_machine_has_rules(const TgOptions* o)
{
   for (UInt i = 0; i < o->n_machines; i++) {
      const tlb_page_policy* p = &o->machine[i].pages;
      for (UInt j = 0; j < p->n_rules; j++) {
         if (p->rule[j].how != TLB_THP || p->rule[j].what != TLB_OF_ALL
             || j >= o->pages.policy.n_rules)
            return True;
      }
   }
   return False;
}

void tg_summary_faults(const TgResults* results, const HChar* log)
{
   const tlb_fault_counts* warm = tg_log_counts(TLB_VIEW_WARM);
   const tlb_fault_counts* cold = tg_log_counts(TLB_VIEW_COLD);
   VG_(umsg)("\n");
   print_faults("Major page faults:", warm->major,
                "(requiring I/O) with all files in the page cache");
   print_faults("Minor page faults:", warm->faults - warm->major, "as perf counts them");
   print_faults("Major page faults:", cold->major, "with no file in it");
   print_faults("Minor page faults:", cold->faults - cold->major, "");
   print_faults("page touches:", tg_log_counts(TLB_VIEW_4K)->faults,
                "that would be faults, were every page mapped alone");
   const ULong populated = tg_maps_model()->counts[TLB_VIEW_WARM].populated;
   if (populated != 0)
      print_faults("populated:", populated, "in MAP_POPULATE, mlock, madvise: minor for time(1)");
   if (any_machine_has_rules(results->options))
      VG_(umsg)("Page faults are those of --thp=%s: rules for pages are for TLBs alone.\n",
                tg_thp_name(results->options->pages.policy.thp));
   if (log != NULL && VG_(clo_verbosity) > 0) {
      HChar* name = tg_shell_name(log);
      VG_(umsg)("\n");
      VG_(umsg)("To see the page faults:  tg_faults %s\n", tg_shown(name));
      VG_(free)(name);
   }
}
