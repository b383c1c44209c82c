/* Prints the answer that a run gives. See output/answer.h. */

#include "pub_tool_basics.h"

#include "pub_tool_libcbase.h"
#include "pub_tool_libcprint.h"
#include "pub_tool_mallocfree.h"
#include "pub_tool_options.h"

#include "sim/machine/cost.h"

#include "options/machine_names.h"
#include "options/output_names.h"
#include "base/number_format.h"
#include "base/path.h"
#include "base/shell_name.h"
#include "base/shown.h"
#include "output/answer.h"
#include "output/miss_cost.h"

enum { WIDTH = 18 };

/* --- The share of the time, and where --- */

static void print_share(const TgResult* r, const TgMissCost* c)
{
   const ULong cycles = r->machine->cycles;
   if (!c->is_known)
      VG_(umsg)("%-18s %*s  the machine does not tell what a walk costs; "
                "--miss-cost does\n", "share of time:", WIDTH, "unknown");
   else if (cycles != 0)
      VG_(umsg)("%-18s %*s  of %llu cycles, estimated\n", "share of time:",
                WIDTH, tg_miss_cost_share(c, True).text, cycles);
   else
      VG_(umsg)("%-18s %*s  estimated (assumed: %d to %d instructions a cycle)\n",
                "share of time:", WIDTH, tg_miss_cost_share(c, False).text,
                TLB_LEAST_PER_CYCLE, TLB_MOST_PER_CYCLE);
}

/* A name of C++ can be longer than any screen. */
enum { LONGEST = 60 };

/* Leaves no part of a letter that has several bytes. */
static void cut(HChar* text)
{
   SizeT end = LONGEST - 3;
   if (VG_(strlen)(text) <= LONGEST)
      return;
   while (end > 0 && ((UChar)text[end] & 0xc0) == 0x80)
      end--;
   VG_(strcpy)(text + end, "...");
}

/* Whether "<" there begins template arguments: it does not in operator<. */
static Bool begins_arguments(const HChar* name, SizeT at)
{
   static const HChar word[] = "operator";
   const SizeT length = sizeof word - 1;
   if (at == 0 || VG_(strchr)(" <,(&*", name[at - 1]) != NULL)
      return False;
   return at < length || VG_(strncmp)(name + at - length, word, length) != 0;
}

/* Whether the type arguments of a generic function of Go begin there. */
static Bool begins_shapes(const HChar* name)
{
   static const HChar shapes[] = "[go.shape.";
   return VG_(strncmp)(name, shapes, sizeof shapes - 1) == 0;
}

/* The name with "..." in place of template arguments, at most LONGEST bytes; to be freed. */
static HChar* folded(const HChar* name)
{
   HChar* text = VG_(malloc)("tg.answer.name", 5 * VG_(strlen)(name) + sizeof "...");
   HChar* to = text;
   HChar opening = '<', closing = '>';
   UInt depth = 0;
   for (SizeT at = 0; name[at] != '\0'; at++) {
      const Bool closes = name[at] == closing && depth > 0 && name[at - 1] != '-';
      if (depth == 0 && ((name[at] == '<' && begins_arguments(name, at))
                         || begins_shapes(name + at))) {
         opening = name[at];
         closing = opening == '<' ? '>' : ']';
         to += VG_(sprintf)(to, "%c...%c", opening, closing);
         depth = 1;
      } else if (depth > 0) {
         depth += name[at] == opening;
         depth -= closes;
      } else {
         *to++ = name[at];
      }
   }
   *to = '\0';
   if (depth > 0)
      VG_(strcpy)(text, name);
   cut(text);
   return text;
}

static void print_name(const TgFunction* f)
{
   const Bool has_name = VG_(strcmp)(f->name, "???") != 0;
   HChar* whole = folded(has_name ? f->name : "code without symbols");
   VG_(umsg)("%s", tg_shown(whole));
   VG_(free)(whole);
   if (VG_(strcmp)(f->object, "???") == 0)
      return;
   const HChar* object = tg_path_file(f->object);
   /* Of what is in no file, such as [vdso], it has brackets already. */
   VG_(umsg)(object[0] == '[' ? " %s" : " [%s]", tg_shown(object));
}

/* Prints the function that costs most. */
static void print_place(const TgResult* r, const HChar* of)
{
   if (r->dearest.function == NULL)
      return;
   VG_(umsg)("%-18s %*s  of %s: ", "most costly:", WIDTH,
             tg_ratio(r->dearest.cycles, r->total[TG_ALL_CYCLES], 100, 1, "%").text, of);
   print_name(r->dearest.function);
   VG_(umsg)("\n");
}

/* The machine that loses the largest share; with --advice, of those with their own pages. NULL:
   none tells what a miss costs. */
static const TgResult* dearest(const TgResults* results)
{
   const TgResult* found = NULL;
   ULong most = 0;
   const UInt group = results->options->advice_group;
   for (UInt i = 0; i < results->options->n_machines; i += group > 0 ? group : 1) {
      const TgMissCost c = tg_miss_cost(&results->result[i]);
      if (c.is_known && (found == NULL || c.most_share > most)) {
         found = &results->result[i];
         most = c.most_share;
      }
   }
   return found;
}

/* All shares stand in the table. */
static void print_dearest(const TgResults* results)
{
   const TgResult* r = dearest(results);
   if (r == NULL)
      return;
   const TgMissCost c = tg_miss_cost(r);
   HChar of[200];
   VG_(snprintf)(of, sizeof of, "the miss cycles of %s", r->machine->name);
   VG_(umsg)("%-18s %*s  on %s, estimated\n", "share of time:", WIDTH,
             tg_miss_cost_share(&c, r->machine->cycles != 0).text, r->machine->name);
   print_place(r, of);
}

/* --- The next command --- */

/* More out-files than these are not listed one by one. */
enum { MOST_LISTED = 8 };

static void print_details_of_one(const HChar* out_file)
{
   HChar* name = tg_shell_name(out_file);
   VG_(umsg)("To see which code misses:  tg_annotate %s\n", tg_shown(name));
   VG_(free)(name);
}

/* Prints the command with the files of the machines as they are, beside which the others are
   found. */
static void print_details_of_advice(const TgResults* results, const HChar* out_file)
{
   const TgOptions* o = results->options;
   VG_(umsg)("To see what larger pages would save:  tg_annotate --advice");
   for (UInt i = 0; i < o->n_machines; i += o->advice_group) {
      HChar* whole = tg_output_name_of(out_file, &o->machine[i], o->n_machines);
      HChar* name = tg_shell_name(whole);
      VG_(umsg)(" %s", tg_shown(name));
      VG_(free)(name);
      VG_(free)(whole);
   }
   VG_(umsg)("\n");
}

/* Prints a command for each machine, because the counts of several cannot be added. With more than
   MOST_LISTED, one pattern, and the machines whose label differs from their name in the table. */
static void print_details_of_many(const TgResults* results, const HChar* out_file)
{
   const UInt n = results->options->n_machines;
   if (results->options->advice_group > 0) {
      print_details_of_advice(results, out_file);
      return;
   }
   if (n <= MOST_LISTED) {
      VG_(umsg)("To see which code misses:\n");
   } else {
      HChar* name = tg_shell_name(out_file);
      VG_(umsg)("To see which code misses, for each MACHINE of the table "
                "(with _ for - and .):\n");
      VG_(umsg)("  tg_annotate %s_MACHINE\n", tg_shown(name));
      VG_(free)(name);
   }
   for (UInt i = 0; i < n; i++) {
      const TgMachine* m = &results->options->machine[i];
      if (n > MOST_LISTED && tg_machine_names_is_label(m))
         continue;
      HChar* whole = tg_output_name_of(out_file, m, n);
      HChar* name = tg_shell_name(whole);
      VG_(umsg)("  tg_annotate %s\n", tg_shown(name));
      VG_(free)(name);
      VG_(free)(whole);
   }
}

static void print_details(const TgResults* results, const HChar* out_file)
{
   if (results->options->n_machines == 1)
      print_details_of_one(out_file);
   else
      print_details_of_many(results, out_file);
}

/* --- All of it --- */

void tg_answer_print_commands(const TgResults* results, const HChar* out_file)
{
   if (VG_(clo_verbosity) > 0)
      print_details(results, out_file);
}

void tg_answer_print(const TgResults* results, const HChar* out_file)
{
   const Bool is_one = results->options->n_machines == 1;
   if (VG_(clo_verbosity) > 0 && (is_one || out_file != NULL || dearest(results) != NULL))
      VG_(umsg)("\n");
   if (is_one) {
      const TgMissCost c = tg_miss_cost(&results->result[0]);
      print_share(&results->result[0], &c);
      print_place(&results->result[0], "the miss cycles");
   } else {
      print_dearest(results);
   }
   if (out_file != NULL)
      print_details(results, out_file);
}
