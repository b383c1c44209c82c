/* The summary on stderr: cachegrind's manner, with TLBs. */

#include "pub_tool_basics.h"

#include "pub_tool_libcbase.h"
#include "pub_tool_libcprint.h"
#include "pub_tool_mallocfree.h"
#include "pub_tool_options.h"

#include "tg_out.h"
#include "tg_summary.h"

static void print_array(const HChar* description, void* opaque)
{
   (void)opaque;
   VG_(umsg)("  %s\n", description);
}

void tg_summary_machine(const TgRun* run)
{
   const TgMachine* m = &run->options->machine;
   if (VG_(clo_verbosity) == 0)
      return;
   VG_(umsg)("Machine: %s, base page %llu bytes\n", m->name,
             1ULL << run->options->page_shift);
   tg_describe_arrays(m, print_array, NULL);
   for (Word i = 0; i < VG_(sizeXA)(m->assumptions); i++)
      VG_(umsg)("  assumed: %s\n", *(HChar**)VG_(indexXA)(m->assumptions, i));
   VG_(umsg)("\n");
}

/* --- Numbers in columns --- */

enum { WIDTH = 18 };

/* "1,234,567", right-aligned. */
static void number(HChar out[WIDTH * 2], ULong n)
{
   HChar digits[32], grouped[48];
   UInt at = 0;
   const UInt length = VG_(snprintf)(digits, sizeof digits, "%llu", n);
   for (UInt i = 0; i < length; i++) {
      if (i > 0 && (length - i) % 3 == 0)
         grouped[at++] = ',';
      grouped[at++] = digits[i];
   }
   grouped[at] = '\0';
   VG_(snprintf)(out, WIDTH * 2, "%*s", WIDTH, grouped);
}

/* part * scale / whole with `places` decimals, rounded half up. The sums fit:
   counts stay below 2^64 / 10^6 / 2 in any run that ends. */
static void ratio(HChar out[32], ULong part, ULong whole, ULong scale,
                  UInt places, const HChar* unit)
{
   ULong one = 1;
   for (UInt i = 0; i < places; i++)
      one *= 10;
   const ULong n = whole == 0 ? 0 : (part * scale * one * 2 + whole)
                                       / (whole * 2);
   VG_(snprintf)(out, 32, "%llu.%0*llu%s", n / one, (Int)places, n % one, unit);
}

static ULong total(const TgRun* run, TgKind kind, UInt what)
{
   return run->total[tg_cost(kind, what)];
}

static ULong data(const TgRun* run, UInt what)
{
   return total(run, TG_READ, what) + total(run, TG_WRITE, what);
}

static void counts(const TgRun* run, const HChar* label, UInt what)
{
   HChar all[WIDTH * 2], reads[WIDTH * 2], writes[WIDTH * 2];
   number(all, data(run, what));
   number(reads, total(run, TG_READ, what));
   number(writes, total(run, TG_WRITE, what));
   VG_(umsg)("%-18s %s  (%s rd + %s wr)\n", label, all, reads, writes);
}

static void rates(const TgRun* run, const HChar* label, UInt what)
{
   HChar all[32], reads[32], writes[32];
   ratio(all, data(run, what), data(run, TG_REFS), 100, 3, "%");
   ratio(reads, total(run, TG_READ, what), total(run, TG_READ, TG_REFS), 100,
         3, "%");
   ratio(writes, total(run, TG_WRITE, what), total(run, TG_WRITE, TG_REFS),
         100, 3, "%");
   VG_(umsg)("%-18s %*s  (%*s    + %*s   )\n", label, WIDTH, all, WIDTH, reads,
             WIDTH, writes);
}

static void fetches(const TgRun* run, const HChar* label, UInt what)
{
   HChar n[WIDTH * 2];
   number(n, total(run, TG_FETCH, what));
   VG_(umsg)("%-18s %s\n", label, n);
}

static void fetch_rate(const TgRun* run, const HChar* label, UInt what)
{
   HChar r[32];
   ratio(r, total(run, TG_FETCH, what), total(run, TG_FETCH, TG_REFS), 100, 3,
         "%");
   VG_(umsg)("%-18s %*s\n", label, WIDTH, r);
}

/* Whether a shell takes the name as it is. */
static Bool is_plain(const HChar* name)
{
   for (; *name != '\0'; name++) {
      const HChar lower = VG_(tolower)(*name);
      if ((lower < 'a' || lower > 'z') && !VG_(isdigit)(*name)
          && VG_(strchr)("_./+-", *name) == NULL)
         return False;
   }
   return True;
}

/* The name as a shell wants it, to be freed. */
static HChar* quoted(const HChar* name)
{
   if (is_plain(name))
      return VG_(strdup)("tg.summary.name", name);
   /* Each of its quotes ends the quotation, stands alone, and begins another. */
   HChar* text = VG_(malloc)("tg.summary.name", 4 * VG_(strlen)(name) + 3);
   HChar* at = text;
   *at++ = '\'';
   for (; *name != '\0'; name++) {
      if (*name == '\'')
         at += VG_(sprintf)(at, "'\\''");
      else
         *at++ = *name;
   }
   *at++ = '\'';
   *at = '\0';
   return text;
}

void tg_summary_results(const TgRun* run, const HChar* out_file)
{
   const UInt levels = run->options->machine.design.levels;
   const ULong instructions = total(run, TG_FETCH, TG_REFS);
   const ULong walks = total(run, TG_FETCH, TG_WALKS) + data(run, TG_WALKS);
   HChar n[WIDTH * 2], r[32];

   if (VG_(clo_verbosity) == 0)
      return;
   fetches(run, "I   refs:", TG_REFS);
   fetches(run, "I1  TLB misses:", TG_MISS_1);
   if (levels > 2)
      fetches(run, "I2  TLB misses:", TG_MISS_2);
   fetches(run, "IL  TLB misses:", TG_WALKS);
   fetch_rate(run, "I1  TLB miss rate:", TG_MISS_1);
   fetch_rate(run, "IL  TLB miss rate:", TG_WALKS);
   VG_(umsg)("\n");

   counts(run, "D   refs:", TG_REFS);
   counts(run, "D1  TLB misses:", TG_MISS_1);
   if (levels > 2)
      counts(run, "D2  TLB misses:", TG_MISS_2);
   counts(run, "DL  TLB misses:", TG_WALKS);
   rates(run, "D1  TLB miss rate:", TG_MISS_1);
   rates(run, "DL  TLB miss rate:", TG_WALKS);
   VG_(umsg)("\n");

   number(n, walks);
   VG_(umsg)("%-18s %s\n", "page walks:", n);
   ratio(r, total(run, TG_FETCH, TG_MISS_1) + data(run, TG_MISS_1),
         instructions, 1000, 3, "");
   VG_(umsg)("%-18s %*s  per 1000 instructions\n", "L1  TLB misses:", WIDTH, r);
   ratio(r, walks, instructions, 1000, 3, "");
   VG_(umsg)("%-18s %*s  per 1000 instructions\n", "page walks:", WIDTH, r);

   if (out_file != NULL) {
      HChar* name = quoted(out_file);
      VG_(umsg)("\n");
      VG_(umsg)("To see which code misses:  tg_annotate %s\n", name);
      VG_(free)(name);
   }
}
