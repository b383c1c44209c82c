/* Recordings: what a machine needs of one, and the stream of its records.
   Part of tlbgrind.  GPL-2.0-or-later; see COPYING. */

#include "unit.h"

#include "sim/machine/builtin.h"
#include "sim/machine/machine_file.h"
#include "sim/record/numbers.h"
#include "sim/record/strength.h"
#include "sim/record/stream.h"

/* --- Strength --- */

enum { DATA = TLB_LOADS | TLB_STORES };

static tlb_machine machine_of(const char *code, const char *data)
{
   tlb_machine m = { .name = "some", .base_page_shift = 12, .n_arrays = 2 };
   m.array[0] = (tlb_machine_array){ .name = "ITLB", .level = 1, .users = TLB_FETCHES,
                                     .g = unit_geometry(code) };
   m.array[1] = (tlb_machine_array){ .name = "DTLB", .level = 1, .users = DATA,
                                     .g = unit_geometry(data) };
   return m;
}

/* The filter for data of a machine with that array. */
static tlb_filter filter_for(const char *data)
{
   const tlb_machine m = machine_of("16,full", data);
   tlb_strength s = { .n = 0 };
   tlb_reason why;
   assert_true(tlb_strength_add(&s, &m, &why));
   assert_int_equal(s.n, 2);
   return s.filter[1];
}

TEST(shapes)
{
   static const struct {
      const char *array;
      uint32_t sets, ways;
   } of[] = {
      { "64,4,4K", 16, 4 },         { "64,full,4K", 1, 64 },     { "128,full,4K", 1, 64 },
      { "64,4,4K,plru", 16, 3 },    { "32,32,4K,plru", 1, 6 },   { "64,4,4K,fifo", 16, 1 },
      { "64,4,4K,nru", 16, 1 },     { "64,4,4K,random:3", 16, 1 },
      { "96,12,4K,(mru+1)%3-plru4", 8, 1 },
      { "4096,4,4K", 256, 4 },      { "3000,3,4K", 8, 3 },
   };
   for (unsigned i = 0; i < N(of); i++) {
      const tlb_filter f = filter_for(of[i].array);
      assert_int_equal(f.users, DATA);
      assert_int_equal(f.sets, of[i].sets);
      assert_int_equal(f.ways, of[i].ways);
   }
}

TEST(covers)
{
   static const struct {
      const char *recorded, *simulated;
      int covered;
   } of[] = {
      { "64,4,4K", "64,4,4K", 1 },        { "64,4,4K", "128,4,4K", 1 },
      { "64,4,4K", "128,8,4K", 1 },       { "64,4,4K", "32,4,4K", 0 },
      { "64,4,4K", "64,2,4K", 0 },        { "64,4,4K", "64,full,4K", 0 },
      { "64,full,4K", "256,4,4K", 0 },    { "4,full,4K", "64,4,4K", 1 },
      { "4,full,4K", "96,6,4K,lru", 1 },  { "64,4,4K", "64,4,4K,plru", 0 },
      { "32,2,4K", "64,4,4K,plru", 1 },
      { "16,1,4K", "64,4,4K,random", 1 }, { "32,2,4K", "64,4,4K,fifo", 0 },
   };
   for (unsigned i = 0; i < N(of); i++) {
      const tlb_machine recorded = machine_of("16,full", of[i].recorded);
      const tlb_machine simulated = machine_of("32,full", of[i].simulated);
      tlb_strength s = { .n = 0 };
      uint64_t missing;
      tlb_reason why;
      assert_true(tlb_strength_add(&s, &recorded, &why));
      assert_int_equal(tlb_strength_covers(&s, &simulated, 0, &missing, &why),
                       of[i].covered ? TLB_COVERED : TLB_COVERED_BY_MACHINES);
   }
}

/* The recording for the whole list covers each machine of it, whatever its base page. */
TEST(shipped)
{
   static tlb_machine m;
   static tlb_strength s;
   const uint64_t large = UINT64_C(1) << 16 | UINT64_C(1) << 21 | UINT64_C(1) << 30;
   uint64_t missing;
   tlb_reason why;
   uint32_t line;
   unsigned n = 0;
   s = (tlb_strength){ .base_page_shift = 12, .large = large };
   for (unsigned round = 0; round < 3; round++) {
      const tlb_builtin *b;
      for (unsigned i = 0; (b = tlb_builtin_at(i)) != NULL; i++) {
         assert_true(tlb_machine_parse(b->text, b->length, &m, &line, &why));
         const uint64_t own = tlb_strength_own_sizes(&s, &m);
         if (round == 0)
            s.not_for_all |= own & ~s.large;
         else if (round == 1)
            n += (unsigned)tlb_strength_add(&s, &m, &why);
         else if (tlb_strength_covers(&s, &m, large, &missing, &why) == TLB_COVERED)
            n--;
         if (round > 0)
            continue;
         s.large |= own;
      }
   }
   assert_int_equal(n, 0);
   assert_true(s.n > 4);
   assert_true(tlb_strength_tells_apart(&s));
   assert_false(tlb_strength_is_joint(&s));
}

/* --- Prefetches --- */

/* They take places wherever loads look for their pages, and nowhere else; and such a recording
   covers what one without them would. */
TEST(prefetches)
{
   static const struct {
      const char *filter, *with;
   } of[] = {
      { "RW 1 48", "RW/P 1 48" }, { "W/R 64 4", "W/RP 64 4" }, { "I 16 4", "I 16 4" },
      { "W 16 4", "W 16 4" },     { "I/RW 16 1", "I/RWP 16 1" }, { "RW 8 4 21", "RW/P 8 4 21" },
   };
   tlb_strength s = { .base_page_shift = 12 };
   for (unsigned i = 0; i < N(of); i++)
      assert_true(tlb_filter_parse(of[i].filter, strlen(of[i].filter), &s.filter[s.n++]));
   assert_false(tlb_strength_has_prefetches(&s));
   tlb_strength_add_prefetches(&s);
   assert_true(tlb_strength_has_prefetches(&s));
   for (unsigned i = 0; i < N(of); i++) {
      char text[64];
      tlb_filter f;
      tlb_filter_print(&s.filter[i], text, sizeof text);
      assert_string_equal(text, of[i].with);
      assert_true(tlb_filter_parse(text, strlen(text), &f));
      assert_memory_equal(&f, &s.filter[i], sizeof f);
   }
   s.filter[1].behind &= ~(uint32_t)TLB_PREFETCHERS;
   assert_false(tlb_strength_has_prefetches(&s));
}

TEST(prefetches_make_a_recording_no_weaker)
{
   const tlb_machine m = machine_of("16,full", "64,4,4K,plru");
   tlb_strength s = { .n = 0 };
   uint64_t missing;
   tlb_reason why;
   assert_true(tlb_strength_add(&s, &m, &why));
   assert_true(tlb_strength_add_reach(&s, &why));
   tlb_strength_complete(&s);
   tlb_strength_add_prefetches(&s);
   assert_int_equal(tlb_strength_covers(&s, &m, 0, &missing, &why), TLB_COVERED);
   assert_true(tlb_strength_covers_reach(&s));
   const tlb_machine smaller = machine_of("16,full", "64,2,4K,plru");
   assert_int_equal(tlb_strength_covers(&s, &smaller, 0, &missing, &why),
                    TLB_COVERED_BY_MACHINES);
}

/* --- Large pages --- */

#define LARGE (UINT64_C(1) << 21)

/* With another array for data. */
static tlb_machine with_another(const char *data, const char *another)
{
   tlb_machine m = machine_of("16,full", data);
   m.array[2] = m.array[1];
   m.array[2].g = unit_geometry(another);
   m.n_arrays = 3;
   return m;
}

static void check_filters(const tlb_machine *m, const char *const *words)
{
   tlb_strength s = { .large = LARGE };
   tlb_reason why;
   char text[40];
   unsigned found = 0;
   assert_true(tlb_strength_add(&s, m, &why));
   for (unsigned i = 0; i < s.n; i++) {
      tlb_filter_print(&s.filter[i], text, sizeof text);
      if (text[0] == 'I')
         continue;
      assert_non_null(words[found]);
      assert_string_equal(text, words[found]);
      found++;
   }
   assert_null(words[found]);
}

TEST(large_filters)
{
   const tlb_machine own = with_another("64,4,4K", "32,4,2M");
   const tlb_machine none = machine_of("16,full", "64,4,4K");
   const tlb_machine mixed = machine_of("16,full", "64,4,4K+2M");
   const tlb_machine full = machine_of("16,full", "48,full,4K+2M");
   const tlb_machine beside = with_another("64,4,4K+2M", "16,4,2M");
   check_filters(&own, (const char *const[]){ "RW 16 4", "RW 8 4 21", NULL });
   check_filters(&none, (const char *const[]){ "RW 16 4", NULL });
   check_filters(&mixed, (const char *const[]){ "RW 1 4", NULL });
   check_filters(&full, (const char *const[]){ "RW 1 48", NULL });
   check_filters(&beside, (const char *const[]){ "RW 1 1", NULL });
}

TEST(large_covers)
{
   const tlb_machine own = with_another("64,4,4K", "32,4,2M");
   const tlb_machine small = with_another("64,4,4K", "16,4,2M");
   const tlb_machine full = machine_of("16,full", "48,full,4K+2M");
   tlb_strength s = { .large = LARGE }, one_set = { .large = LARGE };
   uint64_t missing;
   tlb_reason why;
   assert_true(tlb_strength_add(&s, &own, &why));
   assert_int_equal(tlb_strength_covers(&s, &own, LARGE, &missing, &why), TLB_COVERED);
   assert_int_equal(tlb_strength_covers(&s, &small, 0, &missing, &why), TLB_COVERED);
   assert_int_equal(tlb_strength_covers(&s, &small, LARGE, &missing, &why),
                    TLB_COVERED_BY_MACHINES);
   assert_int_equal(tlb_strength_covers(&s, &full, LARGE, &missing, &why), TLB_COVERED_BY_MACHINES);
   assert_int_equal(tlb_strength_covers(&s, &own, LARGE << 9, &missing, &why),
                    TLB_COVERED_BY_PAGES);
   assert_string_equal(why.text, "some: the recording is not made for pages of 1G");
   assert_true(tlb_strength_add(&one_set, &full, &why));
   const tlb_machine wide = with_another("256,64,4K", "128,64,2M");
   assert_int_equal(tlb_strength_covers(&one_set, &wide, LARGE, &missing, &why), TLB_COVERED);
}

TEST(sizes_as_text)
{
   static const char *const wrong[] = {
      "", "4K", "2M,", ",2M", "3M", "32G", "none,2M", "2m x",
      "8K,16K,32K,64K,128K,256K,512K,1M,2M,4M,8M,16M,32M,64M,128M,256M"
   };
   uint64_t sizes;
   tlb_reason why;
   for (unsigned i = 0; i < N(wrong); i++)
      assert_false(tlb_record_sizes_parse(wrong[i], 12, &sizes, &why));
   assert_true(tlb_record_sizes_parse("none", 12, &sizes, &why));
   assert_true(sizes == 0);
   assert_true(tlb_record_sizes_parse("1G,2M,64K", 12, &sizes, &why));
   assert_true(sizes == (LARGE | LARGE << 9 | 1 << 16));
}

/* What the machine needs: one filter behind the other. */
static void check_needs(const tlb_machine *m, uint64_t large, const char *all)
{
   tlb_strength s = { .base_page_shift = 12, .large = large };
   tlb_reason why;
   char found[200] = "";
   assert_true(tlb_strength_add(&s, m, &why));
   for (unsigned i = 0; i < s.n; i++) {
      char text[40];
      tlb_filter_print(&s.filter[i], text, sizeof text);
      strcat(strcat(found, i > 0 ? ", " : ""), text);
   }
   assert_string_equal(found, all);
}

/* With an array behind the first level. */
static tlb_machine with_second(const char *second, unsigned users)
{
   tlb_machine m = machine_of("16,full", "64,4");
   m.array[2] = m.array[1];
   m.array[2].level = 2;
   m.array[2].users = users;
   m.array[2].g = unit_geometry(second);
   m.n_arrays = 3;
   return m;
}

TEST(other_kinds)
{
   tlb_machine m = machine_of("16,full", "64,4");
   m.array[1].coalesce_shift = 14;
   check_needs(&m, LARGE, "I 1 16, RW 1 4");
   m = machine_of("16,full", "64,4");
   m.array[0].users = TLB_FETCHES | DATA;
   m.n_arrays = 1;
   check_needs(&m, 0, "IRW 1 16");
   m = with_second("512,4", TLB_FETCHES | DATA);
   m.array[2].inclusion = TLB_INCLUSIVE;
   check_needs(&m, 0, "I 1 16, RW 16 4, IRW 128 1");
   check_needs(&m, LARGE, "I 1 16, RW 16 4, IRW 1 1");
   m = with_second("512,4", DATA);
   m.array[1].users = TLB_LOADS;
   check_needs(&m, 0, "I 1 16, R 16 4, W/R 128 4");
   m = with_second("512,4", TLB_FETCHES | DATA);
   m.array[1] = m.array[2];
   m.n_arrays = 2;
   check_needs(&m, 0, "I 1 16, RW/I 128 4");
   m = machine_of("16,full,16K", "64,4,16K");
   m.base_page_shift = 14;
   check_needs(&m, UINT64_C(1) << 14, "I 1 16 14, RW 16 4 14");
}

/* A recording without such pages or blocks is refused,
   with the sizes that it would have to have. */
TEST(sizes_of_its_own)
{
   tlb_strength s = { .n = 0 };
   uint64_t missing;
   tlb_reason why;
   tlb_machine m = machine_of("16,full", "64,4");
   assert_true(tlb_strength_add(&s, &m, &why));
   m.array[1].coalesce_shift = 14;
   assert_int_equal(tlb_strength_covers(&s, &m, 0, &missing, &why), TLB_COVERED_BY_PAGES);
   assert_true(missing == 1 << 14);
   assert_false(tlb_strength_add(&s, &m, &why));
   m = machine_of("16,full,16K", "64,4,16K");
   m.base_page_shift = 14;
   assert_int_equal(tlb_strength_covers(&s, &m, 0, &missing, &why), TLB_COVERED_BY_PAGES);
   assert_true(missing == 1 << 14);
   s = (tlb_strength){ .base_page_shift = 14 };
   m = machine_of("16,full", "64,4");
   assert_int_equal(tlb_strength_covers(&s, &m, 0, &missing, &why), TLB_COVERED_BY_NONE);
   assert_string_equal(why.text, "some: its base pages have 4K, and those of the recording 16K");
}

/* Filters of larger pages alone leave nothing out. */
TEST(complete)
{
   tlb_strength s = { .base_page_shift = 12, .large = UINT64_C(1) << 14 };
   tlb_machine m = machine_of("16,full,16K", "64,4,16K");
   tlb_reason why;
   m.base_page_shift = 14;
   assert_true(tlb_strength_add(&s, &m, &why));
   tlb_strength_complete(&s);
   assert_int_equal(s.n, 4);
   assert_int_equal(tlb_strength_sets(&s, 0), 1);
   assert_int_equal(tlb_strength_sets(&s, 1), 1);
}

TEST(filters_as_text)
{
   static const char *const wrong[] = { "", "I", "I 1", "I 0 1", "I 1 0", "X 1 1", "RI 1 1",
                                        "R/ 1 1", "R/R 1 1", "/R 1 1", "I 257 1", "I 1 65",
                                        "I 1 1 ", "I  1 1", "I 1 1 12", "I 1 1 35", "I 1 1 21 ",
                                        "P 1 1", "RP 1 1", "R/PW 1 1", "R/PP 1 1" };
   static const tlb_filter good[] = { { TLB_FETCHES, 0, 1, 64, 0 }, { DATA, 0, 256, 1, 0 },
                                      { TLB_STORES, TLB_LOADS, 3, 4, 21 },
                                      { TLB_FETCHES | DATA, 0, 1, 1, 0 } };
   tlb_filter f;
   for (unsigned i = 0; i < N(wrong); i++)
      assert_false(tlb_filter_parse(wrong[i], strlen(wrong[i]), &f));
   for (unsigned i = 0; i < N(good); i++) {
      char text[40];
      tlb_filter_print(&good[i], text, sizeof text);
      assert_true(tlb_filter_parse(text, strlen(text), &f));
      assert_memory_equal(&f, &good[i], sizeof f);
   }
}

/* --- The stream --- */

enum { N_RECORDS = 20000, BYTES = 1 << 20 };

static uint8_t written[BYTES];
static size_t n_written, n_read;
static tlb_record record[N_RECORDS];
static tlb_stream_writer writer;
static tlb_stream_reader reader;

static void put(void *opaque, const uint8_t *bytes, size_t n)
{
   (void)opaque;
   assert_true(n_written + n <= BYTES);
   memcpy(written + n_written, bytes, n);
   n_written += n;
}

static size_t get(void *opaque, uint8_t *bytes, size_t n)
{
   const size_t end = *(const size_t *)opaque;
   const size_t piece = n < end - n_read ? n : end - n_read;
   memcpy(bytes, written + n_read, piece);
   n_read += piece;
   return piece;
}

static tlb_record random_record(uint64_t *random)
{
   static const uint8_t what[] = { 1 | TLB_RECORD_USE | 4,
                                   2 | TLB_RECORD_USE | 8 | TLB_RECORD_MORE_SIZE, 0, 1, 2,
                                   1 | TLB_RECORD_MODIFIES, 1 | TLB_RECORD_IN_PARTS,
                                   2 | TLB_RECORD_IN_PARTS | TLB_RECORD_GOES_ON,
                                   TLB_RECORD_PREFETCH, TLB_RECORD_PREFETCH | TLB_RECORD_PRESENT,
                                   TLB_RECORD_PREFETCH | TLB_RECORD_PRESENT | TLB_RECORD_UNCOUNTED,
                                   0 | TLB_RECORD_USE, 1 | TLB_RECORD_USE, 2 | TLB_RECORD_USE };
   tlb_record r = { .what = what[unit_random(random) % N(what)] };
   r.page = unit_random(random) >> (12 + unit_random(random) % 52);
   if ((r.what & TLB_RECORD_USE) == 0)
      r.line = 1 + (uint32_t)(unit_random(random) % TLB_RECORD_MAX_LINES);
   return r;
}

static const tlb_mapping mapping = {
   .start = 0x7f0000000000, .end = 0x7f0000200000, .device = 8, .inode = 77, .offset = 4096,
   .name = "/lib/some.so", .serial = 3, .flags = TLB_MAP_HUGETLB, .prot = TLB_MAY_READ,
   .kind = TLB_FILE, .huge_shift = 21 };

static const tlb_map_event events[] = {
   { .what = TLB_EVENT_MAP, .start = 0x7f0000000000, .end = 0x7f0000200000, .mapping = &mapping },
   { .what = TLB_EVENT_UNMAP, .start = 4096, .end = 8192 },
   { .what = TLB_EVENT_PROTECT, .start = 4096, .end = 8192, .value = 7 },
   { .what = TLB_EVENT_FLAG, .start = 0, .end = 1 << 21, .set = 16, .clear = UINT32_MAX },
   { .what = TLB_EVENT_RENAME, .start = 4096, .end = 8192, .set = 2, .value = TLB_IMAGE },
   { .what = TLB_EVENT_ZAP, .start = 4096, .end = 8192 },
   { .what = TLB_EVENT_SPLIT, .start = 4096, .end = 8192, .value = 1 },
   { .what = TLB_EVENT_MOVE, .start = 4096, .end = 8192, .to = 1 << 20 },
   { .what = TLB_EVENT_COLLAPSE, .start = 4096, .end = 8192 },
   { .what = TLB_EVENT_SHARE },
   { .what = TLB_EVENT_WRITTEN, .start = 4096, .end = 4097, .value = 1 },
   { .what = TLB_EVENT_CONSENT, .value = TLB_THP_DISABLED },
   { .what = TLB_EVENT_ASK },
};
_Static_assert(N(events) == TLB_N_EVENTS, "each kind is tried");

static void check_event(const tlb_map_event *found, const char *name, const tlb_map_event *e)
{
   assert_int_equal(found->what, e->what);
   assert_true(found->start == e->start && found->to == e->to && found->value == e->value);
   assert_true(found->set == e->set && found->clear == e->clear);
   assert_true(found->end == e->end || (e->start == 0 && e->end == 0));
   assert_int_equal(found->mapping != NULL, e->mapping != NULL);
   if (e->mapping == NULL)
      return;
   tlb_mapping m = *found->mapping;
   assert_string_equal(name, e->mapping->name);
   m.name = e->mapping->name;
   assert_true(m.start == mapping.start && m.end == mapping.end && m.device == mapping.device
               && m.inode == mapping.inode && m.offset == mapping.offset
               && m.serial == mapping.serial && m.flags == mapping.flags && m.prot == mapping.prot
               && m.kind == mapping.kind && m.huge_shift == mapping.huge_shift);
}

static void write_stream(unsigned n)
{
   uint64_t random = 1;
   n_written = 0;
   tlb_stream_begin(&writer, put, NULL);
   for (unsigned i = 0; i < n; i++) {
      record[i] = random_record(&random);
      if (!tlb_stream_add(&writer, record[i]))
         tlb_stream_flush(&writer, i);
   }
   tlb_stream_flush(&writer, n);
   for (unsigned i = 0; i < N(events); i++)
      tlb_stream_event(&writer, &events[i]);
   tlb_stream_mark(&writer, TLB_MARK_PHASE, n, "a phase", 7);
   tlb_stream_mark(&writer, TLB_MARK_ZERO, n, "", 0);
   tlb_stream_point(&writer, TLB_POINT_SWITCH, 0, 0);
   tlb_stream_point(&writer, TLB_POINT_WRITE, 77, 77 + TLB_POINT_PAGES); /* two blocks */
   tlb_stream_flush_point(&writer, &(tlb_flush_point){ 3, 4096, 40960, 77 });
   tlb_stream_text(&writer, "some text\n", 10);
   tlb_stream_end(&writer);
}

/* Reads up to `end` bytes. Returns how it ends, and how many records there were, all as written. */
static tlb_stream_found read_stream(size_t end, unsigned *n)
{
   tlb_stream_found found;
   unsigned n_events = 0, n_points = 0;
   n_read = 0;
   *n = 0;
   tlb_stream_open(&reader, get, &end);
   for (;;) {
      found = tlb_stream_read(&reader);
      if (found == TLB_READ_RECORDS) {
         for (unsigned i = 0; i < reader.n; i++) {
            assert_int_equal(reader.record[i].what, record[*n + i].what);
            assert_int_equal(reader.record[i].line, record[*n + i].line);
            assert_true(reader.record[i].page == record[*n + i].page);
         }
         *n += reader.n;
      } else if (found == TLB_READ_EVENT) {
         check_event(&reader.event, reader.text, &events[n_events++]);
      } else if (found == TLB_READ_TEXT) {
         assert_int_equal(n_events, N(events));
         assert_int_equal(n_points, 4);
         assert_int_equal(reader.n, 10);
         assert_memory_equal(reader.text, "some text\n", 10);
      } else if (found == TLB_READ_MARK) {
         assert_int_equal(reader.n, reader.mark == TLB_MARK_PHASE ? 7 : 0);
         assert_true(reader.mark == TLB_MARK_PHASE || reader.mark == TLB_MARK_ZERO);
         assert_memory_equal(reader.text, "a phase", reader.n);
      } else if (found == TLB_READ_POINT && n_points == 3) {
         assert_int_equal(reader.point, TLB_POINT_FLUSH);
         assert_int_equal(reader.flush.line, 3);
         assert_int_equal(reader.flush.start, 4096);
         assert_int_equal(reader.flush.end, 40960);
         assert_int_equal(reader.flush.bytes, 77);
         n_points++;
      } else if (found == TLB_READ_POINT) {
         const uint64_t first = n_points == 0 ? 0 : n_points == 1 ? 77 : 77 + TLB_POINT_PAGES;
         assert_int_equal(reader.point, n_points == 0 ? TLB_POINT_SWITCH : TLB_POINT_WRITE);
         assert_int_equal(reader.first, first);
         assert_int_equal(reader.last, n_points == 1 ? first + TLB_POINT_PAGES - 1 : first);
         n_points++;
      } else {
         return found;
      }
   }
}

/* The short way to read a number, and the one byte by byte, on numbers of all lengths and on bytes
   that are none. */
TEST(numbers)
{
   uint8_t bytes[16 + TLB_NUMBER_SLACK];
   uint64_t random = 1;
   for (unsigned i = 0; i < 100000; i++) {
      const unsigned length = 1 + i % 11; /* 11: too many bytes; 10: more than 64 bits, mostly */
      for (unsigned j = 0; j < sizeof bytes; j++) {
         random = random * UINT64_C(6364136223846793005) + 1442695040888963407;
         bytes[j] = (uint8_t)(random >> 56) | 0x80;
      }
      bytes[length - 1] &= i % 3 == 0 ? 1 : 0x7f;
      const uint8_t *at = bytes;
      uint64_t number;
      unsigned n;
      const bool is_one = tlb_take_number(&at, bytes + 16, &number);
      const uint64_t short_way = tlb_number_at(bytes, &n);
      assert_int_equal(n, length <= 4 ? length : 0);
      assert_true(is_one || length > 9);
      if (n == 0)
         continue;
      assert_true(is_one && at == bytes + length);
      assert_true(short_way == number);
   }
}

TEST(round_trip)
{
   unsigned n;
   write_stream(N_RECORDS);
   assert_int_equal(read_stream(n_written, &n), TLB_READ_END);
   assert_int_equal(n, N_RECORDS);
   assert_int_equal(reader.instructions, N_RECORDS);
}

/* So many uses in a row between two references, as they come from a filter; blocks end among
   them. */
static void write_uses(bool at_once)
{
   enum { IN_A_ROW = 47 };
   const uint8_t use = tlb_record_use(TLB_LOAD, 0);
   uint64_t random = 3, page[IN_A_ROW];
   n_written = 0;
   tlb_stream_begin(&writer, put, NULL);
   for (unsigned i = 0; i < N_RECORDS; i += IN_A_ROW + 1) {
      for (unsigned j = 0; j < IN_A_ROW; j++)
         page[j] = unit_random(&random) >> (12 + unit_random(&random) % 52);
      for (unsigned j = 0; j < IN_A_ROW;) {
         if (at_once)
            j += tlb_stream_add_uses(&writer, use, page + j, IN_A_ROW - j);
         else
            tlb_stream_add(&writer, (tlb_record){ .what = use, .page = page[j++] });
         if (writer.n == TLB_BLOCK_RECORDS)
            tlb_stream_flush(&writer, i);
      }
      const tlb_record r = { .what = (uint8_t)(i % 3), .line = i + 1, .page = i };
      if (!tlb_stream_add(&writer, r))
         tlb_stream_flush(&writer, i);
   }
   tlb_stream_flush(&writer, N_RECORDS);
   tlb_stream_end(&writer);
}

TEST(uses_at_once)
{
   static uint8_t one_by_one[BYTES];
   write_uses(false);
   const size_t n = n_written;
   memcpy(one_by_one, written, n);
   write_uses(true);
   assert_int_equal(n_written, n);
   assert_memory_equal(written, one_by_one, n);
   size_t end = n;
   n_read = 0;
   tlb_stream_open(&reader, get, &end);
   tlb_stream_found found;
   do
      found = tlb_stream_read(&reader);
   while (found == TLB_READ_RECORDS);
   assert_int_equal(found, TLB_READ_END);
   assert_true(reader.n_records >= N_RECORDS);
}

/* A prefetch is neither a use nor a part of a reference. */
TEST(no_such_kinds)
{
   for (unsigned what = 0; what <= 255; what++) {
      size_t end;
      const unsigned user = what & TLB_RECORD_USER;
      const bool is_prefetch = user == TLB_RECORD_PREFETCH;
      const bool is_use = (what & TLB_RECORD_USE) != 0;
      const bool can_be = is_prefetch
                             ? (what & ~(3u | TLB_RECORD_PRESENT | TLB_RECORD_UNCOUNTED)) == 0
                             : what < 128 && (is_use || (what & TLB_RECORD_MODIFIES) == 0
                                              || user == TLB_LOAD);
      n_written = n_read = 0;
      tlb_stream_begin(&writer, put, NULL);
      tlb_stream_add(&writer, (tlb_record){ .what = (uint8_t)what, .line = is_use ? 0 : 1,
                                            .page = 7 });
      tlb_stream_flush(&writer, 1);
      end = n_written;
      tlb_stream_open(&reader, get, &end);
      assert_int_equal(tlb_stream_read(&reader), can_be ? TLB_READ_RECORDS : TLB_READ_DAMAGED);
   }
}

/* More moves than a block has room for, before references and behind the last one: all come back in
   their order, and each reference behind its own. */
enum { N_MOVES = 30000 };

static uint64_t random_move(uint64_t *random)
{
   *random = *random * UINT64_C(6364136223846793005) + 1442695040888963407;
   return tlb_move_number(TLB_MOVE_PUSH,
                          *random >> (39 + (*random >> 8) % 25) & (TLB_MOST_ARCS - 1));
}

/* `before`: how many moves stand before reference number i. */
static unsigned moves_before(unsigned i)
{
   return i % 3 == 0 ? 0 : i % 5000 == 1 ? N_MOVES : i % 5;
}

static void write_moves(unsigned n)
{
   uint64_t random = 5;
   n_written = 0;
   tlb_stream_begin(&writer, put, NULL);
   writer.has_moves = true;
   for (unsigned i = 0; i <= n; i++) {
      for (unsigned j = 0; j < moves_before(i); j++) {
         const uint64_t move = random_move(&random);
         if (tlb_stream_move(&writer, tlb_move_of(move), tlb_move_count(move)))
            continue;
         tlb_stream_flush(&writer, i);
         assert_true(tlb_stream_move(&writer, tlb_move_of(move), tlb_move_count(move)));
      }
      if (i == n)
         break;
      tlb_stream_end_moves(&writer);
      if (!tlb_stream_add(&writer, (tlb_record){ .what = 1, .line = i + 1, .page = i }))
         tlb_stream_flush(&writer, i);
   }
   tlb_stream_flush(&writer, n);
   tlb_stream_end(&writer);
}

TEST(moves)
{
   enum { N = 20002 }; /* moves stand behind the last */
   size_t end;
   unsigned n = 0, n_moves = 0;
   uint64_t random = 5;
   write_moves(N);
   end = n_written;
   n_read = 0;
   tlb_stream_open(&reader, get, &end);
   while (tlb_stream_read(&reader) == TLB_READ_RECORDS) {
      const uint8_t *at = reader.move;
      unsigned in_block = 0;
      uint64_t number;
      assert_int_equal(reader.n_referred, reader.n);
      while (tlb_stream_take_move(&reader, &at, &number)) {
         if (number != 0) {
            assert_int_equal(number, random_move(&random));
            n_moves++;
            continue;
         }
         assert_int_equal(n_moves, moves_before(n));
         assert_int_equal(reader.record[in_block++].line, ++n);
         n_moves = 0;
      }
      assert_int_equal(in_block, reader.n);
   }
   assert_int_equal(n, N);
   assert_int_equal(n_moves, moves_before(N));
   assert_null(reader.damage);
   for (end = 0; end < n_written; end += 99991) {
      n_read = 0;
      tlb_stream_open(&reader, get, &end);
      tlb_stream_found found;
      do
         found = tlb_stream_read(&reader);
      while (found == TLB_READ_RECORDS);
      assert_int_equal(found, TLB_READ_CUT);
   }
}

TEST(cut_short)
{
   unsigned n, most = 0;
   write_stream(N_RECORDS);
   for (size_t end = 0; end < n_written; end += end < 100 || end + 1100 > n_written ? 1 : 997) {
      assert_int_equal(read_stream(end, &n), TLB_READ_CUT);
      assert_true(n >= most);
      most = n;
   }
   assert_int_equal(most, N_RECORDS);
}

/* A changed byte is found, at the latest at the end. */
TEST(changed)
{
   unsigned n;
   write_stream(50);
   for (size_t i = 0; i < n_written; i++) {
      for (unsigned bit = 0; bit < 8; bit++) {
         tlb_stream_found found;
         size_t end = n_written;
         written[i] ^= (uint8_t)(1u << bit);
         n_read = n = 0;
         tlb_stream_open(&reader, get, &end);
         do
            found = tlb_stream_read(&reader);
         while (found == TLB_READ_RECORDS || found == TLB_READ_EVENT || found == TLB_READ_TEXT
                || found == TLB_READ_MARK || found == TLB_READ_POINT);
         assert_true(found == TLB_READ_DAMAGED || found == TLB_READ_CUT);
         written[i] ^= (uint8_t)(1u << bit);
      }
   }
}

int main(void)
{
   const struct CMUnitTest tests[] = {
      CLAIM("a filter keeps what its array is certain to keep", shapes),
      CLAIM("larger arrays are covered, smaller ones and other shapes are not", covers),
      CLAIM("a recording for all shipped machines is one for each of them", shipped),
      CLAIM("blocks, shared arrays, inclusive levels and stores alone have filters of theirs",
            other_kinds),
      CLAIM("a recording tells of larger base pages and of blocks, or is refused",
            sizes_of_its_own),
      CLAIM("each kind of reference has a filter of base pages", complete),
      CLAIM("arrays of one size of large pages have filters of these, and others one set",
            large_filters),
      CLAIM("one set of base pages covers large pages, too", large_covers),
      CLAIM("sizes of large pages are read, and what are none refused", sizes_as_text),
      CLAIM("a filter is read as it was printed", filters_as_text),
      CLAIM("prefetches take places in each filter that loads refer to", prefetches),
      CLAIM("with prefetches a recording covers what it would without them",
            prefetches_make_a_recording_no_weaker),
      CLAIM("a kind of record that no run has is refused", no_such_kinds),
      CLAIM("the short way to read a number reads what the long one does", numbers),
      CLAIM("records are read as they were written", round_trip),
      CLAIM("uses that are added at once are written as those added one by one", uses_at_once),
      CLAIM("moves of call stacks are read as they were written, each before its reference", moves),
      CLAIM("a stream is readable up to where it is cut", cut_short),
      CLAIM("a changed bit is found", changed),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
