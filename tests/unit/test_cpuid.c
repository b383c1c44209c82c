/* Machines that CPUID describes, for processors of many kinds.

   tests/unit/cpuid has their answers, in NAME.cpuid as `cpuid -r` prints them, and what is to
   come of them, in the .cases files. Each paragraph of these is one test:
      claim TITLE
      processor NAME       NAME.cpuid; without this line a processor that answers nothing
      0xLEAF 0xSUBLEAF: eax=... ebx=... ecx=... edx=...
                           an answer that takes the place of the one in NAME.cpuid
      title TITLE          of the machine; this and all that follows is what must come out
      isa NAME
      file NAME            the machine file of this processor, or none
      unknown              CPUID tells too little, so there are no arrays
      NAME ENTRIES/WAYS[ threads N][ splits?]; SOURCE
                           an array; the name has level, side and page sizes; = for fully
                           associative, ~ for / where the ways are a choice; splits? where it
                           is unknown whether the array takes pieces of larger pages
      walk STEP...         the logarithm of what an entry covers, cached SHIFT for a step with a
                           cache, ? where that is unknown
      note TEXT            but for the notes that follow from the figures
   A new processor needs a NAME.cpuid and a paragraph.
   Part of tlbgrind.  GPL-2.0-or-later; see COPYING. */

#include "cpuid_support.h"

#include "sim/machine/builtin.h"
#include "sim/machine/cpuid_dump.h"
#include "sim/machine/machine_file.h"

enum { MAX_CASES = 100, MAX_CHANGES = 4, MAX_LINES = 24 };

typedef struct {
   const char *file;
   const char *claim;
   const char *processor; /* NULL: answers nothing */
   unsigned n_changes;
   answer change[MAX_CHANGES];
   unsigned first_line; /* number of line[0] in the file */
   unsigned n_lines;
   const char *line[MAX_LINES];
   unsigned n_seen; /* lines that the machine has been compared with */
} test_case;

static test_case cases[MAX_CASES];
static unsigned n_cases;

static void set(processor *p, uint32_t leaf, uint32_t subleaf, uint32_t eax, uint32_t ebx,
                uint32_t ecx, uint32_t edx)
{
   set_answer(p, &(const answer){ leaf, subleaf, { eax, ebx, ecx, edx } });
}

/* CPUID is believed, but for arrays whose ways cannot be; one of base pages takes the machine with
   it. */
static void check_confidence(const tlb_machine *m)
{
   const int doubtful = m->confidence == 'C';
   int of_base_pages = 0;
   assert_true(doubtful || m->confidence == 'A');
   for (unsigned i = 0; i < m->n_arrays; i++) {
      const tlb_machine_array *const a = &m->array[i];
      if (a->confidence == (doubtful ? 'A' : '\0'))
         continue;
      assert_int_equal(a->confidence, doubtful ? '\0' : 'C');
      assert_true(a->ways_unknown && a->g.ways == a->g.entries);
      of_base_pages |= (a->g.page_sizes & 1 << 12) != 0;
   }
   assert_int_equal(of_base_pages, doubtful);
}

/* What every machine has, and no note is cut. */
static void check_common(const tlb_machine *m, int known)
{
   tlb_reason why;
   assert_string_equal(m->name, "cpuid");
   assert_int_equal(m->base_page_shift, 12);
   assert_int_equal(m->year, 0);
   check_confidence(m);
   assert_true((m->walk_cycles == TLB_UNKNOWN) != m->walk_cycles_unknown);
   assert_false(m->software_walk);
   assert_true(m->n_notes <= TLB_MAX_NOTES);
   for (unsigned i = 0; i < m->n_notes; i++)
      assert_in_range(strlen(m->note[i].text), 10,
                      sizeof m->note[0].text - 2);
   if (!known) {
      assert_int_equal(m->n_arrays, 0);
      return;
   }
   if (!tlb_machine_check(m, &why))
      fail_msg("%s", why.text);
   for (unsigned i = 0; i < m->n_arrays; i++) {
      const tlb_machine_array *const a = &m->array[i];
      /* Of those that the machine file stands in for, the policy may be known. */
      assert_true(a->g.policy == TLB_LRU || !a->policy_unknown);
      assert_int_equal(a->coalesce_shift, 0);
      if (a->level == 1)
         assert_true(a->hit_cycles == 0 && !a->hit_cycles_unknown);
      else
         assert_true((a->hit_cycles == TLB_UNKNOWN) != a->hit_cycles_unknown);
      assert_int_equal(strncmp(a->source, "CPUID leaf ", 11), 0);
   }
}

/* Takes away the notes that follow from what is marked in the machine. */
static void keep_own_notes(tlb_machine *m)
{
   unsigned kept = 0;
   for (unsigned i = 0; i < m->n_notes; i++) {
      if (!tlb_machine_note_follows(m, m->note[i].text))
         m->note[kept++] = m->note[i];
   }
   /* That of the policies at least. */
   assert_true(kept < m->n_notes);
   m->n_notes = kept;
}


static tlb_machine machine_of(processor *p, int known)
{
   tlb_machine m;
   memset(&m, 0xA5, sizeof m);
   assert_int_equal(tlb_cpuid_machine(ask_processor, p, &m), known);
   check_common(&m, known);
   if (known)
      keep_own_notes(&m);
   return m;
}

/* --- Cases --- */

/* The next line of the case must be this one. */
__attribute__((format(printf, 2, 3)))
static void expect(test_case *c, const char *format, ...)
{
   char text[600];
   va_list args;
   va_start(args, format);
   vsnprintf(text, sizeof text, format, args);
   va_end(args);
   const char *const line = c->n_seen < c->n_lines ? c->line[c->n_seen] : "no more lines";
   if (strcmp(text, line) != 0)
      fail_msg("%s:%u: expected: %s; there is: %s", c->file, c->first_line + c->n_seen, line,
               text);
   c->n_seen++;
}

/* Name, entries and ways, and what else is not usual. */
static void print_array(const tlb_machine_array *a, char *text, size_t size)
{
   char ways[16] = "=", threads[24] = "";
   if (a->g.ways != a->g.entries)
      snprintf(ways, sizeof ways, "%u", a->g.ways);
   if (a->threads != 0)
      snprintf(threads, sizeof threads, " threads %u", a->threads);
   snprintf(text, size, "%s %u%s%s%s%s", a->name, a->g.entries, a->ways_unknown ? "~" : "/", ways,
            threads, a->splits_unknown ? " splits?" : "");
}

static void print_walk(const tlb_machine *m, char *text, size_t size)
{
   size_t n = (size_t)snprintf(text, size, "walk%s", m->n_walk_steps == 0 ? " unknown" : "");
   for (unsigned i = 0; i < m->n_walk_steps; i++) {
      const tlb_walk_step *const s = &m->walk[i];
      n += (size_t)snprintf(text + n, size - n, "%s %u%s", s->cached ? " cached" : "", s->shift,
                            s->cache_unknown ? "?" : "");
      assert_true(n < size);
   }
}

/* Whether the machine file is the processor's: its arrays have the same entries. */
static int describes(const tlb_machine *m)
{
   for (unsigned i = 0; i < m->n_notes; i++) {
      if (strstr(m->note[i].text, " describes this processor") != NULL)
         return 1;
   }
   return 0;
}

/* CPUID says nothing of cycles: they are those of the processor's machine file, and assumed. */
static void check_costs(const tlb_machine *m, const char *file)
{
   tlb_machine from = { .walk_cycles = TLB_UNKNOWN };
   uint32_t line;
   tlb_reason why;
   const tlb_builtin *const b = file != NULL && describes(m) ? tlb_builtin_machine(file) : NULL;
   if (b != NULL)
      assert_true(tlb_machine_parse(b->text, b->length, &from, &line, &why));
   assert_int_equal(m->walk_cycles, from.walk_cycles);
   assert_int_equal(m->walk_spread, from.walk_spread);
   for (unsigned i = 0; i < m->n_arrays; i++) {
      const tlb_machine_array *const a = &m->array[i];
      uint32_t least = TLB_UNKNOWN, most = 0;
      for (unsigned j = 0; j < from.n_arrays; j++) {
         const tlb_machine_array *const o = &from.array[j];
         if (o->level == a->level && (o->users & a->users) != 0 && o->hit_cycles != TLB_UNKNOWN) {
            least = o->hit_cycles - o->hit_spread < least ? o->hit_cycles - o->hit_spread : least;
            most = o->hit_cycles > most ? o->hit_cycles : most;
         }
      }
      if (a->level > 1 && least == TLB_UNKNOWN)
         assert_true(a->hit_cycles == TLB_UNKNOWN);
      else if (a->level > 1)
         assert_true(a->hit_cycles == most && a->hit_cycles - a->hit_spread == least);
   }
}

static void compare(test_case *c, const tlb_machine *m, int known, const char *file)
{
   char text[200];
   c->n_seen = 0;
   expect(c, "title %s", m->title);
   expect(c, "isa %s", m->isa);
   expect(c, "file %s", file != NULL ? file : "none");
   if (!known)
      expect(c, "unknown");
   for (unsigned i = 0; i < m->n_arrays; i++) {
      print_array(&m->array[i], text, sizeof text);
      expect(c, "%s; %s", text, m->array[i].source);
   }
   print_walk(m, text, sizeof text);
   expect(c, "%s", text);
   for (unsigned i = 0; i < m->n_notes; i++)
      expect(c, "note %s", m->note[i].text);
   if (c->n_seen < c->n_lines)
      expect(c, "no more lines");
}

/* A dump must give what the answers give without it. */
static void compare_dump(test_case *c, const processor *p)
{
   static tlb_cpuid_dump out;
   static dump d;
   uint64_t line;
   tlb_reason why;
   tlb_machine m;
   d.n = 0;
   add_cpu(&d, 0, p);
   if (!tlb_cpuid_dump_read(d.text, d.n, &out, &line, &why))
      fail_msg("%s:%llu: %s", c->processor, (unsigned long long)line, why.text);
   assert_int_equal(out.n, 1);
   tlb_cpuid_processor *const read = &out.processor[0];
   assert_true(tlb_cpuid_machine(tlb_cpuid_dump_ask, read, &m));
   keep_own_notes(&m);
   compare(c, &m, 1, tlb_cpuid_machine_file(tlb_cpuid_dump_ask, read));
}

static void check_case(void **state)
{
   test_case *const c = *state;
   processor p = { .n = 0 };
   if (c->processor != NULL)
      p = read_processor(c->processor);
   for (unsigned i = 0; i < c->n_changes; i++)
      set_answer(&p, &c->change[i]);
   int known = 1;
   for (unsigned i = 0; i < c->n_lines; i++)
      known &= strcmp(c->line[i], "unknown") != 0;
   const tlb_machine m = machine_of(&p, known);
   compare(c, &m, known, tlb_cpuid_machine_file(ask_processor, &p));
   if (known)
      check_costs(&m, tlb_cpuid_machine_file(ask_processor, &p));
   if (c->processor != NULL && c->n_changes == 0)
      compare_dump(c, &p);
}

static void refuse_case(const char *file, unsigned number, const char *why)
{
   fprintf(stderr, "%s:%u: %s\n", file, number, why);
   exit(1);
}

static void add_line(const char *file, unsigned number, const char *line)
{
   test_case *const c = &cases[n_cases - (n_cases > 0)];
   answer a;
   if (strncmp(line, "claim ", 6) == 0) {
      if (n_cases == MAX_CASES)
         refuse_case(file, number, "too many cases");
      cases[n_cases++] = (test_case){ .file = file, .claim = line + 6 };
   } else if (n_cases == 0 || c->file != file) {
      refuse_case(file, number, "expected: claim");
   } else if (strncmp(line, "processor ", 10) == 0) {
      c->processor = line + 10;
   } else if (scan_answer(line, &a)) {
      if (c->n_changes == MAX_CHANGES)
         refuse_case(file, number, "too many answers");
      c->change[c->n_changes++] = a;
   } else {
      if (c->n_lines == MAX_LINES)
         refuse_case(file, number, "too many lines");
      if (c->n_lines == 0)
         c->first_line = number;
      c->line[c->n_lines++] = line;
   }
}

/* The lines are kept: cases point to them. */
static void read_cases(const char *file)
{
   char *text = NULL;
   size_t size = 0;
   FILE *const f = fopen(file, "r");
   if (f == NULL || getdelim(&text, &size, '\0', f) < 0)
      refuse_case(file, 0, "the file cannot be read, or is empty");
   fclose(f);
   unsigned number = 1;
   for (char *line = text, *end; (end = strchr(line, '\n')) != NULL; line = end + 1, number++) {
      *end = '\0';
      if (*line != '\0' && *line != '#')
         add_line(file, number, line);
   }
}

static void has_case(const char *name, const processor *p)
{
   unsigned n = 0;
   (void)p;
   for (const test_case *c = cases; c < cases + n_cases; c++)
      n += c->processor != NULL && c->n_changes == 0 && strcmp(c->processor, name) == 0;
   if (n == 0)
      fail_msg("%s has no case that takes its answers as they are", name);
}

TEST(all_have_cases)
{
   for_each_processor(has_case);
}

/* --- Intel --- */

/* A processor of Intel whose leaf 2 has this descriptor beside an array for each side. */
static processor with_descriptor(unsigned d)
{
   processor p = { .n = 0 };
   set(&p, 0, 0, 2, 0x756e6547, 0x6c65746e, 0x49656e69);
   set(&p, 2, 0, 0x03010001 | d << 8, 0, 0, 0);
   return p;
}

/* What the descriptor makes of the data side. */
static void descriptor(unsigned d, const char *expected)
{
   processor p = with_descriptor(d);
   char text[256] = "", array[200];
   const tlb_machine m = machine_of(&p, 1);
   for (unsigned i = 0; i < m.n_arrays; i++) {
      const size_t n = strlen(text);
      print_array(&m.array[i], array, sizeof array);
      snprintf(text + n, sizeof text - n, "%s%s", i == 0 ? "" : ", ", array);
   }
   assert_int_equal(strncmp(text, "ITLB-4K 32/4, ", 14), 0);
   assert_string_equal(text + 14, expected);
}

TEST(all_descriptors)
{
   unsigned arrays = 0;
   for (unsigned d = 0; d < 256; d++) {
      processor p = with_descriptor(d);
      tlb_machine m;
      /* With 56 alone in front of it, 03 is the second level. */
      assert_int_equal(tlb_cpuid_machine(ask_processor, &p, &m), d != 0x56);
      arrays += d != 0x56 ? m.n_arrays - 2 : 1;
   }
   /* 41 descriptors tell of arrays, 63 and C3 of two; 01 and 03 stand there
      already. */
   assert_int_equal(arrays, 41 + 2 - 2);
   descriptor(0x00, "DTLB-4K 64/4");
   descriptor(0x04, "DTLB-4K 64/4, DTLB-4M 8/4");
   descriptor(0x64, "DTLB-4K 64/4, DTLB-4K-b 512/4");
   descriptor(0xb3, "DTLB-4K 64/4, DTLB-4K-b 128/4");
   descriptor(0xc2, "DTLB-4K 64/4, L2-DTLB-4K-2M 16/4 splits?");
   descriptor(0xc4, "DTLB-4K 64/4, DTLB-2M-4M 32/4");
   descriptor(0x6a, "DTLB-4K 64/8, L2-DTLB-4K 64/4 splits?");
   /* Caches and prefetching. */
   descriptor(0xff, "DTLB-4K 64/4");
   descriptor(0x40, "DTLB-4K 64/4");
   descriptor(0xf0, "DTLB-4K 64/4");
}

static tlb_cpuid ask_endless(void *opaque, uint32_t leaf, uint32_t subleaf)
{
   unsigned *const asked = opaque;
   ++*asked;
   if (leaf == 0)
      return (tlb_cpuid){ 0x20, 0x756e6547, 0x6c65746e, 0x49656e69 };
   if (leaf == 2)
      return (tlb_cpuid){ 0x0000feff, 0, 0, 0 };
   if (leaf == 0x18)
      return (tlb_cpuid){ 0xffffffff, 0x00040001, 4 + subleaf, 0x21 };
   return (tlb_cpuid){ 0, 0, 0, 0 };
}

TEST(endless)
{
   unsigned asked = 0;
   tlb_machine m;
   assert_false(tlb_cpuid_machine(ask_endless, &asked, &m));
   check_common(&m, 0);
   assert_in_range(asked, 64, 80);
}

/* 36 arrays: each level, each kind of reference, each page size by itself. */
static tlb_cpuid ask_many(void *opaque, uint32_t leaf, uint32_t subleaf)
{
   static const uint32_t types[3] = { 2, 4, 5 };
   (void)opaque;
   if (leaf == 0)
      return (tlb_cpuid){ 0x20, 0x756e6547, 0x6c65746e, 0x49656e69 };
   if (leaf == 2)
      return (tlb_cpuid){ 0x0000fe01, 0, 0, 0 };
   if (leaf != 0x18 || subleaf == 0)
      return (tlb_cpuid){ 36, 0, 0, 0 };
   const uint32_t i = subleaf - 1;
   return (tlb_cpuid){ 0, 0x00040000 | 1u << (i / 3 % 4), 4,
                       types[i % 3] | (1 + i / 12) << 5 };
}

TEST(too_many)
{
   tlb_machine m;
   assert_true(tlb_cpuid_machine(ask_many, NULL, &m));
   check_common(&m, 1);
   keep_own_notes(&m);
   assert_int_equal(m.n_arrays, TLB_MAX_ARRAYS);
   assert_int_equal(m.n_notes, 1);
   assert_string_equal(m.note[0].text,
                       "CPUID describes more arrays than are simulated; those "
                       "that come last are left out");
}

/* --- AMD --- */

/* The second level of the data side, with that code and that many entries. */
static void amd_code(uint32_t code, uint32_t entries, const char *expected)
{
   processor p = read_processor("jaguar");
   set(&p, 1, 0, 0x00880F00, 0, 0, 0); /* a model without a machine file,
                                          which would give the ways */
   set(&p, 0x80000006, 0, 0, code << 28 | entries << 16 | 0x1100, 0, 0);
   const tlb_machine m = machine_of(&p, 1);
   char text[256];
   assert_string_equal(m.array[4].name, "L2-ITLB-4K");
   if (*expected == '\0') {
      assert_int_equal(m.n_arrays, 5);
      return;
   }
   assert_int_equal(m.n_arrays, 6);
   const tlb_geometry *const g = &m.array[5].g;
   snprintf(text, sizeof text, "%u%s%u", g->entries,
            m.array[5].ways_unknown ? "~" : "/", g->ways);
   assert_string_equal(text, expected);
}

TEST(amd_codes)
{
   amd_code(1, 512, "512/1");
   amd_code(2, 512, "512/2");
   amd_code(3, 1536, "1536/3");
   amd_code(4, 512, "512~4");
   amd_code(4, 1280, "1280~5");
   amd_code(5, 768, "768~6");
   amd_code(5, 896, "896~7");
   amd_code(6, 3072, "3072~12");
   amd_code(6, 2048, "2048~8");
   amd_code(8, 1024, "1024~16");
   amd_code(8, 1536, "1536~24");
   amd_code(10, 1024, "1024~32");
   amd_code(11, 1536, "1536~48");
   amd_code(12, 1024, "1024~64");
   amd_code(13, 1536, "1536~96");
   amd_code(14, 1024, "1024~128");
   amd_code(15, 1000, "1000/1000");
   amd_code(0, 512, "");
   /* Codes without a meaning give no array. */
   amd_code(7, 512, "");
   amd_code(9, 512, "");
   /* Nor do ways that are all wrong for the entries. */
   amd_code(4, 509, "");
}

/* --- All vendors --- */

/* Whatever the family and model, the file is there. */
TEST(files_are_there)
{
   static const uint32_t vendors[4][3] = {
      { 0x756e6547, 0x6c65746e, 0x49656e69 },
      { 0x68747541, 0x444d4163, 0x69746e65 },
      { 0x6f677948, 0x656e6975, 0x6e65476e },
      { 0x746e6543, 0x736c7561, 0x48727561 },
   };
   const char *seen[128];
   unsigned n = 0;
   for (unsigned i = 0; i < 4 * 2 * 27 * 256; i++) {
      const uint32_t *const v = vendors[i % 4];
      const uint32_t family = i / 8 % 27, model = i / 8 / 27;
      const uint32_t base = family < 15 ? family : 15;
      processor p = { .n = 0 };
      set(&p, 0, 0, 0x20, v[0], v[1], v[2]);
      set(&p, 1, 0,
          (family - base) << 20 | (model >> 4) << 16 | base << 8
             | (model & 15) << 4,
          0, 0, 0);
      set(&p, 7, 0, 0, 0, 0, 1u << 15);
      set(&p, 0x1a, 0, (i / 4 % 2 ? 0x20u : 0x40u) << 24, 0, 0, 0);
      const char *const name = tlb_cpuid_machine_file(ask_processor, &p);
      if (name == NULL)
         continue;
      if (tlb_builtin_machine(name) == NULL)
         fail_msg("family %u model %u is said to be %s", family, model, name);
      unsigned j = 0;
      while (j < n && strcmp(seen[j], name) != 0)
         j++;
      if (j == n)
         seen[n++] = name;
   }
   assert_int_equal(n, 43);
}

/* What does not matter is neither asked for nor looked at. */
TEST(what_matters)
{
   unsigned n = 0;
   for (uint32_t i = 0; i < 0x100; i++) {
      for (uint32_t sub = 0; sub < 0x100; sub++) {
         const tlb_cpuid basic = tlb_cpuid_matters(i, sub);
         const tlb_cpuid more = tlb_cpuid_matters(0x80000000u + i, sub);
         n += (basic.eax | basic.ebx | basic.ecx | basic.edx) != 0;
         n += (more.eax | more.ebx | more.ecx | more.edx) != 0;
      }
   }
   assert_in_range(n + 1, 50, TLB_CPUID_MAX_ANSWERS);
   const tlb_cpuid version = tlb_cpuid_matters(1, 0);
   assert_true(version.eax == 0xffffffff && version.ebx == 0);
}

/* Random answers, the same for the same question, that are near enough to real
   ones to get far. */
typedef struct {
   uint64_t seed;
   unsigned kind;
   unsigned asked;
} dice;

static tlb_cpuid ask_dice(void *opaque, uint32_t leaf, uint32_t subleaf)
{
   static const uint32_t vendor[4][3] = {
      { 0x756e6547, 0x6c65746e, 0x49656e69 },
      { 0x68747541, 0x444d4163, 0x69746e65 },
      { 0x6f677948, 0x656e6975, 0x6e65476e },
      { 0x746e6543, 0x736c7561, 0x48727561 },
   };
   static const uint8_t descriptors[] = {
      0x01, 0x03, 0x4f, 0x50, 0x57, 0x63, 0x64, 0x6a, 0xb2,
      0xb3, 0xb4, 0xb5, 0xc1, 0xc3, 0xca, 0xfe, 0xff, 0x00
   };
   static const uint32_t halves[] = { 0xff40, 0xff60, 0x0440, 0x0120,
                                      0xff01, 0x0240, 0x0540, 0x0040 };
   dice *const d = opaque;
   const tlb_cpuid bits = tlb_cpuid_matters(leaf, subleaf);
   assert_true((bits.eax | bits.ebx | bits.ecx | bits.edx) != 0);
   uint64_t s = d->seed ^ leaf * UINT64_C(0x9E3779B97F4A7C15)
                ^ (uint64_t)subleaf << 40;
   unit_random(&s);
   const uint64_t a = unit_random(&s), b = unit_random(&s);
   tlb_cpuid r = { (uint32_t)a, (uint32_t)(a >> 32), (uint32_t)b,
                   (uint32_t)(b >> 32) };
   d->asked++;
   if (leaf == 0 && d->kind % 8 < 7) {
      const uint32_t *const v = vendor[d->kind % 4];
      r = (tlb_cpuid){ d->kind & 16 ? r.eax % 40 : r.eax, v[0], v[1], v[2] };
   } else if (leaf == 0x80000000u && d->kind & 16) {
      r.eax = 0x80000000u + r.eax % 0x30;
   } else if (leaf == 0x80000005u && d->kind & 32) {
      r.ebx = halves[r.eax % 8] << 16 | halves[r.ecx % 8];
   } else if (leaf == 2 && d->kind & 32) {
      uint8_t byte[16];
      for (int i = 0; i < 16; i++)
         byte[i] = descriptors[unit_random(&s) % sizeof descriptors];
      memcpy(&r, byte, sizeof r);
   } else if (leaf == 0x18 && d->kind & 64) {
      r.eax = subleaf == 0 ? r.eax % 12 : r.eax;
      r.ebx = (r.ebx & 0x001f000f) | 1;
      r.ecx = 1u << r.ecx % 13;
      r.edx = (r.edx & 0xff) % 6 | (r.edx & 0x60);
   }
   return r;
}

TEST(rubbish)
{
   unsigned taken = 0, by_vendor[4] = { 0 };
   for (unsigned i = 0; i < 100000; i++) {
      dice d = { .seed = i + 1, .kind = i % 128 };
      tlb_machine m;
      memset(&m, 0xA5, sizeof m);
      const int known = tlb_cpuid_machine(ask_dice, &d, &m);
      assert_true(d.asked < 120);
      check_common(&m, known);
      if (!known) {
         assert_true(m.n_notes > 0);
         assert_int_equal(strncmp(m.note[m.n_notes - 1].text, "unknown: ", 9),
                          0);
         continue;
      }
      taken++;
      by_vendor[d.kind % 4]++;
   }
   assert_true(taken > 5000);
   for (int v = 0; v < 4; v++)
      assert_true(by_vendor[v] > 100);
}

int main(void)
{
   static const char *const files[] = {
      CPUID_FILES "intel-descriptors.cases", CPUID_FILES "intel-leaf-18h.cases",
      CPUID_FILES "amd.cases", CPUID_FILES "others.cases",
   };
   static const struct CMUnitTest others[] = {
      CLAIM("each processor has a case", all_have_cases),
      CLAIM("each descriptor of leaf 2 is an array, or no translation array", all_descriptors),
      CLAIM("sub-leaves of leaf 18H without an end are read up to a limit", endless),
      CLAIM("more arrays than there is room for are left out, and a note says so", too_many),
      CLAIM("each code of AMD's ways is a range, out of which one is taken", amd_codes),
      CLAIM("all machine files that CPUID names are built in", files_are_there),
      CLAIM("the answers that matter fit into a dump's memory", what_matters),
      CLAIM("100000 random processors are refused or give machines that can be", rubbish),
   };
   for (size_t i = 0; i < sizeof files / sizeof files[0]; i++)
      read_cases(files[i]);
   struct CMUnitTest tests[n_cases + sizeof others / sizeof others[0]];
   for (unsigned i = 0; i < n_cases; i++)
      tests[i] = (struct CMUnitTest){ cases[i].claim, check_case, NULL, NULL, &cases[i] };
   memcpy(tests + n_cases, others, sizeof others);
   return cmocka_run_group_tests_name("cpuid", tests, NULL, NULL);
}
