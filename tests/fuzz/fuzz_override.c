/* Fuzzes the list of machines of --machine=, with ranges and overrides of skylake.
   Part of tlbgrind.  GPL-2.0-or-later; see COPYING. */

#include "fuzz.h"

#include <stdlib.h>
#include <string.h>

#include "sim/machine/builtin.h"
#include "sim/machine/machine_argument.h"
#include "sim/machine/machine_file.h"
#include "sim/machine/override.h"

const char *const fuzz_words[] = {
   "skylake:", "stlb.", "STLB-1G.", "dtlb-4k.", "itlb-2M.", "walk.", "2M.", "512G.", "name=",
   "base-page=", "note=", "entries=", "ways=", "policy=", "pages=", "larger-pages=", "level=",
   "users=", "threads=", "hit-cycles=", "coalesces=", "cache=", "cycles=", "source=", "title=",
   "cache-l1d.", "cache-L2.", "memory.", "size=", "line=", "share=", "overlap=", "entry-bytes=",
   "window=", "50%", "2.4", "32K", "1M", "full", "lru", "plru", "random:7", "own", "none", "joined",
   "in-last-level", "unknown", "unknown, assume ", "4K", "4K+2M", "split", "all", "2 shared", "A",
   "1", "8", "16", "64", "1536", "1048576", "4294967296", "18446744073709551616", "..", "1..64",
   "8..32/8", "/", ",", "@", ":", "=", ".", "2M.cache=own,2M.entries=32,2M.ways=4,2M.policy=lru",
   NULL
};

const char *const fuzz_more = NULL;

static tlb_machine skylake, machine, again;
static char printed[TLB_MACHINE_TEXT_SIZE], room[TLB_OVERRIDE_ROOM];

/* Whatever the file has of them: one near, one behind it, and the memory. */
static void add_caches(tlb_machine *m)
{
   m->n_caches = 2;
   m->cache[0] = (tlb_table_cache){ .name = "L1D", .size = 32 << 10, .line = 64, .ways = 8,
                                    .share = 50 };
   m->cache[1] = (tlb_table_cache){ .name = "L2", .size = 1 << 20, .line = 64, .ways = 16,
                                    .share = 50, .cycles = 10 };
   m->memory = (tlb_table_cache){ .cycles = 300, .spread = 100 };
}

static void check_change(const char *overrides)
{
   const tlb_builtin *const b = tlb_builtin_machine("skylake");
   tlb_reason blame, why;
   uint32_t line;
   memset(&blame, 'x', sizeof blame);
   memset(&why, 'x', sizeof why);
   if (skylake.n_arrays == 0
       && !tlb_machine_parse(b->text, b->length, &skylake, &line, &why))
      fuzz_fail("skylake is not read");
   if (skylake.n_caches == 0)
      add_caches(&skylake);
   machine = skylake;
   if (!tlb_override(&machine, overrides, room, &blame, &why)) {
      fuzz_check_reason(why.text, sizeof why.text);
      if (memchr(blame.text, '\0', sizeof blame.text) == NULL)
         fuzz_fail("what is to blame has no end");
      return;
   }
   if (!tlb_machine_check(&machine, &why))
      fuzz_fail("changed, but cannot be");
   tlb_machine_print(&machine, printed, sizeof printed);
   if (!tlb_machine_parse(printed, strlen(printed), &again, &line, &why))
      fuzz_fail("changed, but not read again");
   if (memcmp(&machine, &again, sizeof machine) != 0)
      fuzz_fail("another machine when read again");
}

static void check_machine(const char *one)
{
   tlb_reason why;
   memset(&why, 'x', sizeof why);
   const tlb_argument_overrides o = tlb_argument_split(one);
   const size_t n = strlen(one);
   if (o.name > o.from || o.from + o.length > n)
      fuzz_fail("overrides are outside of the machine");
   if (o.length == 0)
      return;
   char *const overrides = strdup(one + o.from);
   overrides[o.length] = '\0';
   check_change(overrides);
   free(overrides);
}

static void check_list(const char *list)
{
   enum { MOST = 64 };
   for (;;) {
      const size_t n = tlb_argument_length(list);
      tlb_reason why;
      if (list[n] != '\0' && list[n] != ',')
         fuzz_fail("a machine ends at no comma");
      char *const one = strdup(list), *const out = malloc(n + 1);
      one[n] = '\0';
      memset(&why, 'x', sizeof why);
      const unsigned count = tlb_argument_count(one, &why);
      if (count == 0)
         fuzz_check_reason(why.text, sizeof why.text);
      for (unsigned i = 0; i < count && count <= MOST; i++) {
         tlb_argument_write(one, i, out, n + 1);
         if (tlb_argument_count(out, &why) != 1 || strlen(out) > n)
            fuzz_fail("a machine of a range is no single one");
         if (i == 0 || i == count - 1)
            check_machine(out);
      }
      free(one);
      free(out);
      if (list[n] == '\0')
         return;
      list += n + 1;
   }
}

void fuzz_one(char *data, size_t size)
{
   char *const list = malloc(size + 1);
   memcpy(list, data, size);
   list[size] = '\0';
   check_list(list);
   free(list);
}
