/* What misses cost on the machine at hand, taken from a machine file that was measured.
   Part of tlbgrind.  GPL-2.0-or-later; see COPYING. */

#include "unit.h"

#include "sim/machine/builtin.h"
#include "sim/machine/machine_file.h"
#include "sim/machine/measured_costs.h"

static tlb_machine machine, file;
static char text[TLB_MACHINE_TEXT_SIZE];
static tlb_reason why;

static void load(const char *name, tlb_machine *out)
{
   uint32_t line;
   const tlb_builtin *const b = tlb_builtin_machine(name);
   assert_non_null(b);
   assert_true(tlb_machine_parse(b->text, b->length, out, &line, &why));
}

/* The file is of the same processor, and has other costs. */
static void begin(void)
{
   load("zen4", &machine);
   tlb_machine_note_unknowns(&machine);
   load("zen4", &file);
   file.confidence = TLB_MEASURED;
   file.walk_cycles = 47;
   file.walk_spread = 0;
   file.walk_cycles_unknown = 0;
   file.walk_overlap = 66;
   file.walk_overlap_unknown = 0;
   file.cache[1].cycles = 1;
   file.memory.cycles = 570;
   for (unsigned i = 0; i < file.n_arrays; i++) {
      tlb_machine_array *const a = &file.array[i];
      a->g.entries *= 2;
      if (a->level == 2) {
         a->hit_cycles = 5;
         a->hit_spread = 0;
         a->overlap = 130;
         a->overlap_unknown = 0;
      }
   }
}

static int take(void)
{
   tlb_machine_print(&file, text, sizeof text);
   return tlb_measured_costs_take(text, strlen(text), &machine, &why);
}

static int has_note(const char *words)
{
   for (unsigned i = 0; i < machine.n_notes; i++) {
      if (strstr(machine.note[i].text, words) != NULL)
         return 1;
   }
   return 0;
}

TEST(costs)
{
   begin();
   assert_true(has_note("cycles of a walk unknown"));
   assert_true(take());
   assert_int_equal(machine.walk_cycles, 47);
   assert_int_equal(machine.walk_spread, 0);
   assert_false(machine.walk_cycles_unknown || machine.walk_overlap_unknown);
   assert_int_equal(machine.walk_overlap, 66);
   assert_int_equal(machine.cache[1].cycles, 1);
   assert_int_equal(machine.memory.cycles, 570);
   assert_false(has_note("cycles of a walk unknown"));
   const tlb_machine_array *const a = unit_array_of(&machine, "L2-DTLB");
   assert_int_equal(a->hit_cycles, 5);
   assert_int_equal(a->overlap, 130);
   /* Nothing but costs. */
   assert_int_equal(a->g.entries, 3072);
   assert_int_equal(unit_array_of(&machine, "DTLB")->g.entries, 72);
   assert_true(tlb_machine_check(&machine, &why));
}

/* Of a guest in base pages arrays hold no larger ones. */
TEST(guests)
{
   begin();
   file.host_page_shift = 12;
   file.walk[file.n_walk_steps - 1].cycles = 20;
   file.window = 300;
   assert_true(take());
   assert_int_equal(machine.host_page_shift, 12);
   assert_int_equal(machine.window, 300);
   assert_int_equal(tlb_machine_walk_cycles(&machine, 12), 47);
   assert_int_equal(tlb_machine_walk_cycles(&machine, 21), 27);
   for (unsigned i = 0; i < machine.n_arrays; i++) {
      assert_true(machine.array[i].g.page_sizes == 4096);
      assert_true(machine.array[i].splits && !machine.array[i].splits_unknown);
   }
   assert_true(tlb_machine_check(&machine, &why));
   assert_int_equal(tlb_machine_holds_large(&machine, 21), TLB_HOLDS_NO);
   /* Another file of the machine makes it none. */
   begin();
   assert_true(take());
   assert_int_equal(machine.host_page_shift, 0);
   assert_int_equal(tlb_machine_walk_cycles(&machine, 21), 47);
}

TEST(assumed_costs_are_not_taken)
{
   begin();
   file.walk_cycles_unknown = 1;
   for (unsigned i = 0; i < file.n_arrays; i++) {
      file.array[i].hit_cycles_unknown = file.array[i].level > 1;
      file.array[i].overlap_unknown = file.array[i].overlap != 0;
   }
   assert_true(take());
   assert_int_equal(machine.walk_cycles, 50);
   assert_int_equal(machine.walk_spread, 34);
   assert_true(machine.walk_cycles_unknown && machine.walk_overlap == 60);
   assert_int_equal(machine.cache[1].cycles, 10);
   assert_int_equal(unit_array_of(&machine, "L2-DTLB")->hit_cycles, 7);
   assert_true(has_note("cycles of a walk unknown"));
}

static void refused(const char *words)
{
   const tlb_machine before = machine;
   assert_false(take());
   assert_string_equal(why.text, words);
   assert_memory_equal(&machine, &before, sizeof machine);
}

TEST(other_files)
{
   begin();
   snprintf(file.title, sizeof file.title, "another");
   refused("it is of another processor: another");
   begin();
   file.confidence = 'A';
   refused("its confidence is not 'measured'");
   begin();
   const tlb_machine before = machine;
   tlb_machine_print(&file, text, sizeof text);
   text[100] = '\0';
   assert_false(tlb_measured_costs_take(text, 100, &machine, &why));
   assert_memory_equal(&machine, &before, sizeof machine);
   assert_false(tlb_measured_costs_take("x\n", 2, &machine, &why));
   assert_true(strncmp(why.text, "line 1: ", 8) == 0);
}

TEST(paths)
{
   static const struct {
      const char *config, *home, *path;
   } some[] = {
      { "/c", "/h", "/c/tlbgrind/host.machine" },
      { NULL, "/h", "/h/.config/tlbgrind/host.machine" },
      { "", "/h", "/h/.config/tlbgrind/host.machine" },
      { "c", "/h", "/h/.config/tlbgrind/host.machine" },
      { NULL, "h", NULL },
      { "c", "", NULL },
      { NULL, NULL, NULL },
   };
   char out[40];
   for (unsigned i = 0; i < sizeof some / sizeof *some; i++) {
      assert_int_equal(tlb_measured_file(some[i].config, some[i].home, out, sizeof out),
                       some[i].path != NULL);
      if (some[i].path != NULL)
         assert_string_equal(out, some[i].path);
   }
   assert_false(tlb_measured_file("/a-folder-of-some-length", NULL, out, sizeof out));
   assert_true(tlb_measured_file("/a-folder-of-leng", NULL, out, sizeof out));
   assert_int_equal(strlen(out), sizeof out - 1);
}

TEST(notes)
{
   begin();
   const unsigned n = machine.n_notes;
   tlb_measured_costs_note(&machine, "/h\xc3\xa4/x", NULL);
   assert_string_equal(machine.note[n].text,
                       "what misses cost was measured on this machine: /h?" "?/x");
   snprintf(why.text, sizeof why.text, "no");
   tlb_measured_costs_note(&machine, "/x", &why);
   assert_string_equal(machine.note[n + 1].text, "/x is not used: no");
}

int main(void)
{
   const struct CMUnitTest tests[] = {
      CLAIM("cycles and overlaps that were measured are taken, and nothing else", costs),
      CLAIM("a guest's walks are taken with the pages that its hypervisor leaves", guests),
      CLAIM("what the file assumes is not taken", assumed_costs_are_not_taken),
      CLAIM("a file of another processor, or no such file, changes nothing", other_files),
      CLAIM("the path is that of the user's configuration", paths),
      CLAIM("a note names the file, and why it is not used", notes),
   };
   return cmocka_run_group_tests_name("measured_costs", tests, NULL, NULL);
}
