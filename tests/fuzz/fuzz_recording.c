/* Fuzzes the reader of recordings: head, stream, replay, and the text at the end.
   Part of tlbgrind.  GPL-2.0-or-later; see COPYING. */

#include "fuzz.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command/load_machine.h"
#include "sim/record/stream.h"
#include "simulate/chosen_part.h"
#include "simulate/data_file.h"
#include "simulate/machines.h"
#include "simulate/out_file.h"
#include "simulate/parts.h"
#include "simulate/recording.h"
#include "simulate/replay.h"

const char *const fuzz_words[] = {
   "# tlbgrind recording\n", "version: 1\n", "base page: 12\n", "base page of: 12 all\n",
   "filter: I 1 1\n", "filter: RW 16 4\n", "\n\n", "R", "T", "E", "M", "@shares\n",
   "@share phase a b\n", "@share thread 1 1\n", "@machine\n", "@second misses\n", "@events\n",
   "@events faults\n",
   "version: 2\n", "after: 3 0123456789abcdef f\n", "pages: 21\n", "thp: always\n",
   "filter: RW 8 4 21\n", "P",
   "version: 3\n", "pages: 13 14 21\n", "filter: W/R 64 4\n", "filter: IRW 1 4\n",
   "filter: I 1 4 14\n",
   "version: 5\n", "data: yes\n", "@data\n# tlbgrind data\n", "@machines\n",
   "object: 1 heap pages 1\n", ";12 1+8\n",
   "version: 7\n", "filter: RW 1 48\n", "filter: RW 16 3\n",
   "version: 8\n", "code: 16 131072 aarch64 6.18\n",
   "version: 6\n", "flushes: yes\n",
   "version: 10\n", "prefetches: yes\n", "filter: RW/P 1 4\n", "R\001\001\001\000\007\002\002", "K",
   "K\005\001",
   "version: 9\n", "calls: yes\n", "C", ">1 2 3 4 0 0 0 1 ;12;13\n", "cfn=(1) main\n", "@totals\n",
   "@cut ", ":1 2 3 0 0 0 1 ;12\n", "fn=(1) main\n", NULL
};

const char *const fuzz_more = NULL;

/* The text that has come so far: no input has more. */
static char text[1 << 20];
static size_t n_text;

static TgSimulatedList *machines(void)
{
   static TgSimulatedList list;
   static const TgSimulatedPages pages = { .policy = { .thp = TLB_THP_ALWAYS } };
   if (list.n == 0)
      list = tg_simulated_load("core2@thp+syscall:kernel:3+prefetch:strong,"
                               "apple-m1@syscall:flush+prefetch:weak,skylake", NULL, &pages,
                               &(TgSimulatedKernel){ "linux", { TLB_SYSCALLS_NONE, 0 },
                                                     TLB_PREFETCH_IGNORE });
   return &list;
}

enum { MOST_SECTIONS = 16 };

static TgSection section[MOST_SECTIONS];

/* As of a variant of --advice=. */
static void make_lines(const TgOutFile *o, const char *whole, size_t n, size_t at)
{
   tlb_rule_effect effect;
   size_t length;
   char *const lines = tg_out_file_variant(o, 1, &effect);
   char *const with = tg_out_file_with(whole, n, at, lines, &length);
   if (length != n + strlen(lines) || with[length - 1] != '\n')
      fuzz_fail("an out-file with lines about a variant has not the length of both");
   free(lines);
   free(with);
}

/* `large`: there are mappings. */
static void make_out_file(TgReplay *replay, const TgSection *s, unsigned n_sections,
                          const TgSelection *parts, bool large)
{
   for (unsigned i = 0; i < machines()->n; i++) {
      size_t n, behind_machine;
      const TgOutFile o = { .machine = &machines()->machine[i], .number = i + 1,
                            .of = machines()->n, .replay = replay, .nth = i, .parts = parts,
                            .section = section, .n_sections = n_sections, .file = "a/b" };
      char *const whole = tg_out_file_make(&o, s->text, s->n, &n, &behind_machine);
      if (n < 10 || whole[n - 1] != '\n')
         fuzz_fail("an out-file does not end with a line");
      if (large && o.machine->pages.n_rules > 0)
         make_lines(&o, whole, n, behind_machine);
      free(whole);
   }
}

/* Of phases together, as a user could ask for them. */
static void make_parts(TgReplay *replay, const TgParts *parts, unsigned n, bool large)
{
   static const TgPartChoice choices[] = {
      { .from = "start" }, { .to = "b" }, { .from = "a", .to = "c" }, { .thread = "1" }
   };
   for (unsigned i = 0; i < sizeof choices / sizeof *choices; i++) {
      TgChosenPart part;
      char why[400];
      if (!tg_choose_part(&choices[i], parts, section, n, &part, why, sizeof why))
         fuzz_check_reason(why, sizeof why);
      else if (n > 0) /* without a text nothing is written */
         make_out_file(replay, &part.section, n, &part.parts, large);
      tg_chosen_part_free(&part);
   }
}

/* From the text behind that of the out-files. */
static void make_data_file(const TgReplay *replay, const char *data, size_t n)
{
   uint64_t total[TG_N_COSTS], least;
   size_t length;
   if (tg_data_text_check(data, n, tg_replay_n_lines(replay)) != NULL)
      return;
   TgDataFile *const d = tg_data_file_new(machines()->n);
   for (unsigned i = 0; i < machines()->n; i++) {
      const TgOutFile o = { .machine = &machines()->machine[i], .number = i + 1,
                            .of = machines()->n, .replay = replay, .nth = i };
      tg_out_file_sums(&o, "", 0, total, &least);
      if (tg_data_file_keep(d, &o, data, n, i % 2 == 0, total, least) != NULL) {
         tg_data_file_free(d);
         return;
      }
   }
   char *const whole = tg_data_file_make(d, &length);
   if (length < 10 || whole[length - 1] != '\n')
      fuzz_fail("a data file does not end with a line");
   free(whole);
   tg_data_file_free(d);
}

static void make_out_files(TgReplay *replay, const TgParts *parts, bool large)
{
   const char *why;
   const size_t n_all = n_text;
   n_text = tg_data_text_at(text, n_all);
   if (n_text < n_all)
      make_data_file(replay, text + n_text, n_all - n_text);
   const unsigned n = tg_run_text_sections(text, n_text, section, MOST_SECTIONS, &why);
   for (unsigned i = 0; i < n; i++) {
      if (tg_run_text_check(section[i].text, section[i].n, tg_replay_n_lines(replay),
                            tg_replay_n_arcs(replay)) != NULL)
         return;
   }
   tg_replay_settle(replay);
   for (unsigned i = 0; i < n; i++) {
      TgSelection of = { 0, NULL };
      if (i > 0)
         of = tg_parts_of(parts, section[i].kind[0] == 'p' ? TG_PHASE : TG_THREAD, section[i].label,
                          section[i].label_length);
      make_out_file(replay, &section[i], n, i > 0 ? &of : NULL, large);
      free(of.has);
   }
   make_parts(replay, parts, n, large);
}

/* `calls`: the recording has them. */
static void read_stream(fuzz_stream *in, const tlb_strength *s, bool calls)
{
   TgParts *const parts = tg_parts_new();
   static tlb_stream_reader reader;
   TgReplay *const replay = tg_replay_new(machines(), 0, 1, s, false);
   tlb_stream_found found;
   if (calls)
      tg_replay_count_calls(replay);
   n_text = 0;
   tlb_stream_open(&reader, fuzz_get, in);
   do {
      found = tlb_stream_read(&reader);
      if (found == TLB_READ_RECORDS && tg_replay_block(replay, &reader) != NULL)
         break;
      if (found == TLB_READ_MARK
          && tg_parts_mark(parts, replay, reader.mark, reader.text, reader.n) != NULL)
         break;
      if (found == TLB_READ_EVENT && s->large != 0)
         tg_replay_event(replay, &reader.event);
      if (found == TLB_READ_POINT && reader.point == TLB_POINT_FLUSH
          && tg_replay_flush(replay, &reader.flush) != NULL)
         break;
      if (found == TLB_READ_POINT && reader.point != TLB_POINT_FLUSH)
         tg_replay_point(replay, reader.point, reader.first, reader.last);
      if (found == TLB_READ_TEXT && n_text + reader.n <= sizeof text) {
         memcpy(text + n_text, reader.text, reader.n);
         n_text += reader.n;
      }
   } while (found == TLB_READ_RECORDS || found == TLB_READ_EVENT || found == TLB_READ_TEXT
            || found == TLB_READ_MARK || found == TLB_READ_POINT);
   if (found == TLB_READ_DAMAGED)
      fuzz_check_reason(reader.damage, strlen(reader.damage) + 1);
   /* Of an input with a wrong checksum, too: right ones are rare. */
   make_out_files(replay, parts, s->large != 0);
   tg_replay_free(replay);
   tg_parts_free(parts);
}

void fuzz_one(char *data, size_t size)
{
   TgRecordingHead head;
   const char *why;
   const size_t n = tg_recording_head(data, size, &head, &why);
   if (n == 0) {
      fuzz_check_reason(why, strlen(why) + 1);
      return;
   }
   fuzz_stream in = { data + n, data + size };
   /* Machines with other base pages are refused before. */
   head.strength.base_page_shift = 12;
   read_stream(&in, &head.strength, head.calls);
}
